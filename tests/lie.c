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
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define REAL(call)	((typeof(call) *)real(#call))

static char lied[16], how[16];
static unsigned long nr, first, last;

static void *real(const char *call)
{
	void *p = dlsym(RTLD_NEXT, call);

	if (!p)
		abort();
	return p;
}

__attribute__((constructor))
static void read_lie(void)
{
	const char *s = getenv("LIE");

	if (s && sscanf(s, "%15s %lu %lu %15s", lied, &first, &last, how) != 4)
		abort();
}

/* How this call is to go wrong: "" if it is not. */
static const char *lie(const char *call)
{
	if (strcmp(call, lied) || ++nr < first || nr > last)
		return "";
	return how;
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

pid_t getppid(void)
{
	return answer(lie("getppid"), REAL(getppid)());
}

int ioctl(int fd, unsigned long request, ...)
{
	struct file_dedupe_range *range;
	const char *l = "";
	va_list args;
	void *arg;
	int ret;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	range = arg;
	if (request == FICLONERANGE)
		l = lie("clone");
	else if (request == FIDEDUPERANGE)
		l = lie("dedupe");
	if (is(l, "eio"))
		return answer(l, 0);
	if (is(l, "nothing")) {
		if (request == FIDEDUPERANGE) {
			range->info->status = FILE_DEDUPE_RANGE_SAME;
			range->info->bytes_deduped = range->src_length;
		}
		return 0;
	}
	ret = REAL(ioctl)(fd, request, arg);
	if (is(l, "differs"))
		range->info->status = FILE_DEDUPE_RANGE_DIFFERS;
	if (is(l, "zero"))
		range->info->bytes_deduped = 0;
	return answer(l, ret);
}
