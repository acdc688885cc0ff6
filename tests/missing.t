#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the suites do where something is missing: the cases that need it are
# skipped with a reason that helps, the others run, and nothing fails, hangs or
# stays behind. All of it happens in mount namespaces, or by strace's leave.

# shellcheck disable=SC2015 # "A && B || show" is meant as it reads
. "${BASH_SOURCE[0]%/*}/tap.sh"

if [ "$EUID" != 0 ]; then
	echo "1..0 # SKIP needs root"
	exit 0
fi
# Whatever is mounted goes with this process.
if [ -z "${MISSING_IN_NAMESPACE-}" ]; then
	MISSING_IN_NAMESPACE=1 exec unshare -m "$0"
fi

fs=$KTREE/tools/testing/selftests/filesystems
work=$FSBENCH_BUILD/missing
rm -rf "$work"
mkdir -p "$work"
# From here an ordinary user can start them, wherever the tree is.
mount -t tmpfs -o mode=0755 missing "$work" && cd "$work" || exit 1
cp "$fs"/*/*_perf_test .
export FSBENCH_ROUNDS=1

busy='' group=''
cleanup()
{
	[ -z "$busy" ] || losetup -d "$busy"
	[ -z "$group" ] || rmdir "$group/inner" "$group" 2>/dev/null
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

show() { grep -v -e '^# fsbench: machine' -e ' ns_per_op=' -e '^#  *OK ' out; return 1; }
private() { unshare -m "$@"; }

# One case of each file system, and all that are on a block device.
some=(./xattr_perf_test)
for name in tmpfs xfs ext4 btrfs overlayfs; do
	some+=(-r "xattr_list.${name}_1.flistxattr")
done
x=${some[*]}

# skipped COUNT WHY: so many, each for a reason that matches; all others pass.
skipped()
{
	local rc=$? why=${2-.} default

	# Those that nobody asked for have no record.
	default=$(grep -c '# SKIP not in the default set' out)
	sed -i -e '/# SKIP not in the default set/d' out
	cat out >>all
	[ "$rc" = 0 ] && ! grep -q '^not ok' out && [ "$(grep -c '^ok .*# SKIP' out)" = "$1" ] &&
		[ "$(grep -cE "^ok [0-9]+ .* # SKIP .*($why)" out)" = "$1" ] &&
		[ "$(grep -cE '^# fsbench: skip [^ ]+ reason=".*"' out)" = "$1" ] &&
		[ "$(($(grep -c '^ok ' out) + default))" = "$(sed -n 's/^1\.\.//p' out)" ] || show
}

# Programs

no_mkfs()
{
	# shellcheck disable=SC2016 # expanded in there
	private bash -c 'for name in btrfs xfs ext4; do
			dir=$(command -v "mkfs.$name") || continue
			mount -t tmpfs none "$(realpath "${dir%/*}")" || exit
		done
		exec '"$x" >out 2>&1 </dev/null
	skipped 3 'no mkfs.(btrfs \(package btrfs-progs|xfs \(package xfsprogs|ext4 \(package e2fsprogs)\)'
}
t "no mkfs: three file systems are skipped" no_mkfs

no_one_mkfs()
{
	private sh -c "mount --bind /dev/null $(command -v "mkfs.$1") && exec $x" >out 2>&1 </dev/null
	skipped 1 "no mkfs.$1 \(package $2\)"
}
t "no mkfs.btrfs" no_one_mkfs btrfs btrfs-progs
t "no mkfs.xfs" no_one_mkfs xfs xfsprogs
t "no mkfs.ext4" no_one_mkfs ext4 e2fsprogs

# As an old mkfs does, or somebody's configuration of it.
no_reflink()
{
	cp "$(command -v mkfs.xfs)" mkfs &&
		printf '#!/bin/sh\nexec "%s" -m reflink=0 "$@"\n' "$PWD/mkfs" >mkfs.xfs && chmod +x mkfs.xfs || return
	private sh -c "mount --bind mkfs.xfs $(command -v mkfs.xfs) &&
		exec ./btrfs_remap_perf_test -r remap.xfs_1.clone -r remap.xfs_1m.copy -r remap.btrfs_1.clone" \
		>out 2>&1 </dev/null
	skipped 2 'xfs has no reflink: Operation not supported'
}
t "xfs without reflink" no_reflink

# Loop devices: a /dev of our own, without what is not named.

small_dev()
{
	local setup=$1

	private bash -c "mkdir -p dev && mount -t tmpfs none dev && cp -a /dev/{null,zero,full,random,urandom} dev &&
		$setup && mount --move dev /dev && exec timeout 30 $x" >out 2>&1 </dev/null
}

no_control()
{
	small_dev :
	skipped 3 '/dev/loop-control: No such file or directory \(CONFIG_BLK_DEV_LOOP\)'
}
t "no /dev/loop-control" no_control

no_node()
{
	small_dev 'cp -a /dev/loop-control dev'
	skipped 3 'no loop device, last /dev/loop[0-9]+: No such file or directory'
}
t "/dev/loop-control, but no /dev/loopN" no_node

all_busy()
{
	small_dev "cp -a /dev/loop-control dev && for i in {0..63}; do cp -a $busy dev/loop\$i; done"
	skipped 3 'no loop device, last /dev/loop[0-9]+: Device or resource busy'
}
truncate -s 1M disk
if busy=$(losetup -f --show disk 2>out); then
	t "somebody is always faster to take the loop device" all_busy
else
	skip "somebody is always faster to take the loop device" "no loop device"
fi

# Somebody looks at the device all the time, as udev does.
watched()
{
	local dev

	dev=$(losetup -f)
	./xattr_perf_test -r xattr_list.xfs_1.flistxattr 9<"$dev" >out 2>&1 </dev/null
	skipped 0
	for _ in {1..20}; do
		[ -e "/sys/block/${dev#/dev/}/loop/backing_file" ] &&
			grep -q fsbench "/sys/block/${dev#/dev/}/loop/backing_file" || return 0
		sleep 0.1
	done
	echo "$dev stays"
	return 1
}
t "a loop device that somebody else holds open" watched

# Memory

little()
{
	sed 's/^MemAvailable:.*/MemAvailable:   51200 kB/' /proc/meminfo >meminfo
	private sh -c "mount --bind meminfo /proc/meminfo && exec $x" >out 2>&1 </dev/null
	skipped 3 '50 MiB of memory available, (btrfs|xfs|ext4) on loop needs 192'
}
t "too little memory" little

