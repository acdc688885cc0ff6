#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The VM runner, on the distribution's kernel: both suites pass there, results
# arrive whole, and a guest that goes wrong in any way is a failure that is shown
# and leaves nothing behind. Shell scripts stand for the suites where they would
# only take time.

# shellcheck disable=SC2015,SC2016 # "A && B || show" is meant as it reads; stubs
. "${BASH_SOURCE[0]%/*}/tap.sh"

fs=tools/testing/selftests/filesystems
vmtest=$KTREE/$fs/fsbench/vmtest.sh
work=$FSBENCH_BUILD/tests/vm
stubs=$work/stubs
rm -rf "$work"
mkdir -p "$work/tmp"
cd "$work" || exit 1
export TMPDIR=$work/tmp
# A kernel that hangs by itself must not take the whole time of the test.
export VMTEST_TIMEOUT=200

kernel=$("$FSBENCH_TOP/scripts/vm.sh" kernel) || exit 1
# The same without its modules, which it need not load for the stubs.
mkdir bare
cp "$kernel" bare
bare=$work/bare/${kernel##*/}

show() { cat out err; return 1; }
fails() { ! "$@"; }
vm() { "$vmtest" -k "${use-$kernel}" "$@" >out 2>err </dev/null; }

# Nothing of ours runs, and nothing lies about.
clean()
{
	[ -z "$(ls -A "$TMPDIR")" ] || { ls -R "$TMPDIR"; return 1; }
	fails grep -lsaF "$TMPDIR" /proc/[0-9]*/cmdline
}

# stub COMMAND: what the first suite does; the second one passes
stub()
{
	local suite

	rm -rf "$stubs"
	for suite in btrfs_remap_perf xattr_perf; do
		mkdir -p "$stubs/$suite"
		cp "$KTREE/$fs/$suite/config" "$stubs/$suite"
		printf '#!/bin/sh\necho "ok 1 stub"\n' >"$stubs/$suite/${suite}_test"
	done
	printf '#!/bin/sh\necho "ok 1 stub"\n%s\n' "$1" >"$stubs/btrfs_remap_perf/btrfs_remap_perf_test"
	chmod +x "$stubs"/*/*_test
}
stub_vm() { use=$bare VMTEST_SUITES=$stubs vm "$@"; }

suites()
{
	vm -o results || show || return
	[ "$(grep -c "^ok " out)" = 8 ] && [ "$(head -n 1 out)" = "TAP version 13" ] || show || return
	fails grep -E '^not ok|^# not ok' out || return
	grep ' # SKIP' out | grep -v 'not in the default set' && return 1
	# Whatever can be on brd is.
	[ "$(grep -c 'fs=btrfs .*device=brd' out)" -ge 28 ] && fails grep device=loop out || show || return
	fsbench check results && fsbench check out &&
		[ "$(grep -c ' ns_per_op=.* mean=' results)" = "$(grep -c ' ns_per_op=.* mean=' out)" ]
}
t "both suites pass, btrfs on brd" suites

# The format is named once.
appended()
{
	vm -o results -- -r control.getppid && fsbench check results && [ "$(grep -c '^run ' results)" = 16 ] ||
		show || return
	fails vm -o results -- -r no.such.case && grep -q "no results: is there such a case" err || show
}
t "results are appended, and a case that is not there is none" appended
# It need not be tried again.
! grep -q "no KVM here" err || export VMTEST_ACCEL=tcg
t "nothing is left of it" clean

whole()
{
	# All bytes, no newline at the end.
	stub 'i=0; while [ $i -lt 256 ]; do printf "\\x$(printf %x $i)"; i=$((i + 1)); done >/tmp/all
		for i in 1 2 3 4 5 6 7; do cat /tmp/all /tmp/all; done >$FSBENCH_RESULTS
		printf "$FSBENCH_ROUNDS $*|" >&2'
	rm -f results
	VMTEST_FSBENCH=/bin/true FSBENCH_ROUNDS="a 'b" stub_vm -o results -- -r "c  d" '$e' || show || return
	for _ in {1..14}; do
		for i in {0..255}; do printf '%b' "\\x$(printf %x "$i")"; done
	done | cmp - results || return
	grep -qxF "# a 'b -r c  d \$e|" out || show
}
t "results arrive byte by byte, arguments word by word" whole

damaged()
{
	stub 'echo no results >$FSBENCH_RESULTS'
	rm -f results
	fails stub_vm -o results || show || return
	grep -q "^vmtest: results: " err || show
}
t "what is no results file is a failure" damaged

failing()
{
	stub 'exit 1'
	fails stub_vm || show || return
	[ "$(grep -c '^not ok 1 .*btrfs_remap_perf_test$' out)" = 1 ] &&
		[ "$(grep -c '^ok 2 .*xattr_perf_test$' out)" = 1 ] && [ ! -s err ] || show
}
t "a suite that fails makes it fail" failing

# goes_wrong REASON: said in the last line of the KTAP, and with the console
goes_wrong()
{
	fails stub_vm || show || return
	tail -n 1 out | grep -q "^Bail out! vmtest: $1" && grep -q "^vmtest: $1" err || show || return
	[ "$(grep -c '^  .' err)" -ge 5 ] || show || return
	clean
}

stub 'echo c >/proc/sysrq-trigger'
t "a guest that panics" goes_wrong "the guest panicked: Kernel panic - not syncing: sysrq triggered crash"
stub 'echo "<4>WARNING: CPU: 0 PID: 1 at fs/made-up.c:1" >/dev/kmsg'
t "a guest that warns" goes_wrong "the guest complained: WARNING: CPU: 0 PID: 1 at fs/made-up.c:1"
stub 'head -c 4000000000 /dev/zero | tail -n 1 >/dev/null'
VMTEST_MEMORY=512 t "a guest that runs out of memory" goes_wrong "the guest complained: .*invoked oom-killer"
stub 'sleep 1000'
VMTEST_TIMEOUT=15 t "a guest that hangs" goes_wrong "the guest hangs: no end within 15 s"
stub 'reboot -f'
t "a guest that ends early" goes_wrong "the guest ended before the suites did"

# while_it_runs SIGNAL runner|QEMU: sends it as soon as the guest is up
while_it_runs()
{
	local runner qemu i

	stub 'sleep 1000'
	rm -f out
	VMTEST_SUITES=$stubs "$vmtest" -k "$bare" >out 2>err </dev/null &
	runner=$!
	for ((i = 0; i < 300; i++)); do
		grep -q '^# ok 1 stub' out 2>/dev/null && break
		sleep 0.2
	done
	qemu=$(pgrep -P "$runner" qemu) || show
	[ "$2" = runner ] && kill "-$1" "$runner" || kill "-$1" "$qemu"
	wait "$runner"
}

vanishes()
{
	while_it_runs KILL QEMU
	[ $? = 1 ] && tail -n 1 out | grep -q "vmtest: the guest vanished: QEMU was killed by signal 9" &&
		[ "$(grep -c '^  .' err)" -ge 5 ] || show || return
	clean
}
t "a guest that vanishes" vanishes

stopped()
{
	while_it_runs TERM runner
	[ $? = 143 ] || show || return
	clean
}
t "a runner that is stopped" stopped

killed()
{
	while_it_runs KILL runner
	# Only its files are left.
	sleep 1
	rm -rf "$work/tmp"/*
	clean
}
t "a runner that is killed" killed

lacking()
{
	local release

	release=${kernel##*/vmlinuz-}
	mkdir -p lacking
	cp "$kernel" lacking
	sed -e '/^CONFIG_XFS_FS=/d' -e 's/^CONFIG_TMPFS_XATTR=.*/# & is not set/' \
		"${kernel%/*}/config-$release" >"lacking/config-$release"
	stub :
	VMTEST_SUITES=$stubs "$vmtest" -k "lacking/${kernel##*/}" >out 2>err </dev/null || show || return
	[ "$(cat err)" = "vmtest: not in this kernel: CONFIG_TMPFS_XATTR CONFIG_XFS_FS" ] || show
}
t "a kernel that lacks something is told what" lacking

