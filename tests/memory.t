#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory, the second thing that is measured: its words in the results, its own
# threshold in every verdict, and that what is counted is what the kernel takes,
# also while others open and create files.

# shellcheck disable=SC2015 # "A && B || show" is meant as it reads
. "${BASH_SOURCE[0]%/*}/tap.sh"

export LC_ALL=C
suite=$KTREE/tools/testing/selftests/filesystems/xattr_perf/xattr_memory_test
mkdir -p "$FSBENCH_BUILD/tests"
work=$(mktemp -d "$FSBENCH_BUILD/tests/memory.XXXXXX") || exit 1
busy_pid=
trap '[ -z "$busy_pid" ] || kill "$busy_pid" 2>/dev/null; cd / && rm -rf "$work"' EXIT
chmod 755 "$work"
cd "$work" || exit 1

case=xattr_memory.tmpfs.setxattr

show() { head -c 3000 out err; return 1; }

# gives STATUS REGEX ARGS...: the tool ends like this and says that
gives()
{
	local want=$1 regex=$2 got

	shift 2
	fsbench "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] && cat out err | grep -qE -e "$regex" && return
	echo "fsbench $*: exit status $got, not $want, or no $regex"
	show
}

# boot FILE BOOT_ID BYTES [GETPPID] [SPREAD]: what a run writes, with these figures
boot()
{
	awk -v id="$2" -v bytes="$3" -v ns="${4-100}" -v spread="${5-0}" -v name="$case" 'BEGIN {
		print "fsbench-results 1"
		print "run program=xattr_memory_test start=2026-01-01T00:00:00Z rounds=15"
		print "machine kernel boot_id=" id
		print "machine cpu model=\"A CPU\""
		for (i = 1; i <= 3; i++)
			printf "round control.getppid round=%d ns_per_op=%.3f batches=1000 ops=1000\n", i, ns
		printf "control.getppid ns_per_op=%.3f low=%.3f high=%.3f median=%.3f", ns, ns, ns, ns
		printf " mean=%.3f min=%.3f max=%.3f rounds=3 ops=3000 disturbed=0", ns, ns, ns
		printf " expected_match_ratio=100 unexpected_results=0 confidence=75.000 batches=3000\n"
		for (i = 1; i <= 3; i++)
			printf "round %s round=%d bytes_per_file=%.3f ops=10000\n", name, i, bytes
		printf "%s bytes_per_file=%.3f low=%.3f high=%.3f median=%.3f", name, bytes, bytes - spread, bytes + spread, bytes
		printf " mean=%.3f min=%.3f max=%.3f rounds=3 ops=30000", bytes, bytes - spread, bytes + spread
		printf " expected_match_ratio=100 unexpected_results=0 confidence=75.000"
		print " fs=tmpfs block=4096 mount=rw"
		print "end cases=2"
	}' >"$1"
}

# The grammar

boot good 1 80
good()
{
	gives 0 ': results file, 1 run, 2 cases$' check good && gives 0 "^$case +80.0 " show good || return
	# Each table has its unit.
	[ "$(grep -n '^case' out | tr -s ' ' | cut -d' ' -f1-2 | tr '\n' ,)" = '2:case ns/op,4:case bytes/file,' ] || show
}
t "a good file, and its table" good

log()
{
	{ echo "TAP version 13"; grep -v ^round good | sed -n '1d; s/^/# # fsbench: /p'; } >good.log
	gives 0 ': KTAP log, 1 run, 2 cases$' check good.log && fsbench show good >table && fsbench show good.log | diff table -
}
t "a log gives the same" log

# LINE WHAT SCRIPT: sed damages that line, and it is named.
mapfile -t malformed <<'END'
9	a round of 0 bytes	9s/file=[^ ]*/file=0.000/
9	a negative number of bytes	9s/file=/&-/
9	a fourth decimal	9s/file=[^ ]*/file=80.0001/
9	not a number	9s/file=[^ ]*/file=80B/
9	a round of no unit	9s/ bytes_per_file=[^ ]*//
9	a round of an unknown unit	9s/bytes_per_file/pages_per_file/
9	a round of two units	9s/$/ ns_per_op=80.000/
10	the second round in another unit	10s/bytes_per_file/ns_per_op/
12	a case in another unit than its rounds	12s/bytes_per_file/ns_per_op/
12	a case of two units	12s/bytes_per_file/ns_per_op=80.000 &/
12	two units, the other way round	12s/ low/ ns_per_op=80.000&/
12	a case of no unit	12s/ bytes_per_file=[^ ]*//
12	the same unit twice	12s/bytes_per_file=[^ ]*/& &/
12	a case of 0 bytes	12s/=80.000/=0.000/g
12	min above the value	12s/min=[^ ]*/min=80.001/
12	max below the value	12s/max=[^ ]*/max=79.999/
12	wrong answers and bytes	12s/unexpected_results=0/unexpected_results=1/
12	another number of rounds	12s/rounds=3/rounds=4/
END
wrong_line()
{
	sed "$2" good >bad
	! cmp -s good bad && gives 2 "^fsbench: bad: line $1: " check bad && [ "$(wc -l <err)" = 1 ]
}
for entry in "${malformed[@]}"; do
	IFS=$'\t' read -r line what script <<<"$entry"
	t "line $line: $what" wrong_line "$line" "$script"
