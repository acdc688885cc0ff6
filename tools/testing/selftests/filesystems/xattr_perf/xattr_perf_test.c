// SPDX-License-Identifier: GPL-2.0
/*
 * What one extended attribute call costs, on each file system: the list of 0 to
 * 64 names, and get, set and remove of one name.
 *
 * It measures system calls on one hot inode, and says nothing about applications.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/xattr.h>

#include "../fsbench/fsbench.h"

#define NAME_LEN	32
/* Operations of a call that cannot be repeated on the same file. */
#define FILES		64

/* Two of one size: ext4 notices if a value is replaced by itself. */
static const char values[2][16] = { "fsbench-value-0", "fsbench-value-1" };

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

static void name_of(unsigned int i, char name[NAME_LEN])
{
	snprintf(name, NAME_LEN, "user.fsbench%02u", i);
}

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

/* Pages of their own: where a buffer lies must not differ between two runs. */
static void *pages(struct __test_metadata *const _metadata, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	ASSERT_TRUE(p != MAP_FAILED);
	return p;
}

static void open_file(struct __test_metadata *const _metadata, struct xattr_file *f)
{
	f->path = "file";
	f->fd = open(f->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ASSERT_LE(0, f->fd);
	f->expected = pages(_metadata, sizeof(*f->expected));
	f->seen = pages(_metadata, sizeof(*f->seen));
	/* A security module or an ACL may have added names of its own. */
	f->expected->len = flistxattr(f->fd, f->expected->list, sizeof(f->expected->list));
	ASSERT_LE(0, f->expected->len);
}

/* Return: NULL, or why this file system cannot hold that many. */
static const char *set_names(struct __test_metadata *const _metadata, const char *fstype,
			     struct xattr_file *f, unsigned int names)
{
	bool memory = !strcmp(fstype, "tmpfs") || !strcmp(fstype, "overlayfs");
	struct xattr_names *e = f->expected;
	char name[NAME_LEN];
	unsigned int i;

	for (i = 0; i < names; i++) {
		name_of(i, name);
		if (fsetxattr(f->fd, name, values[0], sizeof(values[0]), XATTR_CREATE)) {
			/* Only what is known to differ; anything else is a fault. */
			if (errno == EOPNOTSUPP && memory)
				return "no user.* attributes (tmpfs: 6.6, CONFIG_TMPFS_XATTR)";
			if (errno == ENOSPC && names >= 16)
				return "so many attributes do not fit";
			ASSERT_EQ(0, errno);
		}
		memcpy(e->list + e->len, name, strlen(name) + 1);
		e->len += strlen(name) + 1;
	}
	return NULL;
}

/* The list of names */

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

/* One name: get, set, remove */

struct one_name {
	struct xattr_file file;
	char name[NAME_LEN];
	char buf[sizeof(values[0])];
	unsigned int stored;		/* which of the values it has now */
	int fds[FILES];
};

FIXTURE(xattr_one) {
	struct one_name one;
};

FIXTURE_VARIANT(xattr_one) {
	const char *fstype;
};

FIXTURE_VARIANT_ADD(xattr_one, tmpfs) { .fstype = "tmpfs" };
FIXTURE_VARIANT_ADD(xattr_one, xfs) { .fstype = "xfs" };
FIXTURE_VARIANT_ADD(xattr_one, ext4) { .fstype = "ext4" };
FIXTURE_VARIANT_ADD(xattr_one, btrfs) { .fstype = "btrfs" };

FIXTURE_SETUP(xattr_one)
{
	struct one_name *one = &self->one;
	char path[NAME_LEN];
	const char *why;
	int i;

	if (!SCRATCH(variant->fstype))
		return;
	open_file(_metadata, &one->file);
	why = set_names(_metadata, variant->fstype, &one->file, 1);
	if (why) {
		BENCH_SKIP("%s: %s", variant->fstype, why);
		return;
	}
	name_of(0, one->name);
	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "remove%d", i);
		one->fds[i] = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		ASSERT_LE(0, one->fds[i]);
	}
}

FIXTURE_TEARDOWN(xattr_one)
{
}

static void get_one(struct bench *b, unsigned long ops)
{
	struct one_name *one = b->arg;

	while (ops--)
		bench_expect(b, fgetxattr(one->file.fd, one->name, one->buf,
					  sizeof(one->buf)) == sizeof(one->buf));
}

static void replace_one(struct bench *b, unsigned long ops)
{
	struct one_name *one = b->arg;

	while (ops--) {
		one->stored = !one->stored;
		bench_expect(b, !fsetxattr(one->file.fd, one->name, values[one->stored],
					   sizeof(values[0]), XATTR_REPLACE));
	}
}

static void remove_one(struct bench *b, unsigned long ops)
{
	struct one_name *one = b->arg;

	while (ops--)
		bench_expect(b, !fremovexattr(one->fds[ops], one->name));
}

/* Not timed: what the batch removes. */
static void add_to_remove(struct bench *b, unsigned long ops)
{
	struct one_name *one = b->arg;

	while (ops--)
		bench_prove(b, !fsetxattr(one->fds[ops], one->name, values[0],
					  sizeof(values[0]), XATTR_CREATE));
}

static void check_value(struct bench *b)
{
	struct one_name *one = b->arg;

	bench_prove(b, !memcmp(one->buf, values[one->stored], sizeof(one->buf)));
	memset(one->buf, 0, sizeof(one->buf));
}

static void check_stored(struct bench *b)
{
	struct one_name *one = b->arg;

	bench_prove(b, fgetxattr(one->file.fd, one->name, one->buf, sizeof(one->buf)) ==
		    sizeof(one->buf));
	check_value(b);
}

static void check_removed(struct bench *b)
{
	struct one_name *one = b->arg;
	int i;

	for (i = 0; i < FILES; i++) {
		bench_prove(b, fgetxattr(one->fds[i], one->name, one->buf,
					 sizeof(one->buf)) == -1);
		bench_prove(b, errno == ENODATA);
	}
}

TEST_F(xattr_one, fgetxattr)
{
	BENCH(get_one, &self->one, .after_round = check_value);
}

TEST_F(xattr_one, fsetxattr)
{
	BENCH(replace_one, &self->one, .after_round = check_stored);
}

TEST_F(xattr_one, fremovexattr)
{
	BENCH(remove_one, &self->one, .before_batch = add_to_remove, .after_round = check_removed,
	      .max_batch = FILES);
}

TEST_HARNESS_MAIN
