#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs the suites in a virtual machine, on any kernel, with or without KVM.

set -u
here=$(cd "${BASH_SOURCE[0]%/*}" && pwd)
PATH=$PATH:/usr/sbin:/sbin
exec {terminal}>&2
. "$here/vmtest_initramfs.sh"
. "$here/vmtest_build.sh"
# A calling make would meddle with the builds.
unset MAKEFLAGS MFLAGS KBUILD_OUTPUT KCONFIG_CONFIG

usage()
{
	cat <<-'END'
	vmtest.sh [-k KERNEL] [--icount] [-o RESULTS] [-- SUITE ARGS]
	    boots KERNEL (this kernel's, if not given), runs both suites there, prints
	    their KTAP and ends with their verdict; results are appended to RESULTS
	vmtest.sh --build KSRC [--patch FILE]... -o DIR
	    builds DIR/bzImage-control and, with patches, DIR/bzImage-patched
	vmtest.sh --sandwich CONTROL PATCHED [-n N] [--icount] [-o DIR] [-- SUITE ARGS]
	    boots control, patched, control N times over and judges; results are in DIR

	--icount counts instructions: slower, but every run gives the same figures.

	Environment, besides the variables of the suites:
	VMTEST_SUITES   directory with xattr_perf and btrfs_remap_perf, built (..)
	VMTEST_FSBENCH  the tool fsbench (beside this script, or in PATH)
	VMTEST_WORK     keeps what is made on the way in a new directory in this one
	VMTEST_TIMEOUT  seconds until a guest is taken to hang (300)
	VMTEST_MEMORY   MiB of memory (2048)
	VMTEST_CPUS     number of CPUs (2; with --icount always 1)
	VMTEST_ACCEL    kvm or tcg (kvm if it works)
	VMTEST_JOBS     jobs of a build (one per CPU)

	Exit status: 0 passed, 1 a case or the guest failed, 2 it cannot be done;
	of --sandwich that of "fsbench sandwich".
	END
}

die()
{
	clear_progress
	echo "vmtest: $*" >&2
	exit 2
}

progress() { [ ! -t "$terminal" ] || printf '\r\033[K%.79s' "vmtest: $*" >&"$terminal"; }
clear_progress() { [ ! -t "$terminal" ] || printf '\r\033[K' >&"$terminal"; }

# Called on every exit; what runs ends with the script even if that is killed.
running='' temporary=''
cleanup()
{
	[ -z "$running" ] || { kill "$running" && wait "$running"; } 2>/dev/null
	[ -z "$temporary" ] || rm -rf "$temporary"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 141' PIPE
trap 'exit 143' TERM
end_with_us=()
setpriv --pdeathsig TERM true 2>/dev/null && end_with_us=(setpriv --pdeathsig TERM)

need()
{
	local command missing=()

	for command; do
		command -v "$command" >/dev/null || missing+=("$command")
	done
	[ "${#missing[@]}" = 0 ] || die "needs ${missing[*]}"
}

# The kernel

# All that depends on the architecture. Ports: of the KTAP and of the results.
set_machine()
{
	case $1 in
	x86_64)
		# Strings are moved eight bytes at a time: an instruction that moves
		# one would count for each of them.
		machine=(qemu-system-x86_64 -cpu "max$([ -z "$icount" ] ||
			echo ,-erms,-fsrm)")
		ports=(-serial "file:$work/console" -serial "file:$work/ktap"
			-serial "file:$work/control")
		console=ttyS0 ktap_port=ttyS1 control_port=ttyS2
		# The clock is the instruction counter: known, not to be measured.
		exact="tsc_early_khz=1000000 tsc=reliable hpet=disable pmtmr=0" ;;
	aarch64)
		machine=(qemu-system-aarch64 -M virt -cpu max)
		ports=(-serial "file:$work/console"
			-chardev "file,id=ktap,path=$work/ktap"
			-chardev "file,id=control,path=$work/control"
			-device "pci-serial-2x,chardev1=ktap,chardev2=control")
		console=ttyAMA0 ktap_port=ttyS0 control_port=ttyS1
		exact='' ;;
	*)	die "no virtual machine for $1 is known here" ;;
	esac
}

is_bzimage() { [ "$(head -c 518 "$1" | tail -c 4 | tr -d '\0')" = HdrS ]; }

kernel_release()
{
	local offset

	if is_bzimage "$1"; then
		offset=$(od -An -tu2 -j 526 -N 2 "$1")
		tail -c +$((offset + 513)) "$1" | head -c 128 | tr '\0' ' ' | cut -d' ' -f1
	else
		gzip -dcf <"$1" 2>/dev/null | grep -aom 1 'Linux version [^ ]*' | cut -d' ' -f3
	fi
}

