#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "make check-kernels": builds kernels, counts instructions on them, and looks
# whether the counts can be believed. It takes half an hour.

# shellcheck disable=SC2015 # "A && B || show" is meant as it reads
. "${BASH_SOURCE[0]%/*}/tap.sh"

vmtest=$KTREE/tools/testing/selftests/filesystems/fsbench/vmtest.sh
slower=$FSBENCH_TOP/tests/patches/simple_xattr_list-slower.patch
built=$FSBENCH_BUILD/vm/built
work=$FSBENCH_BUILD/tests/kernels
rm -rf "$work"
mkdir -p "$work/tmp"
cd "$work" || exit 1
export TMPDIR=$work/tmp VMTEST_FSBENCH=$FSBENCH_BUILD/fsbench
source=$("$FSBENCH_TOP/scripts/vm.sh" source) || exit 1

# What cannot be had with one CPU and blocks of one page is skipped.
skipped='not in the default set|needs two CPUs|a value of this size does not fit'

show() { cat out err; return 1; }
fails() { ! "$@"; }
vm() { "$vmtest" "$@" >out 2>err </dev/null; }
listing() { (cd "$source" && find . -printf '%p %y %s %T@ %C@\n' | sort | sha256sum); }

# figures FILE...: "case figure", one line for each case of each file
figures() { sed -n 's/^\(# \)*fsbench: \([a-z0-9_.]*\) \(ns_per_op\|bytes_per_file\)=\([0-9.]*\) .*/\2 \4/p' "$@"; }

# spread PATTERN LIMIT FILE...: percent from the least to the largest of a case
spread()
{
	local pattern=$1 limit=$2 files

	shift 2
	files=$#
	figures "$@" | awk -v pattern="$pattern" -v limit="$limit" -v files="$files" '
		$1 !~ pattern { next }
		!($1 in min) || $2 < min[$1] { min[$1] = $2 }
		!($1 in max) || $2 > max[$1] { max[$1] = $2 }
		{ nr[$1]++ }
		END {
			for (name in min) {
				percent = 100 * (max[name] / min[name] - 1)
				cases++
				if (percent > worst)
					worst = percent
				if (percent > limit || nr[name] % files) {
					print name, min[name], max[name], nr[name]
					bad++
				}
			}
			printf "%s: %d cases, worst %.4f %%\n", pattern, cases, worst
			exit bad || !cases
		}' | tee -a figures
	return "${PIPESTATUS[1]}"
}

builds()
{
	local start=$SECONDS

	listing >before
	vm --build "$source" --patch "$slower" -o "$built" || show || return
	listing | diff before - || return
	[ -s "$built/bzImage-control" ] && fails cmp -s "$built"/bzImage-{control,patched}
	echo "control and patched built in $((SECONDS - start)) s" >>figures
}

# not_built REASON ARGS...
not_built()
{
	local reason=$1

	shift
	fails vm --build "$source" -o "$built" "$@" || show || return
	[ "$(wc -l <err)" = 1 ] && grep -q "$reason" err || show
}

runs()
{
	local i

	for i in {1..10}; do
		vm -k "$built/bzImage-control" --icount || show || return
		mv out "run-$i"
	done
	grep '# SKIP' run-1 | grep -vE "$skipped" && return 1
	spread tmpfs 0 run-* && spread 'remap.btrfs' 0.01 run-* && spread . 0.01 run-*
}

# What ran before it does not change what a case costs.
alone()
{
	local case
	local cases=(xattr_set.xfs_16.create attr_copy.tmpfs_16.attr_copy_fd acl.xfs_small_cold.open)

	vm -k "$built/bzImage-control" --icount -- "${cases[@]/#/-r}" || show || return
	mv out alone
	for case in "${cases[@]}"; do
		grep -h "fsbench: $case ns_per_op=" alone run-1
	done >both
	[ "$(wc -l <both)" = 6 ] && spread . 0.2 both
}

distribution()
{
	local i kernel

	kernel=$("$FSBENCH_TOP/scripts/vm.sh" kernel) || return
	for i in {1..3}; do
		vm -k "$kernel" --icount || show || return
		mv out "distribution-$i"
	done
	spread . 0.1 distribution-*
}

# changed CONTROL PATCHED: the cases that are more than 0.01 % apart, and by how much
changed()
{
	join <(figures "$1" | sort -u) <(figures "$2" | sort -u) |
		awk '($3 - $2) ^ 2 > ($2 / 1e4) ^ 2 { print $1, $3 - $2 }'
}

# verdicts VERDICT FILE: the cases that have it
# The name stands in the line of the verdict or above it.
verdicts()
{
	awk -v verdict="$1" '/^[a-z_]+\./ { name = $1; sub(":", "", name) } $NF == verdict { print name }' \
		"$2" | sort
}

