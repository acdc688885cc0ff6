// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to clone and to deduplicate a range of blocks: FICLONERANGE and
 * FIDEDUPERANGE on btrfs and xfs, beside copy_file_range and read + write. Afterwards
 * the bytes, the sharing and the blocks between those that were remapped are read
 * back.
 *
 * It measures calls on two small files, and says nothing about applications.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "../fsbench/fsbench.h"

#define SLOTS_MAX	128

/* Whether the blocks are to be those of the source afterwards. */
enum blocks { SHARED, COPIED, EITHER };

/* A file whose odd ranges, the slots, are replaced by ranges of the source. */
struct target {
	int fd;
	enum blocks blocks;
	unsigned int next;
	int from[SLOTS_MAX];		/* range of the source, -1: not replaced yet */
	unsigned int nr_proved, nr_shared;	/* blocks of replaced ranges */
};

/*
 * Ranges of the source replace the odd ranges of the destination, over and over,
 * each time from another place: what is there already proves nothing. The even
 * ranges keep data of their own. The halves of the source are equal, so that
 * deduplication can change over from one to the other.
 */
struct remap {
	size_t block;			/* of the file system */
	size_t len;			/* of a range */
	unsigned int slots;
	int src;
	struct target dst;
	struct target ref;		/* written by the reference */
	char *src_data;			/* 2 * slots ranges */
	char *dst_data;			/* 2 * slots + 1 ranges */
	char *buf;			/* one range */
	__u64 *place;			/* of the blocks of the even ranges */
	struct file_dedupe_range *range;
	__s32 status;			/* what deduplication is to say */
};

FIXTURE(remap) {
	struct remap r;
};

FIXTURE_VARIANT(remap) {
	const char *fstype;
	unsigned int blocks;		/* of a range; 0: 1 MiB */
	unsigned int slots;		/* fewer of larger ranges: data stays small */
	unsigned long ops;
	unsigned long max_ops;
};

FIXTURE_VARIANT_ADD(remap, btrfs_1) {
	.fstype = "btrfs", .blocks = 1, .slots = 128, .ops = 1000
};

FIXTURE_VARIANT_ADD(remap, btrfs_16) {
	.fstype = "btrfs", .blocks = 16, .slots = 16, .ops = 500, .max_ops = 500
};

FIXTURE_VARIANT_ADD(remap, btrfs_1m) {
	.fstype = "btrfs", .slots = 2, .ops = 32, .max_ops = 32
};

FIXTURE_VARIANT_ADD(remap, xfs_1) {
	.fstype = "xfs", .blocks = 1, .slots = 128, .ops = 1000
};

FIXTURE_VARIANT_ADD(remap, xfs_16) {
	.fstype = "xfs", .blocks = 16, .slots = 16, .ops = 500, .max_ops = 500
};

FIXTURE_VARIANT_ADD(remap, xfs_1m) {
	.fstype = "xfs", .slots = 2, .ops = 32, .max_ops = 32
};

/* Data that cannot be compressed, and no two blocks of it are equal. */
static char *noise(struct __test_metadata *const _metadata, size_t size)
{
	static __u64 state = 88172645463325252ull;
	char *p = bench_pages(_metadata, size);
	size_t i;

	for (i = 0; i + sizeof(state) <= size; i += sizeof(state)) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		memcpy(p + i, &state, sizeof(state));
	}
	return p;
}

/* Range @i of a file of that many, and of its data in memory. */
static off_t at(const struct remap *r, unsigned int i)
{
	return (off_t)i * r->len;
}

static unsigned int slot(unsigned int i)
{
	return 2 * i + 1;
}

/* Where a block lies on the device, and whether anybody shares it. */
static bool block_extent(const struct remap *r, int fd, off_t offset, __u64 *where, bool *shared)
{
	union {
		struct fiemap map;
		char space[sizeof(struct fiemap) + sizeof(struct fiemap_extent)];
	} u = {
		.map = {
			.fm_start = offset,
			.fm_length = r->block,
			.fm_flags = FIEMAP_FLAG_SYNC,
			.fm_extent_count = 1,
		},
	};
	const struct fiemap_extent *e = u.map.fm_extents;

	if (ioctl(fd, FS_IOC_FIEMAP, &u.map) || u.map.fm_mapped_extents != 1 ||
	    e->fe_flags & (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DATA_INLINE) ||
	    e->fe_logical > u.map.fm_start ||
	    e->fe_logical + e->fe_length < u.map.fm_start + r->block)
		return false;
	*where = e->fe_physical + (u.map.fm_start - e->fe_logical);
	*shared = e->fe_flags & FIEMAP_EXTENT_SHARED;
	return true;
}

