#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0
#
# The guest's init, put there by vmtest.sh. One port takes the KTAP: lines that
# begin with \001 are said here, the others by the suites. The other port takes
# "up", the results file, and a line with the verdict.

# shellcheck shell=dash source=/dev/null disable=SC2154 # from the file arguments

busybox=/bin/busybox
$busybox mkdir -p /proc /sys /dev /tmp /sbin
$busybox mount -t proc none /proc
$busybox mount -t sysfs none /sys
$busybox mount -t devtmpfs none /dev
$busybox mount -t tmpfs none /tmp
$busybox --install -s /bin
export PATH=/bin:/sbin
mount -t securityfs none /sys/kernel/security
mount -t debugfs none /sys/kernel/debug

for module in /modules/*; do
	case $module in
	*-brd)	insmod "$module" rd_nr=1 rd_size=1048576 ;;
	*[0-9]-*) insmod "$module" ;;
	esac
done

. /arguments
# Emulated, times say little and counts are exact: few operations do. And the
# harness would cut off a case whose rounds take too long, as on a busy host.
if [ -n "${FSBENCH_ICOUNT-}" ] || grep -q vmtest.accel=tcg /proc/cmdline; then
	export FSBENCH_OPS="${FSBENCH_OPS:-256}" FSBENCH_ROUNDS="${FSBENCH_ROUNDS:-5}"
fi
exec 3>"/dev/$ktap_port" 4>"/dev/$control_port"
stty raw <&3
stty raw <&4
echo up >&4

status=0 nr=0
printf '\001TAP version 13\n\0011..%d\n' "$programs" >&3
for program in /suites/*/*_test; do
	nr=$((nr + 1))
	name=${program#/suites/}
	name="selftests: filesystems/${name%/*}: ${name#*/}"
	printf '\001# %s\n' "$name" >&3
	cd "${program%/*}" || exit
	"$program" "$@" </dev/null >&3 2>&1 3>&- 4>&-
	case $? in
	0)	printf '\001ok %d %s\n' "$nr" "$name" >&3 ;;
	4)	printf '\001ok %d %s # SKIP\n' "$nr" "$name" >&3 ;;
	*)	printf '\001not ok %d %s\n' "$nr" "$name" >&3
		status=1 ;;
	esac
done

# What the suites ask for and this kernel has neither as y nor as m
if [ -e /proc/config.gz ]; then
	lacks=$(zcat /proc/config.gz | sed -n 's/=[ym]$//p' | grep -vxFf - /symbols | tr '\n' ' ')
fi
cd /tmp || exit
touch results
cat results >&4
size=$(stat -c %s results) sum=$(sha256sum <results) taint=$(cat /proc/sys/kernel/tainted)
printf '\nend %s\n' "$status $size ${sum%% *} $taint ${lacks-}" >&4
reboot -f
