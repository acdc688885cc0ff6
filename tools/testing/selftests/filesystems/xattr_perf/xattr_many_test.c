// SPDX-License-Identifier: GPL-2.0
/*
 * What flistxattr(2) and fgetxattr(2) of one name cost if several tasks call them at
 * the same time, on one inode and on inodes of their own; and for one task whose
 * file table is shared with a thread, as in every program with threads.
 *
 * A list that scales better may cost a single task more: each row for several tasks,
 * "_n", has one for a single task, "_1".
 */
#define _GNU_SOURCE
#include <fcntl.h>

#include "xattr.h"

#define NAME		"user.fsbench00"
#define LIST_SIZE	4096

static const char value[16] = "fsbench-value-0";

/* Of the process: each opens its own file, and has its own copy of this. */
struct many {
	bool one_inode;
	char *list, *buf;		/* pages of their own, also among threads */
	ssize_t list_len;
	pid_t opened_by;
	int fd;
};

FIXTURE(xattr_many) {
	struct many many;
};

FIXTURE_VARIANT(xattr_many) {
	const char *fstype;
	bool one_inode;
	bool rest;			/* not in the default set */
};

FIXTURE_VARIANT_ADD(xattr_many, tmpfs_one_inode) {
	.fstype = "tmpfs", .one_inode = true };
FIXTURE_VARIANT_ADD(xattr_many, tmpfs_own_inode) {
	.fstype = "tmpfs" };
FIXTURE_VARIANT_ADD(xattr_many, xfs_one_inode) {
	.fstype = "xfs", .one_inode = true };
FIXTURE_VARIANT_ADD(xattr_many, xfs_own_inode) {
	.fstype = "xfs", .rest = true };
FIXTURE_VARIANT_ADD(xattr_many, ext4_one_inode) {
	.fstype = "ext4", .one_inode = true };
FIXTURE_VARIANT_ADD(xattr_many, ext4_own_inode) {
	.fstype = "ext4", .rest = true };
/* Those of btrfs differ too much from run to run to be told apart by one. */
FIXTURE_VARIANT_ADD(xattr_many, btrfs_one_inode) {
	.fstype = "btrfs", .one_inode = true, .rest = true };
FIXTURE_VARIANT_ADD(xattr_many, btrfs_own_inode) {
	.fstype = "btrfs", .rest = true };

/* Return: whether it has the attribute; length of the list in @len. */
static bool make_file(struct __test_metadata *const _metadata, unsigned int i, ssize_t *len)
{
	char path[32];
	int fd, ret;

	snprintf(path, sizeof(path), "file%u", i);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ASSERT_LE(0, fd);
	/* A security module may have added a name of its own. */
	*len = flistxattr(fd, NULL, 0);
	ASSERT_LE(0, *len);
	*len += sizeof(NAME);
	ret = fsetxattr(fd, NAME, value, sizeof(value), XATTR_CREATE);
	ASSERT_TRUE(!ret || errno == EOPNOTSUPP);
	ASSERT_EQ(0, close(fd));
	return !ret;
}

static void make_files(struct __test_metadata *const _metadata, struct many *m,
		       const char *fstype, bool one_inode, const void *variant)
{
	unsigned int i;

	m->one_inode = one_inode;
	m->list = bench_pages(_metadata, LIST_SIZE);
	m->buf = bench_pages(_metadata, sizeof(value));
	for (i = 0; i < (one_inode ? 1 : bench_tasks()); i++) {
		if (!make_file(_metadata, i, &m->list_len)) {
			ASSERT_STREQ("tmpfs", fstype);
			BENCH_SKIP("%s: %s", fstype, NO_USER_XATTRS);
			return;
		}
	}
}

FIXTURE_SETUP(xattr_many)
{
	if (BENCH_DEFAULT(!variant->rest) && SCRATCH(variant->fstype))
		make_files(_metadata, &self->many, variant->fstype, variant->one_inode, variant);
}

FIXTURE_TEARDOWN(xattr_many)
{
}

/* Not by the one that began the tasks: its file would be one for all of them. */
static void open_own(struct bench *b)
{
	struct many *m = b->arg;
	char path[32];

	if (m->opened_by == getpid())
		return;
	snprintf(path, sizeof(path), "file%u", m->one_inode ? 0 : b->task);
	m->fd = open(path, O_RDONLY | O_CLOEXEC);
	m->opened_by = getpid();
	bench_prove(b, m->fd >= 0);
}

static void list(struct bench *b, unsigned long ops)
{
	struct many *m = b->arg;

	while (ops--)
		bench_expect(b, flistxattr(m->fd, m->list, LIST_SIZE) == m->list_len);
}

static void get(struct bench *b, unsigned long ops)
{
	struct many *m = b->arg;

	while (ops--)
		bench_expect(b, fgetxattr(m->fd, NAME, m->buf, sizeof(value)) == sizeof(value));
}

/* The name is in the list once, among those of security modules. */
static void check_list(struct bench *b)
{
	struct many *m = b->arg;
	unsigned int found = 0;
	const char *s;

	bench_prove(b, !m->list[m->list_len - 1]);
	for (s = m->list; s < m->list + m->list_len; s += strlen(s) + 1)
		found += !strcmp(s, NAME);
	bench_prove(b, found == 1);
	memset(m->list, 0, LIST_SIZE);
}

static void check_value(struct bench *b)
{
	struct many *m = b->arg;

	bench_prove(b, !memcmp(m->buf, value, sizeof(value)));
	memset(m->buf, 0, sizeof(value));
}

TEST_F(xattr_many, flistxattr_1)
{
	BENCH(list, &self->many, .before_round = open_own, .after_round = check_list);
}

TEST_F(xattr_many, flistxattr_n)
{
	BENCH(list, &self->many, .before_round = open_own, .after_round = check_list,
	      .several = true);
}

TEST_F(xattr_many, fgetxattr_1)
{
	BENCH(get, &self->many, .before_round = open_own, .after_round = check_value);
}

TEST_F(xattr_many, fgetxattr_n)
{
	BENCH(get, &self->many, .before_round = open_own, .after_round = check_value,
	      .several = true);
}

/* One task; a descriptor of a shared table takes a reference to its file in each call */

FIXTURE(xattr_shared_table) {
	struct many many;
};

FIXTURE_VARIANT(xattr_shared_table) {
	const char *fstype;
	bool rest;
};

FIXTURE_VARIANT_ADD(xattr_shared_table, tmpfs) { .fstype = "tmpfs" };
FIXTURE_VARIANT_ADD(xattr_shared_table, xfs) { .fstype = "xfs", .rest = true };
FIXTURE_VARIANT_ADD(xattr_shared_table, ext4) { .fstype = "ext4", .rest = true };
FIXTURE_VARIANT_ADD(xattr_shared_table, btrfs) { .fstype = "btrfs", .rest = true };

FIXTURE_SETUP(xattr_shared_table)
{
	if (BENCH_DEFAULT(!variant->rest) && SCRATCH(variant->fstype))
		make_files(_metadata, &self->many, variant->fstype, true, variant);
}

FIXTURE_TEARDOWN(xattr_shared_table)
{
}

TEST_F(xattr_shared_table, flistxattr)
{
	BENCH(list, &self->many, .before_round = open_own, .after_round = check_list,
	      .second_thread = true);
}

TEST_F(xattr_shared_table, fgetxattr)
{
	BENCH(get, &self->many, .before_round = open_own, .after_round = check_value,
	      .second_thread = true);
}

TEST_HARNESS_MAIN
