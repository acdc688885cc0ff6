#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What a reviewer looks for before reading: style, licences, what must not be in
# the files, and that every compiler takes the code without a warning.

. "${BASH_SOURCE[0]%/*}/tap.sh"

export LC_ALL=C
fs=tools/testing/selftests/filesystems
mkdir -p "$FSBENCH_BUILD/tests"
work=$(mktemp -d "$FSBENCH_BUILD/tests/style.XXXXXX") || exit 1
trap 'cd / && rm -rf "$work"' EXIT
cd "$FSBENCH_TOP" || exit 1

# Those not yet added as well; without git, all.
git ls-files -z -co --exclude-standard >"$work/ls" 2>/dev/null ||
	find . -path ./build -prune -o -type f -printf '%P\0' >"$work/ls"
while IFS= read -r -d '' file; do
	[ ! -f "$file" ] || files+=("$file")
done <"$work/ls"
matching() { printf '%s\n' "${files[@]}" | grep -E "$1"; }
mapfile -t sources < <(matching '^(tools|tests)/.*\.[ch]$')
mapfile -t shipped < <(matching '^tools/.*\.[ch]$')
mapfile -t shell < <(matching '(\.sh|\.t|^\.ci/run)$')

none() { ! grep "$@" || return 1; }

clean_source()
{
	# It looks for files in its working directory.
	(cd "$work" && perl "$KTREE_612/scripts/checkpatch.pl" --no-tree --strict --terse --no-summary \
		--ignore FILE_PATH_CHANGES -f "${sources[@]/#/$FSBENCH_TOP/}")
}
t "checkpatch --strict has nothing to say" clean_source

# Not those that the kernel keeps without, nor text for people.
licences()
{
	local file bad=0

	for file in "${files[@]}"; do
		case ${file##*/} in
		config|config.*|settings|*.patch|README|*.md|LICENSE*|COPYING|.shellcheckrc) continue ;;
		esac
		! grep -qI . "$file" || head -n 2 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0' ||
			{ echo "$file"; bad=1; }
	done
	return $bad
}
t "every file names its licence at the top" licences

t "no path of the author's machine" none -nIE '/(work|home|root)/' "${files[@]}"
# In a patch it is a line of context without text.
mapfile -t lines < <(printf '%s\n' "${files[@]}" | grep -v '\.patch$')
t "no white space at the end of a line" none -nIE '[[:blank:]]$' "${lines[@]}"
t "no shell is started" none -nE '\<(system|popen|wordexp)[[:blank:]]*\(|/bin/(ba)?sh\>' \
	"${shipped[@]}"

short()
{
	awk '
		/^\{/ { start = FNR }
		/^\}/ && start {
			if (FNR - start - 1 > 30) {
				print FILENAME ":" start ": " FNR - start - 1 " lines"
				bad = 1
			}
			start = 0
		}
		END { exit bad }' "$fs"/*_perf/*_test.c
}
t "no function of a suite has more than 30 lines" short

ignored()
{
	local dir program programs

	for dir in "$fs"/*/; do
		read -ra programs < <(sed -n 's/^TEST_GEN_[A-Z_]* *[:+]*= *//p' "$dir/Makefile")
		[ "${#programs[@]}" -gt 0 ] || { echo "no program in $dir"; return 1; }
		for program in "${programs[@]}"; do
			grep -qFx "/$program" "$dir/.gitignore" || { echo "$dir$program"; return 1; }
		done
	done
}
t ".gitignore has every program" ignored

