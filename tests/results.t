#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Results files: what a real run writes and what survives when it is killed,
# then the tool that reads them: good files, bad files, and its verdicts.

# shellcheck disable=SC2015 # "A && B || show" is meant as it reads
. "${BASH_SOURCE[0]%/*}/tap.sh"

export LC_ALL=C
suite=$KTREE/tools/testing/selftests/filesystems/xattr_perf/xattr_perf_test
lib=$FSBENCH_TOP/tools/testing/selftests/filesystems/fsbench
mkdir -p "$FSBENCH_BUILD/tests"
work=$(mktemp -d "$FSBENCH_BUILD/tests/results.XXXXXX") || exit 1
run_pid=
trap '[ -z "$run_pid" ] || kill -9 "$run_pid" 2>/dev/null; cd / && rm -rf "$work"' EXIT
cd "$work" || exit 1

# shellcheck disable=SC2120 # the arguments are for some of the callers only
show() { head -c 2000 "${@:-out}" "${@:-err}"; return 1; }

# gives STATUS ARGS...: what the tool says is in out and err.
gives()
{
	local want=$1 got

	shift
	"$FSBENCH_BUILD/fsbench" "$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] && { [ "$got" = 2 ] || [ ! -s err ]; } && return
	echo "fsbench $*: exit status $got, not $want"
	show
}

# refuses WORD ARGS...: in one line that has WORD.
refuses()
{
	local word=$1

	shift
	gives 2 "$@" || return
	[ ! -s out ] && [ "$(wc -l <err)" = 1 ] && grep -qF -e "$word" err && return
	echo "fsbench $*: not one line with $word"
	show
}

says() { grep -qE -e "$1" out || { echo "no $1"; show; }; }

# A real run

cases=(control.getppid xattr_list.tmpfs_1.flistxattr xattr_list.tmpfs_4.listxattr)
run() { FSBENCH_ROUNDS=3 FSBENCH_RESULTS=real "$suite" "${cases[@]/#/-r}"; }

written()
{
	run >log || { cat log; return 1; }
	[ "$(head -n 1 real)" = "fsbench-results 1" ] && [ "$(tail -n 1 real)" = "end cases=3" ] || show real
	gives 0 check real && says ': results file, 1 run, 3 cases$'
}
t "a run writes a results file" written

rounds()
{
	local name round

	for name in "${cases[@]}"; do
		for round in 1 2 3; do
			echo "round $name round=$round"
		done
		echo "$name"
	done >expected
	grep -E '^(round )?[a-z]+_?[a-z]*\.' real |
		sed -E 's/( round=[0-9]*)? ns_per_op=.*/\1/' | diff expected -
}
t "every round is there, then its case" rounds

# What a case says of its batches is the sum of its rounds: those disturbed are not in it.
sums()
{
	awk '
		{ for (i in f) delete f[i]; for (i = 2; i <= NF; i++) if (split($i, kv, "=") == 2) f[kv[1]] = kv[2] }
		$1 == "round" { batches += f["batches"]; ops += f["ops"] }
		$1 ~ /\./ {
			if (batches + f["disturbed"] != f["batches"] || ops != f["ops"] ||
			    f["disturbed"] != f["preempted"] + f["migrated"] + f["stolen"]) {
				print; bad = 1
			}
			batches = ops = 0; n++
		}
		END { exit bad || n != 3 }' real
}
t "the batches that were used and those disturbed are all" sums

shown()
{
	gives 0 show real && says "^xattr_perf_test +20.*kernel $(uname -r) " || return
	for name in "${cases[@]}"; do
		value=$(sed -n "s/^$name ns_per_op=\([0-9.]*\) .*/\1/p" real)
		says "^$name +$(printf %.1f "$value") " || return
	done
	[ "$(wc -l <out)" = 5 ] && ! grep UNFINISHED out || show
}
t "show is a table of it" shown

logs()
{
	sed 's/^/# /' log >runner.log
	{ echo "some text"; cat runner.log; echo "not ok 2 # SKIP"; } >ci.log
	mv out table
	for file in log runner.log ci.log; do
		gives 0 check "$file" && says ': KTAP log, 1 run, 3 cases$' && gives 0 show "$file" &&
			diff table out || return
	done
}
t "the KTAP log has the same figures, also with the runner's prefix" logs

