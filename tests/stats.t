#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The statistics and the judge: known answers and simulations, in stats_test.c.

. "${BASH_SOURCE[0]%/*}/tap.sh"

lib=$FSBENCH_TOP/tools/testing/selftests/filesystems/fsbench
mkdir -p "$FSBENCH_BUILD/tests"
work=$(mktemp -d "$FSBENCH_BUILD/tests/stats.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT

# Warnings about the other sources are for style.t.
compiled()
{
	gcc -O2 -g -Wall -Wextra -Werror -I"$lib" -isystem "$KTREE/tools/testing/selftests" \
		-c -o "$work/test.o" "$FSBENCH_TOP/tests/stats_test.c" &&
		gcc -O2 -g -w -o "$work/test" "$work/test.o" "$lib"/{judge,machine,results,stats}.c -lm
}
t "stats_test.c compiles without a warning" compiled

# Its cases are ours. What they say comes before their result.
"$work/test" >"$work/out" 2>&1
first=$count
while read -r line; do
	case $line in
	"ok "*|"not ok "*)
		count=$((count + 1))
		echo "${line%% [0-9]*} $count - ${line##* }" ;;
	1..*)	cases=${line#1..} ;;
	"# "*:*)
		echo "$line" ;;
	esac
done <"$work/out"
t "all of its cases ran" [ $((count - first)) = "${cases-none}" ]
plan
