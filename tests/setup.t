#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the name of a case says is proved before it is timed: the value lies there,
# the user is neither owner nor root and the ACL is asked, the inode was not in
# memory. Where it is not so, the case fails and has no time.

# shellcheck disable=SC2015,SC2153 # "A && B || show" is meant as it reads; FSBENCH_TOP
. "${BASH_SOURCE[0]%/*}/tap.sh"

work=$FSBENCH_BUILD/tests/setup
suite=$KTREE/tools/testing/selftests/filesystems/xattr_perf
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
export FSBENCH_ROUNDS=3 FSBENCH_OPS=400
cc -O2 -Wall -Wextra -Werror -shared -fPIC -o pretend.so "$FSBENCH_TOP/tests/pretend.c" || exit 1

show() { cat out err; return 1; }

# run WHAT PROGRAM CASE
run() { env ${1:+"LD_PRELOAD=$PWD/pretend.so" "PRETEND=$1"} "$suite/$2" -r "$3" >out 2>err </dev/null; }

# right PROGRAM CASE...
right()
{
	local case

	for case in "${@:2}"; do
		run "" "$1" "$case" && grep -q "^ok 1 $case\$" out &&
			grep -q "^# fsbench: $case ns_per_op=" out || show || return
	done
}

# wrong WHAT PROGRAM CASE...
wrong()
{
	local case

	for case in "${@:3}"; do
		! run "$1" "$2" "$case" && grep -q "^not ok 1 $case\$" out || show || return
		! grep "$case ns_per_op=" out || return
	done
}

# skipped WHY WHAT PROGRAM CASE
skipped()
{
	run "$2" "$3" "$4" && grep -q "^ok 1 $4 # SKIP .*$1" out || show
}

cold=acl.xfs_small_cold.getxattr
t "as it should be: ACLs" right acl_perf_test acl.tmpfs_small.access acl.xfs_large_cold.access \
	acl.ext4_small_cold.open acl.btrfs_none_cold.getxattr
t "as it should be: values" right xattr_value_test xattr_get.xfs_16_leaf.fgetxattr \
	xattr_get.xfs_4k.fgetxattr xattr_get.ext4_4k.fgetxattr xattr_set.ext4_256.replace
t "root is not refused" wrong root acl_perf_test acl.tmpfs_none.access acl.xfs_small.open "$cold"
t "an ACL that is not there refuses nobody" wrong no-acl acl_perf_test acl.tmpfs_small.access \
	acl.ext4_small.open
t "the user is refused without an ACL" wrong refused acl_perf_test acl.tmpfs_small.access
t "inodes that stay in memory" wrong warm acl_perf_test "$cold" acl.ext4_none_cold.access \
	acl.btrfs_small_cold.open
t "inodes that stay in memory after the set-up" wrong warm-later acl_perf_test "$cold"
# A batch that met an inode in memory is not used, and told apart from those disturbed.
few_warm()
{
	local case=acl.$2_cold.access

	run "$1" acl_perf_test "$case" || show || return
	awk -v case="$case" '
		{ delete f; for (i = 3; i <= NF; i++) if (split($i, p, "=") == 2) f[p[1]] = p[2] }
		$2 == "fsbench:" && $3 == case {
			# Each of them takes 100 ms, and has at most four operations.
			ok = f["warm"] > 0 && f["batches"] > 0 && f["max"] < 20e6 &&
			     f["disturbed"] == f["preempted"] + f["migrated"] + f["stolen"]
			# All of them would be so many.
			for (all = 3 * 400; all > 1; all /= 2)
				ok = ok && f["batches"] != all
			ok = ok && f["ops"] < 3 * 400
		}
		END { exit !ok }' out || show
}
t "batches that meet an inode in memory are not used" few_warm some-open ext4_small
t "nor those in which xfs finds one" few_warm found xfs_small
t "too many inodes in memory" wrong many-open acl_perf_test "$cold" acl.btrfs_none_cold.access
# Each that was cold is looked at once more, and might have been dropped before that.
beside_dropping()
{
	local dropper

	(while echo 2 >/proc/sys/vm/drop_caches; do sleep 0.003; done) &
	dropper=$!
	right acl_perf_test acl.xfs_small_cold.access acl.ext4_small_cold.access
	set -- $?
	kill "$dropper"
	wait "$dropper" 2>/dev/null
	return "$1"
}
t "somebody else who drops all the time" beside_dropping
t "all inodes in memory" wrong found-later acl_perf_test "$cold"
t "and the reason is said" grep -q "no batch was what the case says" out
t "xfs that does not tell what it finds is skipped" skipped "statistics of xfs" no-stats \
	acl_perf_test "$cold"
