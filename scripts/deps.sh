#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# deps.sh SET...: sees to it that what the sets (run, check, vm, build-kernel)
# need is there.
#
# It looks for the commands and files, not for packages, so it is right on any
# distribution. What is missing is installed where that can be done; else one
# line says what to do.

. "${BASH_SOURCE[0]%/*}/lib.sh"
PATH=$PATH:/usr/sbin:/sbin

qemu=qemu-system-$(uname -m) qemu_package="qemu-system-arm"
[ "$(uname -m)" != x86_64 ] || qemu_package="qemu-system-x86"

# set, command or file, Debian package
table='
run	gcc					gcc
run	make					make
run	/usr/include/stdio.h			libc6-dev
run	rsync					rsync
run	perl					perl
run	tar					tar
run	xz					xz-utils
source	/usr/src/linux-source-*.tar.xz		linux-source
mkfs	mkfs.btrfs				btrfs-progs
mkfs	mkfs.xfs				xfsprogs
mkfs	mkfs.ext4				e2fsprogs
attr	/usr/include/attr/libattr.h		libattr1-dev
attr	pkg-config				pkgconf
llvm	clang					clang
llvm	ld.lld					lld
llvm	llvm-ar					llvm
check	/usr/src/linux-source-6.12.tar.xz	linux-source-6.12
check	/usr/src/linux-source-6.1.tar.xz	linux-source-6.1
check	musl-gcc				musl-tools
check	prove					perl
check	python3					python3
check	strace					strace
check	git					git
check	unshare					util-linux
check	losetup					mount
vm	'$qemu'		'$qemu_package'
vm	busybox					busybox-static
vm	cpio					cpio
vm	depmod					kmod
vm	xz					xz-utils
build-kernel	gcc				gcc
build-kernel	make				make
build-kernel	patch				patch
build-kernel	rsync				rsync
build-kernel	bc				bc
build-kernel	prove				perl
build-kernel	bison				bison
build-kernel	flex				flex
build-kernel	/usr/include/libelf.h		libelf-dev
build-kernel	/usr/include/openssl/ssl.h	libssl-dev
m32	/usr/include/asm/types.h		gcc-multilib
m32	/usr/lib/gcc/*/*/32/libgcc.a		gcc-multilib
'

sets=" $* "
[[ $sets != *' check '* ]] || sets+="run vm llvm "
[[ $sets != *' check '* || $(uname -m) != x86_64 ]] || sets+="m32 "
[ -n "${KSRC-}" ] || sets+="source "
[ -z "${LLVM-}" ] || sets+="llvm "
# Without root no filesystem is made and those cases are skipped.
[[ $EUID != 0 && $sets != *' vm '* ]] || sets+="mkfs "
# Without libattr one program is skipped: installed where that is easy, never asked for.
[ "$EUID" != 0 ] || ! command -v apt-get >/dev/null || sets+="attr "

look()
{
	local set what package

	missing=() packages=()
	while read -r set what package; do
		[[ -n $set && $sets == *" $set "* ]] || continue
		case $what in
		/*)	compgen -G "$what" >/dev/null && continue ;;
		*)	command -v "$what" >/dev/null && continue ;;
		esac
		[ "$package" != linux-source ] || what="KSRC=<kernel source tree>"
		missing+=("$what")
		[[ " ${packages[*]} " == *" $package "* ]] || packages+=("$package")
	done <<<"$table"
	[ "${#missing[@]}" = 0 ]
}

# The plain linux-source is the release's own, older kernel.
newest_source()
{
	! apt-cache show linux-source-6.12 >/dev/null 2>&1 ||
		packages=("${packages[@]/%linux-source/linux-source-6.12}")
}

look && exit 0
command -v apt-get >/dev/null || die "missing: ${missing[*]}"

if [ "$EUID" = 0 ]; then
	echo "installing ${packages[*]}" >&2
	mkdir -p build
	export DEBIAN_FRONTEND=noninteractive
	apt-get update >build/apt.log 2>&1
	newest_source
	apt-get install -y --no-install-recommends "${packages[@]}" \
		</dev/null >>build/apt.log 2>&1 || cat build/apt.log >&2
	hash -r
	look && exit 0
fi
newest_source
die "missing: ${missing[*]}; install with: apt-get install ${packages[*]}"
