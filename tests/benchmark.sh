#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Two figures about the measuring itself; "make benchmark" prints them, no test
# depends on them. Both come from runs that take turns with the plainest possible
# loop around the same call, on the same CPU, in batches of the same length.

set -eu
[ "$(id -u)" = 0 ] || { echo "the plain loop mounts a tmpfs: run this as root" >&2; exit 1; }
case=xattr_list.tmpfs_1.flistxattr
suite=$KTREE/tools/testing/selftests/filesystems/xattr_perf/xattr_perf_test
dir=$FSBENCH_BUILD/tests
busy=
trap '[ -z "$busy" ] || kill "$busy"' EXIT
mkdir -p "$dir"
cc -O2 -Wall -Wextra -o "$dir/plain_loop" "$FSBENCH_TOP/tests/plain_loop.c"

word() { grep -o " $1=[0-9.]*" <<<"$line" | cut -d= -f2; }

# One run of each: "headline quartile mean".
turn()
{
	local line ops batches

	line=$(FSBENCH_CPU=$cpu "$suite" -r $case | grep -o "$case ns_per_op=.*")
	headline=$(word ns_per_op) ops=$(word ops) batches=$(word batches)
	echo "$headline $(taskset -c "$cpu" "$dir/plain_loop" $((ops / batches)) "$batches")"
}

median() { sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
spread() { sort -n | awk 'NR == 1 { min = $1 } { max = $1 } END { print max - min }'; }

cpu=$(taskset -cp $$ | sed 's/.*[-, ]//')
for _ in {1..15}; do turn; done >"$dir/quiet"
headline=$(awk '{ print $1 }' "$dir/quiet" | median)
quartile=$(awk '{ print $2 }' "$dir/quiet" | median)
ratio=$(awk '{ print $1 / $2 }' "$dir/quiet" | median)
echo "15 turns: headline $headline ns, lower quartile of the plain loop $quartile ns"
echo "median of the ratios: $ratio (to be within 0.97 and 1.03)"

(while :; do :; done) &
busy=$!
taskset -cp "$cpu" "$busy" >/dev/null
for _ in {1..20}; do turn; done >"$dir/busy"
headline=$(awk '{ print $1 }' "$dir/busy" | spread)
mean=$(awk '{ print $3 }' "$dir/busy" | spread)
echo "20 turns beside a busy process: spread of the headline $headline ns," \
	"of the plain loop's mean $mean ns"
awk -v a="$headline" -v b="$mean" 'BEGIN { print "ratio: " a / b " (to be at most 0.2)" }'
