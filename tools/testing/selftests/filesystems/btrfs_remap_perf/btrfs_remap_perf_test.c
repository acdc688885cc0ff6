// SPDX-License-Identifier: GPL-2.0
/*
 * What it costs to clone and to deduplicate one block: FICLONERANGE and
 * FIDEDUPERANGE on btrfs. Afterwards the bytes, the sharing and the blocks
 * between those that were remapped are read back.
 *
 * It measures one ioctl on two small files, and says nothing about applications.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/random.h>

#include "../fsbench/fsbench.h"

#define BLOCKS		128
#define OPS		10000

/*
 * Blocks of the source are remapped to the odd blocks of the destination, over
 * and over, each time from another place: what is mapped already proves nothing.
 * The even blocks keep data of their own. The halves of the source are equal, so
 * that deduplication can change over from one to the other.
 */
struct remap {
	int src, dst;
	size_t block;
	char *src_data;			/* 2 * BLOCKS blocks, random: never compressed */
	char *dst_data;			/* 2 * BLOCKS + 1 blocks, of which the even ones stay */
	char *other;			/* one block of other data */
	char *buf;			/* one block, read back */
	bool dedupe;			/* else clone */
	unsigned long next;
	int from[BLOCKS];		/* block of the source, -1: not remapped yet */
	__u64 place[BLOCKS + 1];	/* of the even blocks on the device */
	struct file_dedupe_range *range;
};

FIXTURE(remap) {
	struct remap r;
};

FIXTURE_VARIANT(remap) {
	const char *fstype;
};

FIXTURE_VARIANT_ADD(remap, btrfs_1) { .fstype = "btrfs" };

static char *random_blocks(struct __test_metadata *const _metadata, size_t size)
{
	char *p = malloc(size);
	size_t done = 0;
	ssize_t ret;

	ASSERT_FALSE(!p);
	while (done < size) {
		ret = getrandom(p + done, size - done, 0);
		ASSERT_LT(0, ret);
		done += ret;
	}
	return p;
}

/* Where a block lies on the device, and whether anybody shares it. */
static bool block_extent(const struct remap *r, int fd, unsigned int nr, __u64 *where,
			 bool *shared)
{
	__u64 offset = nr * r->block;
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
	    e->fe_logical > offset || e->fe_logical + e->fe_length < offset + r->block)
		return false;
	*where = e->fe_physical + (offset - e->fe_logical);
	*shared = e->fe_flags & FIEMAP_EXTENT_SHARED;
	return true;
}

