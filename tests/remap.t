#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What btrfs_remap_perf tells beside the times is true: the ratio, what was
# written, the commits, the profiles; and operations of 1 MiB stay few.

# shellcheck disable=SC2015 # "A && B || show" is meant as it reads
. "${BASH_SOURCE[0]%/*}/tap.sh"

if [ "$EUID" != 0 ]; then
	echo "1..0 # SKIP needs root"
	exit 0
fi

program=$KTREE/tools/testing/selftests/filesystems/btrfs_remap_perf/btrfs_remap_perf_test
work=$FSBENCH_BUILD/tests/remap
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1
# brd, where it is loaded, counts nothing.
export FSBENCH_DEVICE=loop FSBENCH_ROUNDS=3 FSBENCH_ALL=1

show() { cat out; return 1; }
run() { "$program" "$@" >out 2>&1 </dev/null || show; }
# word CASE NAME: its value on the line of the case
word() { sed -n "s/^# fsbench: $1 ns_per_op=.* $2=\([^ ]*\).*/\1/p" out; }
ns() { sed -n "s/^# fsbench: $1 ns_per_op=\([^ ]*\) .*/\1/p" out; }
# holds EXPRESSION: of numbers; without one it is no expression
holds() { awk "BEGIN { exit !($1) }" || { echo "not so: $1"; show; }; }

ratio()
{
	run -r remap.btrfs_1.clone -r remap.btrfs_1m.clone -r remap.xfs_1m.copy || return
	for case in remap.btrfs_1.clone remap.btrfs_1m.clone remap.xfs_1m.copy; do
		holds "($(ns $case) / $(word $case reference) - $(word $case ratio)) ^ 2 < 0.001 ^ 2" || return
	done
	# A clone of 1 MiB that is no cheaper than a copy is none.
	holds "$(word remap.btrfs_1m.clone ratio) < 0.5 && $(word remap.xfs_1m.copy ratio) < 0.5"
}
t "the ratio is that of the two times" ratio

written()
{
	local fs block

	run -r remap.btrfs_1.read_write -r remap.xfs_1.read_write -r remap.xfs_1m.read_write \
		-r remap.btrfs_1.differs -r remap.btrfs_1m.clone || return
	for fs in btrfs xfs; do
		block=$(word remap.${fs}_1.read_write block)
		holds "$(word remap.${fs}_1.read_write sectors_per_op) >= $block / 512 &&
			$(word remap.${fs}_1.read_write sectors_per_op) < 4 * $block / 512" || return
	done
	holds "$(word remap.xfs_1m.read_write sectors_per_op) >= 2048" &&
		holds "$(word remap.btrfs_1.differs sectors_per_op) < 0.1" &&
		holds "$(word remap.btrfs_1m.clone sectors_per_op) < 200"
}
t "a copy writes its data, a clone does not" written

profiles()
{
	run -r remap.btrfs_1.differs -r remap.xfs_1.differs || return
	[ "$(word remap.btrfs_1.differs meta) $(word remap.btrfs_1.differs data)" = "dup single" ] &&
		[ -z "$(word remap.xfs_1.differs meta)$(word remap.xfs_1.differs commits)" ] || show
}
t "the profiles are those of mkfs, and xfs has none" profiles

# sync(2) commits at once what the timer would commit later.
commits()
{
	local pid

	while :; do sync; done &
	pid=$!
	FSBENCH_ROUNDS=15 FSBENCH_OPS=5000 run -r remap.btrfs_1.clone
	kill "$pid"
	wait "$pid" 2>/dev/null
	holds "$(word remap.btrfs_1.clone commits) >= 1"
}
if [ "$(uname -r | cut -d. -f1)" -ge 6 ]; then
	t "a commit within a round is counted" commits
else
	skip "a commit within a round is counted" "needs Linux 6.0"
fi

few()
{
	FSBENCH_OPS=1000000 run -r remap.btrfs_1m.clone -r remap.btrfs_1m.read_write || return
	[ "$(word remap.btrfs_1m.clone ops) $(word remap.btrfs_1m.read_write ops)" = "96 6" ] || show
}
t "operations of 1 MiB stay few" few
plan
