// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to get, set and remove an extended attribute: values of 16 bytes
 * to 64 KiB, where each file system keeps them.
 *
 * It measures system calls on hot inodes, and says nothing about applications.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/limits.h>

#include "xattr.h"

/* For a call that cannot be repeated on the same file; their values share a slab. */
#define FILES		24

/* An inode of xfs has no room for another one beside it. */
static const char large[400];

/* Where an attribute lies, on file systems that tell. */
enum place { ANYWHERE, IN_INODE, IN_BLOCK, REMOTE, EA_INODE };

struct question {
	const char *name;
	size_t size;			/* of the buffer, 0: asks for the size */
	ssize_t answer;
	int err;			/* if the answer is -1 */
};

struct values {
	int fd;				/* of "file", which has a value */
	int fds[FILES];			/* they have none */
	char name[XATTR_NAME_MAX + 1];
	bool long_name;			/* the longest */
	/*
	 * Two of each size: ext4 notices if a value is replaced by itself. And those
	 * of the files begin one byte further each: ext4 stores equal ones once.
	 */
	char *value[2];
	size_t size[2];
	char *buf;
	long inodes;			/* in use before that */
	unsigned long used;		/* of the files, by the batch before */
	struct question ask;
	unsigned int stored;		/* which of the values "file" has now */
};

static void fill(char *p, size_t size, unsigned int seed)
{
	while (size--)
		*p++ = (seed = seed * 69069 + 1) >> 24;
}

/* Return: NULL, or why this file system cannot hold it. */
static const char *set_value(struct __test_metadata *const _metadata, const char *fstype,
			     int fd, const char *name, const char *value, size_t size)
{
	if (!fsetxattr(fd, name, value, size, XATTR_CREATE))
		return NULL;
	if (may_lack_user_xattrs(fstype))
		return NO_USER_XATTRS;
	/* Blocks of another size, as on kernels with large pages or counted runs. */
	if (may_not_fit(fstype) && size >= 4096)
		return "a value of this size does not fit";
	ASSERT_EQ(0, errno);
	return NULL;
}

static bool is_there(enum place place, int fd, long inodes)
{
	long blocks = place == ANYWHERE ? 0 : xattr_blocks(fd);

	switch (place) {
	case ANYWHERE:
		return true;
	case IN_INODE:
		return !blocks;
	case IN_BLOCK:
		return blocks == 1;
	case REMOTE:
		return blocks > 1;
	case EA_INODE:
		return inodes_used(fd) == inodes + 1;
	}
	return false;
}

/* The default set: the path once for each file system, since it is all that differs. */
static bool by_default(const char *test, bool all, bool rest)
{
	return (!strcmp(test, "fgetxattr") && !rest) ||
	       (all && (*test == 'f' || !strcmp(test, "getxattr")));
}

static int new_file(struct __test_metadata *const _metadata, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	ASSERT_LE(0, fd);
	return fd;
}

/*
 * Files, and a value on one of them; behind another value, if that is wanted, for
 * which the inode has no room.
 *
 * Return: false if the setup has to return.
 */
static bool set_up(struct __test_metadata *const _metadata, struct values *v,
		   const char *fstype, size_t size, enum place place, bool pushed,
		   const char **why)
{
	char path[NAME_LEN];
	bool others;
	int i;

	v->size[0] = size;
	v->size[1] = size + size / 4;
	v->buf = bench_pages(_metadata, v->size[1]);
	for (i = 0; i < 2; i++) {
		v->value[i] = bench_pages(_metadata, v->size[1] + FILES);
		fill(v->value[i], v->size[1] + FILES, i);
	}
	name_of(0, v->name);
	for (i = strlen(v->name); v->long_name && i < XATTR_NAME_MAX; i++)
		v->name[i] = 'x';
	for (i = 0; i < FILES; i++) {
		snprintf(path, sizeof(path), "file%d", i);
		v->fds[i] = new_file(_metadata, path);
	}
	v->fd = new_file(_metadata, "file");
	if (pushed)
		ASSERT_EQ(0, fsetxattr(v->fd, "user.large", large, sizeof(large), XATTR_CREATE));
	v->inodes = inodes_used(v->fd);
	others = flistxattr(v->fd, NULL, 0) > 0;
	*why = set_value(_metadata, fstype, v->fd, v->name, v->value[0], size);
	if (!*why && place == IN_INODE && others && !is_there(place, v->fd, v->inodes))
		*why = NO_ROOM;
	if (*why)
		return false;
	ASSERT_TRUE(is_there(place, v->fd, v->inodes));
	return true;
}