kernel_config()
{
	local dir=${1%/*} file

	for file in "$dir"/{config-"$2",config-"${1##*-}",.config,../../../.config}; do
		[ ! -f "$file" ] || { echo "$file"; return; }
	done
}

# The guest

# show_failure TEXT: it is the last line of the KTAP, too
show_failure()
{
	clear_progress
	echo "Bail out! vmtest: $1" >&"$ktap_out"
	{
		echo "vmtest: $1"
		sed 's/^/vmtest: /' "$work/qemu"
		echo "vmtest: the last lines of its console:"
		tr -d '\r' <"$work/console" | tail -n 20 | sed 's/^/  /'
	} >&2
}

# A line of the console that no healthy kernel writes
complaint()
{
	tr -d '\r' <"$work/console" | grep -aom 1 -E "(^|\] )(WARNING: |BUG: |kernel BUG at |Oops|\
Kernel panic|general protection fault|UBSAN: |INFO: (rcu|task)|watchdog: |Out of memory|\
[^ ]* invoked oom-killer).*" | sed 's/^\] //'
}

# start_qemu KERNEL ACCELERATOR
start_qemu()
{
	local options=(-m "${VMTEST_MEMORY:-2048}") append file

	append="console=$console panic=-1 brd.rd_nr=1 brd.rd_size=1048576"
	if [ -n "$icount" ]; then
		# Time is the number of instructions; nothing is random, and all
		# devices work at once or by that clock. The kernel takes the numbers
		# of the processor for random: without them it would compute each of
		# its own in thousands of instructions, until it has collected some.
		options+=(-accel tcg -icount "shift=0,sleep=off" -smp 1 -seed "$variation"
			-rtc "base=2024-01-01T00:00:00,clock=vm")
		append+=" random.trust_cpu=1 nokaslr norandmaps randomize_kstack_offset=off $exact"
	else
		# With threads QEMU lets a CPU run code that another one is changing.
		options+=(-accel "${2/%tcg/tcg,thread=single}" -smp "${VMTEST_CPUS:-2}")
		append+=" vmtest.accel=$2"
	fi
	rm -f "$work/results"
	for file in console ktap control; do
		: >"$work/$file"
	done
	"${end_with_us[@]}" "${machine[@]}" "${options[@]}" -nodefaults -no-user-config \
		-display none -no-reboot "${ports[@]}" -kernel "$1" \
		-initrd "$work/initramfs" -append "$append" </dev/null >"$work/qemu" 2>&1 &
	running=$!
}

# The KTAP that has come since the last call, nested as the kernel's runner does it
pass_ktap()
{
	local line

	while IFS= read -r line <&"$ktap_in"; do
		line=$partial$line partial=''
		case $line in
		*$'\001'*)	[ -z "${line%%$'\001'*}" ] || echo "# ${line%%$'\001'*}"
				line=${line#*$'\001'}
				echo "$line" ;;
		*)		echo "# $line" ;;
		esac
		[[ $line != "ok "* && $line != "not ok "* ]] || cases=$((cases + 1))
	done >&"$ktap_out"
	partial+=$line
}

# boot KERNEL LABEL: to its end, its KTAP goes to descriptor $ktap_out
# Return: the guest's verdict, 1 if it had none; the results are in $work/results.
boot()
{
	local accel=${VMTEST_ACCEL:-$accel_found} limit=${VMTEST_TIMEOUT:-300}
	local start=$SECONDS reason='' partial='' cases=0 code ktap_in
	local word status bytes sum taint lacking

	start_qemu "$1" "$accel"
	exec {ktap_in}<"$work/ktap"
	while kill -0 "$running" 2>/dev/null; do
		sleep 0.2
		pass_ktap
		progress "$2: $cases cases, $((SECONDS - start)) s"
		if [ $((SECONDS - start)) -ge "$limit" ]; then
			reason="the guest hangs: no end within $limit s"
			kill -KILL "$running"
		elif grep -q 'KVM internal error' "$work/qemu"; then
			# It would stand still for ever.
			kill -KILL "$running"
		fi
	done 2>/dev/null # where bash would tell by what signal it ended
	wait "$running"
	code=$?
	running=''
	pass_ktap
	exec {ktap_in}<&-
	clear_progress
	if [ "$accel" = kvm ] && [ -z "$icount$reason${VMTEST_ACCEL-}" ] &&
	   [ ! -s "$work/control" ] && grep -qi kvm "$work/qemu"; then
		echo "vmtest: no KVM here: $(grep -im 1 kvm "$work/qemu")" >&2
		accel_found=tcg
		boot "$@"
		return
	fi

	read -r word status bytes sum taint lacking < <(tail -n 1 "$work/control")
	if [ -n "$reason" ]; then
		:
	elif [ "${word-}" = end ]; then
		tail -c +4 "$work/control" | head -c "$bytes" >"$work/results"
		reason=$(complaint)
		# M, B, D, W and L of Documentation/admin-guide/tainted-kernels.rst
		[ -n "$reason" ] || [ $((taint & 0x42b0)) = 0 ] || reason="tainted by $taint"
		[ -z "$reason" ] || reason="the guest complained: $reason"
		if [ "$(sha256sum <"$work/results")" != "$sum  -" ]; then
			reason="the results are damaged"
			rm "$work/results"
		fi
		[ -z "$lacking" ] || echo "vmtest: not in this kernel: $lacking" >&2
	elif grep -aq 'Kernel panic' "$work/console"; then
		reason="the guest panicked: $(complaint)"
	elif [ "$code" -gt 128 ]; then
		reason="the guest vanished: QEMU was killed by signal $((code - 128))"
	elif [ "$code" != 0 ]; then
		reason="QEMU failed ($code)"
	else
		reason="the guest ended before the suites did"
	fi
	[ -n "$reason" ] || return "$status"
	show_failure "$reason"
	# Perhaps it could not even start.
	[ -s "$work/control" ] || say_lacking "$1" <(sed '/^# Good to have/,$d' "$here/config.vm")
	return 1
}

# say_lacking KERNEL FRAGMENT...: symbols that its configuration, if there is one
# beside it, has neither as y nor as m
say_lacking()
{
	local config lacking

	config=$(kernel_config "$1" "$(kernel_release "$1")")
	shift
	[ -n "$config" ] || return 0
	lacking=$(sed -n 's/^\(CONFIG_[A-Z0-9_]*\)=y$/\1/p' "$@" | sort -u |
		grep -vxFf <(sed -n 's/=[ym]$//p' "$config"))
	[ -z "$lacking" ] || echo "vmtest: not in this kernel: ${lacking//$'\n'/ }" >&2
}

# prepare KERNEL...
prepare()
{
	local file

	for file; do
		[ -f "$file" ] || die "$file: no such kernel"
		[ -n "$(kernel_release "$file")" ] || die "$file: not a kernel"
		say_lacking "$file" "${fragments[@]}"
	done
	if is_bzimage "$1"; then set_machine x86_64; else set_machine "$(uname -m)"; fi
	need "${machine[0]}" busybox cpio od sha256sum depmod
	if [ -z "${VMTEST_ACCEL-}" ]; then
		[ -w /dev/kvm ] && accel_found=kvm || accel_found=tcg
	fi
}

# may_append FILE: is it, or can it become, a results file of ours?
may_append()
{
	[ ! -L "$1" ] || die "$1: a link"
	[ ! -e "$1" ] || [ -f "$1" ] || die "$1: not a regular file"
	[ ! -s "$1" ] || [ "$(head -c 17 "$1" | tr -d '\0')" = "fsbench-results 1" ] ||
		die "$1: not a results file, nothing written"
	if [ -e "$1" ]; then
		[ -w "$1" ] || die "$1: cannot be written"
	else
		[ -w "$(dirname "$1")" ] || die "$1: cannot be written"
	fi
}

# take_results FILE: appends them, and says what may be wrong with them
take_results()
{
	local said skip=1

	# The first line of a file names the format, once.
	[ ! -s "$1" ] || skip=2
	tail -n "+$skip" "$work/results" >>"$1" || die "$1: cannot be written"
	[ -n "$fsbench" ] || return 0
	said=$("$fsbench" check "$work/results" 2>&1) && return
	echo "vmtest: ${said/#fsbench: $work\/results/results}" >&2
	return 1
}

run()
{
	local status

	: "${kernel:=/boot/vmlinuz-$(uname -r)}"
	[ -z "$out" ] || may_append "$out"
	kernel=$(realpath -m "$kernel")
	prepare "$kernel"
	make_initramfs "$kernel" "$@"
	exec {ktap_out}>&1
	# There the cases themselves show how far it is.
	[ ! -t 1 ] || exec {terminal}>/dev/null
	boot "$kernel" "${kernel##*/}"
	status=$?
	if [ ! -s "$work/results" ]; then
		# The harness is content with no case of that name.
		[ $# = 0 ] || { echo "vmtest: no results: is there such a case?" >&2; status=1; }
	elif [ -n "$out" ]; then
		take_results "$out" || status=1
	fi
	return "$status"
}

sandwich()
{
	local control patched failed=0 files=() i kind image verdict

	control=$(realpath -m "$1") patched=$(realpath -m "$2")
	shift 2
	[ -n "$fsbench" ] || die "no fsbench to judge with (VMTEST_FSBENCH)"
	prepare "$control" "$patched"
	: "${out:=$work/sandwich}"
	mkdir -p "$out" && rm -f "$out"/[0-9]*-{control,patched}.{txt,ktap} || exit 2
	for ((i = 1; i <= 2 * sandwiches + 1; i++)); do
		kind=control image=$control
		((i % 2)) || { kind=patched; image=$patched; }
		# Each further pair has other random numbers.
		variation=$((i > 2 * sandwiches ? 1 : (i + 1) / 2))
		make_initramfs "$image" "$@"
		exec {ktap_out}>"$out/$i-$kind.ktap"
		boot "$image" "boot $i of $((2 * sandwiches + 1)), $kind" || failed=1
		exec {ktap_out}>&-
		grep '^# not ok ' "$out/$i-$kind.ktap" | sed "s/^#/$i-$kind:/" >&2
		[ -s "$work/results" ] || die "$i-$kind: no results"
		take_results "$out/$i-$kind.txt" || failed=1
		files+=("$out/$i-$kind.txt")
	done
	"$fsbench" sandwich "${files[@]}"
	verdict=$?
	[ "$failed" = 0 ] || verdict=1
	return "$verdict"
}

icount='' kernel='' out='' action=run sandwiches=1 patches=() args=()
suites="xattr_perf btrfs_remap_perf"
modules="crc32c_generic libcrc32c loop brd overlay btrfs xfs ext4 configs"
unset FSBENCH_ICOUNT

# value OPTION ARGS...
value() { [ $# -gt 1 ] || die "$1 needs a value; see --help"; }

while [ $# -gt 0 ]; do
	case $1 in
	-h|--help)	usage; exit 0 ;;
	-k)		value "$@"; kernel=$2; shift ;;
	-o)		value "$@"; out=$2; shift ;;
	-n)		value "$@"; sandwiches=$2; shift ;;
	--icount)	icount=1 ;;
	--patch)	value "$@"; patches+=("$2"); shift ;;
	--build)	value "$@"; action=build; args=("$2"); shift ;;
	--sandwich)	value "$1" "${@:3}"; action=sandwich args=("$2" "$3"); shift 2 ;;
	--)		shift; args+=("$@"); break ;;
	*)		die "$1 is not known; see --help" ;;
	esac
	shift
