#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The gate: a baseline taken on this machine passes again and again, a slower
# kernel fails, a faster one is told to refresh. The slower kernel is a seccomp
# filter: slow_syscalls.c. What cannot be compared is said and not gated.

. "${BASH_SOURCE[0]%/*}/tap.sh"

work=$FSBENCH_BUILD/gate
fs=$KTREE/tools/testing/selftests/filesystems
xattr=$fs/xattr_perf/xattr_perf_test remap=$fs/btrfs_remap_perf/btrfs_remap_perf_test
list=xattr_list.tmpfs_1.flistxattr
short=2 long=600
rm -rf "$work"
mkdir -p "$work" "$FSBENCH_BUILD/tests"
cd "$work" || exit 1
cc -O2 -Wall -Wextra -Werror -o "$FSBENCH_BUILD/tests/slow_syscalls" \
	"$FSBENCH_TOP/tests/slow_syscalls.c" || exit 1

# under INSTRUCTIONS SYSCALL PROGRAM CASE [VAR=VALUE...]: output in out and err
under()
{
	env "${@:5}" "$FSBENCH_BUILD/tests/slow_syscalls" "$1" "$2" "$3" -r "$4" >out 2>err
}

show() { cat out err; return 1; }
# says PATTERN...: each is in the output
says()
{
	local p

	for p in "$@"; do
		grep -qE -e "$p" out || { echo "does not say: $p"; show; return; }
	done
}

# Three runs: processes differ by some percent, on a busy machine by more.
baseline()
{
	local i

	rm -f "$5"
	for i in 1 2 3; do
		under "${@:1:4}" FSBENCH_RESULTS="$5" || show || return
		says "^ok 1 $4\$" || return
	done
}

num='[0-9]+\.[0-9]+'
# gate_line CASE VERDICT CONFIRMED: all that a person needs to judge the judge
gate_line()
{
	says "^# fsbench: gate $1 verdict=$2 measured=$num baseline=$num change=[+-]$num% noise=-?$num% control=[+-]$num% threshold=5\.000% confirmed=$3"
}

# The same kernel, many times: counts verdicts and shows how far apart they are.
same=20
again()
{
	local i status=0

	: >all
	for ((i = 0; i < same; i++)); do
		under $short flistxattr "$xattr" "$list" FSBENCH_BASELINE=short.base || status=1
		cat out >>all
		says "^# fsbench: gate $list verdict=" || status=1
	done
	[ "$status" = 0 ] && ! grep '^not ok\|# Bail' all
}

distribution()
{
	grep -o 'verdict=[a-z_]*' all | sort | uniq -c | awk '{ printf "# %s times %s\n", $1, $2 }'
	grep -o 'change=[^%]*' all | sed 's/.*=//' | sort -n | awk '{ v[NR] = $1 } END { if (NR)
		printf "# change: lowest %s, quartiles %s %s %s, highest %s %%\n", v[1],
		v[int((NR + 3) / 4)], v[int((NR + 1) / 2)], v[int((3 * NR + 3) / 4)], v[NR] }'
	echo "# $(grep -c 'repeat 1 of' all) of $same needed repeats"
}

slower()
{
	! under $long flistxattr "$xattr" "$list" FSBENCH_BASELINE=short.base || show || return
	says "^not ok 1 $list\$" '\+[0-9.]+ % against the baseline, repeat 1 of 3$' &&
		gate_line "$list" regression '[23]/[23]'
}

faster()
{
	under $short flistxattr "$xattr" "$list" FSBENCH_BASELINE=long.base || show || return
	says "^ok 1 $list\$" && gate_line "$list" improvement \
		'0/0 hint="improvement, refresh the baseline"'
}

# Also when every call is slower, of itself it does not fail.
control()
{
	local which

	for which in getppid all; do
		under $long "$which" "$xattr" control.getppid FSBENCH_BASELINE=control.base ||
			show || return
		says '^ok 1 control.getppid$' && gate_line control.getppid regression \
			'0/0 hint="every system call is slower, or the machine is"' || return
	done
}

slower_clone()
{
	baseline $short ioctl "$remap" remap.btrfs_1.clone clone.base || return
	! under 4000 ioctl "$remap" remap.btrfs_1.clone FSBENCH_BASELINE=clone.base || show || return
	says '^not ok 1 remap.btrfs_1.clone$' && gate_line remap.btrfs_1.clone regression '[23]/[23]'
}

# The long filter, which fails above, with what must keep it from failing.
not_gated()
{
	local want=$1

	shift
	under $long flistxattr "$xattr" "$list" FSBENCH_BASELINE=now.base "$@" || show || return
	says "^ok 1 $list\$" "^# fsbench: gate $list $want"
}

# edited SED...: a baseline that differs from the one that was taken
edited() { sed "$@" short.base >now.base; ! cmp -s short.base now.base; }

strict()
{
	! under $short flistxattr "$xattr" "$list" FSBENCH_BASELINE=now.base FSBENCH_STRICT=1 ||
		show || return
	says "^not ok 1 $list\$" "^# fsbench: gate $list verdict=not_comparable reason="
}

wrong_kind()
{
	local what=$1

	edited "${@:2}"
	not_gated "verdict=not_comparable reason=\"$what" && strict
}

unfinished()
{
	edited '/^end /d'
	! under $short flistxattr "$xattr" "$list" FSBENCH_BASELINE=now.base || show || return
	says '^Bail out! FSBENCH_BASELINE="now.base": line 2: the run of xattr_perf_test .* has no end' &&
		! grep -q ns_per_op out
}

t "a baseline under a short filter" baseline $short flistxattr "$xattr" "$list" short.base
t "the same $same times: nothing fails" again
distribution
t "a longer filter fails, and the line says why" slower
t "a baseline under the longer filter" baseline $long flistxattr "$xattr" "$list" long.base
t "a shorter filter is an improvement and says what to do" faster
t "a baseline of the control" baseline $short getppid "$xattr" control.getppid control.base
t "the control never fails" control
t "a clone that is slower fails" slower_clone

cp short.base now.base
t "a slow machine measures and is not gated" not_gated 'verdict=not_gated reason="KSFT_MACHINE_SLOW' \
	KSFT_MACHINE_SLOW=1
t "below the threshold nothing fails" not_gated verdict=no_change FSBENCH_THRESHOLD=300
t "another machine is not comparable" wrong_kind 'cpu.model \(' 's/ model="[^"]*"/ model=other/'
t "another filesystem is not comparable" wrong_kind 'block \(' 's/ block=4096/ block=1024/'
t "a baseline with wrong answers gates nothing" wrong_kind 'the baseline has wrong answers' \
	-e '/^round/d' -e "s/^\\($list\\) .*/\\1 expected_match_ratio=50 unexpected_results=1/"
t "a baseline that lacks the case gates nothing" wrong_kind 'the baseline does not have' \
	"s/$list/other.case/"
t "an unfinished baseline is refused" unfinished
plan
