#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# run_tests.sh: runs the suites through the kernel's "run_tests". Its KTAP
# goes to stdout as it happens and to build/run_tests.log. The kernel's target
# succeeds whatever the tests do, so the verdict is taken from the KTAP.

. "${BASH_SOURCE[0]%/*}/lib.sh"

# The runner changes directory. As arguments these also win over what make
# itself hands down.
if [ -z "${FSBENCH_RESULTS+set}" ]; then
	# Of this run alone: the kernel or the suites may be others than last time.
	FSBENCH_RESULTS=$PWD/build/results.txt
	rm -f "$FSBENCH_RESULTS"
fi
files=()
for var in FSBENCH_RESULTS FSBENCH_BASELINE; do
	[ -z "${!var-}" ] || files+=("$var=$(user_path "${!var}")")
done

log=build/run_tests.log
"$MAKE" -s --no-print-directory -C "build/linux/$selftests" TARGETS="$suites" \
	"${files[@]}" run_tests | tee "$log"
status=${PIPESTATUS[0]}

passed=$(grep -c '^ok ' "$log")
failed=$(grep -c '^not ok ' "$log")
echo "run_tests: $passed passed, $failed failed" >&2
# A program that is not there has no line at all.
programs=0
for suite in $suites; do
	programs=$((programs + $(printf '%s\n' "$selftests/$suite"/*_test.c | wc -l)))
done
[ "$status" = 0 ] && [ "$failed" = 0 ] && [ "$passed" -ge "$programs" ] &&
	! grep -q '^\(# \)*Bail out!' "$log"