/* Reading must not write: no access times. */
static int new_file(struct __test_metadata *const _metadata, const char *name)
{
	int fd = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOATIME, 0600);

	ASSERT_LE(0, fd);
	return fd;
}

static void new_target(struct __test_metadata *const _metadata, const struct remap *r,
		       const char *name, struct target *t)
{
	ssize_t size = at(r, 2 * r->slots + 1);

	memset(t->from, -1, sizeof(t->from));
	t->fd = new_file(_metadata, name);
	ASSERT_EQ(size, pwrite(t->fd, r->dst_data, size, 0));
}

static void new_data(struct __test_metadata *const _metadata, struct remap *r)
{
	size_t half = at(r, r->slots);

	r->src_data = noise(_metadata, 2 * half);
	memcpy(r->src_data + half, r->src_data, half);
	r->dst_data = noise(_metadata, 2 * half + r->len);
	r->buf = bench_pages(_metadata, r->len);
	r->place = calloc((r->slots + 1) * (r->len / r->block), sizeof(*r->place));
	r->range = calloc(1, sizeof(*r->range) + sizeof(r->range->info[0]));
	ASSERT_TRUE(r->place && r->range);
	r->src = new_file(_metadata, "src");
	ASSERT_EQ((ssize_t)(2 * half), pwrite(r->src, r->src_data, 2 * half, 0));
	new_target(_metadata, r, "dst", &r->dst);
	new_target(_metadata, r, "ref", &r->ref);
	r->ref.blocks = COPIED;
}

/* Return: 0, or the error of a clone onto a file of its own. */
static int try_clone(struct __test_metadata *const _metadata, const struct remap *r)
{
	struct file_clone_range range = { .src_fd = r->src, .src_length = r->block };
	int fd = new_file(_metadata, "try");
	int err = ioctl(fd, FICLONERANGE, &range) ? errno : 0;

	ASSERT_EQ(0, close(fd));
	ASSERT_EQ(0, unlink("try"));
	return err;
}

/* Calls back for each block of the even ranges, which nobody may touch. */
static bool neighbours(struct remap *r, bool (*fn)(struct remap *r, off_t offset, __u64 *place))
{
	__u64 *place = r->place;
	unsigned int i;
	off_t offset;

	for (i = 0; i <= r->slots; i++)
		for (offset = at(r, 2 * i); offset < at(r, slot(i)); offset += r->block)
			if (!fn(r, offset, place++))
				return false;
	return true;
}

static bool remember_place(struct remap *r, off_t offset, __u64 *place)
{
	bool shared;

	return block_extent(r, r->dst.fd, offset, place, &shared);
}

static bool same_place(struct remap *r, off_t offset, __u64 *place)
{
	bool shared;
	__u64 now;

	return block_extent(r, r->dst.fd, offset, &now, &shared) && !shared && now == *place;
}

FIXTURE_SETUP(remap)
{
	struct remap *r = &self->r;
	int err;

	/* How so many pages come to lie in memory is chance. */
	if (!BENCH_DEFAULT(variant->blocks || strcmp(_metadata->name, "read_write")) ||
	    !SCRATCH(variant->fstype))
		return;
	r->block = scratch_block_size();
	ASSERT_TRUE(r->block > 0);
	r->len = variant->blocks ? variant->blocks * r->block : 1024 * 1024;
	r->slots = variant->slots;
	new_data(_metadata, r);
	err = try_clone(_metadata, r);
	if (err == EOPNOTSUPP) {
		BENCH_SKIP("%s has no reflink: %s", variant->fstype, strerror(err));
		return;
	}
	ASSERT_EQ(0, err);
	ASSERT_EQ(0, syncfs(r->dst.fd));
	ASSERT_TRUE(neighbours(r, remember_place));
}

FIXTURE_TEARDOWN(remap)
{
}

/*
 * Each round starts with slots as they were before, which nobody shares, and with
 * nothing to write back: dirty pages, those of the reference too, and pending
 * transactions are not what is measured.
 */