done
[[ $sandwiches =~ ^[1-9][0-9]?$ && $sandwiches -le 31 ]] ||
	die "-n $sandwiches: not a number from 1 to 31"
for name in VMTEST_TIMEOUT VMTEST_MEMORY VMTEST_CPUS VMTEST_JOBS; do
	[[ ${!name:-1} =~ ^[1-9][0-9]{0,6}$ ]] || die "$name=${!name}: not a number"
done
[[ ${VMTEST_ACCEL:-kvm} =~ ^(kvm|tcg)$ ]] || die "VMTEST_ACCEL=$VMTEST_ACCEL: not kvm or tcg"

where=${VMTEST_SUITES:-$here/..}
fragments=()
for suite in $suites; do
	[ -f "$where/$suite/config" ] || die "$where/$suite: no config (VMTEST_SUITES)"
	fragments+=("$(realpath "$where/$suite/config")")
done
fsbench=${VMTEST_FSBENCH:-$here/fsbench}
[ -x "$fsbench" ] || [ -z "${VMTEST_FSBENCH-}" ] || die "VMTEST_FSBENCH=$fsbench: not a program"
[ -x "$fsbench" ] || fsbench=$(command -v fsbench)
if [ -n "${VMTEST_WORK-}" ]; then
	mkdir -p "$VMTEST_WORK" && work=$(mktemp -d "$VMTEST_WORK/vmtest.XXXXXX") || exit 2
else
	temporary=$(mktemp -d "${TMPDIR:-/tmp}/vmtest.XXXXXX") || exit 2
	work=$temporary
fi
work=$(realpath "$work") || exit 2
accel_found=tcg variation=1
"$action" "${args[@]}"