# Appended to whatever the kernel's buffers are, so a line can never be torn.
one_write()
{
	FSBENCH_ROUNDS=2 FSBENCH_OPS=1000 FSBENCH_RESULTS=traced strace -f -y -s 5000 -o trace \
		-e trace=openat2,write,writev,pwrite64 "$suite" -r control.getppid >out || show || return
	grep -q 'openat2.*"traced", {flags=[A-Z_|]*O_APPEND' trace || { grep traced trace; return 1; }
	grep -F "<$PWD/traced>, " trace >writes
	[ "$(wc -l <writes)" = "$(wc -l <traced)" ] || show writes || return
	! grep -vE ' write\([0-9]+<[^>]*>, "([^\\]|\\"|\\[^n])*\\n", [0-9]+\) += [0-9]+$' writes
}
if strace -o /dev/null true 2>/dev/null; then t "a record is one appending write" one_write
else skip "a record is one appending write" "strace does not work here"; fi

# A thousand rounds take 10 s: it is killed in the first.
killed()
{
	local n=0 kept

	FSBENCH_ROUNDS=1000 FSBENCH_RESULTS=cut.off "$suite" -r control.getppid >/dev/null 2>&1 &
	run_pid=$!
	until [ "$(grep -c ^round cut.off 2>/dev/null)" -ge 5 ] || [ $((n += 1)) -gt 500 ]; do
		sleep 0.02
	done
	kept=$(grep -c ^round cut.off)
	kill -9 "$run_pid"
	wait "$run_pid" 2>/dev/null
	run_pid=
	timeout 5 flock cut.off true || { echo "a child lives on"; return 1; }
	[ -z "$(tail -c 1 cut.off)" ] && [ "$(grep -c ^round cut.off)" -ge "$kept" ] && [ "$kept" -ge 5 ] || show cut.off || return
	! grep -q ^end cut.off && awk '$1 == "round" && $3 != "round=" ++n { print; bad = 1 } END { exit bad }' cut.off || return
	gives 0 show cut.off && says "UNFINISHED$" && says "^control.getppid +not finished$" &&
		refuses "cut.off: line 2: " check cut.off && refuses "cut.off: line 2: " compare cut.off cut.off
}
t "kill -9 loses one round, and the file tells" killed

appended()
{
	local lines

	lines=$(wc -l <cut.off)
	FSBENCH_ROUNDS=2 FSBENCH_OPS=1000 FSBENCH_RESULTS=cut.off "$suite" -r control.getppid >out || show || return
	tail -n +$((lines + 1)) cut.off | head -n 1 | grep -q '^run program=' || show cut.off || return
	gives 0 show cut.off && [ "$(grep -c "  kernel " out)" = 2 ] && [ "$(grep -c UNFINISHED out)" = 1 ] || show || return
	refuses "cut.off: line 2: " check cut.off || return
	FSBENCH_ROUNDS=2 FSBENCH_OPS=1000 FSBENCH_RESULTS=real "$suite" -r control.getppid >out || show || return
	gives 0 check real && says ': results file, 2 runs, 4 cases$'
}
t "further runs are appended" appended

# The time of an operation is that, however many there are: no rate per round.
ops()
{
	local n

	for n in 1000 30000; do
		FSBENCH_ROUNDS=3 FSBENCH_OPS=$n FSBENCH_RESULTS=ops.$n "$suite" -r control.getppid >out || show || return
		grep '^control.getppid ns_per_op' ops.$n
	done | awk -F'[ =]' '{ v[NR] = $3; print } END { exit !(v[1] < 3 * v[2] && v[2] < 3 * v[1]) }'
}
t "ns_per_op does not depend on FSBENCH_OPS" ops

# Files made by hand, with known line numbers: 1 magic, 2 run, 3-6 machine and
# warning, then 6 rounds and a case three times, 28 skip, 29 end.

