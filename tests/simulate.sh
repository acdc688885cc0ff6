#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# simulate.sh [SANDWICHES [FAMILIES]]: builds simulate.c with the shipped judge and
# runs it. "make simulate" prints the whole table; sandwich.t asks for less.

set -eu
lib=$FSBENCH_TOP/tools/testing/selftests/filesystems/fsbench
dir=$FSBENCH_BUILD/tests
mkdir -p "$dir"
cc -O2 -Wall -Wextra -I"$lib" -o "$dir/simulate" "$FSBENCH_TOP/tests/simulate.c" \
	"$lib"/{boots,calibration,judge,machine,results,sandwich,stats}.c -lm
exec "$dir/simulate" "$@"
