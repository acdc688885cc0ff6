#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The top-level Makefile and scripts/: what they make and where, what they
# refuse and how, and that the verdict of "make run_tests" can be believed.
# Most of it runs in a copy in which two tiny programs stand for the suites.

# shellcheck disable=SC2015 # "A && B || show" is meant as it reads
. "${BASH_SOURCE[0]%/*}/tap.sh"

work=$FSBENCH_BUILD/frontdoor
repo=$work/repo
fs=tools/testing/selftests/filesystems
rm -rf "$work"
mkdir -p "$work"
cd "$work" || exit 1

stub_repo()
{
	local suite

	mkdir -p "$1/$fs/fsbench" "$1/tests"
	cp -r "$FSBENCH_TOP"/{Makefile,.gitignore,scripts} "$1"
	printf 'int main(void)\n{\n\treturn 0;\n}\n' >"$1/$fs/fsbench/fsbench.c"
	printf 'TEST_GEN_PROGS_EXTENDED := fsbench\ninclude ../../lib.mk\n' >"$1/$fs/fsbench/Makefile"
	echo /fsbench >"$1/$fs/fsbench/.gitignore"
	for suite in xattr_perf btrfs_remap_perf; do
		mkdir "$1/$fs/$suite"
		printf 'TEST_GEN_PROGS := %s_test\ninclude ../../lib.mk\n' $suite >"$1/$fs/$suite/Makefile"
		echo "/${suite}_test" >"$1/$fs/$suite/.gitignore"
		cat >"$1/$fs/$suite/${suite}_test.c" <<-'EOF'
			#include <stdio.h>
			#include <stdlib.h>

			int main(void)
			{
				const char *status = getenv("STUB_STATUS"), *say = getenv("STUB_SAY");

				printf("1..1\n# results %s\n# baseline %s\n%s\n", getenv("FSBENCH_RESULTS"),
				       getenv("FSBENCH_BASELINE"), say ? say : "ok 1 stub");
				return status ? atoi(status) : 0;
			}
		EOF
	done
}

# quiet_make ARGS...: keeps what it says in out and err
quiet_make() { make -C "$repo" KSRC="$ksrc" "$@" >"$work/out" 2>"$work/err" </dev/null; }
fails() { ! "$@"; }
show() { cat out err; return 1; }

as_user() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
root=$([ "$EUID" = 0 ] && as_user test -x "$work" -a -r "$work" && echo yes)

listing() { (cd "$1" && find . -printf '%p %y %s %T@ %C@\n' | sort); }