FIXTURE(xattr_get) {
	struct values v;
};

FIXTURE_VARIANT(xattr_get) {
	const char *fstype;
	size_t size;
	enum place place;
	bool pushed;			/* out of the inode, by another attribute */
	bool long_name;			/* out of a leaf: name and value share its room */
	bool all;			/* in the default set not only the hit by descriptor */
	bool rest;			/* not in the default set */
};

FIXTURE_VARIANT_ADD(xattr_get, tmpfs_16) { .fstype = "tmpfs", .size = 16, .all = true };
FIXTURE_VARIANT_ADD(xattr_get, tmpfs_256) { .fstype = "tmpfs", .size = 256 };
FIXTURE_VARIANT_ADD(xattr_get, tmpfs_4k) { .fstype = "tmpfs", .size = 4096 };
FIXTURE_VARIANT_ADD(xattr_get, tmpfs_64k) { .fstype = "tmpfs", .size = 65536 };

FIXTURE_VARIANT_ADD(xattr_get, xfs_16) {
	.fstype = "xfs", .size = 16, .place = IN_INODE, .all = true
};

FIXTURE_VARIANT_ADD(xattr_get, xfs_16_leaf) {
	.fstype = "xfs", .size = 16, .place = IN_BLOCK, .pushed = true
};

FIXTURE_VARIANT_ADD(xattr_get, xfs_256) { .fstype = "xfs", .size = 256, .place = IN_BLOCK };

FIXTURE_VARIANT_ADD(xattr_get, xfs_4k) {
	.fstype = "xfs", .size = 4096, .place = REMOTE, .all = true
};

/*
 * The same value in each place. A leaf of 512 bytes does not keep it beside a long name,
 * and one of today's smallest, 1024, does: it gives up values above 500 bytes, but more
 * than 255 are never inline.
 */
FIXTURE_VARIANT_ADD(xattr_get, xfs_160) {
	.fstype = "xfs", .size = 160, .place = IN_INODE, .rest = true
};

FIXTURE_VARIANT_ADD(xattr_get, xfs_160_leaf) {
	.fstype = "xfs", .size = 160, .place = IN_BLOCK, .pushed = true, .rest = true
};

FIXTURE_VARIANT_ADD(xattr_get, xfs_160_remote) {
	.fstype = "xfs_512", .size = 160, .place = REMOTE, .long_name = true, .rest = true
};

/* Counted up to 2 % apart on two kernels of which neither touches it. */
FIXTURE_VARIANT_ADD(xattr_get, xfs_64k) {
	.fstype = "xfs", .size = 65536, .place = REMOTE, .rest = true
};

FIXTURE_VARIANT_ADD(xattr_get, ext4_16) {
	.fstype = "ext4", .size = 16, .place = IN_INODE, .all = true
};

FIXTURE_VARIANT_ADD(xattr_get, ext4_256) { .fstype = "ext4", .size = 256, .place = IN_BLOCK };

FIXTURE_VARIANT_ADD(xattr_get, ext4_4k) {
	.fstype = "ext4_ea_inode", .size = 4096, .place = EA_INODE
};

FIXTURE_VARIANT_ADD(xattr_get, ext4_64k) {
	.fstype = "ext4_ea_inode", .size = 65536, .place = EA_INODE, .rest = true
};

FIXTURE_VARIANT_ADD(xattr_get, btrfs_16) { .fstype = "btrfs", .size = 16, .all = true };
FIXTURE_VARIANT_ADD(xattr_get, btrfs_256) { .fstype = "btrfs", .size = 256 };
FIXTURE_VARIANT_ADD(xattr_get, btrfs_4k) { .fstype = "btrfs", .size = 4096 };
FIXTURE_VARIANT_ADD(xattr_get, overlayfs_16) { .fstype = "overlayfs", .size = 16 };

FIXTURE_SETUP(xattr_get)
{
	const char *why;

	if (!BENCH_DEFAULT(by_default(_metadata->name, variant->all, variant->rest)) ||
	    !SCRATCH(variant->fstype))
		return;
	self->v.long_name = variant->long_name;
	if (!set_up(_metadata, &self->v, variant->fstype, variant->size, variant->place,
		    variant->pushed, &why))
		BENCH_SKIP("%s: %s", variant->fstype, why);
	else
		self->v.ask = (struct question){ self->v.name, variant->size, variant->size, 0 };
}

FIXTURE_TEARDOWN(xattr_get)
{
}

