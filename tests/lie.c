// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD=lie.so LIE="CALL FIRST LAST HOW": the calls of that name, from the
 * FIRSTth to the LASTth that this process and its forebears made, go wrong:
 *
 *	eio		fails with EIO
 *	other		succeeds, and returns another number than it should
 *	name, value	succeeds, with a wrong byte in the list or in the value
 *	nothing		says that it succeeded and did nothing
 *	differs, zero	deduplicates, and says that the data differ or 0 bytes
 *	same		says that data which differ are the same
 *	maps		says that the data differ, and maps them all the same
 *	more		clones twice as much
 *	moves		clones, and what is behind it lies elsewhere afterwards
 *	copies		copies where it should clone
 *	shares		clones where it should copy
 *	byte		copies, and a byte is wrong
 *	short		copies one byte less, and says so
 *
 * The call read_write, or reference, is a write() of what was just read.
 *
 * With LIE_ONCE the calls of all processes together are counted, so that one of
 * several tasks goes wrong. open() is that of a relative path, and close() that of
 * what it returned last; "other" opens another file.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(call)	((typeof(call) *)real(#call))

static char lied[16], how[16];
static unsigned long mine, *nr = &mine, first, last;
static __thread int opened = -1;

static void *real(const char *call)
{
	void *p = dlsym(RTLD_NEXT, call);

	if (!p)
		abort();
	return p;
}

static ssize_t (*real_pread)(int fd, void *buf, size_t size, off_t offset);
static ssize_t (*real_pwrite)(int fd, const void *buf, size_t size, off_t offset);
static int (*real_ioctl)(int fd, unsigned long request, ...);

__attribute__((constructor))
static void read_lie(void)
{
	const char *s = getenv("LIE");

	real_pread = real("pread");
	real_pwrite = real("pwrite");
	real_ioctl = real("ioctl");
	if (s && sscanf(s, "%15s %lu %lu %15s", lied, &first, &last, how) != 4)
		abort();
	if (!getenv("LIE_ONCE"))
		return;
	nr = mmap(NULL, sizeof(*nr), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (nr == MAP_FAILED)
		abort();
}

/* How this call is to go wrong: "" if it is not. */
static const char *lie(const char *call)
{
	unsigned long n;

	if (strcmp(call, lied))
		return "";
	n = __atomic_add_fetch(nr, 1, __ATOMIC_RELAXED);
	return n < first || n > last ? "" : how;
}

static bool is(const char *a, const char *b)
{
	return !strcmp(a, b);
}

/* What the call returned, or what it is said to have returned. */
static ssize_t answer(const char *l, ssize_t ret)
{
	if (is(l, "other"))
		return ret + 1;
	if (is(l, "eio")) {
		errno = EIO;
		return -1;
	}
	return ret;
}

static ssize_t list_answer(const char *l, char *list, ssize_t ret)
{
	if (is(l, "name") && ret > 1)
		list[ret - 2] ^= 1;
	return answer(l, ret);
}

ssize_t flistxattr(int fd, char *list, size_t size)
{
	return list_answer(lie("flistxattr"), list, REAL(flistxattr)(fd, list, size));
}

ssize_t listxattr(const char *path, char *list, size_t size)
{
	return list_answer(lie("listxattr"), list, REAL(listxattr)(path, list, size));
}

ssize_t fgetxattr(int fd, const char *name, void *value, size_t size)
{
	ssize_t ret = REAL(fgetxattr)(fd, name, value, size);
	const char *l = lie("fgetxattr");

	if (is(l, "value") && ret > 0)
		((char *)value)[ret - 1] ^= 1;
	return answer(l, ret);
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
	const char *l = lie("fsetxattr");
	char other[64];

	if (is(l, "eio"))
		return answer(l, 0);
	if (is(l, "nothing"))
		return 0;
	if (is(l, "value") && size && size <= sizeof(other)) {
		memcpy(other, value, size);
		other[size - 1] ^= 1;
		value = other;
	}
	return answer(l, REAL(fsetxattr)(fd, name, value, size, flags));
}

int fremovexattr(int fd, const char *name)
{
	const char *l = lie("fremovexattr");

	if (is(l, "eio") || is(l, "nothing"))
		return answer(l, 0);
	return answer(l, REAL(fremovexattr)(fd, name));
}

int open(const char *path, int flags, ...)
{
	const char *l = *path == '/' ? "" : lie("open");
	va_list args;
	int mode, fd;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (is(l, "eio"))
		return answer(l, 0);
	if (is(l, "other"))
		path = "/dev/null";
	fd = REAL(open)(path, flags, mode);
	if (*path != '/' || is(l, "other"))
		opened = fd;
	return fd;
}

int close(int fd)
{
	const char *l = fd >= 0 && fd == opened ? lie("close") : "";

	if (fd == opened)
		opened = -1;
	if (is(l, "nothing"))
		return 0;
	return answer(l, REAL(close)(fd));
}

pid_t getppid(void)
{
	return answer(lie("getppid"), REAL(getppid)());
}

/* Not by the call itself, and not seen by the program. */
static void copy(int src, off_t src_offset, int dst, off_t dst_offset, size_t size)
{
	char *buf = malloc(size);

	if (!buf || real_pread(src, buf, size, src_offset) != (ssize_t)size ||
	    real_pwrite(dst, buf, size, dst_offset) != (ssize_t)size)
		abort();
	free(buf);
}

static void clone_range(int src, off_t src_offset, int dst, off_t dst_offset, size_t size)
{
	struct file_clone_range range = {
		.src_fd = src, .src_offset = src_offset, .src_length = size,
		.dest_offset = dst_offset,
	};

	if (real_ioctl(dst, FICLONERANGE, &range))
		abort();
}

static void change_byte(int fd, off_t offset)
{
	char c;

	if (real_pread(fd, &c, 1, offset) != 1)
		abort();
	c ^= 1;
	if (real_pwrite(fd, &c, 1, offset) != 1)
		abort();
}

/* What the last call read, and from where. */
static struct {
	const void *buf;
	int fd;
	off_t offset;
} last_read;

ssize_t pread(int fd, void *buf, size_t size, off_t offset)
{
	last_read.buf = buf;
	last_read.fd = fd;
	last_read.offset = offset;
	return real_pread(fd, buf, size, offset);
}

ssize_t pwrite(int fd, const void *buf, size_t size, off_t offset)
{
	const char *l = "";
	ssize_t ret;

	if (buf == last_read.buf) {
		l = lie("read_write");
		l = *l ? l : lie("reference");
	}
	last_read.buf = NULL;
	if (is(l, "eio"))
		return answer(l, 0);
	if (is(l, "shares")) {
		clone_range(last_read.fd, last_read.offset, fd, offset, size);
		return size;
	}
	ret = real_pwrite(fd, buf, is(l, "short") ? size - 1 : size, offset);
	if (is(l, "byte"))
		change_byte(fd, offset + size / 2);
	return answer(l, ret);
}

ssize_t copy_file_range(int in, loff_t *in_at, int out, loff_t *out_at, size_t size,
			unsigned int flags)
{
	const char *l = lie("copy");
	ssize_t ret;

	if (is(l, "eio"))
		return answer(l, 0);
	if (is(l, "nothing"))
		return size;
	ret = REAL(copy_file_range)(in, in_at, out, out_at, is(l, "short") ? size - 1 : size,
				    flags);
	if (is(l, "byte"))
		change_byte(out, *out_at - size / 2);
	return answer(l, ret);
}

int ioctl(int fd, unsigned long request, ...)
{
	struct file_dedupe_range *range;
	struct file_clone_range *clone;
	const char *l = "";
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	range = arg;
	clone = arg;
	if (request == FICLONERANGE)
		l = lie("clone");
	else if (request == FIDEDUPERANGE)
		l = lie(is(lied, "differs") ? lied : "dedupe");
	if (is(l, "eio"))
		return answer(l, 0);
	if (is(l, "nothing")) {
		if (request == FIDEDUPERANGE) {
			range->info->status = FILE_DEDUPE_RANGE_SAME;
			range->info->bytes_deduped = range->src_length;
		}
		return 0;
	}
	if (is(l, "copies")) {
		copy(clone->src_fd, clone->src_offset, fd, clone->dest_offset, clone->src_length);
		return 0;
	}
	ret = real_ioctl(fd, request, arg);
	if (is(l, "more"))
		clone_range(clone->src_fd, clone->src_offset, fd, clone->dest_offset,
			    2 * clone->src_length);
	if (is(l, "moves"))
		copy(fd, clone->dest_offset + clone->src_length, fd,
		     clone->dest_offset + clone->src_length, clone->src_length);
	if (is(l, "maps"))
		clone_range(fd, range->src_offset, range->info->dest_fd,
			    range->info->dest_offset, range->src_length);
	if (is(l, "same")) {
		range->info->status = FILE_DEDUPE_RANGE_SAME;
		range->info->bytes_deduped = range->src_length;
	}
	if (is(l, "differs"))
		range->info->status = FILE_DEDUPE_RANGE_DIFFERS;
	if (is(l, "zero"))
		range->info->bytes_deduped = 0;
	return answer(l, ret);
}
