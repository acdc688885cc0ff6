#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Nothing is left behind, however a program ends: no process, mount, loop
# device, module or file. Processes are killed in the set-up, at system calls
# that strace stops at, in a round, in the gate's repeats, by the kernel's runner
# and by what the harness does to a case that fails.

# Mounts that would spread to the rest of the system are to be seen: "/" is
# shared, as it mostly is. Others who use /tmp are not; this repository is, where it
# lies there.
if [ "$EUID" = 0 ] && [ -z "${LEAKS_INSIDE-}" ]; then
	# shellcheck disable=SC2016 # expanded in there
	LEAKS_INSIDE=1 exec unshare -m --propagation private bash -c '
		exec 9<"$FSBENCH_TOP"
		mount -t tmpfs leaks.t /tmp && mount -t tmpfs leaks.t /dev/shm
		[ -d "$FSBENCH_TOP" ] ||
			{ mkdir -p "$FSBENCH_TOP" && mount -c --bind /proc/self/fd/9 "$FSBENCH_TOP"; }
		cd "$FSBENCH_TOP" && exec 9<&-
		mount --make-rshared / && exec "$0"' "$(realpath "$0")"
fi

. "${BASH_SOURCE[0]%/*}/tap.sh"

work=$FSBENCH_BUILD/leaks
rm -rf "$work"
mkdir -p "$work/cwd" "$FSBENCH_BUILD/tests"
cd "$work" || exit 1

fs=tools/testing/selftests/filesystems
xattr=$KTREE/$fs/xattr_perf/xattr_perf_test
value=$KTREE/$fs/xattr_perf/xattr_value_test
remap=$KTREE/$fs/btrfs_remap_perf/btrfs_remap_perf_test
list=xattr_list.btrfs_1.flistxattr
export FSBENCH_RESULTS=$work/res
: >sessions

show() { echo "$*"; tail -n 30 out err; return 1; }

# Each command has a session of its own: its processes are found by that. Bash
# lets what it puts in the background ignore SIGINT.
start()
{
	# Not in the background: nobody must read what was there before.
	: >res
	: >out
	# shellcheck disable=SC2094 # another "out"
	(cd cwd && exec setsid env --default-signal=INT,QUIT "$@" >"${out-../out}" 2>../err </dev/null) &
	sid=$!
	echo "$sid" >>sessions
}

# No zombies: who inherits an orphan may take his time.
processes() { ps -s "$1" -o stat=,pid=,args= | awk '!/^Z/ { print; n++ } END { exit !n }'; }
gone() { ! processes "$sid" >left; }

# The loop devices that came since, less those that a process is using: that is
# another run, since all processes of ours are gone.
strays()
{
	local dev

	losetup -a | sort | comm -13 loops.before - | while IFS=: read -r dev _; do
		grep -qs " $dev " /proc/[0-9]*/mountinfo ||
			[ -n "$(find /proc/[0-9]*/fd -lname "$dev" -print -quit 2>&-)" ] || echo "$dev"
	done
}

# Every test is a subshell, so what was started is known from a file.
end_all()
{
	local s pid dev

	while read -r s; do
		while read -r _ pid _; do
			kill -9 "$pid"
		done < <(processes "$s")
	done <sessions
	for dev in $(strays); do
		losetup -d "$dev"
	done
}
trap end_all EXIT

# within SECONDS COMMAND...
within()
{
	local end=$((SECONDS + $1 + 1))

	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.02
	done
}

state()
{
	cat /proc/mounts /proc/self/mountinfo
	[ ! -e /proc/modules ] || cut -d' ' -f1 /proc/modules | sort
	find /tmp /dev/shm "$work/cwd" -path "$FSBENCH_TOP" -prune -o -print | sort
}

same() { state | cmp -s - before && [ -z "$(strays)" ]; }

clean()
{
	if ! within 5 gone; then
		echo "still there:"
		cat left
		end_all
		return 1
	fi
	wait "$sid"
	status=$?
	within 5 same && return
	echo "not as before:"
	state | diff before -
	strays
	end_all
	state >before
	return 1
}