symbols()
{
	local file

	for file in "$fs"/*/config; do
		! grep -nvE '^CONFIG_[A-Z0-9_]+=([ym]|[0-9]+|"[^"]*")$' "$file" && sort -cu "$file" || return
	done
}
t "config files are well-formed and sorted" symbols

documented()
{
	local name bad=0

	for name in $(grep -ohE '"(FSBENCH|KSFT)_[A-Z_]+"' $fs/fsbench/options.c | tr -d '"' | sort -u); do
		grep -qw "$name" README.md || { echo "$name"; bad=1; }
	done
	return $bad
}
if [ -e README.md ]; then t "README.md has every variable" documented
else skip "README.md has every variable" "no README.md yet"; fi

if command -v shellcheck >/dev/null; then
	t "shellcheck has nothing to say" shellcheck -x "${shell[@]}"
else
	skip "shellcheck has nothing to say" "shellcheck is not installed"
fi

# Compilers. In the kernel tree, because the harness is included from there.
# The kernel's headers are the distribution's, which musl-gcc does not look at.
compilers=(gcc "gcc -m32" "gcc -static" clang "clang -m32"
	"musl-gcc -static -idirafter /usr/include -idirafter /usr/include/$(uname -m)-linux-gnu")

name_of()
{
	local name=${1%% -idirafter*}

	echo "${name// /}"
}

# All programs, each source once.
compiled()
{
	local out program sources

	out=$work/$(name_of "$1")
	mkdir "$out"
	cd "$out" || return
	sources=("$KTREE/$fs"/fsbench/*.c "$KTREE/$fs"/*_perf/*_test.c)
	# shellcheck disable=SC2086 # several words
	$1 -O2 -g -Wall -Wextra -Werror -c "${sources[@]}" || return
	for program in *_test.o; do
		# shellcheck disable=SC2046,SC2086
		$1 -o "${program%.o}" "$program" $(objects_of FSBENCH_SRCS fsbench.mk) -lm -lpthread || return
	done
	# shellcheck disable=SC2046,SC2086
	$1 -o fsbench fsbench.o $(objects_of OUTPUT Makefile) -lm
}

# Those in the last rule or variable of that name.
objects_of() { sed -n "/$1/,\$p" "$KTREE/$fs/fsbench/$2" | grep -o '[a-z]*\.c' | sed 's/c$/o/'; }

# One at a time on each CPU is soon enough.
for compiler in "${compilers[@]}"; do
	while [ "$(jobs -pr | wc -l)" -ge "$(nproc)" ]; do wait -n; done
	(compiled "$compiler" >"$work/said.$(name_of "$compiler")" 2>&1 ||
		echo "failed" >>"$work/said.$(name_of "$compiler")") &
done
wait

runs()
{
	local name

	FSBENCH_ROUNDS=2 "$work/$1/xattr_perf_test" -r xattr_list.tmpfs_1.flistxattr >"$work/log" ||
		{ cat "$work/log"; return 1; }
	grep '^ok 1 xattr_list.tmpfs_1.flistxattr$' "$work/log" && "$work/$1/fsbench" check "$work/log" || return
	# Threads and semaphores differ among libcs.
	for name in open_close.tmpfs_own_dir.processes_n open_close_threads.tmpfs.threads_n; do
		FSBENCH_ROUNDS=2 "$work/$1/open_perf_test" -r $name >"$work/log" ||
			{ cat "$work/log"; return 1; }
		grep "^ok 1 $name" "$work/log" || return
	done
}

# Where off_t has 32 bits by default, the end of a large device is out of reach.
large_device()
{
	local loop status

	truncate -s 5G "$work/disk" &&
		echo mine | dd of="$work/disk" bs=4k seek=$((5 * 262144 - 1)) conv=notrunc status=none &&
		loop=$(losetup -f --show "$work/disk") || return
	FSBENCH_DEVICE=$loop "$work/gcc-m32/xattr_perf_test" -r control.getppid >"$work/log"
	status=$?
	losetup -d "$loop"
	[ $status = 1 ] && grep 'Bail out!.* is not empty' "$work/log"
}

for compiler in "${compilers[@]}"; do
	name=$(name_of "$compiler")
	if [[ $compiler == *-m32 && $(uname -m) != x86_64 ]]; then
		skip "$name" "not on $(uname -m)"
		continue
	fi
	t "$name: no warning" diff /dev/null "$work/said.$name"
	case $name in
	musl*|gcc-m32|gcc-static)
		t "$name: runs" runs "$name" ;;
	esac
done
if [ "$(id -u)" = 0 ] && [ "$(uname -m)" = x86_64 ]; then
	t "gcc -m32: the end of a device of 5 GiB is seen" large_device
else
	skip "gcc -m32: the end of a device of 5 GiB is seen" "needs root on x86_64"
fi
plan