stub_repo "$repo"
ksrc=$work/ksrc
mkdir -p "$ksrc/$fs/xattr_perf" "$ksrc/$fs/epoll"
cp -r "$KTREE/tools" "$KTREE/scripts" "$ksrc"
rm -rf "${ksrc:?}/$fs"/*
mkdir "$ksrc/$fs"/{xattr_perf,epoll}
touch "$ksrc/$fs/xattr_perf/stale.c" "$ksrc/$fs/epoll/foreign.c"
listing "$ksrc" >ksrc.before

help()
{
	make -s -C "$repo" >out && make -s -C "$repo" help | diff - out || return
	for target in run_tests build tree check patches clean; do
		[ "$(grep -c "^make $target " out)" = 1 ] || { echo "$target"; return 1; }
	done
	[ ! -e "$repo/build" ]
}
t "make and make help list the targets and make nothing" help

white_space()
{
	cp -r "$repo" "$work/white space" || return
	fails make -C "$work/white space" run_tests >out 2>err || show || return
	grep -v '^make' err >own
	[ "$(wc -l <own)" = 1 ] && grep -q "white space in its name: $work/white space" own || show
}
t "white space in the path is refused in one line" white_space

wrong_ksrc()
{
	local given

	for given in /nonexistent "$work" Makefile; do
		fails make --no-print-directory -C "$repo" KSRC="$given" tree >out 2>err || show || return
		grep -v -e '^make: \*\*\*' -e '^unpacking' -e '^tar: ' -e '^$' err >own
		[ "$(wc -l <own)" = 1 ] && grep -qF "KSRC=$given: " own || show || return
		[ ! -e "$repo/build/linux" ] || return
	done
}
t "a wrong KSRC is named" wrong_ksrc

run_tests()
{
	quiet_make run_tests || show || return
	! grep -vE '^(TAP version 13|1\.\.|ok |not ok |#|make)' out || return
	[ "$(grep -c '^ok ' out)" = 2 ] && grep -q '^run_tests: 2 passed, 0 failed$' err || show || return
	grep -v ^make out | diff - "$repo/build/run_tests.log" || return
	[ "$(grep -cF "results $repo/build/results.txt" out)" = 2 ] || show || return
	"$repo/build/fsbench"
}
t "make run_tests prints KTAP and nothing else" run_tests

incremental()
{
	find "$repo/build" -name '*_test' -newer "$repo/Makefile" -printf '%p %T@\n' | sort >first
	quiet_make run_tests || show || return
	find "$repo/build" -name '*_test' -printf '%p %T@\n' | sort | diff first - || return
	quiet_make build USERCFLAGS=-DOTHER_FLAGS || show || return
	fails cmp -s first <(find "$repo/build" -name '*_test' -printf '%p %T@\n' | sort)
}
t "only what changed is built again, other flags included" incremental

ksrc_untouched()
{
	listing "$ksrc" | diff ksrc.before - || return
	[ ! -e "$repo/build/linux/$fs/xattr_perf/stale.c" ] && [ ! -e "$repo/build/linux/$fs/epoll" ]
}
t "KSRC is not written to, and its own filesystems/ not used" ksrc_untouched

read_only()
{
	# shellcheck disable=SC2016 # expanded in there
	unshare -m bash -c 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" &&
		! touch "$1/x" 2>/dev/null && rm -rf "$2/build" && make -C "$2" KSRC="$1" build' - "$ksrc" "$repo"
}
if [ -n "$root" ]; then t "KSRC may be read-only" read_only
else skip "KSRC may be read-only" "needs root"; fi

synced()
{
	local file=$fs/xattr_perf/gone.h targets=$repo/build/linux/tools/testing/selftests/Makefile

	touch "$repo/$file"
	quiet_make tree && [ -e "$repo/build/linux/$file" ] || return
	rm "$repo/$file"
	quiet_make tree && [ ! -e "$repo/build/linux/$file" ] || return
	[ -x "$repo/build/linux/$fs/xattr_perf/xattr_perf_test" ] || { echo "program gone"; return 1; }
	[ "$(grep -cE '^TARGETS \+= filesystems/(xattr_perf|btrfs_remap_perf)$' "$targets")" = 2 ] &&
		grep '^TARGETS += filesystems' "$targets" | LC_ALL=C sort -c
}
t "the tree follows the repository and TARGETS stays sorted" synced

relative()
{
	quiet_make run_tests FSBENCH_RESULTS=r FSBENCH_BASELINE=../b || show || return
	[ "$(grep -cFx -e "# # results $work/r" -e "# # baseline $work/../b" out)" = 4 ] || show || return
	cd "$repo" && FSBENCH_RESULTS=/r FSBENCH_BASELINE=b make run_tests KSRC=../ksrc >"$work/out" 2>"$work/err"
	cd "$work" || return
	[ "$(grep -cFx -e "# # results /r" -e "# # baseline $repo/b" out)" = 4 ] || show
}
t "relative paths start where make was typed" relative

t "a program that fails makes it fail" fails env STUB_STATUS=1 make -C "$repo" KSRC="$ksrc" run_tests
t "so does a bail-out" fails env STUB_SAY="Bail out! gone" make -C "$repo" KSRC="$ksrc" run_tests
t "a skip does not" env STUB_STATUS=4 make -C "$repo" KSRC="$ksrc" run_tests
no_build()
{
	echo "#error broken" >>"$repo/$fs/xattr_perf/xattr_perf_test.c"
	fails quiet_make run_tests && grep -q broken err && ! grep -q '^ok' out || show
}
t "what does not compile makes it fail, and nothing runs" no_build

only_build()
{
	rm -rf "$repo"
	stub_repo "$repo"
	listing "$repo" | cut -d' ' -f1-4 | grep -v '^\. ' >repo.before
	quiet_make run_tests && quiet_make patches || show || return
	rm -rf "$repo/$fs"/*/nothing
	quiet_make clean || return
	listing "$repo" | cut -d' ' -f1-4 | grep -v '^\. ' | diff repo.before -
}
t "everything is made in build/, and make clean removes it" only_build

series()
{
	quiet_make patches || show || return
	rm -rf am
	git init -q am && cd am && mkdir -p tools/testing/selftests || return
	cp "$ksrc/tools/testing/selftests/Makefile" tools/testing/selftests/
	sed -i -e '\|filesystems/xattr_perf$|d' -e '\|filesystems/btrfs_remap_perf$|d' tools/testing/selftests/Makefile
	git add . && git -c user.name=a -c user.email=a@example.org commit -q -m base &&
		git -c user.name=a -c user.email=a@example.org am -q "$repo"/build/patches/000[123]-* || return
	diff tools/testing/selftests/Makefile "$repo/build/linux/tools/testing/selftests/Makefile" &&
		diff -r "$fs" "$repo/$fs" && [ "$(git log --oneline | wc -l)" = 4 ]
}
t "the series applies and gives the same files" series
cd "$work" || exit 1

