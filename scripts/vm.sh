#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# vm.sh run|sandwich|kernel|source: the suites in virtual machines. KERNEL=,
# CONTROL=, PATCHED=, KSRC=, PATCH=, N= and ICOUNT= come from make; see README.md.
#
# kernel prints the path of the distribution's newest kernel, source that of a
# whole kernel tree; what is missing is fetched or unpacked under build/.

. "${BASH_SOURCE[0]%/*}/lib.sh"
set -e

dir=build/vm
vmtest=build/linux/$selftests/filesystems/fsbench/vmtest.sh
[ ! -x build/fsbench ] || export VMTEST_FSBENCH=$PWD/build/fsbench

distribution_kernel()
{
	local arch package

	if ! compgen -G "$dir/kernel/boot/vmlinuz-*" >/dev/null; then
		command -v apt-get >/dev/null ||
			die "only Debian's kernel can be fetched; give one by KERNEL=bzImage"
		arch=$(dpkg --print-architecture)
		package=$(apt-cache search --names-only "^linux-image-[0-9].*-$arch-unsigned\$" |
			cut -d' ' -f1 | grep -v -e -rt- -e -cloud- | sort -V | tail -n 1)
		[ -n "$package" ] || die "no linux-image-*-$arch-unsigned: apt-get update may help"
		echo "fetching $package" >&2
		rm -rf "$dir/kernel" "$dir/kernel.part"
		mkdir -p "$dir/kernel.part"
		(cd "$dir" && apt-get download "$package") >build/apt.log 2>&1 ||
			{ cat build/apt.log >&2; exit 1; }
		dpkg-deb -x "$dir/${package}"_*.deb "$dir/kernel.part"
		rm "$dir/${package}"_*.deb
		mv "$dir/kernel.part" "$dir/kernel"
	fi
	for kernel in "$PWD/$dir"/kernel/boot/vmlinuz-*; do
		[ -e "$dir/kernel/lib/modules/${kernel##*/vmlinuz-}/modules.dep" ] ||
			depmod -b "$dir/kernel" "${kernel##*/vmlinuz-}"
		echo "$kernel"
	done
}

# As in ktree.sh, but whole: a kernel is built from it.
source_tree()
{
	local given src tree stamp

	given=${KSRC:-$(printf '%s\n' /usr/src/linux-source-*.tar.xz | sort -V | tail -n 1)}
	src=$(user_path "$given")
	if [ -f "$src" ]; then
		tree=$dir/$(basename "${src%.tar*}")
		stamp=$(stat -Lc '%n %s %Y' "$src")
		if [ "$stamp" != "$(cat "$tree.stamp" 2>/dev/null)" ]; then
			echo "unpacking all of $given" >&2
			rm -rf "$tree"
			mkdir -p "$tree"
			tar -xf "$src" -C "$tree" --strip-components=1 --no-same-owner ||
				die "KSRC=$given: cannot be unpacked"
			echo "$stamp" >"$tree.stamp"
		fi
		src=$PWD/$tree
	fi
	echo "$src"
}

icount=()
[ "${ICOUNT:-0}" = 0 ] || icount=(--icount)

case $1 in
kernel)
	distribution_kernel ;;
source)
	source_tree ;;
run)
	kernel=${KERNEL:+$(user_path "$KERNEL")}
	: "${kernel:=$(distribution_kernel)}"
	results=$(user_path "${FSBENCH_RESULTS:-$PWD/build/vm.txt}")
	exec "$vmtest" -k "$kernel" "${icount[@]}" -o "$results" ;;
sandwich)
	if [ -n "${CONTROL-}" ] && [ -n "${PATCHED-}" ]; then
		control=$(user_path "$CONTROL") patched=$(user_path "$PATCHED")
	elif [ -n "${PATCH-}" ]; then
		scripts/deps.sh build-kernel
		patches=()
		for patch in $PATCH; do
			patches+=(--patch "$(user_path "$patch")")
		done
		"$vmtest" --build "$(source_tree)" "${patches[@]}" -o "$dir/built"
		control=$dir/built/bzImage-control patched=$dir/built/bzImage-patched
	else
		die "sandwich needs CONTROL=bzImage PATCHED=bzImage, or PATCH=fix.patch [KSRC=tree]"
	fi
	exec "$vmtest" --sandwich "$control" "$patched" -n "${N:-1}" "${icount[@]}" \
		-o build/sandwich ;;
*)
	die "vm.sh: $1?" ;;
esac
