#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the README shows is true: its workload is whole and short and needs no
# other edit, its table of variables is complete, its targets are there.

. "${BASH_SOURCE[0]%/*}/tap.sh"

readme=$FSBENCH_TOP/README.md
tree=$FSBENCH_BUILD/tests/readme
dir=$tree/tools/testing/selftests/filesystems/xattr_perf
trap 'rm -rf "$tree"' EXIT

# shellcheck disable=SC2016 # these are fences, no commands
workload() { sed -n '/^```c$/,/^```$/p' "$readme" | sed '1d;$d'; }

short() { [ "$(workload | wc -l)" -le 30 ] && workload | grep -q TEST_F; }

builds()
{
	mkdir -p "$tree" && cp -a "$KTREE/." "$tree/" &&
		sed -i '/^TEST_HARNESS_MAIN/d' "$dir/xattr_perf_test.c" &&
		{ workload; echo; echo TEST_HARNESS_MAIN; } >>"$dir/xattr_perf_test.c" &&
		make -s -C "$tree/tools/testing/selftests" USERCFLAGS="$STRICT_CFLAGS" \
			TARGETS=filesystems/xattr_perf FORCE_TARGETS=1 all
}

measures()
{
	local out

	out=$(FSBENCH_ROUNDS=3 "$dir/xattr_perf_test" -f lookup) &&
		grep -q 'lookup.tmpfs.access ns_per_op=.* fs=tmpfs' <<<"$out" &&
		grep -q '^ok 1 lookup.tmpfs.access$' <<<"$out" &&
		grep -q '^ok 2 lookup.xfs.access' <<<"$out"
}

variables()
{
	local var

	for var in $(grep -oh '"\(FSBENCH_[A-Z]*\|KSFT_[A-Z_]*\)"' \
		"$FSBENCH_TOP"/tools/testing/selftests/filesystems/fsbench/options.c |
		tr -d '"' | sort -u); do
		grep -q "^| \`$var\` |" "$readme" || { echo "no $var"; return 1; }
	done
}

targets()
{
	local target

	grep -o '^    make [a-z_][a-z_]*' "$readme" | sort -u | while read -r _ target; do
		make -n -C "$FSBENCH_TOP" "$target" >/dev/null || exit 1
	done
}

t "the workload has at most 30 lines" short
t "it builds, appended to a suite, with no other edit" builds
t "it measures" measures
t "every variable is in the table" variables
t "every target is there" targets
plan
