#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The output of all programs, as those read it who have to: the kernel's
# kunit.py, prove, and LAVA. And a run with nothing set takes 30 s at most.

# shellcheck disable=SC2015 # "A && B || show" is meant as it reads
. "${BASH_SOURCE[0]%/*}/tap.sh"

work=$FSBENCH_BUILD/ktap
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1

program='' path=''
bounded()
{
	timeout 30 "$path" >"$program" 2>"$program.err" </dev/null || { echo "exit status $?"; tail -n 20 "$program"; return 1; }
}

names() { sed -nE 's/^(not )?ok ([0-9]+ [^ ]+).*/\2/p' "$1"; }

planned()
{
	local plan

	[ "$(head -n 1 "$program")" = "TAP version 13" ] && [ "$(grep -c '^1\.\.' "$program")" = 1 ] || return
	plan=$(sed -n 's/^1\.\.//p' "$program")
	# In order, without a gap, and with no name twice.
	diff <(seq "$plan") <(names "$program" | cut -d' ' -f1) &&
		[ -z "$(names "$program" | cut -d' ' -f2 | sort | uniq -d)" ]
}

# Nothing but the version, the plan, results and diagnostics.
lines()
{
	! grep -vnE '^(TAP version 13|1\.\.[0-9]+|(not )?ok [0-9]+ [A-Za-z0-9_.]+( # SKIP [^ ].*)?|#.*)$' \
		"$program"
}

# test-definitions take each line that matches for a result.
lava() { ! grep -nP '^.*?ok \d{1,5} ' "$program" | grep -vP '^\d+:(not )?ok \d'; }

read_by()
{
	local passed skipped

	skipped=$(grep -c '^ok .* # SKIP' "$1")
	passed=$(($(grep -c '^ok ' "$1") - skipped))
	python3 "$KTREE/tools/testing/kunit/kunit.py" parse "$work/$1" >"$1.kunit" 2>&1 &&
		! grep -iE 'error|crash|fail' "$1.kunit" &&
		grep -qE "Ran $((passed + skipped)) tests: passed: $passed(, skipped: $skipped)?\$" "$1.kunit" ||
		{ cat "$1.kunit"; return 1; }
	prove -e cat "$1" >"$1.prove" 2>&1 && grep -q "Tests=$((passed + skipped))," "$1.prove" ||
		{ cat "$1.prove"; return 1; }
}

# Also with another number of rounds, and with cases skipped where there is no brd.
stable()
{
	FSBENCH_DEVICE=brd FSBENCH_ROUNDS=1 "$path" >"$program.again" 2>"$program.err" </dev/null
	diff <(names "$program") <(names "$program.again")
}

# What was not run at all must not be taken for good.
bails()
{
	FSBENCH_ROUNDS=0 "$path" >bail
	! python3 "$KTREE/tools/testing/kunit/kunit.py" parse "$work/bail" && ! prove -e cat bail
}

for path in "$KTREE"/tools/testing/selftests/filesystems/*_perf/*_test; do
	program=${path##*/}
	program=${program%_test}
	t "$program: 30 s are enough" bounded
	t "$program: as many results as planned, in order" planned
	t "$program: nothing but KTAP" lines
	t "$program: kunit.py and prove read it" read_by "$program"
	t "$program: LAVA finds results in result lines only" lava
	t "$program: names and order are the same in each run" stable
	t "$program: kunit.py and prove read it with cases skipped" read_by "$program.again"
	t "$program: an error is no success to kunit.py and prove" bails
done
plan