static void reset(struct bench *b)
{
	struct remap *r = b->arg;
	unsigned int i;
	off_t offset;

	for (i = 0; i < r->slots; i++) {
		/* Written once, and again after each change. */
		if (r->dst.next && r->dst.from[i] < 0)
			continue;
		offset = at(r, slot(i));
		bench_prove(b, pwrite(r->dst.fd, r->dst_data + offset, r->len, offset) ==
			    (ssize_t)r->len);
		r->dst.from[i] = -1;
	}
	bench_prove(b, !syncfs(r->dst.fd));
}

/* What the next batch deduplicates is in the page cache, on each file system. */
static void read_slots(struct bench *b, unsigned long ops)
{
	struct remap *r = b->arg;
	unsigned long i;

	for (i = 0; i < ops; i++)
		bench_prove(b, pread(r->dst.fd, r->buf, r->len,
				     at(r, slot((r->dst.next + i) % r->slots))) ==
			    (ssize_t)r->len);
}

/* Return: the slot that is next, and in @t from where. */
static unsigned int next_slot(const struct remap *r, struct target *t)
{
	unsigned int i = t->next % r->slots;

	t->from[i] = (t->next + t->next / r->slots) % (2 * r->slots);
	t->next++;
	return i;
}

static void clone_range(struct bench *b, unsigned long ops)
{
	struct remap *r = b->arg;
	struct file_clone_range range = { .src_fd = r->src, .src_length = r->len };
	unsigned int i;

	while (ops--) {
		i = next_slot(r, &r->dst);
		range.src_offset = at(r, r->dst.from[i]);
		range.dest_offset = at(r, slot(i));
		bench_expect(b, !ioctl(r->dst.fd, FICLONERANGE, &range));
	}
}

static void copy_range(struct bench *b, unsigned long ops)
{
	struct remap *r = b->arg;
	loff_t in, out;
	unsigned int i;

	while (ops--) {
		i = next_slot(r, &r->dst);
		in = at(r, r->dst.from[i]);
		out = at(r, slot(i));
		bench_expect(b, copy_file_range(r->src, &in, r->dst.fd, &out, r->len, 0) ==
			     (ssize_t)r->len);
	}
}

static void read_and_write(struct bench *b, struct target *t, unsigned long ops)
{
	struct remap *r = b->arg;
	ssize_t len = r->len;
	unsigned int i;

	while (ops--) {
		i = next_slot(r, t);
		bench_expect(b, pread(r->src, r->buf, len, at(r, t->from[i])) == len &&
			     pwrite(t->fd, r->buf, len, at(r, slot(i))) == len);
	}
}

static void read_write(struct bench *b, unsigned long ops)
{
	read_and_write(b, &((struct remap *)b->arg)->dst, ops);
}

static void reference(struct bench *b, unsigned long ops)
{
	read_and_write(b, &((struct remap *)b->arg)->ref, ops);
}

static void dedupe_range(struct bench *b, unsigned long ops)
{
	struct remap *r = b->arg;
	struct file_dedupe_range *range = r->range;
	struct file_dedupe_range_info *info = range->info;
	bool same = r->status == FILE_DEDUPE_RANGE_SAME;
	unsigned int i, from;

	range->src_length = r->len;
	range->dest_count = 1;
	info->dest_fd = r->dst.fd;
	while (ops--) {
		i = r->dst.next % r->slots;
		from = r->dst.next++ % (2 * r->slots);
		if (same)
			r->dst.from[i] = from;
		range->src_offset = at(r, from);
		info->dest_offset = at(r, slot(i));
		/* Neither answer may be left from before. */
		info->status = -1;
		info->bytes_deduped = -1;
		bench_expect(b, !ioctl(r->src, FIDEDUPERANGE, range) &&
			     info->status == r->status &&
			     info->bytes_deduped == (same ? r->len : 0));
	}
}

static void prove_bytes(struct bench *b, int fd, unsigned int i, const char *data)
{
	struct remap *r = b->arg;

	bench_prove(b, pread(fd, r->buf, r->len, at(r, i)) == (ssize_t)r->len);
	bench_prove(b, !memcmp(r->buf, data, r->len));
}

