#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# fsbench sandwich: published tables come out as published, every verdict and
# refusal has its exit status, and the judge errs no more often than it says.

# shellcheck disable=SC2015 # "A && B || show" is meant as it reads
. "${BASH_SOURCE[0]%/*}/tap.sh"

lib=$FSBENCH_TOP/tools/testing/selftests/filesystems/fsbench
published=$FSBENCH_TOP/tests/known/published
mkdir -p "$FSBENCH_BUILD/tests"
work=$(mktemp -d "$FSBENCH_BUILD/tests/sandwich.XXXXXX") || exit 1
trap 'cd / && rm -rf "$work"' EXIT
cd "$work" || exit 1

# boot FILE BOOT_ID [GROUP.KEY=VALUE]...: a results file. On stdin one case a
# line: NAME TIME [OPTION=VALUE]...; the options are the words of awk below.
boot()
{
	printf 'fsbench-results 1\n' >"$1"
	again "$@"
}

# The same, as one more run in the file.
again()
{
	awk -v id="$2" -v keys="${*:3}" -v program="${program-demo_test}" '
	BEGIN {
		print "run program=" program " start=2026-01-01T00:00:00Z rounds=15"
		print "machine kernel boot_id=" id
		n = split(keys, key)
		for (i = 1; i <= n; i++) {
			group = substr(key[i], 1, index(key[i], ".") - 1)
			print "machine " group " " substr(key[i], length(group) + 2)
		}
	}
	{
		o["rounds"] = 15; o["first"] = 1; o["wild"] = 1; o["mode"] = 0; o["ops"] = 1000
		o["disturbed"] = 0; o["wrong"] = 0; o["skip"] = 0; o["fail"] = 0; o["fs"] = "tmpfs"
		o["width"] = 0.0004
		for (i = 3; i <= NF; i++) {
			split($i, word, "=")
			o[word[1]] = word[2]
		}
		if (o["skip"] || o["fail"]) {
			print (o["skip"] ? "skip " : "fail ") $1 " reason=no"
			next
		}
		for (i = 1; i <= o["rounds"]; i++) {
			v = $2 * (1 + (i * 7 % 15 - 7) / 10000)
			if (i == 1)
				v *= o["first"]
			if (i == 2)
				v *= o["wild"]
			if (i % 2)
				v *= 1 + o["mode"] / 100
			printf "round %s round=%d ns_per_op=%.3f\n", $1, i, v
		}
		if (o["wrong"]) {
			print $1 " expected_match_ratio=99.000 unexpected_results=" o["wrong"] " errno=EIO"
			next
		}
		printf "%s ns_per_op=%.3f low=%.3f high=%.3f", $1, $2, $2 * (1 - o["width"]), $2 * (1 + o["width"])
		printf " median=%.3f mean=%.3f min=%.3f max=%.3f", $2, $2, $2 * .9, $2 * 2
		printf " rounds=%d ops=%d disturbed=%d", o["rounds"], o["ops"], o["disturbed"]
		printf " expected_match_ratio=100 unexpected_results=0 confidence=%s", (o["rounds"] > 5 ? 96.484 : 0)
		printf " batches=1000 preempted=%d migrated=0 stolen=0", o["disturbed"]
		printf " clock_overhead=0.050 fs=%s mkfs=none device=loop block=4096 mount=rw\n", o["fs"]
	}
	END { print "end cases=" NR }' >>"$1"
}

# A results file as a CI system keeps it, and the rounds are not in there.
to_log()
{
	echo "TAP version 13" >"$2"
	sed -n -e '/^round /d' -e '1d' -e 's/^/# # fsbench: /p' "$1" >>"$2"
}

# three A P B [OPTIONS]: a sandwich of one case, the options of the patched boot
three()
{
	boot a 1 <<<"x.list $1 ${4-}"
	boot p 2 <<<"x.list $2 ${5-${4-}}"
	boot b 3 <<<"x.list $3 ${4-}"
}