done

missing_fields()
{
	local field

	sed '/^round xattr/d' good >no.rounds
	for field in low high median mean min max unexpected_results; do
		sed "s/^\(xattr.*\) $field=[^ ]*/\1/" no.rounds >bad
		gives 2 "does not say $field" check bad || return
	done
	sed 's/=80.000 ops=/=none ops=/' good >none
	gives 0 '2 cases' check none
}
t "each figure that a case has to say; a round may have none" missing_fields

# Verdicts, on published figures: 7.0, 7.1 and 7.2, one small attribute on tmpfs

# compares BASE NEW STATUS VERDICT [ARGS]...
compares()
{
	boot base 1 "$1"
	boot new 2 "$2"
	gives "$3" "^$case +$(printf %.1f "$1") +$(printf %.1f "$2") .*%  $4" compare "${@:5}" base new
}
published()
{
	compares 80 1296 1 'REGRESSION$' && compares 1296 112 0 'IMPROVEMENT$' && compares 80 112 1 'REGRESSION$' &&
		compares 80 80 0 'NO CHANGE$' && grep -q '^case  *base bytes  *new bytes ' out
}
t "compare: 80 -> 1296 -> 112 bytes" published

own_threshold()
{
	compares 1000 1019 0 'NO CHANGE$' && compares 1000 1021 1 'REGRESSION$' && compares 1000 979 0 'IMPROVEMENT$' &&
		compares 16 17.9 0 'NO CHANGE$' && compares 16 18.1 1 'REGRESSION$' &&
		compares 0.001 2 0 'NO CHANGE$' && compares 80 112 1 'REGRESSION$' --threshold 1000 &&
		compares 80 81 0 'NO CHANGE$' --threshold 0.1
}
t "its threshold is 2 % and 2 bytes, whatever that of times" own_threshold

time_aside()
{
	boot base 1 80 100
	boot new 2 112 140
	gives 1 "^$case .*REGRESSION$" compare base new || return
	boot new 2 80 140
	gives 0 "^$case .*NO CHANGE$" compare base new || return
	sed -i 's/^machine cpu/machine clock unit=instructions\n&/' base new
	gives 0 "^$case .*NO CHANGE$" compare base new || return
	boot base 1 80 100 3
	gives 3 "^$case .*INCONCLUSIVE: noise above" compare base new || gives 4 . compare base new
}
t "neither the control nor the clock matters, but the rounds do" time_aside

other_unit()
{
	boot base 1 80
	boot new 2 80
	sed '/xattr/s/bytes_per_file/ns_per_op/' base >timed
	gives 4 "^$case .*NOT COMPARABLE: unit \(ns/op, bytes/file\)$" compare timed new || return
	gives 4 "^$case .*NOT COMPARABLE: unit \(bytes/file, ns/op\)$" compare new timed || return
	{ cat base; tail -n +2 timed; } >both
	gives 4 "^$case .*NOT COMPARABLE: unit .* between runs of one file" compare both new
}
t "compare: another unit is not comparable" other_unit