# Else each would be computed anew, and calls that take one would cost that as well.
random_numbers()
{
	stub 'dmesg | grep "random: crng init done" || exit 1'
	stub_vm --icount && [ ! -s err ] || show
}
t "a guest that counts has random numbers from the start" random_numbers

exact()
{
	"$vmtest" --sandwich "$kernel" "$kernel" --icount -o sandwich -- -r xattr_list.tmpfs_1.flistxattr \
		-r xattr_list.btrfs_1.flistxattr -r open_close.tmpfs_one_file.processes_n >out 2>err </dev/null || show || return
	clean || return
	[ "$(sed -n 's/.*\(xattr_list.* ns_per_op=[0-9.]*\) .*mean=.*/\1/p' sandwich/*.ktap | sort -u | wc -l)" = 2 ] &&
		[ "$(grep -c ' ns_per_op=.* mean=' sandwich/2-patched.ktap)" = 2 ] || show || return
	grep -q 'processes_n # SKIP needs two CPUs, instructions are counted on one' sandwich/2-patched.ktap &&
		grep -q 'machine clock .*unit=instructions' sandwich/2-patched.txt || show || return
	# Whole batches only.
	[ "$(grep -c ' ops=1200 .*batches=50 ' sandwich/2-patched.ktap)" = 2 ] || show || return
	# The clock takes a large share of few instructions, and always the same.
	fsbench compare sandwich/1-control.txt sandwich/2-patched.txt >out || show || return
	[ "$(grep -c '+0.00%   0.00%  NO CHANGE$' out)" = 2 ] || show
}
t "control, patched and control of one kernel count the same instructions" exact

refused()
{
	local said

	fails "$vmtest" "$@" >out 2>err </dev/null || return
	[ "$(wc -l <err)" = 1 ] && [ ! -s out ] && clean || show
}
echo "no kernel" >text
t "refused: no such kernel" refused -k nothing
t "refused: not a kernel" refused -k text
t "refused: an unknown option" refused --nothing
t "refused: an option without its value" refused --sandwich "$kernel"
ln -s results link
t "refused: results through a link" refused -k "$kernel" -o link
t "refused: results behind something else" refused -k "$kernel" -o text
t "refused: results where there is no directory" refused -k "$kernel" -o no/such/results
mkdir -p tree built/src && touch tree/Kconfig built/src/mine
t "refused: a directory that others have made" refused --build tree -o built
t "refused: a directory in the tree" refused --build tree -o tree/built
t "refused: a directory that holds the tree" refused --build tree -o .
t "refused: a number of sandwiches" refused --sandwich "$kernel" "$kernel" -n 0
t "refused: more sandwiches than can be judged" refused --sandwich "$kernel" "$kernel" -n 32
VMTEST_FSBENCH=$work/nothing t "refused: an fsbench that is not there" refused -k "$kernel"
t "refused: not a kernel tree" refused --build "$work" -o k
plan