/* A block that was replaced is the source's or it is not, and FIEMAP says so. */
static void prove_block(struct bench *b, struct target *t, off_t src, off_t dst)
{
	struct remap *r = b->arg;
	__u64 src_place = 0, dst_place = 0;
	bool src_shared = false, shared = false;

	bench_prove(b, block_extent(r, r->src, src, &src_place, &src_shared));
	bench_prove(b, block_extent(r, t->fd, dst, &dst_place, &shared));
	bench_prove(b, t->blocks == EITHER || shared == (t->blocks == SHARED));
	bench_prove(b, shared == (src_place == dst_place));
	bench_prove(b, !shared || src_shared);
	t->nr_proved++;
	t->nr_shared += shared;
}

static void prove_slot(struct bench *b, struct target *t, unsigned int i)
{
	struct remap *r = b->arg;
	off_t offset, dst = at(r, slot(i));
	int from = t->from[i];
	bool shared = true;
	__u64 place;

	prove_bytes(b, t->fd, slot(i), from < 0 ? r->dst_data + dst :
		    r->src_data + at(r, from));
	for (offset = 0; offset < (off_t)r->len; offset += r->block) {
		if (from >= 0) {
			prove_block(b, t, at(r, from) + offset, dst + offset);
			continue;
		}
		bench_prove(b, block_extent(r, t->fd, dst + offset, &place, &shared));
		bench_prove(b, !shared);
	}
}

/* Read through the device, not from pages that were cached before. */
static void prove_target(struct bench *b, struct target *t)
{
	struct remap *r = b->arg;
	unsigned int i;

	bench_prove(b, !posix_fadvise(t->fd, 0, 0, POSIX_FADV_DONTNEED));
	t->nr_proved = 0;
	t->nr_shared = 0;
	for (i = 0; i < r->slots; i++)
		prove_slot(b, t, i);
	for (i = 0; i <= r->slots; i++)
		prove_bytes(b, t->fd, 2 * i, r->dst_data + at(r, 2 * i));
}

/* The proof, without taking the call's word for it. */
static void prove(struct bench *b)
{
	struct remap *r = b->arg;

	bench_prove(b, !syncfs(r->dst.fd));
	prove_target(b, &r->dst);
	bench_prove(b, neighbours(r, same_place));
	if (b->reference)
		prove_target(b, &r->ref);
	if (r->dst.blocks == EITHER)
		bench_note("blocks", r->dst.nr_shared == r->dst.nr_proved ? "shared" :
			   r->dst.nr_shared ? "mixed" : "copied");
}

#define REMAP(function, operations, at_most, ...)			\
	BENCH(function, &self->r, .before_round = reset, .prove = prove,	\
	      .ops = (operations), .max_ops = (at_most), .activity = true,	\
	      .cycle = self->r.slots,					\
	      ##__VA_ARGS__)

TEST_F(remap, clone)
{
	REMAP(clone_range, variant->ops, variant->max_ops, .reference = reference,
	      .reference_ops = variant->slots);
}

TEST_F(remap, copy)
{
	self->r.dst.blocks = EITHER;
	REMAP(copy_range, variant->ops, variant->max_ops, .reference = reference,
	      .reference_ops = variant->slots);
}

/* Each slot once a round: to write again what is not yet written back is no copy. */
TEST_F(remap, read_write)
{
	self->r.dst.blocks = COPIED;
	REMAP(read_write, variant->slots, variant->slots);
}

/* What the slots hold: a copy of the source. */
static void make_equal(struct remap *r)
{
	unsigned int i;

	for (i = 0; i < r->slots; i++)
		memcpy(r->dst_data + at(r, slot(i)), r->src_data + at(r, i), r->len);
}

TEST_F(remap, dedupe)
{
	make_equal(&self->r);
	self->r.status = FILE_DEDUPE_RANGE_SAME;
	REMAP(dedupe_range, variant->ops, variant->max_ops, .before_batch = read_slots,
	      .max_batch = variant->slots);
}

TEST_F(remap, differs)
{
	struct remap *r = &self->r;
	unsigned int i;

	make_equal(r);
	/* In the last byte, so that all of it has to be compared. */
	for (i = 0; i < r->slots; i++)
		r->dst_data[at(r, slot(i) + 1) - 1] ^= 1;
	r->status = FILE_DEDUPE_RANGE_DIFFERS;
	REMAP(dedupe_range, variant->ops, variant->max_ops, .before_batch = read_slots,
	      .max_batch = variant->slots);
}

TEST_HARNESS_MAIN