# The program, the child in which the harness runs a case, and the case itself,
# which on some kernels is the same: the last of the line.
children() { ps --ppid "$1" -o pid= | tr -d ' '; }
who()
{
	local p=$program next

	case $1 in
	program) echo "$p" ;;
	child)	children "$p" ;;
	case)
		while next=$(children "$p" | head -n 1) && [ -n "$next" ]; do
			p=$next
		done
		echo "$p" ;;
	all)	processes "$sid" | awk '{ print $2 }' ;;
	esac
}

# What a run that was cut off has written is whole lines without an end; if only
# its case was, the program says so and goes on.
record()
{
	local want=0 got

	[[ $1 = child || $1 = case ]] || want=2
	fsbench check res >checked 2>&1
	got=$?
	[ $got = $want ] || show "check: $got, $(cat checked)" || return
	if [ $want = 2 ]; then
		grep ' has no end' checked || show "check: $(cat checked)"
	elif [ "$status" != 1 ] || ! grep -q '^not ok 1 ' out; then
		show "exit status $status"
	fi
}

shoot()
{
	local pids

	program=$sid
	pids=$(who "$2")
	[ -n "$pids" ] || show "no $2" || return
	# shellcheck disable=SC2086 # a list
	kill -"$1" $pids
	clean && record "$2"
}

rounds() { [ "$(grep -c '^round ' res)" -ge 2 ]; }

# in_round SIGNAL WHO PROGRAM CASE
in_round()
{
	start env FSBENCH_ROUNDS=1000 "$3" -r "$4"
	within 10 rounds || show "no rounds" || return
	shoot "$1" "$2"
}

repeating() { grep -q "repeat $1 of" out; }

# A baseline so fast that repeats are needed, and long ones.
in_repeat()
{
	start env FSBENCH_ROUNDS=100 FSBENCH_BASELINE="$work/fast" "$xattr" -r $list
	within 15 repeating "$3" || show "no repeats" || return
	shoot "$1" "$2"
}

baseline()
{
	start env FSBENCH_ROUNDS=5 "$xattr" -r $list
	clean && sed -E "/^$list ns/ s/ (ns_per_op|low|high|median|mean|min|max)=[0-9.]+/ \\1=1.000/g" res >fast
}

# Nobody reads on: the next line that is written ends it.
closed_pipe()
{
	mkfifo pipe
	head -n 4 <pipe >/dev/null &
	out=../pipe start env FSBENCH_ROUNDS=20 "$xattr"
	clean || return
	[ "$status" -gt 128 ] || show "exit status $status"
}

# at_call CALL N SIGNAL PROGRAM CASE: whoever makes the Nth such call is killed
# before it; or stopped after it, and then the program is killed.
stopped() { grep -q 'stopped by SIGSTOP' trace; }
at_call()
{
	: >trace
	start env FSBENCH_ROUNDS=2 strace -f -o ../trace -e trace="$1" \
		-e inject="$1:signal=$3:when=$2" "$4" -r "$5"
	if [ "$3" = STOP ]; then
		within 10 stopped || show "no $1" || return
		program=$(children "$sid")
		kill -9 "$(who program)"
		clean
		return
	fi
	clean || return
	grep -q 'killed by SIGKILL' trace || show "no $1"
}

moments()
{
	local call signal

	for call in "${@:3}"; do
		for signal in KILL STOP; do
			at_call "${call%:*}" "${call#*:}" $signal "$1" "$2" && continue
			echo "$signal at $call"
			return 1
		done
	done
}

# The kernel's runner, with its time limit; it must not wait for an orphan.
runner()
{
	local tree=$work/tree-$1

	cp -a "$2" "$tree"
	echo timeout=4 >"$tree/$fs/btrfs_remap_perf/settings"
	start make -C "$tree/tools/testing/selftests" TARGETS=filesystems/btrfs_remap_perf \
		FSBENCH_ROUNDS=400 FSBENCH_OPS=5000 run_tests
	within 20 gone || show "still running" || return
	clean || return
	grep -q '^not ok 1 .* # TIMEOUT 4 seconds$' out || show "no timeout" || return
	grep -q '^round remap.btrfs_1.clone' res || show "not in a round" || return
	! grep '^remap.btrfs_1.clone ns' res || show "the case went on"
}

