#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the kernel's documentation asks of a selftest: all, install, gen_tar and
# clean work in the tree and with O=, absolute or relative, here with gcc and
# with clang, on two kernels, and with no warning. And what is installed runs.

. "${BASH_SOURCE[0]%/*}/tap.sh"

suites="filesystems/xattr_perf filesystems/btrfs_remap_perf"
work=$FSBENCH_BUILD/kbuild
rm -rf "$work"
mkdir -p "$work"

# Paths of one combination follow from its name: KERNEL-COMPILER-MODE.
# shellcheck disable=SC2154 # set by the callers
kmake()
{
	local args=(TARGETS="$suites" FORCE_TARGETS=1 KSFT_INSTALL_PATH="$inst"
		USERCFLAGS="$STRICT_CFLAGS")

	[ "$cc" = gcc ] || args+=(LLVM=1)
	case $mode in
	abs)	args+=(O="$obj") ;;
	rel)	args+=(O="../${obj##*/}") ;; # relative to the top of the tree
	esac
	make --no-print-directory -C "$tree/tools/testing/selftests" "${args[@]}" "$1" \
		>"$work/out-$name" 2>&1 || { cat "$work/out-$name"; return 1; }
	! grep -i "warning:" "$work/out-$name"
}

files() { (cd "$1" && find . ! -type d | sort); }

# The programs of all suites, in the order in which the Makefiles name them
programs()
{
	local suite source

	for suite in $suites; do
		for source in "$FSBENCH_TOP/tools/testing/selftests/$suite"/*_test.c; do
			source=${source##*/}
			echo "$suite${1-/}${source%.c}"
		done
	done
}

installed()
{
	local file suite

	kmake install || return
	for file in $(programs) $(for suite in $suites; do echo "$suite"/{config,settings}; done); do
		[ -f "$inst/$file" ] || { echo "no $file"; return 1; }
	done
	programs : >"$work/list-$name"
	[ -x "$inst/run_kselftest.sh" ] && diff "$work/list-$name" "$inst/kselftest-list.txt"
}

in_tar()
{
	local program

	kmake gen_tar || return
	tar -tf "$inst/kselftest-packages/kselftest.tar.gz" >"$work/tar-$name" || return
	for program in $(programs); do
		grep -Fx "./$program" "$work/tar-$name" || return
	done
}

cleaned()
{
	kmake clean && files "$tree" | diff "$work/files-$kernel-$cc" - && [ -z "$(files "$obj")" ]
}

built()
{
	local program where=$tree/tools/testing/selftests

	kmake all || return
	[ "$mode" = none ] || where=$obj/kselftest
	for program in $(programs); do
		[ -x "$where/$program" ] || { echo "no $where/$program"; return 1; }
	done
}

modes()
{
	local tree=$work/$kernel-$cc mode name obj inst

	"$FSBENCH_TOP/scripts/ktree.sh" "$tree" "$source"
	files "$tree" >"$work/files-$kernel-$cc"
	for mode in none abs rel; do
		name=$kernel-$cc-$mode obj=$work/obj-$name inst=$work/inst-$name
		mkdir "$obj"
		t "$name all" built
		t "$name install" installed
		t "$name gen_tar" in_tar
		t "$name clean" cleaned
	done
}

# All programs, at the place where they were installed, by the kernel's runner.
runs()
{
	FSBENCH_ROUNDS=3 "$work/inst-$kernel-gcc-none/run_kselftest.sh" >"$work/run-$kernel" 2>&1
	grep '^not ok' "$work/run-$kernel" ||
		[ "$(grep -c '^ok ' "$work/run-$kernel")" != "$(programs | wc -l)" ] || return 0
	tail -n 40 "$work/run-$kernel"
	return 1
}

for kernel in 6.12 6.1; do
	[ "$kernel" = 6.12 ] && source=$KTREE_612 || source=$KTREE_61
	(cc=clang modes) >"$work/tap-clang" &
	(cc=gcc modes) >"$work/tap-gcc"
	wait
	while read -r line; do
		case $line in
		"ok "*|"not ok "*)
			count=$((count + 1))
			echo "${line%% [0-9]*} $count - ${line#*- }" ;;
		*)	echo "$line" ;;
		esac
	done < <(cat "$work/tap-gcc" "$work/tap-clang")
	t "$kernel installed programs run" runs
done
plan