static void get_fd(struct bench *b, unsigned long ops)
{
	struct values *v = b->arg;
	struct question q = v->ask;
	ssize_t ret;

	while (ops--) {
		ret = fgetxattr(v->fd, q.name, v->buf, q.size);
		bench_expect(b, ret == q.answer && (ret >= 0 || errno == q.err));
	}
}

static void get_path(struct bench *b, unsigned long ops)
{
	struct values *v = b->arg;
	struct question q = v->ask;
	ssize_t ret;

	while (ops--) {
		ret = getxattr("file", q.name, v->buf, q.size);
		bench_expect(b, ret == q.answer && (ret >= 0 || errno == q.err));
	}
}

/* All bytes, and none where nothing was to be returned. */
static void check_answer(struct bench *b)
{
	struct values *v = b->arg;
	bool filled = v->ask.answer > 0 && v->ask.size;
	size_t i;

	if (filled)
		bench_prove(b, !memcmp(v->buf, v->value[0], v->size[0]));
	for (i = filled ? v->size[0] : 0; i < v->size[1]; i++)
		bench_prove(b, !v->buf[i]);
	memset(v->buf, 0, v->size[1]);
}

static void missing(struct values *v)
{
	v->ask = (struct question){ "user.fsbench-none", v->size[0], -1, ENODATA };
}

static void size_only(struct values *v)
{
	v->ask.size = 0;
}

static void too_small(struct values *v)
{
	v->ask = (struct question){ v->name, v->size[0] - 1, -1, ERANGE };
}

TEST_F(xattr_get, fgetxattr)
{
	BENCH(get_fd, &self->v, .after_round = check_answer);
}

TEST_F(xattr_get, fgetxattr_missing)
{
	missing(&self->v);
	BENCH(get_fd, &self->v, .after_round = check_answer);
}

TEST_F(xattr_get, fgetxattr_size)
{
	size_only(&self->v);
	BENCH(get_fd, &self->v, .after_round = check_answer);
}

TEST_F(xattr_get, fgetxattr_too_small)
{
	too_small(&self->v);
	BENCH(get_fd, &self->v, .after_round = check_answer);
}

TEST_F(xattr_get, getxattr)
{
	BENCH(get_path, &self->v, .after_round = check_answer);
}

TEST_F(xattr_get, getxattr_missing)
{
	missing(&self->v);
	BENCH(get_path, &self->v, .after_round = check_answer);
}

TEST_F(xattr_get, getxattr_size)
{
	size_only(&self->v);
	BENCH(get_path, &self->v, .after_round = check_answer);
}

TEST_F(xattr_get, getxattr_too_small)
{
	too_small(&self->v);
	BENCH(get_path, &self->v, .after_round = check_answer);
}

FIXTURE(xattr_set) {
	struct values v;
};

FIXTURE_VARIANT(xattr_set) {
	const char *fstype;
	size_t size;
	enum place place;
	bool rest;			/* not in the default set */
	bool no_create;			/* not this part of it */
};

FIXTURE_VARIANT_ADD(xattr_set, tmpfs_16) { .fstype = "tmpfs", .size = 16 };
FIXTURE_VARIANT_ADD(xattr_set, tmpfs_4k) { .fstype = "tmpfs", .size = 4096, .rest = true };
FIXTURE_VARIANT_ADD(xattr_set, xfs_16) { .fstype = "xfs", .size = 16, .place = IN_INODE };
/* A block is allocated each time: counted 0.1 % apart on two boots of one kernel. */
FIXTURE_VARIANT_ADD(xattr_set, xfs_256) {
	.fstype = "xfs", .size = 256, .place = IN_BLOCK, .no_create = true
};

FIXTURE_VARIANT_ADD(xattr_set, xfs_4k) {
	.fstype = "xfs", .size = 4096, .place = REMOTE, .rest = true
};

FIXTURE_VARIANT_ADD(xattr_set, ext4_16) { .fstype = "ext4", .size = 16, .place = IN_INODE };
FIXTURE_VARIANT_ADD(xattr_set, ext4_256) {
	.fstype = "ext4", .size = 256, .place = IN_BLOCK, .no_create = true
};

FIXTURE_VARIANT_ADD(xattr_set, ext4_4k) {
	.fstype = "ext4_ea_inode", .size = 4096, .place = EA_INODE, .rest = true
};

FIXTURE_VARIANT_ADD(xattr_set, btrfs_16) { .fstype = "btrfs", .size = 16 };
FIXTURE_VARIANT_ADD(xattr_set, btrfs_256) { .fstype = "btrfs", .size = 256, .rest = true };