make_good()
{
	local name n

	cat <<-'END'
		fsbench-results 1
		run program=xattr_perf_test start=2026-01-02T03:04:05Z
		machine kernel release=6.12.0 version="#1 SMP" machine=x86_64
		machine cpu model="A CPU" governor=performance
		machine suite version=1 binary=0123456789abcdef
		warning text="runs under a hypervisor"
	END
	for name in "${cases[@]}"; do
		for n in 1 2 3 4 5 6; do
			echo "round $name round=$n ns_per_op=100.00$n batches=490 ops=16384"
		done
		echo "$name ns_per_op=100.003 low=100.001 high=100.006 median=101.000 mean=102.000" \
			"min=99.000 max=250.000 rounds=6 ops=98304 disturbed=60 expected_match_ratio=100" \
			"unexpected_results=0 confidence=96.875 batches=3000 preempted=50 migrated=4 stolen=6" \
			"clock_overhead=0.050 fs=tmpfs block=4096 mount=rw,relatime"
	done
	echo 'skip xattr_list.xfs_1.flistxattr reason="no mkfs.xfs"'
	echo "end cases=4"
}
make_good >good
t "the file made by hand is good" gives 0 check good

long=$(printf '%0200d' 0)
huge=$(printf '%01000000d' 0)
mapfile -t malformed <<END
1	another version	1s/1/2/
1	CRLF	s/\$/\r/
2	no run	2d
2	a run without its program	2s/program=[^ ]*//
2	a run with a bare word	2s/\$/ word/
3	a quote that does not end	3s/SMP"/SMP/
3	a quote within a word	3s/6.12/6"12/
3	no key	3s/release=/=/
3	no value	3s/6.12.0//
3	a bare word	3s/release=//
3	no group	3s/kernel//
3	a key twice	3s/\$/ release=6.13/
4	a key twice, in two records	4s/cpu model/kernel release/
4	more than 128 keys	4s/\$/$(printf ' k%d=v' {1..130})/
4	a key too long	4s/\$/ k$long=v/
4	a NUL	4s/A CPU/A\x00CPU/
4	an escape sequence	4s/A CPU/A\x1b[2JCPU/
6	an unknown record	6s/warning/warnung/
6	an empty line	6s/.*//
6	1 MB	6s/text=.*/text=$huge/
7	text that is no record	7s/^/=/
7	the first round missing	7d
7	round 0	7s/round=1/round=0/
7	a round without its number	7s/round=1//
7	a round without its time	7s/ns_per_op=[^ ]*//
7	a round without its case	7s/ control.getppid//
8	a round missing	8d
8	a round twice	7p
8	rounds out of order	8{h;d};9G
8	a round number above 2^64	8s/round=2/round=18446744073709551618/
9	a negative time	9s/ns_per_op=/&-/
9	a time of 0	9s/ns_per_op=[^ ]*/ns_per_op=0.000/
9	an exponent	9s/100.003/1e3/
9	four decimals	9s/100.003/100.0031/
9	no decimals after the point	9s/100.003/100./
9	a time above 2^64	9s/100.003/99999999999999999999/
9	not a number	9s/100.003/nan/
13	a name too long	13s/^/$long/
13	another number of rounds	13s/rounds=6/rounds=5/
13	a count with a fraction	13s/batches=3000/batches=3.5/
13	a count above 2^64	13s/batches=3000/batches=18446744073709554616/
13	a negative count	13s/batches=3000/batches=-1/
13	a figure twice	13s/\$/ mean=103.000/
13	a bare word in a case	13s/low=/low /
13	low above the value	13s/low=[^ ]*/low=100.004/
13	high below the value	13s/high=[^ ]*/high=100.002/
13	min above the value	13s/min=[^ ]*/min=100.004/
13	max below the value	13s/max=[^ ]*/max=100.002/
13	the median below the lower quartile	13s/median=[^ ]*/median=99.500/
13	the median above max	13s/median=[^ ]*/median=300.000/
13	the mean below min	13s/mean=[^ ]*/mean=98.000/
13	the mean above max	13s/mean=[^ ]*/mean=300.000/
13	more disturbed than there are	13s/disturbed=60/disturbed=3001/
13	more than all answers expected	13s/ratio=100/ratio=101/
13	some answers not expected and none unexpected	13s/ratio=100/ratio=99.5/
13	wrong answers and a time	13s/unexpected_results=0/unexpected_results=1/
14	a round after its case	13{p;s/ .*/ round=7 ns_per_op=100.000/;s/^/round /}
14	a case twice	13p
28	a case measured and skipped	28s/xattr_list.xfs_1.flistxattr/control.getppid/;29s/4/3/
28	a skip without its case	28s/ .*//
29	too many cases	29s/4/5/
29	too few cases	29s/4/3/
29	a negative number of cases	29s/4/-4/
29	an end without a number	29s/ .*//
29	a cut last line	\$s/4\$//;\$s/cases=/cases=4/
30	an end twice	29p
30	text after the end	\$a warning text="late"
END

wrong_line()
{
	sed -f <(echo "$2") good >bad
	[ "$what" != "a cut last line" ] || truncate -s -1 bad
	! cmp -s good bad && refuses "bad: line $1: " check bad && refuses "bad: line $1: " show bad
}
for entry in "${malformed[@]}"; do
	IFS=$'\t' read -r line what script <<<"$entry"
	t "line $line: $what" wrong_line "$line" "$script"
done

missing_fields()
{
	local field

	for field in ns_per_op low high median mean min max unexpected_results; do
		sed "13s/ $field=[^ ]*//" good >bad
		refuses "bad: line 13: case control.getppid does not say $field" check bad || return
	done
}
t "each figure that a case has to say" missing_fields

no_file()
{
	: >empty
	echo text >text
	mkfifo fifo
	for file in empty text fifo . nothing /dev/null; do
		refuses "$file: " check "$file" || return
	done
}
t "what is no file with results is refused by its name" no_file

fuzzed()
{
	local flags="-g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all" seed

	# shellcheck disable=SC2086 # several words
	gcc $flags -Wall -Wextra -Werror -I"$lib" -c "$FSBENCH_TOP/tests/results_fuzz.c" &&
		gcc $flags -w -o fuzz results_fuzz.o \
			"$lib"/{boots,calibration,judge,machine,options,results,sandwich,stats}.c -lm || return
	for seed in {1..10}; do
		ASAN_OPTIONS=detect_leaks=0 timeout 60 ./fuzz good "$seed" >/dev/null || return
	done
}
t "3000 damaged files: neither a crash nor an odd exit status" fuzzed
nothing_lost() { timeout 60 ./fuzz good 11 >/dev/null; }
t "nor is memory lost" nothing_lost

# The command line. "Too many" names the first word that is too many.

mapfile -t usage <<'END'
command
frobnicate	frobnicate good
--frobnicate	--frobnicate
show	show
check	check
extra	show good extra
extra	check good extra
compare	compare
compare	compare good
extra	compare good good extra
nothing	show nothing
nothing	compare good nothing
nothing	compare nothing good
--frobnicate	compare --frobnicate good good
-t	compare -t 5 good good
--frobnicate	show --frobnicate good
--threshold	compare --threshold
--threshold	compare good good --threshold 5
-5	compare --threshold -5 good good
0	compare --threshold 0 good good
5%	compare --threshold 5% good good
5,0	compare --threshold 5,0 good good
1e1	compare --threshold 1e1 good good
nan	compare --threshold nan good good
2.0001	compare --threshold 2.0001 good good
1000.001	compare --threshold 1000.001 good good
END
for entry in "${usage[@]}"; do
	IFS=$'\t' read -r word args <<<"$entry"
	# shellcheck disable=SC2086 # several words
	t "usage: fsbench $args" refuses "$word" $args
done

helps()
{
	gives 0 --help || return
	for name in show check compare; do
		says "^  fsbench $name " || return
	done
	for name in show check compare; do
		gives 0 "$name" --help && says "^fsbench $name " || return
	done
}
t "--help, of the tool and of each command" helps

# Verdicts. Each edits the good file and compares.

one=xattr_list.tmpfs_1.flistxattr
four=xattr_list.tmpfs_4.listxattr

# scale CASE FACTOR [LOW HIGH]: all its times, and the interval once more.
scale()
{
	awk -v name="$1" -v by="$2" -v low="${3-1}" -v high="${4-1}" '
		$1 == name || $1 == "round" && $2 == name {
			for (i = 2; i <= NF; i++) {
				if (split($i, kv, "=") != 2 || kv[1] !~ /^(ns_per_op|low|high|median|mean|min|max)$/)
					continue
				n = kv[2] * by * (kv[1] ~ /low|min/ ? low : kv[1] ~ /high|max/ ? high : 1)
				$i = sprintf("%s=%.3f", kv[1], n)
			}
		}
		{ print }'
}

wrong() { sed "s/^$1 .*/$1 expected_match_ratio=99.990 unexpected_results=1 errno=ENODATA/"; }
no_case() { sed "/^\(round \)\?$1 /d; s/^end cases=.*/end cases=$2/"; }
key() { sed "s/ $1=[^ ]*\( CPU\"\)\?/ $1=$2/"; }

# compares STATUS REGEX...: good with new; each line of the verdicts has its regex.
compares()
{
	local want=$1 regex

	shift
	gives 0 check new && gives "$want" compare good new || return
	for regex in "$@"; do
		says "$regex" || return
	done
}

only() { [ "$(grep -cE "$1" out)" = 1 ] || { echo "not once: $1"; show; }; }

cp good new
t "compare: a file with itself" compares 0 "^$one .* \+0.00% .* NO CHANGE$" "^control.getppid "

slower() { scale $one 1.10 <good >new; compares 1 "^$one .* \+10.00% .* REGRESSION$" && only ' REGRESSION$'; }
t "compare: one case slower" slower

faster() { scale $one 0.90 <good >new; compares 0 "^$one .* -10.00% .* IMPROVEMENT$" && only ' IMPROVEMENT$'; }
t "compare: one case faster" faster

wrong_answers()
{
	wrong $one <good >new
	compares 1 "^$one .*WRONG ANSWERS in the new" && only 'WRONG ANSWERS' || return
	# However fast the rest was
	scale $four 0.5 <new >faster && mv faster new && compares 1 || return
	mv new wrong
	gives 1 compare wrong good && says "^$one .*WRONG ANSWERS in the base"
}
t "compare: wrong answers" wrong_answers

must()
{
	key model '"B CPU"' <good >new
	compares 4 "^$one .*NOT COMPARABLE: cpu.model \(A CPU, B CPU\)$" || return
	sed 's/ model="A CPU"//' good >new
	compares 4 "^$one .*NOT COMPARABLE: cpu.model \(A CPU, missing\)$" || return
	sed "/^$one /s/fs=tmpfs/fs=xfs/" good >new
	compares 4 "^$one .*NOT COMPARABLE: fs \(tmpfs, xfs\)$" "^$four .*NO CHANGE$"
}
t "compare: a key that must be equal" must

should()
{
	key governor powersave <good >new
	compares 0 "^warning: .*cpu.governor \(performance, powersave\)" && only '^warning' || return
	key release 6.13.0 <good >new
	compares 0 && ! grep warning out
}
t "compare: a key that should be equal is a warning, the kernel not even that" should

wide() { scale $one 1 0.8 1.2 <good >new; compares 3 "^$one .*INCONCLUSIVE" && only 'INCONCLUSIVE'; }
t "compare: wide intervals" wide

loaded() { sed "/^$one /s/disturbed=60/disturbed=601/" good >new; compares 3 "^$one .*INCONCLUSIVE"; }
t "compare: more than 20 % disturbed" loaded

worst()
{
	scale $one 1.10 <good | scale $four 1 0.8 1.2 >new
	compares 1 "^$one .*REGRESSION$" "^$four .*INCONCLUSIVE"
}
t "compare: a regression among what is inconclusive" worst

nothing_common()
{
	sed 's/tmpfs_/ext4_/' good >new
	compares 4 "^$one .*only in the base" "^xattr_list.ext4_1.flistxattr .*only in the new" || return
	no_case $one 3 <good >new
	compares 3 "^$one .*only in the base" "^$four .*NO CHANGE$" || return
	{ head -n 6 good; echo "end cases=0"; } >new
	compares 4
}
t "compare: cases that only one has" nothing_common

control() { scale control.getppid 1.10 <good >new; compares 0 "^control.getppid .*\+10.00%"; }
t "compare: the control alone is shown, not judged" control

threshold()
{
	scale $one 1.10 <good >new
	gives 1 compare --threshold 9.9 good new && gives 0 compare --threshold 10.1 good new &&
		gives 0 compare --threshold 1000 good new && gives 1 compare --threshold 0.001 good new
}
t "compare: the threshold" threshold

# A case that crashed has rounds and no line: its answers are not known to be wrong.
crashed()
{
	sed "/^$one /d; s/^end cases=4/end cases=3/" good >new
	gives 0 show new && says "^$one +not finished$" || return
	gives 0 check new || return
	! gives 0 compare good new >/dev/null && says "^$one " && ! grep "WRONG ANSWERS" out
}
t "compare: a case that was not finished is not a wrong answer" crashed

# run_of COMMAND...: the run in the good file, without the first line of the file.
run_of() { "$@" <good | tail -n +2; }

several()
{
	{ cat good; run_of scale $one 1.02; run_of scale $one 1.04; } >new
	compares 0 "^$one .* 100.0 +102.0 .* NO CHANGE$" && gives 0 check new &&
		says ", 3 runs, 12 cases$" || return
	{ cat good; run_of cat; } >new
	compares 0 || return
	{ cat good; run_of wrong $one; run_of cat; } >new
	compares 1 "^$one .*WRONG ANSWERS" || return
	{ cat good; run_of no_case $one 3; } >new
	compares 0 "^$one .*NO CHANGE"
}
t "compare: several runs in one file" several

far_off()
{
	{ cat good; run_of scale $one 1.30; run_of cat; } >new
	compares 3 "^$one .* 100.0 +100.0 .* INCONCLUSIVE"
}
t "compare: one of several runs is far off" far_off

mixed()
{
	{ key model '"B CPU"' <good; run_of cat; } >new
	compares 4 "^$one .*NOT COMPARABLE: cpu.model"
}
t "compare: the runs of two machines in one file" mixed

# 1000 cases of 15 rounds
size()
{
	local start

	{
		head -n 6 good
		awk -v head="$(sed -n 20p good | sed 's/^[^ ]* //; s/rounds=6/rounds=15/')" 'BEGIN {
			for (i = 1; i <= 1000; i++) {
				for (j = 1; j <= 15; j++)
					print "round many.case_" i ".x round=" j " ns_per_op=100.000"
				print "many.case_" i ".x " head
			}
			print "end cases=1000"
		}'
	} >many
	start=${EPOCHREALTIME/[.,]/}
	# Address space: resident memory is less.
	(ulimit -v 16384; gives 0 compare many many) || return
	start=$((${EPOCHREALTIME/[.,]/} - start))
	[ "$start" -lt 1000000 ] && says "^0 regressions, 0 improvements, 1000 without" || { echo "$start us"; return 1; }
}
t "1000 cases of 15 rounds are compared in 1 s and 16 MiB" size
# What nobody can read is no result.
full()
{
	local command

	for command in "show good" "check good" "compare good good"; do
		# shellcheck disable=SC2086 # words
		"$FSBENCH_BUILD/fsbench" $command >/dev/full 2>err
		[ $? = 2 ] && grep -q "^fsbench: standard output: No space left on device$" err ||
			{ cat err; return 1; }
	done
}
t "standard output that is full is an error" full

# A number of tasks is one.
tasks_words()
{
	local tasks

	for tasks in 0 abc -2 2x 1025 99999999999999999999 "2 tasks=4"; do
		sed "/^[a-z_.]*[0-9]* ns_per_op=/ s/\$/ tasks=$tasks/" good >bad
		cmp -s good bad || gives 2 check bad || return
		! grep -q tasks bad || grep -q "tasks" err || { cat err; return 1; }
	done
}
t "tasks= that is no number of tasks is refused" tasks_words
plan
