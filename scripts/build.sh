#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# build.sh TREE [VAR=VALUE...]: builds the suites in TREE with the
# kernel's selftest Makefile, and from build/linux also the tool build/fsbench.

. "${BASH_SOURCE[0]%/*}/lib.sh"
set -e

tree=$1
shift
flags=(--no-print-directory)
[ "${V-0}" = 1 ] || flags+=(-s)
[ "$tree" = build/linux ] && tool="OUTPUT=$PWD/build" || tool=

in_tree() { "$MAKE" "${flags[@]}" -C "$tree/$selftests" TARGETS="$suites" FORCE_TARGETS=1 "$@"; }
in_tool() { [ -z "$tool" ] || "$MAKE" "${flags[@]}" -C "$tree/$selftests/filesystems/fsbench" "$tool" "$@"; }

# make compares times only and would keep what another compiler has made.
now="${LLVM-} ${CC-} ${CROSS_COMPILE-} ${USERCFLAGS-} ${USERLDFLAGS-} $*"
if [ "$now" != "$(cat "$tree/.flags" 2>/dev/null)" ]; then
	in_tree clean
	in_tool clean
	echo "$now" >"$tree/.flags"
fi
in_tree "$@" all
in_tool "$@" all
