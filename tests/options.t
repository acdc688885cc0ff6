#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The environment variables of the suites: what cannot be meant is refused by
# name before anything is made, what can be meant is taken; files and devices
# that may be somebody else's stay as they are.

# shellcheck disable=SC2015 # "A && B || show" is meant as it reads
. "${BASH_SOURCE[0]%/*}/tap.sh"

x=$KTREE/tools/testing/selftests/filesystems/xattr_perf/xattr_perf_test
b=$KTREE/tools/testing/selftests/filesystems/btrfs_remap_perf/btrfs_remap_perf_test
case=xattr_list.tmpfs_1.flistxattr
work=$FSBENCH_BUILD/options
rm -rf "$work"
mkdir -p "$work/dir"
cd "$work/dir" || exit 1

loops=() pids=()
cleanup()
{
	[ "${#pids[@]}" = 0 ] || kill "${pids[@]}" 2>/dev/null
	mountpoint -q "$work/mnt" && umount "$work/mnt"
	[ "${#loops[@]}" = 0 ] || losetup -d "${loops[@]}"
	rm -f "$work"/disk*
}
trap cleanup EXIT
trap 'exit 1' HUP INT TERM

as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
root=$([ "$EUID" = 0 ] && as_user test -x "$work" -a -x "$x" && echo yes)

show() { grep -v '^# fsbench: machine' "$work/out"; return 1; }
listing() { find "$work/dir" -printf '%p %y %s %T@ %C@\n' | sort; cat /proc/self/mountinfo; }

