# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Read by the other scripts: what they share. They run at the top of the
# repository.

set -u
shopt -s extglob
cd -P "${BASH_SOURCE[0]%/*}/.." || exit 1

# shellcheck disable=SC2034 # the names are for the readers
suites="filesystems/xattr_perf filesystems/btrfs_remap_perf"
# shellcheck disable=SC2034
selftests=tools/testing/selftests

# The jobserver itself is passed on only by a recipe that names $(MAKE).
export MAKEFLAGS=${MAKEFLAGS-} MAKE=${MAKE:-make}
MAKEFLAGS=${MAKEFLAGS/--jobserver-@(auth|fds)=+([0-9,])/}

die()
{
	echo "$*" >&2
	exit 1
}

# A path as the user gave it: relative to where make was typed.
user_path()
{
	case $1 in
	/*)	echo "$1" ;;
	*)	echo "${CALLER_DIR:-$PWD}/$1" ;;
	esac
}
