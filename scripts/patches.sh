#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# patches.sh: writes the series to post to build/patches, one patch for each
# directory. It is committed to a repository of its own whose only other file
# is the kernel's selftests/Makefile: all that the series changes.

. "${BASH_SOURCE[0]%/*}/lib.sh"
set -e

rm -rf build/patches build/patches.git
name=$(git config user.name || echo "Your Name")
mail=$(git config user.email || echo "you@example.org")
export GIT_AUTHOR_NAME=$name GIT_AUTHOR_EMAIL=$mail
export GIT_COMMITTER_NAME=$name GIT_COMMITTER_EMAIL=$mail
export GIT_DIR=$PWD/build/patches.git GIT_WORK_TREE=$PWD
git init -q -b series

# commit DIR SUBJECT: adds filesystems/DIR; its text is read from stdin.
to_come=" $suites "
commit()
{
	local blob

	to_come=${to_come/ "filesystems/$1" / }
	blob=$(awk -v to_come="$to_come" '
		$1 != "TARGETS" || !index(to_come, " " $3 " ")
	' "build/linux/$selftests/Makefile" | git hash-object -w --stdin)
	git update-index --add --cacheinfo "100644,$blob,$selftests/Makefile"
	[ -z "$1" ] || git add "$selftests/filesystems/$1"
	git -c commit.gpgsign=false commit -q -s -m "$2" -m "$(cat)"
}

commit "" "base" </dev/null
commit fsbench "selftests/filesystems: add fsbench, code for timing system calls" <<'EOF'
The two tests that follow time single system calls. This is what they
share: measuring, statistics, results files, scratch filesystems, and a
command-line tool that compares results of several kernels.
EOF
commit xattr_perf "selftests/filesystems: add xattr_perf" <<'EOF'
Time flistxattr(2) and listxattr(2) with 0 to 64 names, and get, set and
remove of one name, in bounded loops on tmpfs, overlayfs, xfs, ext4 and
btrfs. Each answer is checked. Without a baseline the test measures and
reports, and no number makes it fail. It takes about 10 seconds.
EOF
commit btrfs_remap_perf "selftests/filesystems: add btrfs_remap_perf" <<'EOF'
Time FICLONERANGE, FIDEDUPERANGE, copy_file_range(2) and read + write of
one block, 16 blocks and 1 MiB on btrfs and xfs in bounded loops. After
the loops the result is proved: the bytes, that the blocks are shared or
not, that the neighbours are untouched. It takes about 12 seconds.
EOF

git config branch.series.description "selftests/filesystems: time xattr and remap calls

A small cost that is added to one filesystem call is easily missed. Two
tests time such calls and check each answer; a tool compares the results
of several kernels. Nothing gates unless a baseline is given."
git format-patch -q --cover-letter --cover-from-description=subject \
	-o build/patches ":/^base"
ls build/patches/*