compile()
{
	local dir=$2/$fs/fsbench src

	src=$(sed -n '/^FSBENCH_SRCS/,$p' "$dir/fsbench.mk" | grep -o '[a-z]*\.c')
	# shellcheck disable=SC2086 # a list
	(cd "$dir" && cc -O2 -g -Wall -Wextra -Werror -DFSBENCH_CFLAGS='"-O2"' -I. \
		-o "$FSBENCH_BUILD/tests/assert_fail-$1" "$FSBENCH_TOP/tests/assert_fail.c" $src -lm -lpthread)
}

bad_cases()
{
	local case want

	start "$FSBENCH_BUILD/tests/assert_fail-$1"
	within 15 gone || show "still running" || return
	clean || return
	[ "$status" = 1 ] || show "exit status $status" || return
	while read -r want case; do
		grep -qE "^${want/_/ } [0-9]+ $case\$" out || show "$case is not ${want/_/ }" || return
	done <<-EOT
		ok control.getppid
		ok body.right
		not_ok body.assert
		not_ok body.segv
		not_ok body.hang
		not_ok body.orphan
		not_ok setup.assert
	EOT
}

# An ordinary user has all of it in a user namespace.
user()
{
	as_user() { start setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
	mkdir user && chown 65534 user || return
	FSBENCH_RESULTS=$work/user/res FSBENCH_ROUNDS=1000 as_user "$xattr" -r xattr_list.tmpfs_4.listxattr
	within 10 grep -q '^round ' user/res || show "no rounds" || return
	kill -9 "$sid"
	clean
}

state >before
losetup -a | sort >loops.before
t "a run that ends well" baseline

while read -r signal who program case; do
	t "$signal to the $who in a round of $case" in_round "$signal" "$who" "$program" "$case"
done <<EOF
KILL program $xattr $list
KILL child $xattr $list
KILL case $xattr $list
KILL all $xattr $list
TERM program $xattr $list
INT program $xattr $list
HUP program $xattr $list
KILL program $remap remap.btrfs_1.clone
KILL case $remap remap.btrfs_1.dedupe
KILL program $xattr xattr_list.xfs_4.listxattr
KILL program $value xattr_set.ext4_16.replace
KILL program $xattr xattr_list.overlayfs_1.flistxattr
KILL case $xattr control.getppid
EOF

for who in program child case all; do
	t "KILL to the $who in the gate's repeats" in_repeat KILL "$who" 1
done
t "TERM to the program in the gate's last repeat" in_repeat TERM program 3
t "nobody reads the output" closed_pipe

if [ "$EUID" != 0 ] || ! strace -qq -o trace true; then
	skip "killed in the set-up" "needs root and strace"
else
	# The ioctls are those of the loop device, pwrite64 and fsync are in mkfs.
	t "killed in the set-up of btrfs" moments "$xattr" $list clone:1 clone:2 execve:1 unshare:1 \
		mount_setattr:1 memfd_create:1 memfd_create:2 memfd_create:3 ftruncate:1 pwrite64:2 fsync:1 \
		ioctl:1 ioctl:2 ioctl:3 fsopen:1 fsconfig:1 fsconfig:2 fsmount:1 move_mount:1 fchdir:1 \
		statfs:1 fsetxattr:1 flistxattr:1
	t "killed in the set-up of overlayfs" moments "$xattr" xattr_list.overlayfs_1.flistxattr \
		fsmount:1 move_mount:1 mkdir:2 fsconfig:6 move_mount:2 fchdir:2
	t "killed in the set-up of remap" moments "$remap" remap.btrfs_1.clone \
		pwrite64:1 syncfs:1 syncfs:2 ioctl:9
fi

for kernel in 6.12 6.1; do
	[ $kernel = 6.12 ] && tree=$KTREE_612 || tree=$KTREE_61
	t "$kernel: the runner's time is up" runner $kernel "$tree"
	t "$kernel: a suite of cases that end badly, with -O2" compile $kernel "$tree"
	t "$kernel: they leave nothing" bad_cases $kernel
done

if [ "$EUID" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$xattr"; then
	t "KILL to the program of an ordinary user" user
else
	skip "KILL to the program of an ordinary user" "needs root, and programs that he may run"
fi
plan