# sandwich STATUS VERDICT A P B [GETPPID of P]
judged()
{
	boot a 1 "$3"
	boot p 2 "$4" "${6-100}"
	boot b 3 "$5"
	gives "$1" "^all .*  $2\$" sandwich --calibration store a p b
}
sandwich()
{
	judged 1 REGRESSION 80 1296 80 && judged 0 IMPROVEMENT 1296 112 1296 && judged 1 REGRESSION 80 112 80 &&
		judged 0 'NO CHANGE' 80 81 80 && judged 1 REGRESSION 80 82.1 80 || return
	grep -q '^Bytes a file, change' out && grep -q '^noise in 1 of 2 .*memory.*threshold 2 % and 2 bytes$' out || show
}
t "sandwich: the same, with no boots to wait for" sandwich
drifts()
{
	judged 0 'NO CHANGE' 80 80 81 && judged 3 INCONCLUSIVE 80 80 83 && grep -q 'the controls drift by' out
}
t "sandwich: controls that differ" drifts
control()
{
	# The control itself is not conclusive.
	judged 1 REGRESSION 80 112 80 130 && judged 3 'NO CHANGE' 80 80 80 130 || return
	grep -A 1 "^$case" out | grep -q '^all .*NO CHANGE$' || show
}
t "sandwich: the control call says nothing of memory" control
no_pairs() { [ "$(grep -c control.getppid store)" = 1 ] && ! grep -c xattr store; }
t "sandwich: and its boots are not kept as noise" no_pairs
counted()
{
	local f

	judged 1 REGRESSION 80 112 80
	for f in a p b; do sed -i 's/^machine cpu/machine clock unit=instructions\n&/' $f; done
	gives 1 '^all .* REGRESSION$' sandwich a p b && grep -q '^Bytes a file' out && grep -q '^Instructions an' out || show
}
t "sandwich: bytes among instructions are bytes" counted
mixed()
{
	judged 0 'NO CHANGE' 80 80 80
	sed -i '/xattr/s/bytes_per_file/ns_per_op/' p
	gives 4 "^$case: patched: unit \(bytes/file, ns/op\)" sandwich a p b
}
t "sandwich: another unit is not comparable" mixed

# A real run

run() { "$suite" "${@:-"-r$case"}" >out 2>err </dev/null; }

# skips REASON COMMAND...: the cases and nothing else
skips()
{
	local reason=$1

	shift
	"$@" >out 2>err </dev/null || show || return
	grep -q "^ok 2 $case # SKIP .*$reason" out && grep -q '^ok 1 control.getppid$' out || show
}
as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
if [ "$EUID" = 0 ] && cp "$suite" . 2>/dev/null && as_user test -x "$work/${suite##*/}"; then
	t "an ordinary user: skipped" skips '/proc/slabinfo: .*root' as_user "./${suite##*/}"
else
	skip "an ordinary user: skipped" "needs root, and a program that he may run"
fi
run
if ! grep -q "^ok 1 $case\$" out || [ "$EUID" != 0 ]; then
	skip "what the kernel takes" "$(grep -o 'SKIP.*' out)"
	plan
	exit
fi
t "no slabinfo: skipped" skips '/proc/slabinfo: No such file.*CONFIG_SLUB_DEBUG' unshare -m \
	sh -c "mount -t tmpfs none /proc && exec $suite"
t "/sys cannot be written: skipped" skips '/sys/kernel/slab/dentry/shrink: Read-only' unshare -m \
	sh -c "mount -o remount,bind,ro /sys && exec $suite"

# bytes CASE: of the last run
bytes() { sed -n "s/^# fsbench: xattr_memory.$1.setxattr bytes_per_file=\([0-9.]*\) .*/\1/p" out; }

# Until 7.1: an object for struct simple_xattr and its value, of 40 bytes and so many,
# and one for the name of 15 bytes. Size classes: 64 and 16, and 512 for 296.
release=$(uname -r)
IFS=.- read -r major minor _ <<<"$release"
known=$((major * 100 + minor >= 606 && major * 100 + minor < 701))
within()
{
	awk -v a="$(bytes "$1")" -v b="$2" 'BEGIN {
		limit = b / 50 > 2 ? b / 50 : 2
		exit !(a >= b - limit && a <= b + limit)
	}' || { echo "$1: $(bytes "$1") is not $2"; return 1; }
}
as_known()
{
	for _ in 1 2; do
		run -fxattr_memory || show || return
		within tmpfs 80 && within tmpfs_4 320 && within tmpfs_256b 528 || return
		bytes tmpfs >>spread
	done
}
# Also of a kernel that is not known: four are more than one, and 256 bytes than 16.
as_expected()
{
	run -fxattr_memory || show || return
	awk -v one="$(bytes tmpfs)" -v four="$(bytes tmpfs_4)" -v large="$(bytes tmpfs_256b)" 'BEGIN {
		exit !(one > 0 && four > one + 2 && large > one + 200)
	}' || show
}
t "four names take more than one, a large value more than a small one" as_expected
# What is not by size classes: debugging, and kernels whose structure is another
if [ $known = 1 ] && grep -qE '^kmalloc-cg-64 +[0-9]+ +[0-9]+ +64 ' /proc/slabinfo; then
	t "bytes are those of the size classes, within 2 % and 2 bytes" as_known
	cat >busy.c <<-'END'
		#include <fcntl.h>
		#include <stdio.h>
		#include <unistd.h>

		int main(void)
		{
			char path[32];
			unsigned int n;

			for (n = 0; ; n++) {
				snprintf(path, sizeof(path), "busy%u", n);
				close(open(path, O_CREAT | O_RDWR, 0644));
				snprintf(path, sizeof(path), "busy%u", n - 1000);
				unlink(path);
			}
		}
	END
	cc -O2 -o busy busy.c || exit 1
	unshare -m sh -c 'mkdir dir && mount -t tmpfs none dir && cd dir && exec ../busy' &
	busy_pid=$!
	t "also beside a process that opens, creates and removes files" as_known
	kill "$busy_pid"
	wait "$busy_pid" 2>/dev/null
	busy_pid=
	sed 's/^/# /' spread
