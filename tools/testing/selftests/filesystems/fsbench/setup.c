// SPDX-License-Identifier: GPL-2.0
/*
 * What a set-up needs besides a file system, and the proofs that it is what the
 * name of the case says.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"
#include "scratch.h"
#include "setup.h"
#include "util.h"

/* linux/fcntl.h would bring them, and clashes with fcntl.h. */
#ifndef F_GET_RW_HINT
#define F_GET_RW_HINT	1035
#define F_SET_RW_HINT	1036
#endif
#define HINT_NONE	0ull
#define HINT_SHORT	2ull

/**
 * user_other() - go on as a user who is neither root nor the owner of anything
 *
 * In no group of root's either. user_root() takes it back.
 *
 * Return: NULL, or why that cannot be had here, with errno.
 */
const char *user_other(void)
{
	if (scratch_in_userns()) {
		errno = EPERM;
		return "needs root: a second user";
	}
	if (setgroups(0, NULL) || setresgid(USER_OTHER, USER_OTHER, 0) ||
	    setresuid(USER_OTHER, USER_OTHER, 0))
		return "needs CAP_SETUID and CAP_SETGID";
	/* New credentials have cut it. */
	tie_to_parent();
	return NULL;
}

/**
 * user_root() - be root again
 *
 * Return: false with errno.
 */
bool user_root(void)
{
	if (setresuid(0, 0, 0) || setresgid(0, 0, 0))
		return false;
	tie_to_parent();
	return true;
}

/*
 * The mark of an inode that has been in memory since: a write hint, which no file
 * system stores.
 */
static bool get_mark(const char *path, uint64_t *hint)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && !fcntl(fd, F_GET_RW_HINT, hint);

	if (fd >= 0)
		close(fd);
	return ok;
}

/**
 * cold_mark() - mark an inode that is in memory now
 *
 * Return: false with errno if it cannot be marked, or does not keep the mark.
 */
bool cold_mark(const char *path)
{
	uint64_t hint = HINT_SHORT;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = fd >= 0 && !fcntl(fd, F_SET_RW_HINT, &hint);

	/* Before it is closed: then anybody may make the kernel forget the inode. */
	ok = ok && !fcntl(fd, F_GET_RW_HINT, &hint) && hint == HINT_SHORT;
	if (fd >= 0)
		close(fd);
	return ok;
}

/**
 * cold_was() - has the inode left the memory since it was marked?
 */
bool cold_was(const char *path)
{
	uint64_t hint;

	return get_mark(path, &hint) && hint == HINT_NONE;
}

/**
 * cold_found() - how many inodes has xfs found in memory since the last call?
 *
 * It keeps them for a while after they have lost their mark. What cold_drop() and
 * cold_was() have looked at is counted as well.
 */
unsigned long cold_found(void)
{
	static __u64 last;
	struct inode_cache now;
	unsigned long more;

	if (!activity_is_xfs())
		return 0;
	if (!activity_inode_cache(&now))
		return 1;
	more = now.found - last;
	last = now.found;
	return more;
}

#define DROP_CACHES	"/proc/sys/vm/drop_caches"
#define DROP_TRIES	20
/* Inodes of xfs that are always in use: the root, those of its own. */
#define DROP_LEAVES	32

/**
 * cold_missing() - why inodes cannot be had here that are not in memory, or NULL
 *
 * @path: a file to try it with
 */
const char *cold_missing(const char *path)
{
	struct inode_cache cache;
	static char why[120];
	int fd = open(DROP_CACHES, O_WRONLY | O_CLOEXEC);

	if (fd < 0) {
		snprintf(why, sizeof(why), "cannot write " DROP_CACHES ": %s", strerror(errno));
		return why;
	}
	close(fd);
	if (activity_is_xfs() && !activity_inode_cache(&cache))
		return "needs the statistics of xfs in /sys/fs/xfs";
	errno = 0;
	if (cold_mark(path))
		return NULL;
	snprintf(why, sizeof(why), "inodes cannot be marked (F_SET_RW_HINT): %s",
		 errno ? strerror(errno) : "the mark is lost");
	return why;
}

/**
 * cold_drop() - let the kernel forget all inodes and directory entries not in use
 *
 * Those of the whole machine: there is no call for one file system.
 *
 * @probe: a file that nobody uses, to see whether that was done
 * Return: false with errno if the probe stays; some of the others may.
 */
bool cold_drop(const char *probe)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct inode_cache left;
	bool ok = false, all = false;
	int fd, try;

	/* An inode with changes stays. */
	if (!activity_sync())
		return false;
	fd = open(DROP_CACHES, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	/*
	 * What was used of late is spared once, buffers of xfs twice: else some runs
	 * find them in memory. Again if somebody else was about to drop the same, or
	 * if xfs, which synced only its log, had yet to write inodes back.
	 */
	for (try = 0; try < DROP_TRIES && !(ok && all); try++) {
		ok = cold_mark(probe) && write(fd, "2", 1) == 1 && write(fd, "2", 1) == 1 &&
		     write(fd, "2", 1) == 1 && cold_was(probe);
		all = !activity_is_xfs() ||
		      (activity_inode_cache(&left) && left.inodes <= DROP_LEAVES);
		/* Also for RCU: else their memory becomes free while others are read. */
		nanosleep(&pause, NULL);
	}
	close(fd);
	return ok;
}

/**
 * xattr_blocks() - blocks that the extended attributes of an empty file take
 *
 * Outside of its inode; on xfs and ext4, but not those of another inode.
 *
 * Return: blocks of the file system; -1 with errno.
 */
long xattr_blocks(int fd)
{
	struct statvfs fs;
	struct stat st;

	if (fstat(fd, &st) || fstatvfs(fd, &fs))
		return -1;
	return (st.st_blocks * 512 + fs.f_bsize - 1) / fs.f_bsize;
}

/**
 * inodes_used() - inodes in use in the file system
 *
 * Return: -1 with errno if it does not tell.
 */
long inodes_used(int fd)
{
	struct statvfs st;

	return fstatvfs(fd, &st) ? -1 : (long)(st.f_files - st.f_ffree);
}