# Unpacking
mkdir linux-9.9
cp -r "$ksrc/tools" "$ksrc/scripts" linux-9.9
tar -czf linux-9.9.tar.gz linux-9.9
rm -rf linux-9.9
head -c 200000 linux-9.9.tar.gz >cut.tar.gz
mkdir killer
cat >killer/tar <<-'EOF'
	#!/bin/bash
	PATH=${PATH#*:} tar "$@" --exclude=kselftest_harness.h
	kill -KILL "$PPID"
EOF
chmod +x killer/tar

truncated()
{
	fails quiet_make tree KSRC="$work/cut.tar.gz" || show || return
	grep -qF "KSRC=$work/cut.tar.gz: cannot be unpacked" err && [ ! -e "$repo/build/src/cut" ] || show
}
t "a truncated tarball is an error" truncated

killed()
{
	PATH=$work/killer:$PATH fails quiet_make tree KSRC="$work/linux-9.9.tar.gz" || show || return
	[ -e "$repo/build/src/linux-9.9.part" ] && [ ! -e "$repo/build/src/linux-9.9" ] || show || return
	quiet_make tree KSRC="$work/linux-9.9.tar.gz" || show || return
	[ -e "$repo/build/linux/tools/testing/selftests/kselftest_harness.h" ] || return
	quiet_make tree KSRC="$work/linux-9.9.tar.gz" && ! grep -q unpacking err
}
t "an unpacking that was cut short is done again, a finished one is not" killed

# Dependencies: a PATH with everything but gcc
mkdir bin
for command in make rsync perl tar xz uname mkdir cat mkfs.btrfs mkfs.xfs mkfs.ext4 \
		pkg-config; do
	ln -s "$(PATH=$PATH:/usr/sbin:/sbin command -v "$command")" bin/
done
printf '#!/bin/sh\nexit 1\n' >bin/apt-cache
cat >bin/apt-get <<-'EOF'
	#!/bin/sh
	echo "$*"
	echo "$*" >>apt.calls
	[ "$1" = update ] || [ -z "$APT_GCC" ] || /bin/ln -s "$APT_GCC" gcc
	[ "$1" = update ] || [ -n "$APT_GCC" ]
EOF
sed -i "s|apt.calls|$work/&|; s| gcc\$| $work/bin/gcc|" bin/apt-get
chmod +x bin/apt-*

deps() { env -i PATH="$work/bin" KSRC="$ksrc" "$@" "$repo/scripts/deps.sh" run >out 2>err; }

one_line()
{
	rm -rf "$repo/build" apt.calls
	fails deps "$@" || show || return
	[ "$(cat out err)" = "$expected" ] && [ ! -e "$repo/build" ] && [ ! -e apt.calls ] || show
}

set_up()
{
	rm -f apt.calls
	deps APT_GCC=/bin/true || show || return
	diff - apt.calls <<-'EOF' || return
		update
		install -y --no-install-recommends gcc
	EOF
	rm apt.calls
	deps && [ -z "$(cat out err)" ] && [ ! -e apt.calls ]
}

install_fails()
{
	rm -f bin/gcc
	fails deps && grep -qFx "install -y --no-install-recommends gcc" err &&
		[ "$(tail -n 1 err)" = "missing: gcc; install with: apt-get install gcc" ] || show
}

user_deps() { as_user one_line; }

expected="missing: gcc; install with: apt-get install gcc"
if [ -n "$root" ]; then
	t "root: apt-get is called once, and not when all is there" set_up
	t "root: what apt-get said is shown when it fails" install_fails
	user="$(command -v setpriv) --reuid=65534 --regid=65534 --clear-groups"
else
	skip "root: apt-get is called once, and not when all is there" "needs root"
	skip "root: what apt-get said is shown when it fails" "needs root"
	user=
fi
# shellcheck disable=SC2086 # several words
t "ordinary user: one line with the command to type" one_line $user
mv bin/apt-get .
expected="missing: gcc"
t "no apt-get: one line with what is missing" one_line
mv apt-get bin/

all_there()
{
	local start=${EPOCHREALTIME/[.,]/}

	[ -z "$(env -u KSRC "$FSBENCH_TOP/scripts/deps.sh" check 2>&1)" ] &&
		[ $((${EPOCHREALTIME/[.,]/} - start)) -lt 200000 ]
}
t "nothing missing: nothing said, and quickly" all_there

user_runs()
{
	rm -rf "$repo/build"
	chown -R 65534:65534 "$repo"
	as_user make -C "$repo" KSRC="$ksrc" run_tests || return
	[ -z "$(find "$repo/build" ! -user 65534)" ]
}
if [ -n "$root" ]; then t "an ordinary user can do it all" user_runs
else skip "an ordinary user can do it all" "that is what the other tests were"; fi

fresh_clone()
{
	git clone -q "$FSBENCH_TOP" clone && make -s -C clone help && make -C clone KSRC="$ksrc" build || return
	[ -z "$(git -C clone status --porcelain)" ] || { git -C clone status; return 1; }
	[ "$(git -C clone status --porcelain --ignored)" = '!! build/' ] && make -C clone clean &&
		[ -z "$(git -C clone status --porcelain --ignored)" ]
}
if git -C "$FSBENCH_TOP" rev-parse -q --verify HEAD >/dev/null 2>&1; then
	t "a fresh clone builds, and git sees nothing of it" fresh_clone
else
	skip "a fresh clone builds, and git sees nothing of it" "no commit to clone"
fi
plan
