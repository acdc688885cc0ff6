// SPDX-License-Identifier: GPL-2.0
/*
 * How much kernel memory the extended attributes of a file take while it is in
 * memory, as an average of many files.
 *
 * Not how much the file itself takes, nor how much room there is on the disk.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "xattr.h"

#define FILES		10000
#define DIRECTORY	"files"
#define NAMES_MAX	4
#define VALUE_MAX	256

static const char * const names[NAMES_MAX] = {
	"user.fsbench00", "user.fsbench01", "user.fsbench02", "user.fsbench03",
};

struct xattr_files {
	unsigned int names;		/* of each file */
	size_t size;			/* of each value */
	char value[VALUE_MAX];
};

FIXTURE(xattr_memory) {
	struct xattr_files files;
};

FIXTURE_VARIANT(xattr_memory) {
	const char *fstype;
	unsigned int names;
	size_t size;
};

FIXTURE_VARIANT_ADD(xattr_memory, tmpfs) { .fstype = "tmpfs", .names = 1, .size = 16 };
FIXTURE_VARIANT_ADD(xattr_memory, tmpfs_4) { .fstype = "tmpfs", .names = 4, .size = 16 };
FIXTURE_VARIANT_ADD(xattr_memory, tmpfs_256b) { .fstype = "tmpfs", .names = 1, .size = 256 };
FIXTURE_VARIANT_ADD(xattr_memory, xfs) { .fstype = "xfs", .names = 1, .size = 16 };

FIXTURE_SETUP(xattr_memory)
{
	struct xattr_files *f = &self->files;

	if (!BENCH_DEFAULT(!strcmp(variant->fstype, "tmpfs")) || !BENCH_SLABINFO() ||
	    !SCRATCH(variant->fstype))
		return;
	f->names = variant->names;
	f->size = variant->size;
	memset(f->value, 'v', sizeof(f->value));
	if (!setxattr(".", names[0], f->value, f->size, XATTR_CREATE))
		return;
	ASSERT_TRUE(may_lack_user_xattrs(variant->fstype));
	BENCH_SKIP("%s: %s", variant->fstype, NO_USER_XATTRS);
}

FIXTURE_TEARDOWN(xattr_memory)
{
}

static const char *path_of(unsigned long file)
{
	static char path[32];

	snprintf(path, sizeof(path), DIRECTORY "/%lu", file);
	return path;
}

static void create_files(struct bench *b)
{
	unsigned long i;

	bench_prove(b, !mkdir(DIRECTORY, 0755));
	for (i = 0; i < FILES; i++)
		bench_prove(b, !mknod(path_of(i), S_IFREG | 0644, 0));
}

static void set_xattrs(struct bench *b, unsigned long ops)
{
	struct xattr_files *f = b->arg;
	unsigned int i;
	int ret;

	while (ops--) {
		for (i = 0, ret = 0; i < f->names && !ret; i++)
			ret = setxattr(path_of(ops), names[i], f->value, f->size, XATTR_CREATE);
		bench_expect(b, !ret);
	}
}

/* All files were there with all that was set, and no others. */
static void remove_files(struct bench *b)
{
	struct xattr_files *f = b->arg;
	char value[VALUE_MAX + 1];
	unsigned long i, j;

	for (i = 0; i < FILES; i++) {
		for (j = 0; j < f->names; j++) {
			bench_prove(b, getxattr(path_of(i), names[j], value, sizeof(value)) ==
				    (ssize_t)f->size);
			bench_prove(b, !memcmp(value, f->value, f->size));
		}
		bench_prove(b, !unlink(path_of(i)));
	}
	bench_prove(b, !rmdir(DIRECTORY));
}

TEST_F(xattr_memory, setxattr)
{
	BENCH_MEMORY(set_xattrs, &self->files, FILES, .before_round = create_files,
		     .after_round = remove_files);
}

TEST_HARNESS_MAIN