# only PATTERN FILE: slower are the cases of that name, all of them, and nothing is faster
only()
{
	[ -z "$(verdicts IMPROVEMENT "$2")" ] || { verdicts IMPROVEMENT "$2"; return 1; }
	figures run-1 | cut -d' ' -f1 | grep -xE "$1" | sort -u | diff - <(verdicts REGRESSION "$2")
}

# Rows that list names on tmpfs, or on overlayfs which is over it. A copy lists twice.
listing_rows='xattr_list\.(tmpfs|overlayfs)_.*|xattr_many\.tmpfs_.*\.flistxattr_1'
listing_rows+='|xattr_shared_table\.tmpfs\.flistxattr|attr_copy\.tmpfs_(1|4)\..*'
getting_rows='xattr_get\.(tmpfs|overlayfs)_.*|xattr_many\.tmpfs_.*\.fgetxattr_1'
getting_rows+='|xattr_shared_table\.tmpfs\.fgetxattr'
# A copy gets the values and sets them.
copying_rows='attr_copy\.tmpfs_.*'

finds()
{
	local start=$SECONDS

	vm --sandwich "$built"/bzImage-{control,patched} --icount -o slower
	[ $? = 1 ] && [ ! -s err ] || show || return
	echo "sandwich of all cases: $((SECONDS - start)) s" >>figures
	only "$listing_rows" out || return
	# To the instruction.
	changed slower/{1-control,2-patched}.ktap | grep '^xattr_list' >found
	[ "$(wc -l <found)" = 12 ] && fails grep -vE ' (3[0-9]|40)$' found || { cat found; return 1; }
}

nothing()
{
	vm --build "$source" --patch /dev/null -o "$built" || show || return
	vm --sandwich "$built"/bzImage-{control,patched} --icount -o empty && [ ! -s err ] ||
		show || return
	changed empty/{1-control,2-patched}.ktap >found
	[ ! -s found ] || { cat found; return 1; }
	spread tmpfs 0 empty/*.ktap && fails grep -E 'REGRESSION|IMPROVEMENT|INCONCLUSIVE' out
}

# moves PATCH PATTERN: slower are the cases of that name, and no others
moves()
{
	vm --build "$source" --patch "$FSBENCH_TOP/tests/patches/$1.patch" -o "$built" || show || return
	vm -k "$built/bzImage-patched" --icount || show || return
	mv out "$1"
	"$VMTEST_FSBENCH" sandwich slower/1-control.ktap "$1" slower/3-control.ktap >"$1.verdicts"
	[ $? = 1 ] || { cat "$1.verdicts"; return 1; }
	changed slower/1-control.ktap "$1" | grep -E "^($2) " | sed "s/^/$1: /" >>figures
	only "$2" "$1.verdicts"
}

t "control and patched are built, and the tree is not touched" builds
t "ten runs of one kernel count the same" runs
t "a case counts by itself what it counts among all" alone
t "three runs of the distribution's kernel count the same" distribution
t "a patch of 36 instructions is found where it is, and nowhere else" finds
t "the empty patch changes nothing" nothing
# Without an ACL the inode has no attributes at all, and xfs does not look.
t "a larger buffer for each ACL on xfs moves the cold rows" moves xfs_get_acl-buffer \
	'acl\.xfs_(small|large)_cold\..*'
t "a larger struct simple_xattr moves the memory rows" moves simple_xattr-larger \
	'xattr_memory\.tmpfs(_4)?\..*'
t "a slower get on tmpfs moves the rows that get a value there" moves simple_xattr_get-slower \
	"$getting_rows|$copying_rows"
t "a slower set on tmpfs moves the rows that set or remove one there" moves simple_xattr_set-slower \
	"xattr_set\.tmpfs_.*|$copying_rows"
t "a slower remap on btrfs moves clone, copy and dedupe there" moves btrfs_remap-slower \
	'remap\.btrfs_.*\.(clone|copy|dedupe|differs)'
t "a mutex in close moves the rows that close" moves filp_flush-mutex \
	'open_close(_threads)?\..*_1|acl\.[a-z0-9]*_[a-z]*\.open'

printf -- '--- a/fs/xattr.c\n+++ b/fs/xattr.c\n@@ -1 +1 @@\n-no such line\n+another\n' >stale.patch
t "refused: a patch that does not apply" not_built "stale.patch does not apply" --patch "$work/stale.patch"
printf -- '--- a/fs/xattr.c\n+++ b/fs/xattr.c\n@@ -1 +1,2 @@\n // SPDX-License-Identifier: GPL-2.0-only\n+#error broken\n' >broken.patch
t "refused: a build that fails" not_built "patched: the build failed, see .*#error broken" --patch "$work/broken.patch"
mkdir -p suites
cp -r "$KTREE"/tools/testing/selftests/filesystems/*_perf suites
echo CONFIG_NO_SUCH_SYMBOL=y >>suites/xattr_perf/config
VMTEST_SUITES=$work/suites t "refused: a symbol that does not stick" not_built "CONFIG_NO_SUCH_SYMBOL"
sed 's/^/# /' figures
plan