# run VAR=VALUE... [-- ARGS]: one case, what it says is in out.
run()
{
	local vars=()

	while [ $# -gt 0 ] && [ "$1" != -- ]; do
		vars+=("$1")
		shift
	done
	[ $# = 0 ] && set -- "$x" -r "$case" || shift
	env FSBENCH_ROUNDS=1 "${vars[@]}" timeout 20 "$@" >"$work/out" 2>&1 </dev/null
}

# An error: nothing but one line that names variable, value and reason.
bailed()
{
	local rc=$1 var=$2 value=$3 why=$4 said LC_ALL=C

	mapfile -t said <"$work/out"
	[ "$rc" != 0 ] && [ "$rc" != 4 ] && [ "$rc" != 124 ] &&
		[ "${#said[@]}" = 2 ] && [ "${said[0]}" = "TAP version 13" ] &&
		[[ ${said[1]} == "Bail out! $var"[=:]*"${value//[^ -~]/?}"*"$why"* ]] &&
		[[ ${said[1]} != *[^\ -~]* ]] ||
		{ printf '%q, exit status %s, for %q:\n' "$value" "$rc" "$why"; show; }
}

# refused VAR WHY VALUE...
refused()
{
	local var=$1 why=$2 value rc before

	shift 2
	before=$(listing)
	for value; do
		run "$var=$value"
		rc=$?
		bailed $rc "$var" "$value" "$why" || return
	done
	diff <(echo "$before") <(listing)
}

# accepted VAR VALUE...: with -l no case is run, and the harness exits with 4
taken() { [ "$1" = 4 ] && ! grep -q -e '^Bail out!' "$work/out" && grep -q xattr_list "$work/out"; }
accepted()
{
	local var=$1 value

	shift
	for value; do
		run "$var=$value" -- "$x" -l
		taken $? || show || return
	done
}

# passed VAR=VALUE...: the case was run
passed() { run "$@" && [ "$(grep -c '^ok ' "$work/out")" = 1 ] || show; }

# Values

common=("" abc -1 10k " 5" "5 " 0x10 1e3 +5 NaN nan inf "5,5" 18446744073709551616
	18446744073709551621 99999999999999999999999999 $'5\n' $'5\r' $'5\e[2J' $'5\nok 1 x' ٥)

while read -r var good bad; do
	# shellcheck disable=SC2086 # words
	t "$var: what cannot be meant is refused" refused "$var" "" "${common[@]}" $bad
	# shellcheck disable=SC2086
	[ "$good" = - ] || t "$var: $good" accepted "$var" ${good//,/ }
done <<-'EOT'
	FSBENCH_ROUNDS		1,1000,007			0 1001 5.0 ten
	FSBENCH_OPS		1,1000000000			0 1000000001 18446744073709551615
	FSBENCH_TASKS		1,1024				0 1025
	FSBENCH_CPU		-				1024 4294967296
	FSBENCH_THRESHOLD	0.001,5,5.0,7.125,1000,1000.000	0 0.000 0.0001 1000.001 1001 .5 5. 5% 1.2.3
	FSBENCH_STRICT		0,1				2 yes 00 01
	FSBENCH_TRACE		0,1				2 yes 00 01
	FSBENCH_ALL		0,1				2 yes 00 01
	KSFT_MACHINE_SLOW	yes,no,1,0,true,off,YES		2 maybe slow
	FSBENCH_DEVICE		auto,brd,loop			0 Loop loop0 dev/loop0 ./loop
	FSBENCH_BASELINE	-				no/such .
EOT
t "FSBENCH_RESULTS: what cannot be meant is refused" \
	refused FSBENCH_RESULTS "" "" no/such/file $'no\nok 1 x/file' .

long=$(printf '9%.0s' {1..5000})
long_value()
{
	for var in FSBENCH_{ROUNDS,OPS,CPU,TASKS,THRESHOLD,STRICT,TRACE,ALL,DEVICE,RESULTS,BASELINE} \
			KSFT_MACHINE_SLOW; do
		run "$var=$long"
		bailed $? "$var" 999999999 "" || return
		run "$var=/$long" "$var=$long" -- "$b"
		bailed $? "$var" 999999999 "" || return
	done
}
t "a value of 5000 characters is refused in one line" long_value

all_passed()
{
	run "$@" -- "${x%/*}/xattr_value_test" -F xattr_get -v tmpfs_16 || show || return
	[ "$(grep -c '^ok ' "$work/out")" = 4 ] && ! grep 'SKIP' "$work/out" || show
}
for ops in 1 3 65; do
	t "FSBENCH_OPS=$ops can be measured" all_passed "FSBENCH_OPS=$ops"
done

cpus=$(taskset -pc $$)
cpus=${cpus##* }
first=${cpus%%[-,]*} last=${cpus##*[-,]}
cpu()
{
	passed "FSBENCH_CPU=$last" && grep -q " measured=$last " "$work/out" || show || return
	run "FSBENCH_CPU=$((last + 1))"
	bailed $? FSBENCH_CPU $((last + 1)) "not among the CPUs"
}
t "FSBENCH_CPU: the last one is taken, the next refused" cpu

affinity()
{
	FSBENCH_CPU=$last taskset -c "$first" "$x" >"$work/out" 2>&1
	bailed $? FSBENCH_CPU "$last" "not among the CPUs" || return
	passed "FSBENCH_CPU=$first" -- taskset -c "$first" "$x" -r "$case"
}
if [ "$first" = "$last" ]; then
	skip "FSBENCH_CPU outside of the affinity mask" "one CPU"
else
	t "FSBENCH_CPU outside of the affinity mask" affinity
fi

# FSBENCH_RESULTS

other_program()
{
	local rc
	listing >"$work/before"
	run "$1=$2" -- "$b"
	rc=$?
	bailed $rc "$1" "$2" "" && listing | diff "$work/before" -
}
t "the other program refuses as well" other_program FSBENCH_ROUNDS 10k

rm -f ./*
passed FSBENCH_RESULTS=good >/dev/null
appends()
{
	local old

	passed FSBENCH_RESULTS=file && fsbench check file || return
	old=$(cat file)
	passed FSBENCH_RESULTS="$work/dir/file" && fsbench check file && [[ $(cat file) == "$old"* ]] &&
		[ "$(grep -c '^run ' file)" = 2 ] && [ "$(grep -c '^fsbench-results' file)" = 1 ]
}
t "FSBENCH_RESULTS: appends, the path may be relative" appends

begun()
{
	printf %s "$1" >file && passed FSBENCH_RESULTS=file && fsbench check file
}
t "FSBENCH_RESULTS: an empty file is begun" begun ""
t "FSBENCH_RESULTS: a file with nothing but its first line goes on" begun $'fsbench-results 1\n'
rm -f file

mkdir directory
mkfifo fifo
ln -s good symlink
ln -s nothing dangling
cp good linked && ln linked link
echo "a letter" >letter
printf 'fsbench-results 1\0' >binary
head -c 4096 /dev/urandom >random
sed 1s/1/2/ good >version
head -c -1 good >short
run >/dev/null; cp "$work/out" ktap
while read -r file why; do
	t "FSBENCH_RESULTS: $file is refused" refused FSBENCH_RESULTS "$why" "$file"
done <<-'EOT'
	directory	Is a directory
	fifo		not a regular file
	/dev/null	not a regular file
	symlink		Too many levels of symbolic links
	dangling	Too many levels of symbolic links
	linked		has other names
	letter		not a results file
	binary		not a results file
	random		not a results file
	version		not a results file
	ktap		not a results file
	short		last line is cut
	good/file	Not a directory
EOT

user_results()
{
	local rc

	run FSBENCH_RESULTS="$work/dir/new" -- setpriv --reuid=65534 --regid=65534 --clear-groups "$x"
	rc=$?
	bailed $rc FSBENCH_RESULTS "$work/dir/new" "Permission denied" && [ ! -e new ] || return
	cp good foreign && chown 65534 foreign && refused FSBENCH_RESULTS "belongs to somebody else" foreign
}
if [ "$root" ]; then
	t "FSBENCH_RESULTS: directory or file of another user" user_results
else
	skip "FSBENCH_RESULTS: directory or file of another user" "needs root, who has the tree where others may go"
fi

FSBENCH_RESULTS=shared FSBENCH_ROUNDS=1000 FSBENCH_OPS=100000 "$x" -r "$case" >/dev/null 2>&1 &
pids+=($!)
second()
{
	for _ in {1..100}; do
		grep -qs '^round' shared && break
		sleep 0.05
	done
	run FSBENCH_RESULTS=shared
	bailed $? FSBENCH_RESULTS shared "another run is writing to it" && kill -0 "${pids[0]}"
}
t "FSBENCH_RESULTS: the second of two at once is refused" second
kill "${pids[0]}"
wait "${pids[0]}" 2>/dev/null
pids=()
after_kill()
{
	# Its children die a moment later.
	for _ in {1..40}; do
		flock -n shared true && break
		sleep 0.05
	done
	passed FSBENCH_RESULTS=shared
}
t "FSBENCH_RESULTS: a killed run is no obstacle to the next" after_kill

# FSBENCH_BASELINE

: >empty
printf '\n' >blank
sed -n 1p good >first
sed 's/^# fsbench/# other/' ktap >nothing
sed '/^xattr/{p}' good >duplicate
sed 's/ min=[0-9.]*/ min=999999999.000/' good >figures
sed 's/ rounds=1 / rounds=2 /' good >rounds
sed 's/ ns_per_op=[0-9.]*/ ns_per_op=-5/' good >negative
sed 's/ ns_per_op=[0-9.]*/ ns_per_op=nan/' good >nan
sed 's/ page_size=/ page_size="/' good >quote
sed 's/^end .*/end cases=2/' good >cases
sed 's/^end .*/wrong record/' good >unknown
sed '/^end/d' good >unfinished
(cat good; tail -n +2 good; sed '1d;/^end/d' good) >third
lines=$(wc -l <good)
round=$(grep -n '^round' good | cut -d: -f1)
while read -r file line why; do
	[ "$line" = - ] || why="$file: line $line: $why"
	t "FSBENCH_BASELINE: $file is refused" refused FSBENCH_BASELINE "$why" "$file"
done <<-EOT
	missing		-		missing: No such file
	directory	-		directory: not a regular file
	fifo		-		fifo: not a regular file
	/dev/zero	-		/dev/zero: not a regular file
	empty		-		empty: the file is empty
	blank		-		blank: no results in it
	letter		-		letter: no results in it
	nothing		-		nothing: no results in it
	first		-		first: no run in it
	version		1		another version of the format
	binary		1
	short		$lines		the line is cut
	duplicate	$((round + 2))	case $case is there twice
	figures		$((round + 1))	case $case: its figures contradict
	rounds		$((round + 1))	case $case says 2 rounds and has 1
	negative	$round		ns_per_op=-5
	nan		$round		ns_per_op=nan
	quote		21
	cases		$lines		the run says
	unknown		$lines
EOT
t "FSBENCH_BASELINE: a run without an end is named by its line" \
	refused FSBENCH_BASELINE "line 2: the run" unfinished
t "FSBENCH_BASELINE: also if it is not the first run" \
	refused FSBENCH_BASELINE "line $((2 * lines)): the run" third

user_baseline()
{
	chmod 600 good
	run FSBENCH_BASELINE="$PWD/good" -- setpriv --reuid=65534 --regid=65534 --clear-groups "$x"
	bailed $? FSBENCH_BASELINE "$PWD/good" "Permission denied"
}
if [ "$root" ]; then
	t "FSBENCH_BASELINE: unreadable" user_baseline
else
	skip "FSBENCH_BASELINE: unreadable" "needs root, who has the tree where others may go"
fi

# Complete only where a run ends. Coarse in the long fingerprint.
cut_anywhere()
{
	local file=$1 end=$2 size at rc

	size=$(stat -c %s "$file")
	for ((at = 1; at < size; at += at < 60 || at > size - 600 ? 7 : 41)); do
		head -c "$at" "$file" >part
		run FSBENCH_BASELINE=part -- "$x" -l
		rc=$?
		taken $rc && grep -q "$end" part && continue
		bailed $rc FSBENCH_BASELINE part "" && grep -qE 'line [1-9]|no (results|run) in it' "$work/out" ||
			{ echo "cut after byte $at of $file"; return 1; }
	done
}
t "FSBENCH_BASELINE: a results file cut anywhere is refused" cut_anywhere good '^never$'
t "FSBENCH_BASELINE: a log cut anywhere is refused" cut_anywhere ktap '^# fsbench: end cases=1'
t "FSBENCH_BASELINE: cut where a run ends it is complete" accepted FSBENCH_BASELINE good ktap

gate()
{
	local rc=$1 verdict=$2

	shift 2
	run FSBENCH_THRESHOLD=1000 "$@"
	[ $? = "$rc" ] && grep -q "^# fsbench: gate $case verdict=$verdict" "$work/out" || show || return
	[ "$rc" = 0 ] && ! grep '^not ok' "$work/out" || [ "$(grep -c "^not ok 1 $case" "$work/out")" = "$rc" ]
}
t "a baseline from here is compared" \
	gate 0 '\(no_change\|inconclusive\) measured' FSBENCH_BASELINE=good FSBENCH_STRICT=1
t "KSFT_MACHINE_SLOW: not gated" gate 0 not_gated KSFT_MACHINE_SLOW=yes FSBENCH_BASELINE=good FSBENCH_STRICT=1
sed "s/$case/xattr_list.tmpfs_9.flistxattr/" good >lacks
sed 's/ page_size=[0-9]*/ page_size=1/' good >machine
sed '/^machine mem/d' good >less
sed 's/ block=[0-9]*/ block=1/' good >block
sed "/^round/d; s/^$case .*/$case expected_match_ratio=0.000 unexpected_results=5 errno=EIO/" good >wrong
while read -r file why; do
	t "$file: reported" gate 0 "not_comparable reason=\".*$why" FSBENCH_BASELINE="$file"
	t "$file: FSBENCH_STRICT=1 fails" \
		gate 1 "not_comparable reason=\".*$why" FSBENCH_BASELINE="$file" FSBENCH_STRICT=1
done <<-'EOT'
	lacks		does not have this case
	machine		mem.page_size (1,
	less		mem.page_size (missing,
	block		block (1,
	wrong		wrong answers
EOT

# FSBENCH_DEVICE

# loop MIB [OPTION]: a loop device of our own, in loops
loop()
{
	local file=$work/disk${#loops[@]}

	truncate -s "$1M" "$file" && loops+=("$(losetup -f --show "${@:2}" "$file")")
}

# What is on a disk, without its holes: they take long to read.
content() { tar -C "$work" --mtime=@0 -cSf - "disk$1" | sha256sum; }

# A device that is refused is not written to.
spared()
{
	local before

	sync "${loops[$1]}" "$work/disk$1"
	before=$(content "$1")
	refused FSBENCH_DEVICE "$2" "${loops[$1]}" || return
	sync "${loops[$1]}" "$work/disk$1"
	[ "$before" = "$(content "$1")" ] || { echo "${loops[$1]} has been written to"; return 1; }
}

used()
{
	local dev=${loops[0]} fs

	for fs in ext4 xfs btrfs; do
		run FSBENCH_DEVICE="$dev" -- "$x" -v ${fs}_1 || show || return
		grep -q "^# fsbench: xattr_list.${fs}_1.flistxattr .* device=$dev " "$work/out" &&
			[ "$(grep -c '^ok ' "$work/out")" = 2 ] && ! grep SKIP "$work/out" || show || return
		[ -z "$(wipefs -n "$dev")" ] || { echo "$fs: signature left"; return 1; }
	done
	[ -z "$(findmnt -n "$dev")" ] && losetup "$dev" >/dev/null
}

while read -r value why; do
	t "FSBENCH_DEVICE: $value is refused" refused FSBENCH_DEVICE "$why" "$value"
done <<-EOT
	$work/dir/letter	not a block device
	$work/dir		not a block device
	$work/dir/missing	No such file
	/dev/null		not a block device
EOT
if [ "$root" ] && loop 600 && loop 100 && loop 600 && loop 600 && loop 600 && loop 600 -r; then
	t "FSBENCH_DEVICE: too small" spared 1 "100 MiB and 512 are needed"
	mkswap -q "${loops[2]}" 2>/dev/null
	t "FSBENCH_DEVICE: a signature" spared 2 "not empty"
	echo mine | dd of="${loops[3]}" bs=4k seek=$((600 * 256 - 1)) conv=notrunc status=none
	t "FSBENCH_DEVICE: a signature at the end" spared 3 "not empty"
	mkdir "$work/mnt"
	mkfs.ext4 -q -L fsbench-scratch "${loops[4]}" && mount -o ro "${loops[4]}" "$work/mnt"
	t "FSBENCH_DEVICE: mounted" spared 4 "busy"
	umount "$work/mnt"
	t "FSBENCH_DEVICE: read-only" spared 5 "${loops[5]}"
	t "FSBENCH_DEVICE: an empty one is used, and empty afterwards" used
else
	skip "FSBENCH_DEVICE: devices" "needs root and loop devices"
fi

plan
