#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A wrong answer of the kernel, whichever and whenever: the case fails, has no
# time anywhere, and says which operation it was; all other cases are as ever.
# The kernel does not lie on demand, so lie.c stands between.

. "${BASH_SOURCE[0]%/*}/tap.sh"

work=$FSBENCH_BUILD/wrong
fs=$KTREE/tools/testing/selftests/filesystems
shim=$FSBENCH_BUILD/tests/lie.so
rm -rf "$work"
mkdir -p "$work" "${shim%/*}"
cd "$work" || exit 1
cc -O2 -Wall -Wextra -Werror -shared -fPIC -o "$shim" "$FSBENCH_TOP/tests/lie.c" || exit 1

# The calls: the case that makes them, how many it makes before its first
# operation (of getppid: after each fork, and in the setup).
declare -A cases=(
	[flistxattr]=xattr_list.tmpfs_1.flistxattr [listxattr]=xattr_list.tmpfs_1.listxattr
	[fgetxattr]=xattr_get.tmpfs_16.fgetxattr [fsetxattr]=xattr_set.tmpfs_16.replace
	[fremovexattr]=xattr_set.tmpfs_16.remove [getppid]=control.getppid
	[clone]=remap.btrfs_1.clone [dedupe]=remap.btrfs_1.dedupe
	[differs]=remap.btrfs_1.differs [copy]=remap.btrfs_1.copy
	[read_write]=remap.btrfs_1.read_write [reference]=remap.btrfs_1.clone
)
declare -A before=([flistxattr]=1 [fsetxattr]=3 [getppid]=3 [clone]=1)

# When: the operation, how many rounds are complete then, and of which round the
# result is proved next. With one operation a round, calibration takes 5 of them.
# shellcheck disable=SC2034 # by reference
declare -A when_xattr=(
	[calibration]="3 0 0" [warm-up]="6 0 0" [middle]="11 4 5" [last]="16 9 10"
)
# Calibration takes 5, 15, 35, 75, ...: numbers that are right for each. The gate
# wants batches longer than one operation, and remap rounds longer than 127.
# shellcheck disable=SC2034
declare -A when_remap=(
	[calibration]="3 0 0" [warm-up]="84 0 0" [middle]="340 1 3" [last]="468 2 3"
	[repeat]="596 3 12" [last-repeat]="1620 3 12"
)
# shellcheck disable=SC2034
declare -A when_long=([repeat]="12264 10 11" [last-repeat]="41960 10 40")

# use CALL PHASE
use()
{
	call=$1 case=${cases[$1]} kind=xattr ops=1 rounds=10 other=control.getppid
	program=$fs/xattr_perf/xattr_perf_test
	case $call in
	fgetxattr|fsetxattr|fremovexattr)
		program=$fs/xattr_perf/xattr_value_test ;;
	clone|dedupe|differs|copy|read_write|reference)
		program=$fs/btrfs_remap_perf/btrfs_remap_perf_test
		kind=remap ops=128 rounds=3 ;;
	getppid)
		other=${cases[listxattr]} ;;
	esac
	[[ $kind = remap || $2 != *repeat ]] || kind=long ops=1024
}

# run RESULTS [VAR=VALUE...]
run()
{
	rm -f "$1"
	env ${ops:+"FSBENCH_OPS=$ops"} FSBENCH_RESULTS="$1" FSBENCH_ROUNDS="$rounds" "${@:2}" \
		"$program" -r "$case" -r "$other" >out 2>err
}

show() { echo "$*"; grep -v '^# fsbench: machine' out; cat err; return 1; }

# A good run, and a baseline so fast that every run needs repeats.
good()
{
	local phase

	for phase in warm-up repeat; do
		use "$1" $phase
		run "good.$call.$ops" || show || return
		sed -E "/^$case ns/ s/ (ns_per_op|low|high|median|mean|min|max)=[0-9.]+/ \\1=1.000/g" \
			"good.$call.$ops" >"fast.$call.$ops"
		fsbench check "fast.$call.$ops" || return
	done
}

# bad FIRST LAST HOW OPERATION ERRNO ROUNDS [VAR=VALUE...]
bad()
{
	local skip=${before[$call]-0} found="after operation" try status

	# What the call itself says is seen at once.
	[[ $3 != @(eio|other|differs|zero|same|short) ]] || found=operation
	[[ $call != reference || $found = after* ]] || found="reference operation"

	# On a busy machine the gate may find nothing to rely on, and not repeat.
	for try in 1 2 3 4 5; do
		run bad LD_PRELOAD="$shim" LIE="$call $(($1 + skip)) $(($2 + skip)) $3" "${@:7}"
		status=$?
		grep -q "^# fsbench: $case: .* batches disturbed" out || break
	done
	[ $status = 1 ] || show "exit status $status, try $try" || return
	grep -q "^not ok [12] $case\$" out || show "no failure" || return
	grep -q "^ok [12] $other\$" out || show "the other case fails" || return
	! grep -E "^(# fsbench: )?$case.* ns_per_op" out bad || return
	grep -qE "^$case expected_match_ratio=[0-9.]+ unexpected_results=[1-9][0-9]* errno=${5#* }\$" bad ||
		show "no record with ${5#* }" || return
	grep -qE "^# fsbench: $case: $found ($4): not as expected: .*; errno ${5% *} \\(${5#* }, " out ||
		show "not $found $4, errno $5" || return
	[[ $(grep -c "^round $case " bad) =~ ^($6)$ ]] || show "not after $6 rounds" || return
	grep -q "^$other ns_per_op=" bad || show "other case" || return
	fsbench check bad || return
	fsbench compare "good.$call.${ops:-1}" bad >compared
	[ $? = 1 ] || { echo "compare does not exit with 1"; cat compared; return 1; }
	grep -qE "^$case +WRONG ANSWERS in the new( run)?$" compared || show "$(cat compared)"
}