FIXTURE_SETUP(remap)
{
	struct remap *r = &self->r;
	ssize_t half;
	bool shared;
	int i;

	if (!SCRATCH(variant->fstype))
		return;
	r->block = scratch_block_size();
	ASSERT_TRUE(r->block > 0);
	half = BLOCKS * r->block;
	r->src_data = random_blocks(_metadata, 2 * half);
	memcpy(r->src_data + half, r->src_data, half);
	r->dst_data = random_blocks(_metadata, 2 * half + r->block);
	r->other = random_blocks(_metadata, r->block);
	r->buf = malloc(r->block);
	r->range = calloc(1, sizeof(*r->range) + sizeof(r->range->info[0]));
	ASSERT_TRUE(r->buf && r->range);
	r->src = open("src", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	r->dst = open("dst", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ASSERT_LE(0, r->src);
	ASSERT_LE(0, r->dst);
	ASSERT_EQ(2 * half, pwrite(r->src, r->src_data, 2 * half, 0));
	ASSERT_EQ(2 * half + (ssize_t)r->block,
		  pwrite(r->dst, r->dst_data, 2 * half + r->block, 0));
	ASSERT_EQ(0, syncfs(r->dst));
	for (i = 0; i <= BLOCKS; i++)
		ASSERT_TRUE(block_extent(r, r->dst, 2 * i, &r->place[i], &shared));
}

FIXTURE_TEARDOWN(remap)
{
}

/* What the odd block @i holds before anything is remapped to it. */
static const char *before_remap(const struct remap *r, unsigned int i)
{
	return r->dedupe ? r->src_data + i * r->block : r->other;
}

/*
 * Each round starts with blocks that nobody shares, and with nothing to write
 * back: dirty pages and pending transactions are not what is measured. A clone
 * finds other data, deduplication the same.
 */
static void reset(struct bench *b)
{
	struct remap *r = b->arg;
	unsigned int i;

	for (i = 0; i < BLOCKS; i++) {
		bench_prove(b, pwrite(r->dst, before_remap(r, i), r->block,
				      (2 * i + 1) * r->block) == (ssize_t)r->block);
		r->from[i] = -1;
	}
	bench_prove(b, !syncfs(r->dst));
}

static void clone_block(struct bench *b, unsigned long ops)
{
	struct remap *r = b->arg;
	struct file_clone_range range = { .src_fd = r->src, .src_length = r->block };
	unsigned int i;

	while (ops--) {
		i = r->next % BLOCKS;
		r->from[i] = (r->next + r->next / BLOCKS) % (2 * BLOCKS);
		r->next++;
		range.src_offset = r->from[i] * r->block;
		range.dest_offset = (2 * i + 1) * r->block;
		bench_expect(b, !ioctl(r->dst, FICLONERANGE, &range));
	}
}

static void dedupe_block(struct bench *b, unsigned long ops)
{
	struct remap *r = b->arg;
	struct file_dedupe_range *range = r->range;
	struct file_dedupe_range_info *info = range->info;
	unsigned int i;

	range->src_length = r->block;
	range->dest_count = 1;
	info->dest_fd = r->dst;
	while (ops--) {
		i = r->next % BLOCKS;
		r->from[i] = r->next % (2 * BLOCKS);
		r->next++;
		range->src_offset = r->from[i] * r->block;
		info->dest_offset = (2 * i + 1) * r->block;
		/* Nothing may be left from the call before. */
		info->status = FILE_DEDUPE_RANGE_DIFFERS;
		info->bytes_deduped = 0;
		bench_expect(b, !ioctl(r->src, FIDEDUPERANGE, range) &&
			     info->status == FILE_DEDUPE_RANGE_SAME &&
			     info->bytes_deduped == r->block);
	}
}

static void prove_block(struct bench *b, unsigned int nr, const char *data)
{
	struct remap *r = b->arg;

	bench_prove(b, pread(r->dst, r->buf, r->block, nr * r->block) == (ssize_t)r->block);
	bench_prove(b, !memcmp(r->buf, data, r->block));
}

/*
 * The proof, without taking the call's word for it. Read through the device, not
 * from pages that were cached before the blocks were remapped.
 */
static void prove_remap(struct bench *b)
{
	struct remap *r = b->arg;
	__u64 src, dst;
	unsigned int i;
	bool shared;

	bench_prove(b, !syncfs(r->dst));
	bench_prove(b, !posix_fadvise(r->dst, 0, 0, POSIX_FADV_DONTNEED));
	for (i = 0; i < BLOCKS; i++) {
		int from = r->from[i];

		prove_block(b, 2 * i + 1, from < 0 ? before_remap(r, i) :
			    r->src_data + from * r->block);
		bench_prove(b, block_extent(r, r->dst, 2 * i + 1, &dst, &shared));
		bench_prove(b, shared == (from >= 0));
		if (from < 0)
			continue;
		bench_prove(b, block_extent(r, r->src, from, &src, &shared));
		bench_prove(b, shared);
		bench_prove(b, src == dst);
	}
	for (i = 0; i <= BLOCKS; i++) {
		prove_block(b, 2 * i, r->dst_data + 2 * i * r->block);
		bench_prove(b, block_extent(r, r->dst, 2 * i, &dst, &shared));
		bench_prove(b, !shared);
		bench_prove(b, dst == r->place[i]);
	}
}

TEST_F(remap, clone)
{
	BENCH(clone_block, &self->r, .before_round = reset, .prove = prove_remap, .ops = OPS);
}

TEST_F(remap, dedupe)
{
	self->r.dedupe = true;
	BENCH(dedupe_block, &self->r, .before_round = reset, .prove = prove_remap, .ops = OPS);
}

TEST_HARNESS_MAIN
