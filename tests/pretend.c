// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD=pretend.so PRETEND=WHAT: a set-up that is not what it should be,
 * though every call says that all is well.
 *
 *	root		the user stays root
 *	no-acl		an ACL is not stored
 *	no-acls		the kernel has none (this one fails)
 *	no-space	there is none for 4096 bytes (this one fails)
 *	warm		nothing is dropped from memory
 *	warm-later	nothing after the set-up
 *	some-open	a few inodes are in use all the time, and asked for slowly,
 *	many-open	or one of eight
 *	found		xfs finds inodes in memory, now and then,
 *	found-later	in each batch after the warm-up,
 *	no-stats	or does not tell
 *	no-mark		inodes cannot be marked (this one fails)
 *	inline		no attribute lies outside of its inode
 *	outside		each lies in a block of its own
 *	refused		the user is refused, and not by the ACL
 *	byte		the last byte of a value is wrong when it is read,
 *	no-value	or no value is stored to begin with, if it has 16 bytes
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(call)	((typeof(call) *)real(#call))
#define SET_RW_HINT	1036

static void *real(const char *call)
{
	void *p = dlsym(RTLD_NEXT, call);

	if (!p)
		abort();
	return p;
}

static bool is(const char *what)
{
	const char *s = getenv("PRETEND");

	return s && !strcmp(s, what);
}

static unsigned int nr_values, nr_kept;
static ino_t kept[64];

static ssize_t value(void *buf, size_t size, ssize_t ret)
{
	if (is("byte") && size && ret > 0)
		((char *)buf)[ret - 1] ^= 1;
	return ret;
}

ssize_t getxattr(const char *path, const char *name, void *buf, size_t size)
{
	return value(buf, size, REAL(getxattr)(path, name, buf, size));
}

ssize_t fgetxattr(int fd, const char *name, void *buf, size_t size)
{
	return value(buf, size, REAL(fgetxattr)(fd, name, buf, size));
}

int setresuid(uid_t ruid, uid_t euid, uid_t suid)
{
	return is("root") ? 0 : REAL(setresuid)(ruid, euid, suid);
}

int setresgid(gid_t rgid, gid_t egid, gid_t sgid)
{
	return is("root") ? 0 : REAL(setresgid)(rgid, egid, sgid);
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
	if (is("no-acls") && !strcmp(name, "system.posix_acl_access")) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (is("no-space") && size >= 4096) {
		errno = ENOSPC;
		return -1;
	}
	if (is("no-acl") && !strcmp(name, "system.posix_acl_access"))
		return 0;
	/* The set-up does it for the one file that others are copied from. */
	if (is("no-value") && size == 16 && nr_values++)
		return 0;
	return REAL(fsetxattr)(fd, name, value, size, flags);
}

ssize_t write(int fd, const void *buf, size_t size)
{
	static int dropped;
	char c;

	if (size == 1) {
		memcpy(&c, buf, 1);
		/* The set-up does it three times. */
		if (c == '2' && (is("warm") || (is("warm-later") && ++dropped > 3)))
			return 1;
	}
	return REAL(write)(fd, buf, size);
}

static bool measuring;

/* Not for the warm-up. */
int getrusage(int who, struct rusage *usage)
{
	measuring = true;
	return REAL(getrusage)(who, usage);
}

/* Of the statistics of xfs, which are read whole. */
ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	static unsigned int nr;

	if (size != 4095 || !(is("found") || is("found-later") || is("no-stats")))
		return REAL(pread)(fd, buf, size, offset);
	if (is("no-stats"))
		return -1;
	nr += is("found") || measuring;
	return sprintf(buf, "abt 0\nig 1 %u 2 3 4 5 6\nvnodes 7 8\n",
		       is("found") ? nr / 101 : nr);
}

int fcntl(int fd, int cmd, ...)
{
	static unsigned int marked;
	struct stat st;
	va_list args;
	void *arg;

	va_start(args, cmd);
	arg = va_arg(args, void *);
	va_end(args);
	if (cmd == SET_RW_HINT && is("no-mark")) {
		errno = EINVAL;
		return -1;
	}
	/* Not those of the set-up, nor more than a process may have. */
	if (cmd == SET_RW_HINT && ((is("some-open") && marked % 64 == 63) ||
				   (is("many-open") && marked % 8 == 7)) && marked < 2000) {
		dup(fd);
		if (!REAL(fstat)(fd, &st) && nr_kept < sizeof(kept) / sizeof(*kept))
			kept[nr_kept++] = st.st_ino;
	}
	marked += cmd == SET_RW_HINT;
	return REAL(fcntl)(fd, cmd, arg);
}

int fstat(int fd, struct stat *st)
{
	int ret = REAL(fstat)(fd, st);

	if (is("inline"))
		st->st_blocks = 0;
	if (is("outside"))
		st->st_blocks = 8;
	return ret;
}

int access(const char *path, int mode)
{
	unsigned int i;
	struct stat st;

	/* A batch with one of those cannot be overlooked. */
	for (i = 0; is("some-open") && !stat(path, &st) && i < nr_kept; i++)
		if (st.st_ino == kept[i])
			usleep(100000);
	if (is("refused") && !strncmp(path, "file", 4)) {
		errno = EACCES;
		return -1;
	}
	return REAL(access)(path, mode);
}