t "inodes that cannot be marked are skipped" skipped F_SET_RW_HINT no-mark acl_perf_test "$cold"
t "all in the inode" wrong inline xattr_value_test xattr_get.xfs_16_leaf.fgetxattr \
	xattr_get.xfs_256.fgetxattr xattr_get.xfs_4k.fgetxattr xattr_get.ext4_256.fgetxattr \
	xattr_set.ext4_256.replace
t "a large ACL in the inode" wrong inline acl_perf_test acl.xfs_large_cold.access
t "all in blocks" wrong outside xattr_value_test xattr_get.xfs_16.fgetxattr \
	xattr_get.ext4_16.fgetxattr xattr_set.xfs_16.replace
t "a small ACL in a block" wrong outside acl_perf_test acl.ext4_small.access

t "a wrong byte in an ACL" wrong byte acl_perf_test acl.tmpfs_small.getxattr "$cold"
t "a wrong byte in a value" wrong byte xattr_value_test xattr_get.tmpfs_64k.fgetxattr \
	xattr_get.xfs_4k.getxattr xattr_get.ext4_4k.fgetxattr xattr_set.xfs_16.create \
	xattr_set.tmpfs_16.resize
t "nothing is copied" wrong no-value attr_copy_test attr_copy.tmpfs_1.attr_copy_fd

all()
{
	local rest=xattr_get.tmpfs_256.getxattr

	skipped "not in the default set, see FSBENCH_ALL" "" xattr_value_test $rest &&
		! grep "$rest ns" out && FSBENCH_ALL=1 right xattr_value_test $rest
}
t "FSBENCH_ALL=1 adds what is not in the default set" all

no_acls()
{
	skipped "no ACLs" no-acls acl_perf_test acl.tmpfs_small.access &&
		skipped "no ACLs" no-acls acl_perf_test acl.tmpfs_none.access &&
		skipped "no ACLs" no-acls acl_perf_test acl.xfs_none.getxattr
}
t "without ACLs in the kernel a file without one is skipped too" no_acls

no_space()
{
	skipped "a value of this size does not fit" no-space xattr_value_test xattr_get.ext4_4k.fgetxattr &&
		wrong no-space xattr_value_test xattr_get.xfs_4k.fgetxattr
}
t "no space is a reason on ext4, and a fault on xfs" no_space

# Equal ones would be stored once on ext4.
distinct()
{
	FSBENCH_ROUNDS=1 FSBENCH_OPS=16 strace -f -xx -s 300 -e trace=fsetxattr -o trace \
		"$suite/xattr_value_test" -r xattr_set.ext4_256.remove >out 2>err </dev/null || show || return
	sed -n 's/.*fsetxattr(\([0-9]*\), [^,]*, \("[^"]*"\), 256, .*CREATE.*/\1 \2/p' trace | sort -u >created
	[ "$(wc -l <created)" -ge 2 ] && [ -z "$(cut -d' ' -f2 created | sort | uniq -d)" ] || show
}
if strace -qq -o trace true; then
	t "no two files have the same value" distinct
else
	skip "no two files have the same value" "needs strace"
fi

without()
{
	make -s -C "$suite" OUTPUT="$PWD" PKG_CONFIG=false "$PWD/attr_copy_test" >out 2>err || show || return
	./attr_copy_test >out 2>err </dev/null || show || return
	[ "$(grep -c '^ok .* # SKIP built without libattr' out)" = 6 ] || show
}
t "without libattr its cases are skipped" without

nobody()
{
	local user=(setpriv "--reuid=65534" "--regid=65534" --clear-groups)

	chmod a+rx . && cp "$suite/acl_perf_test" . || return
	"${user[@]}" ./acl_perf_test -r acl.tmpfs_small.access >out 2>err </dev/null
	grep -q "^ok 1 acl.tmpfs_small.access # SKIP tmpfs: needs root: a second user" out || show
}
t "without root there is no second user" nobody
plan