# verdict STATUS TEXT [ARGS]...: fsbench sandwich ends like this and says that
verdict()
{
	local status=$1 text=$2

	shift 2
	[ $# -gt 0 ] || set -- a p b
	fsbench sandwich "$@" >out 2>&1
	[ $? = "$status" ] && grep -qe "$text" out || { cat out; return 1; }
}

# row CASE: its line of numbers, in words
row() { awk -v c="$1" '$0 ~ "^" c "(:|$)" { found = 1 } found && /^all/ { print; exit }' out; }

# known COLUMN: the published time of every case
known() { awk -v column="$1" '!/^#/ { print $1, $column }' "$published"; }

as_published()
{
	local name change drift verdict line

	boot a 1 < <(known 2)
	boot p 2 < <(known 3)
	boot b 3 < <(known 4)
	verdict 1 "5 regressions, 3 improvements" || return
	while read -r name _ _ _ change drift verdict; do
		[ "${name#\#}" = "$name" ] || continue
		line=$(row "$name")
		# Columns: midpoint, change, interval, drift, verdict
		awk -v change="$change" -v drift="$drift" -v verdict="$verdict" '
			function digits(s) { return index(s, ".") ? length(s) - index(s, ".") : 0 }
			{
				have = sprintf("%+." digits(change) "f", $6)
				moved = drift == "-" ? "-" : sprintf("%+." digits(drift) "f", $9)
				exit have != change || moved != drift || $10 != verdict
			}' <<<"$line" || { echo "$name: $line"; return 1; }
	done <"$published"
}
t "published tables: change, drift and verdict as published" as_published

gradient()
{
	verdict 1 "4 regressions, 3 improvements, 1 without change" --threshold 10 a p b || return
	[[ $(row names_1.flistxattr) == *REGRESSION ]] && [[ $(row names_4.flistxattr) == *REGRESSION ]] &&
		[[ $(row names_16.flistxattr) == *REGRESSION ]] &&
		[[ $(row names_64.flistxattr) == *"NO CHANGE" ]]
}
t "64 names stay within a threshold of 10 %, 1, 4 and 16 do not" gradient

narrow() { ! grep -E '^.{101}' out; }
t "the table has at most 100 columns" narrow

improved() { three 327.037 208.447 323.640; verdict 0 "IMPROVEMENT"; }
t "an improvement is no failure" improved

reversed() { three 2159.123 2943.790 2162; verdict 1 "REGRESSION"; }
t "an improvement reversed is a regression" reversed

no_change()
{
	three 100 101 100.2
	verdict 0 "NO CHANGE" && grep -q "a change of [678]\.[0-9]* % would have been found" out
}
t "no change: and what would have been found" no_change

skip_first()
{
	three 100 100 100 "rounds=2 first=1.5"
	verdict 0 "^skip-first  *100.070  *100.070  *100.070 " && grep -q "^all  *100.000 " out || return
	three 100 100 100 "rounds=1"
	verdict 0 "^all" && ! grep '^skip-first' out
}
t "beside all rounds, the same without the first" skip_first

log()
{
	local f

	boot a 1 < <(known 2)
	boot p 2 < <(known 3)
	boot b 3 < <(known 4)
	fsbench sandwich a p b | grep ^all >files
	for f in a p b; do to_log "$f" "$f.log"; done
	verdict 1 "5 regressions" a.log p.log b.log && ! grep ^skip-first out && grep ^all out | diff files -
}
t "KTAP logs give the same, but for the first round" log

both_suites()
{
	local f id=0

	for f in a p b; do
		id=$((id + 1))
		program=one boot $f $id suite.binary=1 <<<$'control.getppid 50\nx.list 100'
		program=two again $f $id suite.binary=2 <<<$'control.getppid 50\ny.clone 100'
	done
	verdict 0 "2 without change" && [ "$(grep -c '^control.getppid' out)" = 2 ]
}
t "a file may hold the runs of both suites" both_suites

several_runs()
{
	three 100 100 100
	again p 2 <<<"x.list 300"
	again p 2 <<<"x.list 101"
	verdict 0 "." && [[ $(row x.list) == "all "*" 101.000 "* ]] || { cat out; return 1; }
}
t "several runs of a case in one boot count as their median" several_runs

more_sandwiches()
{
	local i

	for i in 1 3 5 7; do boot c$i $i <<<"x.list 100.$i"; done
	for i in 2 4 6; do boot p$i $i <<<"x.list 103.$i"; done
	verdict 1 "REGRESSION" c1 p2 c3 p4 c5 p6 c7 && [ "$(grep -c '^  [123]  *100' out)" = 3 ] &&
		grep -q "measured between boots; threshold 2 %" out
}
t "three sandwiches: their own noise, each in a line" more_sandwiches

# What cannot be a sandwich

refused()
{
	verdict 2 "$@" && [ "$(wc -l <out)" = 1 ]
}

number()
{
	fsbench sandwich >out 2>&1
	[ $? = 2 ] && grep -q "takes an odd number of files from 3 to 63, not 0" out || return
	refused "not 2" a p && refused "not 4" a p b p
}
three 100 100 100
t "an even number of files is refused" number

options()
{
	refused "unknown option --foo" --foo a p b && refused "needs a percentage" --threshold &&
		refused "needs a file" --calibration && refused "5x: not a percentage" --threshold 5x a p b &&
		refused "0: not a percentage" --threshold 0 a p b && refused "nowhere" nowhere p b &&
		refused "nowhere" --calibration fresh nowhere p b && [ ! -e fresh ]
}
t "bad options are named" options

same_boot()
{
	three 100 100 100
	boot p 1 <<<"x.list 100"
	refused "p: control A and patched are of the same boot, 1" && boot p 2 <<<"x.list 100" &&
		refused "b: control A and control B are of the same boot" a p a 2>&1 ||
		refused "same boot" a p a
}
t "two files of one boot are refused" same_boot

unknown_boot()
{
	three 100 100 100
	sed -i 's/boot_id=.*/boot_id=unknown/' a p b
	verdict 0 "warning: patched does not say in which boot it ran"
	sed -i '/boot_id/d' a p b
	verdict 0 "warning: control B does not say in which boot it ran"
}
t "an unknown boot is a warning" unknown_boot

two_boots()
{
	three 100 100 100
	again p 9 <<<"x.list 100"
	refused "p: line [0-9]*: a run of another boot"
}
t "a file of two boots is refused" two_boots

kernels()
{
	three 100 100 100
	boot a 1 kernel.build_id=aa <<<"x.list 100"
	boot p 2 kernel.build_id=bb <<<"x.list 100"
	boot b 3 kernel.build_id=bb <<<"x.list 100"
	refused "b: control B is not the kernel of control A" && refused "p: .*kernel" a b p || return
	boot p 2 kernel.build_id=aa <<<"x.list 100"
	boot b 3 kernel.build_id=aa <<<"x.list 100"
	verdict 0 "warning: control and patched are the same kernel"
}
t "controls are one kernel" kernels

unfinished()
{
	three 100 100 100
	sed -i '$d' p
	refused "p: line 2: the run of demo_test that begins here has no end"
}
t "an unfinished run is refused" unfinished

incomplete()
{
	three 100 100 100
	boot p 2 <<<$'y.list 100\nx.list 100 skip=1'
	verdict 4 "^x.list: not measured in patched" || return
	boot p 2 <<<$'y.list 100\nx.list 100 fail=1'
	verdict 4 "^x.list: failed in patched" || return
	boot p 2 <<<$'y.list 100\nx.list 100'
	boot a 1 <<<$'y.list 100\nx.list 100'
	verdict 3 "^y.list: not measured in control B" && grep -q "1 not measured in every boot" out
}
t "a case that a boot lacks has no verdict" incomplete

not_comparable()
{
	three 100 100 100
	boot p 2 clock.source=hpet <<<"x.list 100"
	boot a 1 clock.source=tsc <<<"x.list 100"
	boot b 3 clock.source=tsc <<<"x.list 100"
	verdict 4 "not comparable: .* patched: clock.source (tsc, hpet)" && narrow || return
	three 100 100 100 "" fs=xfs
	verdict 4 "^x.list: patched: fs (tmpfs, xfs)" || return
	three 100 100 100
	boot p 2 clock.unit=instructions <<<"x.list 100"
	verdict 4 "clock.unit (missing, instructions)" || return
	three 100 100 100
	again p 2 clock.source=hpet <<<"x.list 100"
	verdict 4 "^x.list: runs of one file differ: clock.source (missing, hpet)" && narrow
}
t "what differs makes it not comparable, and is listed" not_comparable

should_differ()
{
	three 100 100 100
	boot p 2 cpu.microcode=7 <<<"x.list 100"
	verdict 0 "warning: .* should be equal .* patched: cpu.microcode (missing, 7)"
}
t "what should be equal is a warning" should_differ

wrong_first()
{
	three 100 100 100
	boot p 2 <<<$'x.list 100\ny.list 50 wrong=7'
	boot a 1 <<<$'x.list 100\ny.list 100'
	boot b 3 <<<$'x.list 100\ny.list 100'
	verdict 1 "^y.list: 7 wrong answers in patched" && grep '^[xy].list' out | head -n 1 | grep -q '^y' &&
		[[ $(row y.list) == *" WRONG ANSWER" ]]
}
t "wrong answers come first and have no other verdict" wrong_first

# What is not conclusive

drifts()
{
	three 100 110 105
	verdict 3 "drift by +5.00 %, beyond their limit of 3.07 %; [0-9]* more boots may settle it" || return
	three 100 300 105
	verdict 1 "REGRESSION"
}
t "drift: unless the change dwarfs it" drifts

disturbed()
{
	three 100 130 100 "" disturbed=201
	verdict 3 "20 % of the batches of patched were disturbed; 2 more boots" || return
	three 100 130 100 "" disturbed=200
	verdict 1 "REGRESSION"
}
t "disturbance" disturbed

modes()
{
	three 100 100 100 "" mode=8
	verdict 3 "the rounds have two modes, 7.[0-9] % apart" || return
	three 100 130 100 "" mode=8
	verdict 1 "REGRESSION" || return
	three 100 100 100 "" mode=1
	verdict 0 "NO CHANGE"
}
t "two modes, if they are further apart than the threshold and the change" modes

control_moved()
{
	boot a 1 <<<$'control.getppid 100\nx.list 100'
	boot p 2 <<<$'control.getppid 110\nx.list 110'
	boot b 3 <<<$'control.getppid 100\nx.list 100'
	verdict 3 "^x.list: the control call moved by +10.00 %; 2 more boots may settle it"
}
t "the control call moved" control_moved

# Each program has its own: that of the other says nothing.
own_control()
{
	local f id=0 time

	for f in a p b; do
		id=$((id + 1))
		[ $f = p ] && time=110 || time=100
		program=one boot $f $id <<<"control.getppid $time"$'\n'"x.list $time"
		program=two again $f $id <<<"control.getppid 100"$'\n'"y.clone $time"
	done
	verdict 1 "^x.list: the control call moved by +10.00 %" && [[ $(row x.list) == *INCONCLUSIVE ]] &&
		[[ $(row y.clone) == *REGRESSION ]] || { cat out; return 1; }
}
t "the control call of one program is not that of the other" own_control

# Instructions: no noise, unless the rounds differ by far

instructions()
{
	boot a 1 clock.unit=instructions <<<$'x.list 1000 width=.002\ny.list 1000\nz.list 1000 width=.004'
	boot p 2 clock.unit=instructions <<<$'x.list 1002.5\ny.list 1001.5\nz.list 1002.5 width=.004'
	boot b 3 clock.unit=instructions <<<$'x.list 1000 width=.002\ny.list 1000\nz.list 1000 width=.004'
	verdict 1 "threshold 0.2 %" && [[ $(row x.list) == *"+0.250   +0.25   +0.25  +0.000  REGRESSION" ]] &&
		[[ $(row y.list) == *"+0.150 "*"NO CHANGE" && $(row z.list) == *"+0.250 "*"NO CHANGE" ]] || { cat out; return 1; }
	boot b 3 clock.unit=instructions <<<$'x.list 1003\ny.list 1000'
	verdict 3 "x.list: the controls drift by +0.30 %, beyond their limit of 0.20 %"
}
t "instructions: 0.2 % is a change, and a limit to drift" instructions

# Defects of other tools

unequal() { three 100 100.5 100 rounds=15 rounds=7; verdict 0 "NO CHANGE"; }
t "an unequal number of rounds decides nothing" unequal

one_sample()
{
	three 100 104.9 100 "rounds=1 width=0"
	verdict 0 "NO CHANGE" || return
	verdict 3 "not known how much boots differ here, +4.90 % may be chance; 4 more" --threshold 1 a p b
}
t "one round has a noise that is not known, not one of 0" one_sample

other_ops() { three 100 100 100 "" ops=10000; verdict 0 "NO CHANGE"; }
t "how much was measured is not what it took" other_ops

outlier() { three 100 100 100 "" wild=10; verdict 0 "NO CHANGE" && [[ $(row x.list) == *" +0.000 "* ]]; }
t "one wild round decides nothing" outlier

step()
{
	three 100 110 100
	boot p2 4 <<<"x.list 110.1"
	boot b2 5 <<<"x.list 100.1"
	verdict 1 "REGRESSION" a p b p2 b2
}
t "a real step is not taken for noise" step

# Stored control pairs

pairs()
{
	local i

	echo "fsbench-calibration 1"
	for ((i = 0; i < $1; i++)); do
		echo "pair digest=$digest case=x.list boots=$i,1$i ln_ratio=${2-+0.010000000}"
	done
}

stores()
{
	three 100 103 101
	verdict 0 "not known" && [ ! -e store ] && verdict 0 "not known" --calibration store a p b || return
	[ "$(wc -l <store)" = 2 ] && grep -q 'case=x.list boots=1,3 ln_ratio=+0.009950331$' store || return
	verdict 0 "not known" --calibration store a p b && [ "$(wc -l <store)" = 2 ]
}
t "control pairs are stored, if asked, and once" stores
digest=$(sed -n 's/.*digest=\([^ ]*\).*/\1/p' store)

# t(0.995, 10) * sqrt(0.75) * 1 % is 2.74 %: a factor of 1.0278.
calibrated()
{
	pairs 10 >store
	three 100 102.7 100
	verdict 0 "NO CHANGE" --calibration store a p b && grep -q "measured between boots; threshold 2 %" out &&
		[ "$(wc -l <store)" = 12 ] || return
	pairs 10 >store
	three 100 102.9 100
	verdict 1 "REGRESSION" --calibration store a p b || return
	pairs 9 >store
	verdict 0 "not known.*threshold 5 %" --calibration store a p b || return
	pairs 10 +0.001 >store
	three 100 101.9 100
	verdict 0 "NO CHANGE" --calibration store a p b || return
	pairs 10 +0.001 >store
	three 100 102.1 101
	verdict 3 "beyond their limit of 0.3[0-9] %" --calibration store a p b
}
t "ten of them make the noise known: Student's t with ten degrees" calibrated

# The same 1.5 %, with and without what it takes.
settled()
{
	local i

	for i in 1 3 5 7; do boot c$i $i <<<"x.list 100"; done
	for i in 2 4 6; do boot p$i $i <<<"x.list 101.5"; done
	pairs 10 +0.001 >store
	verdict 1 REGRESSION --calibration store c1 p2 c3 p4 c5 p6 c7 &&
		grep -q "measured between many boots; threshold 1 %" out || return
	pairs 10 +0.001 >store
	verdict 0 "NO CHANGE" --calibration store c1 p2 c3 p4 c5 &&
		grep -q "measured between boots; threshold 2 %" out || return
	pairs 9 +0.001 >store
	verdict 0 "NO CHANGE" --calibration store c1 p2 c3 p4 c5 p6 c7 &&
		grep -q "measured between boots; threshold 2 %" out
}
t "ten of them and three sandwiches: a threshold of 1 %" settled

# family N: one change that stands out alone, among N - 1 cases without
family()
{
	local n=$1 i

	for i in $(seq 2 "$n"); do echo "x.c$i 100"; done >rest
	boot a 1 < <(echo x.list 100; cat rest)
	boot p 2 < <(echo x.list 103.2; cat rest)
	boot b 3 < <(echo x.list 100; cat rest)
}

holm()
{
	family 1
	pairs 20 >store
	verdict 1 REGRESSION --calibration store a p b || return
	family 55
	pairs 20 >store
	verdict 3 "x.list: as one of 55 cases this may be chance; [0-9]* more boots may settle it" \
		--calibration store a p b
}
t "one of many cases needs more than one alone" holm

other_machine()
{
	pairs 10 >store
	boot a 1 clock.source=tsc <<<"x.list 100"
	boot p 2 clock.source=tsc <<<"x.list 100"
	boot b 3 clock.source=tsc <<<"x.list 100"
	verdict 0 "not known" --calibration store a p b
}
t "those of another machine do not count" other_machine

bad_store()
{
	local line good="pair digest=$digest case=x.list boots=1,3 ln_ratio=+0.01"

	three 100 100 100
	while read -r line; do
		{ pairs 1; echo "$line"; } >store
		cp store before
		refused "store: line 3: " --calibration store a p b && cmp store before || { echo "$line"; return 1; }
	done <<-EOF
		nonsense
		$good extra
		${good/case=x.list/}
		${good/+0.01/nan}
		${good/+0.01/9}
		${good/boots=1,3/boots=1}
	EOF
	printf 'pair' >>store
	refused "store: its last line is cut" --calibration store a p b || return
	refused "a: not a calibration file" --calibration a a p b || return
	mkfifo fifo && refused "fifo: not a regular file" --calibration fifo a p b || return
	ln -s before link && refused "link" --calibration link a p b
}
t "a bad calibration file is refused and left alone" bad_store

# Limits

many()
{
	local name

	for name in $(seq 1000); do echo "fixture_number.variant_$name.list 100"; done >cases
	boot a 1 <cases
	boot p 2 <cases
	boot b 3 <cases
	fsbench sandwich a p b >/dev/null # to have them in memory
	python3 - <<-'EOF'
		import os, resource, time

		null = os.open("/dev/null", os.O_WRONLY)
		start = time.time()
		pid = os.fork()
		if not pid:
		    os.dup2(null, 1)
		    os.execvp("fsbench", ["fsbench", "sandwich", "a", "p", "b"])
		status = os.wait4(pid, 0)
		seconds = time.time() - start
		kib = status[2].ru_maxrss
		print("status %d, %.2f s, %d KiB" % (status[1], seconds, kib))
		raise SystemExit(status[1] != 0 or seconds >= 1 or kib > 16384)
	EOF
}
t "1,000 cases in 1 s and 16 MiB" many

icount()
{
	local suite=$KTREE/tools/testing/selftests/filesystems/xattr_perf/xattr_perf_test

	FSBENCH_ICOUNT=yes "$suite" 2>&1 | grep -q '^Bail out! FSBENCH_ICOUNT="yes": not 0 or 1$' || return
	# Here it does not, and must not be believed to.
	! FSBENCH_ICOUNT=1 FSBENCH_RESULTS=counted "$suite" >out &&
		grep -q '^Bail out! FSBENCH_ICOUNT=1, but the clock does not count instructions$' out &&
		[ ! -e counted ] || return
	FSBENCH_ROUNDS=1 FSBENCH_OPS=100 "$suite" -r control.getppid | grep -q 'clock .*unit=nanoseconds'
}
t "FSBENCH_ICOUNT says what the clock counts" icount

# Known answers and the simulation, against the shipped sources

# Warnings about the other sources are for others.
built()
{
	gcc -O2 -g -Wall -Wextra -Werror -I"$lib" -isystem "$KTREE/tools/testing/selftests" \
		-c -o known.o "$FSBENCH_TOP/tests/sandwich_test.c" &&
		gcc -O2 -g -w -o known known.o "$lib"/{boots,calibration,judge,machine,results,sandwich,stats}.c -lm
}

t "sandwich_test.c compiles without a warning" built
t "known answers" ./known
simulated() { "$FSBENCH_TOP/tests/simulate.sh" 500 30; }
t "the judge errs no more often than it says" simulated
plan