# lies CALL HOW ERRNO PHASE...: the one call; with HOW+ and all that follow it.
# A lie in the answer is found at once, others when the result is proved.
lies()
{
	local how=${2%+} error=$3 phase op complete proved last found vars n

	for phase in "${@:4}"; do
		use "$1" "$phase"
		local -n when=when_$kind
		read -r op complete proved <<<"${when[$phase]}"
		last=$op found=$op
		[ "$2" = "$how" ] || last=1000000
		if [[ $kind != xattr && $how = @(name|value|nothing|copies|more|moves|maps|byte|shares) ]]; then
			found=
			for n in 5 15 35 75 155 315 635; do
				found+="|$((n + ops * (1 + proved)))"
			done
			found=${found#|}
			[[ $phase = @(calibration|warm-up) ]] || complete=$rounds
		fi
		# Noticed by the next that wants to add what is still there.
		[ "$call $error" != "fremovexattr 17 EEXIST" ] || found="[0-9]+"
		vars=()
		[[ $phase != *repeat ]] || vars=(FSBENCH_BASELINE="fast.$call.$ops")
		bad "$op" "$last" "$how" "$found" "$error" "$complete" "${vars[@]}" ||
			{ echo "in phase $phase"; return 1; }
		[[ $phase != *repeat ]] || grep -q '% against the baseline, repeat 1 of 3$' out ||
			show "no repeat" || return
	done
}

rounds="warm-up middle last"
all="calibration $rounds repeat last-repeat"
table="
flistxattr	eio	5 EIO	$all
flistxattr	other	0 none	$all
flistxattr	name	0 none	$rounds
flistxattr	name+	0 none	repeat last-repeat
listxattr	eio	5 EIO	$all
listxattr	other	0 none	$all
listxattr	name	0 none	$rounds
listxattr	name+	0 none	repeat last-repeat
fgetxattr	eio	5 EIO	$all
fgetxattr	other	0 none	$all
fgetxattr	value	0 none	$rounds
fgetxattr	value+	0 none	repeat last-repeat
fsetxattr	eio	5 EIO	$all
fsetxattr	other	0 none	$all
fsetxattr	value	0 none	$rounds
fsetxattr	value+	0 none	repeat last-repeat
fsetxattr	nothing+	0 none	warm-up last
fremovexattr	eio	5 EIO	$all
fremovexattr	other	0 none	$all
fremovexattr	nothing	0 none	$rounds
fremovexattr	nothing	17 EEXIST	calibration repeat last-repeat
getppid	eio	5 EIO	calibration warm-up
getppid	other	0 none	calibration warm-up
clone	eio	5 EIO	$all
clone	nothing	0 none	warm-up last last-repeat
clone	nothing+	0 none	middle
dedupe	eio	5 EIO	$all
dedupe	differs	0 none	$all
dedupe	zero	0 none	$all
dedupe	nothing	0 none	warm-up last last-repeat
dedupe	nothing+	0 none	middle
clone	copies	0 none	warm-up last last-repeat
clone	more	0 none	warm-up last last-repeat
clone	moves	0 none	warm-up last
differs	eio	5 EIO	$all
differs	same	0 none	$all
differs	maps	0 none	warm-up last
copy	eio	5 EIO	$all
copy	other	0 none	$all
copy	short	0 none	$all
copy	nothing	0 none	warm-up last last-repeat
copy	byte	0 none	warm-up last last-repeat
read_write	eio	5 EIO	$all
read_write	short	0 none	$all
read_write	byte	0 none	warm-up last last-repeat
read_write	shares	0 none	warm-up last last-repeat
reference	eio	5 EIO	calibration
reference	short	0 none	calibration
reference	byte+	0 none	calibration
reference	shares+	0 none	calibration
"

for call in $(printf '%s\n' "${!cases[@]}" | sort); do
	t "$call: a right run" good "$call"
done
while IFS=$'\t' read -r call how error phases; do
	# shellcheck disable=SC2086 # a list of words
	[ -z "$call" ] || t "$call: $how in $phases" lies "$call" "$how" "$error" $phases
done <<<"$table"

# Not only in rounds of one operation: somewhere in a run as it usually is. The
# control is also called between rounds, so there the number is not known.
usual()
{
	use "$1" warm-up
	ops='' rounds=15
	bad "$2" "$3" eio "$4" "5 EIO" "[0-9]+"
}
t "flistxattr: eio once, in the middle of a batch" usual flistxattr 20000 20000 20000
t "getppid: eio from some round on" usual getppid 300000 1000000000 "[0-9]+"

# A right answer is never a wrong one: not with fewer operations than blocks.
few()
{
	local n

	use "$1" warm-up
	for n in 1 100 127; do
		ops=$n
		run few
		! grep 'not as expected' out || { echo "FSBENCH_OPS=$n"; return 1; }
	done
}
for call in clone dedupe differs copy read_write; do
	t "$call: few operations are no wrong answer" few "$call"
done
plan
