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
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statvfs.h>
#include <unistd.h>

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

#define EXTENTS		64

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

	if (fd >= 0)
		close(fd);
	return ok && get_mark(path, &hint) && hint == HINT_SHORT;
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
 * cold_drop() - let the kernel forget all inodes and directory entries not in use
 *
 * Those of the whole machine: there is no call for one file system.
 *
 * Return: NULL, or why not, with errno.
 */
const char *cold_drop(void)
{
	int fd, try;

	/* An inode with changes stays. */
	fd = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || syncfs(fd))
		return "syncfs";
	close(fd);
	fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return "/proc/sys/vm/drop_caches";
	/* What was used of late is spared once. */
	for (try = 0; try < 2; try++) {
		if (write(fd, "2", 1) != 1) {
			close(fd);
			return "/proc/sys/vm/drop_caches";
		}
	}
	close(fd);
	return NULL;
}

/**
 * xattr_blocks() - blocks that extended attributes take outside of the inode
 *
 * Return: blocks of the file system; -1 with errno, as on one that does not tell.
 */
long xattr_blocks(int fd)
{
	union {
		struct fiemap map;
		char space[sizeof(struct fiemap) + EXTENTS * sizeof(struct fiemap_extent)];
	} u = {
		.map = {
			.fm_length = FIEMAP_MAX_OFFSET,
			.fm_flags = FIEMAP_FLAG_XATTR,
			.fm_extent_count = EXTENTS,
		},
	};
	const struct fiemap_extent *e = u.map.fm_extents;
	unsigned long long bytes = 0;
	struct statvfs st;

	if (ioctl(fd, FS_IOC_FIEMAP, &u.map) || fstatvfs(fd, &st))
		return -1;
	for (; e < u.map.fm_extents + u.map.fm_mapped_extents; e++)
		if (!(e->fe_flags & FIEMAP_EXTENT_DATA_INLINE))
			bytes += e->fe_length;
	return bytes / st.f_bsize;
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
