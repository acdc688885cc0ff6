// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to list the extended attributes of a file: 0 to 64 names, on each
 * file system.
 *
 * It measures system calls on one hot inode, and says nothing about applications.
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "xattr.h"

static const char value[16] = "fsbench-value-0";

/* A list as the kernel returns it: names, each with its NUL. */
struct xattr_names {
	char list[4096];
	ssize_t len;
};

struct xattr_file {
	int fd;
	const char *path;
	struct xattr_names *expected;	/* what was there, and what was set */
	struct xattr_names *seen;	/* what the last call returned */
};

static bool has_name(const struct xattr_names *names, const char *name)
{
	const char *s;

	for (s = names->list; s < names->list + names->len; s += strlen(s) + 1)
		if (!strcmp(s, name))
			return true;
	return false;
}

static bool has_names(const struct xattr_names *names, const struct xattr_names *of)
{
	const char *s;

	for (s = of->list; s < of->list + of->len; s += strlen(s) + 1)
		if (!has_name(names, s))
			return false;
	return true;
}

/* As sets: in whatever order, none twice, since then another would be missing. */
static bool same_names(const struct xattr_names *a, const struct xattr_names *b)
{
	return a->len == b->len && (!a->len || !a->list[a->len - 1]) && has_names(a, b) &&
	       has_names(b, a);
}

static void open_file(struct __test_metadata *const _metadata, struct xattr_file *f)
{
	f->path = "file";
	f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ASSERT_LE(0, f->fd);
	f->expected = bench_pages(_metadata, sizeof(*f->expected));
	f->seen = bench_pages(_metadata, sizeof(*f->seen));
	/* A security module or an ACL may have added names of its own. */
	f->expected->len = flistxattr(f->fd, f->expected->list, sizeof(f->expected->list));
	ASSERT_LE(0, f->expected->len);
}

/* Return: NULL, or why this file system cannot hold that many. */
static const char *set_names(struct __test_metadata *const _metadata, const char *fstype,
			     struct xattr_file *f, unsigned int names)
{
	struct xattr_names *e = f->expected;
	char name[NAME_LEN];
	unsigned int i;

	for (i = 0; i < names; i++) {
		name_of(i, name);
		if (fsetxattr(f->fd, name, value, sizeof(value), XATTR_CREATE)) {
			/* Only what is known to differ; anything else is a fault. */
			if (may_lack_user_xattrs(fstype))
				return NO_USER_XATTRS;
			if (may_not_fit(fstype) && names >= 16)
				return "so many attributes do not fit";
			ASSERT_EQ(0, errno);
		}
		memcpy(e->list + e->len, name, strlen(name) + 1);
		e->len += strlen(name) + 1;
	}
	return NULL;
}

FIXTURE(xattr_list) {
	struct xattr_file file;
};

FIXTURE_VARIANT(xattr_list) {
	const char *fstype;
	unsigned int names;
};

FIXTURE_VARIANT_ADD(xattr_list, tmpfs_0) { .fstype = "tmpfs", .names = 0 };
FIXTURE_VARIANT_ADD(xattr_list, tmpfs_1) { .fstype = "tmpfs", .names = 1 };
FIXTURE_VARIANT_ADD(xattr_list, tmpfs_4) { .fstype = "tmpfs", .names = 4 };
FIXTURE_VARIANT_ADD(xattr_list, tmpfs_16) { .fstype = "tmpfs", .names = 16 };
FIXTURE_VARIANT_ADD(xattr_list, tmpfs_64) { .fstype = "tmpfs", .names = 64 };
FIXTURE_VARIANT_ADD(xattr_list, xfs_0) { .fstype = "xfs", .names = 0 };
FIXTURE_VARIANT_ADD(xattr_list, xfs_1) { .fstype = "xfs", .names = 1 };
FIXTURE_VARIANT_ADD(xattr_list, xfs_4) { .fstype = "xfs", .names = 4 };
FIXTURE_VARIANT_ADD(xattr_list, xfs_16) { .fstype = "xfs", .names = 16 };
FIXTURE_VARIANT_ADD(xattr_list, xfs_64) { .fstype = "xfs", .names = 64 };
FIXTURE_VARIANT_ADD(xattr_list, ext4_0) { .fstype = "ext4", .names = 0 };
FIXTURE_VARIANT_ADD(xattr_list, ext4_1) { .fstype = "ext4", .names = 1 };
FIXTURE_VARIANT_ADD(xattr_list, ext4_4) { .fstype = "ext4", .names = 4 };
FIXTURE_VARIANT_ADD(xattr_list, ext4_16) { .fstype = "ext4", .names = 16 };
FIXTURE_VARIANT_ADD(xattr_list, ext4_64) { .fstype = "ext4", .names = 64 };
FIXTURE_VARIANT_ADD(xattr_list, btrfs_0) { .fstype = "btrfs", .names = 0 };
FIXTURE_VARIANT_ADD(xattr_list, btrfs_1) { .fstype = "btrfs", .names = 1 };
FIXTURE_VARIANT_ADD(xattr_list, btrfs_4) { .fstype = "btrfs", .names = 4 };
FIXTURE_VARIANT_ADD(xattr_list, btrfs_16) { .fstype = "btrfs", .names = 16 };
FIXTURE_VARIANT_ADD(xattr_list, btrfs_64) { .fstype = "btrfs", .names = 64 };
FIXTURE_VARIANT_ADD(xattr_list, overlayfs_1) { .fstype = "overlayfs", .names = 1 };

FIXTURE_SETUP(xattr_list)
{
	const char *why;

	if (!SCRATCH(variant->fstype))
		return;
	open_file(_metadata, &self->file);
	why = set_names(_metadata, variant->fstype, &self->file, variant->names);
	if (why)
		BENCH_SKIP("%s: %s", variant->fstype, why);
}

FIXTURE_TEARDOWN(xattr_list)
{
}

static void list_fd(struct bench *b, unsigned long ops)
{
	struct xattr_file *f = b->arg;

	while (ops--)
		bench_expect(b, flistxattr(f->fd, f->seen->list, sizeof(f->seen->list)) ==
			     f->expected->len);
}

static void list_path(struct bench *b, unsigned long ops)
{
	struct xattr_file *f = b->arg;

	while (ops--)
		bench_expect(b, listxattr(f->path, f->seen->list, sizeof(f->seen->list)) ==
			     f->expected->len);
}

/* The loop checks the length, this the names that came with it. */
static void check_list(struct bench *b)
{
	struct xattr_file *f = b->arg;

	f->seen->len = f->expected->len;
	bench_prove(b, same_names(f->seen, f->expected));
	memset(f->seen, 0xff, sizeof(*f->seen));
}

TEST_F(xattr_list, flistxattr)
{
	BENCH(list_fd, &self->file, .after_round = check_list);
}

TEST_F(xattr_list, listxattr)
{
	BENCH(list_path, &self->file, .after_round = check_list);
}

TEST_HARNESS_MAIN