/* Either size lies there. */
static void prove_resized(struct __test_metadata *const _metadata, struct values *v,
			  enum place place)
{
	int i;

	for (i = 1; i >= 0; i--) {
		ASSERT_EQ(0, fsetxattr(v->fd, v->name, v->value[0], v->size[i], XATTR_REPLACE));
		ASSERT_TRUE(is_there(place, v->fd, v->inodes));
	}
}

FIXTURE_SETUP(xattr_set)
{
	bool left_out = variant->no_create && !strcmp(_metadata->name, "create");
	const char *why;

	if (!BENCH_DEFAULT(!variant->rest && !left_out) || !SCRATCH(variant->fstype))
		return;
	if (!set_up(_metadata, &self->v, variant->fstype, variant->size, variant->place, false,
		    &why))
		BENCH_SKIP("%s: %s", variant->fstype, why);
	else
		prove_resized(_metadata, &self->v, variant->place);
}

FIXTURE_TEARDOWN(xattr_set)
{
}

static void create(struct bench *b, unsigned long ops)
{
	struct values *v = b->arg;

	while (ops--)
		bench_expect(b, !fsetxattr(v->fds[ops], v->name, v->value[0] + ops + 1,
					   v->size[0], XATTR_CREATE));
}

static void replace(struct bench *b, unsigned long ops)
{
	struct values *v = b->arg;

	while (ops--) {
		v->stored = !v->stored;
		bench_expect(b, !fsetxattr(v->fd, v->name, v->value[v->stored],
					   v->size[0], XATTR_REPLACE));
	}
}

static void resize(struct bench *b, unsigned long ops)
{
	struct values *v = b->arg;

	while (ops--) {
		v->stored = !v->stored;
		bench_expect(b, !fsetxattr(v->fd, v->name, v->value[v->stored],
					   v->size[v->stored], XATTR_REPLACE));
	}
}

static void remove_one(struct bench *b, unsigned long ops)
{
	struct values *v = b->arg;

	while (ops--)
		bench_expect(b, !fremovexattr(v->fds[ops], v->name));
}

static bool has(struct values *v, int fd, const char *value, size_t size)
{
	return fgetxattr(fd, v->name, v->buf, v->size[1]) == (ssize_t)size &&
	       !memcmp(v->buf, value, size);
}

static bool has_none(struct values *v, int fd)
{
	return fgetxattr(fd, v->name, v->buf, v->size[1]) == -1 && errno == ENODATA;
}

/* Not timed: what the batch removes, and what is left of the batch before. */
static void add_all(struct bench *b, unsigned long ops)
{
	struct values *v = b->arg;

	while (ops--)
		bench_prove(b, !fsetxattr(v->fds[ops], v->name, v->value[0] + ops + 1,
					  v->size[0], XATTR_CREATE));
}

static void remove_used(struct bench *b, unsigned long ops)
{
	struct values *v = b->arg;

	while (v->used)
		bench_prove(b, !fremovexattr(v->fds[--v->used], v->name));
	v->used = ops;
}

static void check_replaced(struct bench *b)
{
	struct values *v = b->arg;

	bench_prove(b, has(v, v->fd, v->value[v->stored], v->size[0]));
}

static void check_resized(struct bench *b)
{
	struct values *v = b->arg;

	bench_prove(b, has(v, v->fd, v->value[v->stored], v->size[v->stored]));
}

static void check_created(struct bench *b)
{
	struct values *v = b->arg;
	unsigned long i;

	for (i = 0; i < v->used; i++)
		bench_prove(b, has(v, v->fds[i], v->value[0] + i + 1, v->size[0]));
	for (; i < FILES; i++)
		bench_prove(b, has_none(v, v->fds[i]));
}

static void check_removed(struct bench *b)
{
	struct values *v = b->arg;
	int i;

	for (i = 0; i < FILES; i++)
		bench_prove(b, has_none(v, v->fds[i]));
}

TEST_F(xattr_set, create)
{
	BENCH(create, &self->v, .before_batch = remove_used, .after_round = check_created,
	      .max_batch = FILES);
}

TEST_F(xattr_set, replace)
{
	BENCH(replace, &self->v, .after_round = check_replaced);
}

TEST_F(xattr_set, resize)
{
	BENCH(resize, &self->v, .after_round = check_resized);
}

TEST_F(xattr_set, remove)
{
	BENCH(remove_one, &self->v, .before_batch = add_all, .after_round = check_removed,
	      .max_batch = FILES);
}

TEST_HARNESS_MAIN
