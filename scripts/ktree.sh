#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ktree.sh DEST [KSRC]: the part of a kernel tree that the suites are built
# and tested with, in DEST, with this repository's tools/ laid over it.
#
# KSRC is a kernel tree or a tarball of one; without it, the newest
# linux-source package. It is only read. DEST has to be a copy: lib.mk finds
# its tree through realpath, so links would lead back into KSRC.

. "${BASH_SOURCE[0]%/*}/lib.sh"
set -e

# Each of these exists in every kernel from 6.1 on; tar insists.
subset=(
	"$selftests"/{Makefile,lib.mk,'*.sh','kselftest*'}
	tools/testing/kunit
	tools/include/uapi
	scripts/{subarch.include,checkpatch.pl,spelling.txt,const_structs.checkpatch}
	scripts/kconfig/merge_config.sh
)

[ ! -e build ] || [ -w build ] || die "build/ belongs to another user"
dest=$1
given=${2:-$(printf '%s\n' /usr/src/linux-source-*.tar.xz | sort -V | tail -n 1)}
src=$(user_path "$given")

# Unpacking takes seconds, so it is done once. The name build/src/* is given
# last: an unpacking that was cut short leaves nothing under that name.
if [ -f "$src" ]; then
	tree=build/src/$(basename "${src%.tar*}")
	stamp=$(stat -Lc '%n %s %Y' "$src")
	if [ "$stamp" != "$(cat "$tree/.stamp" 2>/dev/null)" ]; then
		echo "unpacking $given" >&2
		rm -rf "$tree" "$tree.part"
		mkdir -p "$tree.part"
		tar -xf "$src" -C "$tree.part" --strip-components=1 --no-same-owner \
			--wildcards --no-wildcards-match-slash "${subset[@]/#/*/}" ||
			die "KSRC=$given: cannot be unpacked"
		echo "$stamp" >"$tree.part/.stamp"
		mv "$tree.part" "$tree"
	fi
	src=$PWD/$tree
fi
[ -f "$src/$selftests/lib.mk" ] ||
	die "KSRC=$given: not a kernel tree (no $selftests/lib.mk)"

# What was built from another tree is of no use: its files may well be newer.
if [ "$src" != "$(cat "$dest/.stamp" 2>/dev/null)" ]; then
	rm -rf "$dest"
	mkdir -p "$dest"
	echo "$src" >"$dest/.stamp"
fi

copy() { rsync -rlpt --chmod=u+w --delete "$@"; }

(cd "$src" && for p in "${subset[@]}"; do compgen -G "$p" || :; done) |
	copy --files-from=- "$src/" "$dest/"

# The .gitignore files name what is built; that stays.
copy --filter=':- .gitignore' "$selftests/filesystems/" "$dest/$selftests/filesystems/"

# TARGETS is kept sorted, more or less: before the first one that is larger.
makefile=$dest/$selftests/Makefile
for suite in $suites; do
	LC_ALL=C awk -v new="$suite" '
		$1 == "TARGETS" && $3 >= new && !done {
			if ($3 != new)
				print "TARGETS += " new
			done = 1
		}
		{ print }
	' "$makefile" >"$dest/.Makefile"
	cat "$dest/.Makefile" >"$makefile"
done