# limited GROUP: it, or one around it, may use 100 MiB
limited()
{
	(echo "$BASHPID" >"$1/cgroup.procs" && exec $x) >out 2>&1 </dev/null
	skipped 3 '[89][0-9] MiB of memory available, (btrfs|xfs|ext4) on loop needs 192'
}

# Version 2, or 1; ours may lie anywhere below the mount point.
make_group()
{
	local path limit=memory.max

	path=/sys/fs/cgroup$(sed -n 's/^0:://p' /proc/self/cgroup)
	if [ -d /sys/fs/cgroup/memory ]; then
		path=/sys/fs/cgroup/memory$(sed -n 's/.*:memory://p' /proc/self/cgroup)
		limit=memory.limit_in_bytes
	fi
	mkdir "$path/fsbench-missing-$$" || return
	group=$path/fsbench-missing-$$
	echo 100M >"$group/$limit" && mkdir "$group/inner"
}
if make_group 2>out; then
	t "a control group with little memory" limited "$group"
	t "a control group within one with little memory" limited "$group/inner"
else
	skip "a control group with little memory" "no group can be made here"
	skip "a control group within one with little memory" "no group can be made here"
fi

# Rights

as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }

ordinary()
{
	as_user "./$1" >out 2>&1 </dev/null
	skipped "$(grep -v 'not in the default set' out | grep -cE '^ok .*\.(xfs|ext4|btrfs)')" '(xfs|ext4|btrfs) needs root: it is on a block device'
}
userns=$(as_user unshare -Ur true 2>/dev/null && echo yes)
for name in xattr_perf btrfs_remap_perf; do
	if [ "$userns" ]; then
		t "$name as an ordinary user" ordinary "${name}_test"
	else
		skip "$name as an ordinary user" "no user namespaces for him"
	fi
done

# In the user namespace that this is in, and without its capabilities.
no_namespace()
{
	unshare -Ur sh -c "echo 0 >/proc/sys/user/$1 && exec $2 $x" >out 2>&1 </dev/null
	skipped 5 "$3.*No space left on device"
}
t "no user namespaces" no_namespace max_user_namespaces \
	"setpriv --bounding-set=-all --inh-caps=-all" "needs root or CONFIG_USER_NS: "
