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
 * Block i of the source is remapped to block 2i + 1 of the destination. The
 * blocks between keep data of their own.
 */
struct remap {
	int src, dst;
	size_t block;
	char *src_data;			/* BLOCKS blocks, random: never compressed */
	char *dst_data;			/* what the destination must hold at the end */
	char *other;			/* one block of other data */
	char *buf;			/* one block, read back */
	unsigned int next;
	struct file_dedupe_range *dedupe;
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

static char *dst_block(const struct remap *r, unsigned int i)
{
	return r->dst_data + i * r->block;
}

FIXTURE_SETUP(remap)
{
	struct remap *r = &self->r;
	ssize_t size;
	int i;

	if (!SCRATCH(variant->fstype))
		return;
	r->block = scratch_block_size();
	ASSERT_TRUE(r->block > 0);
	size = BLOCKS * r->block;
	r->src_data = random_blocks(_metadata, size);
	r->dst_data = random_blocks(_metadata, 2 * size + r->block);
	r->other = random_blocks(_metadata, r->block);
	r->buf = malloc(r->block);
	r->dedupe = calloc(1, sizeof(*r->dedupe) + sizeof(r->dedupe->info[0]));
	ASSERT_TRUE(r->buf && r->dedupe);
	for (i = 0; i < BLOCKS; i++)
		memcpy(dst_block(r, 2 * i + 1), r->src_data + i * r->block, r->block);
	r->src = open("src", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	r->dst = open("dst", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ASSERT_LE(0, r->src);
	ASSERT_LE(0, r->dst);
	ASSERT_EQ(size, pwrite(r->src, r->src_data, size, 0));
	ASSERT_EQ(2 * size + (ssize_t)r->block,
		  pwrite(r->dst, r->dst_data, 2 * size + r->block, 0));
}

FIXTURE_TEARDOWN(remap)
{
}

/*
 * Each round starts with blocks that nobody shares, and with nothing to write
 * back: dirty pages and pending transactions are not what is measured. A clone
 * finds other data, deduplication the same.
 */
static void reset(struct bench *b, bool equal)
{
	struct remap *r = b->arg;
	unsigned int i;

	for (i = 1; i < 2 * BLOCKS; i += 2)
		bench_prove(b, pwrite(r->dst, equal ? dst_block(r, i) : r->other, r->block,
				      i * r->block) == (ssize_t)r->block);
	bench_prove(b, !syncfs(r->dst));
}

static void reset_other(struct bench *b)
{
	reset(b, false);
}

static void reset_equal(struct bench *b)
{
	reset(b, true);
}

static void clone_block(struct bench *b, unsigned long ops)
{
	struct remap *r = b->arg;
	struct file_clone_range range = { .src_fd = r->src, .src_length = r->block };

	while (ops--) {
		range.src_offset = r->next * r->block;
		range.dest_offset = 2 * range.src_offset + r->block;
		r->next = (r->next + 1) % BLOCKS;
		bench_expect(b, !ioctl(r->dst, FICLONERANGE, &range));
	}
}

static void dedupe_block(struct bench *b, unsigned long ops)
{
	struct remap *r = b->arg;
	struct file_dedupe_range *range = r->dedupe;
	struct file_dedupe_range_info *info = range->info;

	range->src_length = r->block;
	range->dest_count = 1;
	info->dest_fd = r->dst;
	while (ops--) {
		range->src_offset = r->next * r->block;
		info->dest_offset = 2 * range->src_offset + r->block;
		/* Nothing may be left from the call before. */
		info->status = FILE_DEDUPE_RANGE_DIFFERS;
		info->bytes_deduped = 0;
		r->next = (r->next + 1) % BLOCKS;
		bench_expect(b, !ioctl(r->src, FIDEDUPERANGE, range) &&
			     info->status == FILE_DEDUPE_RANGE_SAME &&
			     info->bytes_deduped == r->block);
	}
}

/* Where a block lies on the device, and whether anybody shares it. */
static bool block_extent(int fd, __u64 offset, size_t block, __u64 *where, bool *shared)
{
	union {
		struct fiemap map;
		char space[sizeof(struct fiemap) + sizeof(struct fiemap_extent)];
	} u = {
		.map = {
			.fm_start = offset,
			.fm_length = block,
			.fm_flags = FIEMAP_FLAG_SYNC,
			.fm_extent_count = 1,
		},
	};
	const struct fiemap_extent *e = u.map.fm_extents;

	if (ioctl(fd, FS_IOC_FIEMAP, &u.map) || u.map.fm_mapped_extents != 1 ||
	    e->fe_flags & (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DATA_INLINE) ||
	    e->fe_logical > offset || e->fe_logical + e->fe_length < offset + block)
		return false;
	*where = e->fe_physical + (offset - e->fe_logical);
	*shared = e->fe_flags & FIEMAP_EXTENT_SHARED;
	return true;
}

/*
 * The proof, without taking the call's word for it. Read through the device, not
 * from pages that were cached before the blocks were remapped.
 */
static void prove_remap(struct bench *b)
{
	struct remap *r = b->arg;
	__u64 src, dst, between;
	bool shared, alone;
	unsigned int i;

	bench_prove(b, !syncfs(r->dst));
	bench_prove(b, !posix_fadvise(r->dst, 0, 0, POSIX_FADV_DONTNEED));
	for (i = 0; i < 2 * BLOCKS + 1; i++) {
		bench_prove(b, pread(r->dst, r->buf, r->block, i * r->block) ==
			    (ssize_t)r->block);
		bench_prove(b, !memcmp(r->buf, dst_block(r, i), r->block));
	}
	for (i = 0; i < BLOCKS; i++) {
		bench_prove(b, block_extent(r->src, i * r->block, r->block, &src, &shared));
		bench_prove(b, shared);
		bench_prove(b, block_extent(r->dst, (2 * i + 1) * r->block, r->block, &dst,
					    &shared));
		bench_prove(b, shared);
		bench_prove(b, src == dst);
		bench_prove(b, block_extent(r->dst, 2 * i * r->block, r->block, &between,
					    &alone));
		bench_prove(b, !alone);
		bench_prove(b, between != src);
	}
}

TEST_F(remap, clone)
{
	BENCH(clone_block, &self->r, .before_round = reset_other, .prove = prove_remap,
	      .ops = OPS);
}

TEST_F(remap, dedupe)
{
	BENCH(dedupe_block, &self->r, .before_round = reset_equal, .prove = prove_remap,
	      .ops = OPS);
}

TEST_HARNESS_MAIN