else
	skip "bytes are those of the size classes" "not known for $release"
fi

# What the loop is told was set and was not, and what is not there in the end
cat >lie.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/xattr.h>

int setxattr(const char *path, const char *name, const void *value, size_t size, int flags)
{
	int (*real)(const char *, const char *, const void *, size_t, int) = dlsym(RTLD_NEXT, "setxattr");
	static int nr;

	if (++nr != atoi(getenv("LIE_NR")))
		return real(path, name, value, size, flags);
	errno = EIO;
	return -atoi(getenv("LIE_FAIL"));
}
END
cc -O2 -shared -fPIC -o lie.so lie.c || exit 1
lies()
{
	! LD_PRELOAD=$PWD/lie.so LIE_NR=$1 LIE_FAIL=$2 run || show || return
	grep -q "^not ok 1 $case\$" out && grep -qE "^# fsbench: $case expected_match_ratio=[0-9.]+ unexpected_results=[1-9]" out &&
		! grep bytes_per_file out || show
}
t "a call that fails in the first round: no bytes" lies 5000 1
t "one that lies in the first round: no bytes" lies 5000 0
t "one that lies later: no bytes" lies 25000 0

# The gate

rm -f now
FSBENCH_RESULTS=now run
recorded()
{
	gives 0 '1 case' check now && [ "$(grep -c "^round $case round=. bytes_per_file=[0-9.]* ops=10000$" now)" = 5 ] || { cat now; return 1; }
	! grep "^$case.* \(batches\|disturbed\|clock_overhead\|control\)=" now
}
t "five rounds are recorded, and nothing of time" recorded

# gated STATUS REGEX FACTOR [VAR=VALUE]...: with a baseline of so many times the bytes
gated()
{
	local want=$1 regex=$2 got

	awk -v by="$3" '
		/bytes_per_file/ {
			for (i = 2; i <= NF; i++)
				if (split($i, kv, "=") == 2 && kv[1] ~ /^(bytes_per_file|low|high|median|mean|min|max)$/)
					$i = sprintf("%s=%.3f", kv[1], kv[2] * by)
		}
		{ print }' now >base
	env FSBENCH_BASELINE=base "${@:4}" "$suite" -r "$case" >out 2>err </dev/null
	got=$?
	[ "$got" = "$want" ] && grep -qE "^# fsbench: gate $case verdict=$regex" out || show
}
# On a busy machine the rounds may differ by too much for a verdict.
t "gate: as much as in the baseline" gated 0 '(no_change|inconclusive) .* threshold=2' 1
t "gate: more fails" gated 1 'regression .*change=\+40.*confirmed=[23]/3$' 0.714
t "gate: whatever the threshold of times" gated 1 'regression .*threshold=[0-9]{2}\.' 0.0617 FSBENCH_THRESHOLD=1000
t "gate: less is an improvement" gated 0 'improvement .*hint="improvement, refresh the baseline"' 11.6
few()
{
	FSBENCH_OPS=10 run && grep -q "^# fsbench: $case bytes_per_file=.* rounds=5 ops=50000 " out || show
}
t "few operations are as many files" few
other_gate()
{
	sed -i.good '/xattr/s/bytes_per_file/ns_per_op/' now
	gated 0 'not_comparable reason="unit \(ns/op, bytes/file\)"' 1
	mv now.good now
}
t "gate: another unit is not comparable" other_gate
plan
