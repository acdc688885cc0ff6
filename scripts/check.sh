#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# check.sh [TEST...]: builds for all kernels with warnings as errors, then
# runs the project's own tests, one after the other: some of them measure, and
# some count what is left behind.

. "${BASH_SOURCE[0]%/*}/lib.sh"
set -e

[ $# -gt 0 ] || set -- tests/*.t

strict="-Wall -Wextra -Werror"

scripts/deps.sh check
scripts/ktree.sh build/linux "${KSRC-}"
for version in 6.12 6.1; do
	scripts/ktree.sh "build/linux-$version" "/usr/src/linux-source-$version.tar.xz"
done
for tree in linux linux-6.12 linux-6.1; do
	scripts/build.sh "build/$tree" \
		USERCFLAGS="$strict ${USERCFLAGS-}" >&2
done

# The tests choose their own options, and none may reach them by way of make.
unset "${!FSBENCH_@}" "${!MAKE@}" MFLAGS KSRC LLVM USERCFLAGS USERLDFLAGS TESTS CALLER_DIR
export STRICT_CFLAGS=$strict
export FSBENCH_TOP=$PWD FSBENCH_BUILD=$PWD/build PATH=$PWD/build:$PATH
export KTREE=$PWD/build/linux KTREE_612=$PWD/build/linux-6.12 KTREE_61=$PWD/build/linux-6.1
prove "$@"