t "no mount namespaces" no_namespace max_mnt_namespaces "" "mount namespace"

# System calls that a kernel may lack or refuse

injected()
{
	local call=${1%%:*}

	timeout 30 strace -f --seccomp-bpf -o trace -e trace="$call" -e inject="$call:error=${1#*:}" "${command[@]}" \
		>out 2>&1 </dev/null
	skipped "$2" "$3"
}
# attributes ERRNO SKIPPED FAILED
attributes()
{
	timeout 30 strace -f --seccomp-bpf -o trace -e trace=fsetxattr -e inject="fsetxattr:error=$1" \
		"${some[@]}" >out 2>&1 </dev/null
	[ "$(grep -c '^ok .* # SKIP .*no user.\* attributes' out)" = "$2" ] &&
		[ "$(grep -c '^not ok ' out)" = "$3" ] || { cat out; return 1; }
}
# The mount of a device is the second fsconfig() of each of its attempts, that of
# tmpfs the third.
if strace -f --seccomp-bpf -o trace true 2>out; then
	command=("${some[@]}")
	while read -r inject cases why; do
		t "refused: $inject" injected "$inject" "$cases" "$why"
	done <<-'EOT'
		unshare:EPERM		5 needs root or CONFIG_USER_NS: Operation not permitted
		mount_setattr:ENOSYS	5 Function not implemented \(needs 5.12
		fsopen:ENOSYS		5 fsopen (tmpfs|xfs|ext4|btrfs): Function not implemented
		fsopen:ENODEV		5 this kernel has no (tmpfs|xfs|ext4|btrfs) \(CONFIG_(TMPFS|XFS|EXT4|BTRFS)_FS\)
		fsopen:ENODEV:when=2	1 this kernel has no overlay \(CONFIG_OVERLAY_FS\)
		memfd_create:ENOSYS	3 Function not implemented
	EOT
	t "user.* may be missing on tmpfs and overlayfs only" attributes EOPNOTSUPP 2 3
	t "one attribute fits everywhere" attributes ENOSPC 0 5
	command=(./xattr_perf_test -r xattr_list.xfs_1.flistxattr)
	while read -r inject cases why; do
		t "refused, on a device: $inject" injected "$inject" "$cases" "$why"
	done <<-'EOT'
		fsconfig:EBUSY:when=2	0
		fsconfig:EBUSY:when=2+2	1 /dev/loop[0-9]+ stays busy
		fsconfig:EINVAL:when=2	1 xfs cannot be mounted: Invalid argument
		fsconfig:EPERM:when=2	1 xfs cannot be mounted: Operation not permitted
	EOT
	refused_option()
	{
		strace -f --seccomp-bpf -o trace -e trace=fsconfig -e inject=fsconfig:error=EPERM:when=2 \
			./xattr_perf_test -r xattr_list.tmpfs_1.flistxattr >out 2>&1 </dev/null
		grep -q 'tmpfs: option mode: Operation not permitted' out || show
	}
	t "an option of a mount: the errno is that of the call" refused_option
else
	skip "system calls that are missing" "strace cannot trace here: $(tail -n 1 out)"
fi

# A security module gives each new file a name of its own: open() does it here.

labelled()
{
	cat >label.c <<-'EOF2'
		#define _GNU_SOURCE
		#include <dlfcn.h>
		#include <fcntl.h>
		#include <stdio.h>
		#include <sys/xattr.h>

		int open(const char *path, int flags, ...)
		{
			int (*next)(const char *, int, ...) = dlsym(RTLD_NEXT, "open");
			int fd = next(path, flags, 0644);

			if (flags & O_CREAT && *path != '/' &&
			    !fsetxattr(fd, "security.fsbench",
					"system_u:object_r:unlabeled_t:s0:c1,c2", 38, 0))
				fputs("labelled\n", stderr);
			return fd;
		}
	EOF2
	"${CC:-cc}" -shared -fPIC -o label.so label.c || return
	LD_PRELOAD=$PWD/label.so ./xattr_perf_test -T getppid >out 2>&1 </dev/null
	skipped 0 || return
	# shellcheck disable=SC2086 # words
	LD_PRELOAD=$PWD/label.so $x -r xattr_list.ext4_0.listxattr >out 2>&1 </dev/null
	skipped 0 || return
	# It takes the room that a value would have in an inode of ext4.
	LD_PRELOAD=$PWD/label.so FSBENCH_ROUNDS=2 ./acl_perf_test >out 2>&1 </dev/null &&
		grep -q '^ok .* acl.ext4_small.access # SKIP ext4: no room in the inode' out &&
		grep -q '^ok [0-9]* acl.ext4_large_cold.access$' out || { grep -e '^not ok' -e ' expect' -e Expected out; return 1; }
	LD_PRELOAD=$PWD/label.so FSBENCH_ROUNDS=2 "${fs}/xattr_perf/xattr_value_test" >out 2>&1 </dev/null &&
		grep -q '^ok .* xattr_get.ext4_16.fgetxattr # SKIP ext4: no room in the inode' out &&
		grep -q '^ok [0-9]* xattr_get.ext4_256.fgetxattr$' out || { grep -e '^not ok' -e ' expect' -e Expected out; return 1; }
	# shellcheck disable=SC2086 # words
	LD_PRELOAD=$PWD/label.so $x -r xattr_list.ext4_0.listxattr >out 2>&1 </dev/null
	[ "$(grep -c '^labelled' out)" -ge 1 ] || { echo "the label is not there"; return 1; }
}
t "a security module adds a name: every case is right" labelled

# Processors: where all are the same but one

hybrid()
{
	local big=$1 file=$2 small=$3 large=$4 cpu

	rm -rf cpu
	for cpu in $cpus; do
		mkdir -p "cpu/cpu$cpu/cpufreq"
		echo "$small" >"cpu/cpu$cpu/$file"
	done
	echo "$large" >"cpu/cpu$big/$file"
	private sh -c "mount --bind cpu /sys/devices/system/cpu && exec ./xattr_perf_test -t getppid" \
		>out 2>&1 </dev/null
	skipped 0
	grep -q "^# fsbench: machine cpu .* measured=$big " out || show
}

little_only()
{
	rm -rf cpu
	mkdir -p "cpu/cpu$1" "cpu/cpu$2"
	echo 1024 >"cpu/cpu$1/cpu_capacity"
	echo 512 >"cpu/cpu$2/cpu_capacity"
	private sh -c "mount --bind cpu /sys/devices/system/cpu && exec taskset -c $2 ./xattr_perf_test -t getppid" \
		>out 2>&1 </dev/null
	skipped 0
	grep -q "^# fsbench: machine cpu .* measured=$2 capacity=512 " out || show
}

cpus=$(python3 -c 'import os; print(*sorted(os.sched_getaffinity(0)))')
first=${cpus%% *} last=${cpus##* }
if [ "$first" != "$last" ]; then
	for name in "$first" "$last"; do
		t "CPU $name has the largest capacity" hybrid "$name" cpu_capacity 512 1024
		t "CPU $name has the highest frequency" hybrid "$name" cpufreq/cpuinfo_max_freq 999999 3000000
	done
	t "the largest CPU is not allowed" little_only "$first" "$last"
	t "the largest CPU is not allowed, the other way round" little_only "$last" "$first"
else
	skip "hybrid processors" "one CPU"
fi

# Standard input and output

# ends COMMAND: it does, whatever its verdict
ends()
{
	timeout 30 bash -c "$1"
	[ $? != 124 ]
}
t "standard output is full" ends "./btrfs_remap_perf_test >/dev/full"
t "standard output and error are closed" ends "./btrfs_remap_perf_test >&- 2>&-"
t "standard output is a pipe that nobody reads" ends "./btrfs_remap_perf_test | true"

no_stdin()
{
	./btrfs_remap_perf_test <&- >out 2>&1
	skipped 0
}
t "standard input is closed: every case is right" no_stdin

# The results go to descriptor 0, 1 or 2 then; or the program refuses to run.
pure()
{
	rm -f results
	FSBENCH_RESULTS=results timeout 30 bash -c "./btrfs_remap_perf_test $1"
	[ ! -s results ] && return
	! grep -nE '^(TAP|#|ok|1\.\.)' results && fsbench check results | grep '^results: results file'
}
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
	t "with $closed the results hold nothing else" pure "$closed"
done

reasons() { ! grep '# SKIP' all | grep -vE '^ok [0-9]+ [^ ]+ # SKIP [^ ].*'; }
t "every SKIP has a reason" reasons

plan
