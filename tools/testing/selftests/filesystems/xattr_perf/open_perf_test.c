// SPDX-License-Identifier: GPL-2.0
/*
 * What open(2) and close(2) of a file cost, for one task and for one on each CPU at
 * the same time: on one file, on files of their own in one directory, and on files
 * in directories of their own. (After open1, open2 and open3 of will-it-scale.)
 *
 * A change of a lock may help many tasks and cost each of them when it is alone, or
 * the reverse. So each row for several tasks, "_n", has one for a single task, "_1".
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "../fsbench/fsbench.h"

enum place { ONE_FILE, ONE_DIR, OWN_DIR };

/* One for each task, but the first is the one of all if there is one file. */
struct file {
	char path[32];
	ino_t ino;
};

struct files {
	enum place place;
	struct file *file;
};

static void make_files(struct __test_metadata *const _metadata, struct files *f,
		       enum place place)
{
	unsigned int i, nr = place == ONE_FILE ? 1 : bench_tasks();
	struct stat st;
	char dir[16];
	int fd;

	f->place = place;
	f->file = calloc(nr, sizeof(*f->file));
	ASSERT_TRUE(!!f->file);
	for (i = 0; i < nr; i++) {
		snprintf(dir, sizeof(dir), "dir%u", place == OWN_DIR ? i : 0);
		snprintf(f->file[i].path, sizeof(f->file[i].path), "%s/file%u", dir, i);
		ASSERT_TRUE(!mkdir(dir, 0755) || errno == EEXIST);
		fd = open(f->file[i].path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		ASSERT_LE(0, fd);
		ASSERT_EQ(0, fstat(fd, &st));
		ASSERT_EQ(0, close(fd));
		f->file[i].ino = st.st_ino;
	}
}

static const struct file *file_of(const struct bench *b)
{
	const struct files *f = b->arg;

	return &f->file[f->place == ONE_FILE ? 0 : b->task];
}

static void open_close(struct bench *b, unsigned long ops)
{
	const char *path = file_of(b)->path;
	int fd;

	while (ops--) {
		fd = open(path, O_RDWR | O_CLOEXEC);
		bench_expect(b, fd >= 0 && !close(fd));
	}
}

/*
 * The loop looks at the number alone. Here: it is this file, and none was left open,
 * since the number is the lowest that is free. (Among threads that tells nothing.)
 */
static void check_file(struct bench *b)
{
	const struct file *f = file_of(b);
	static int lowest = -1;
	struct stat st;
	int fd;

	fd = open(f->path, O_RDWR | O_CLOEXEC);
	if (!b->threads && lowest < 0)
		lowest = fd;
	bench_prove(b, b->threads || fd == lowest);
	bench_prove(b, !fstat(fd, &st) && st.st_ino == f->ino);
	bench_prove(b, fcntl(fd, F_GETFL) >= 0 && (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR);
	bench_prove(b, !close(fd));
	bench_prove(b, b->threads || (fcntl(fd, F_GETFD) < 0 && errno == EBADF));
}

/* Processes, each with a file table of its own */

FIXTURE(open_close) {
	struct files files;
};

FIXTURE_VARIANT(open_close) {
	const char *fstype;
	enum place place;
	bool rest;			/* not in the default set */
};

FIXTURE_VARIANT_ADD(open_close, tmpfs_one_file) {
	.fstype = "tmpfs", .place = ONE_FILE };
FIXTURE_VARIANT_ADD(open_close, tmpfs_one_dir) {
	.fstype = "tmpfs", .place = ONE_DIR };
FIXTURE_VARIANT_ADD(open_close, tmpfs_own_dir) {
	.fstype = "tmpfs", .place = OWN_DIR };
FIXTURE_VARIANT_ADD(open_close, xfs_one_file) {
	.fstype = "xfs", .place = ONE_FILE };
FIXTURE_VARIANT_ADD(open_close, xfs_one_dir) {
	.fstype = "xfs", .place = ONE_DIR, .rest = true };
FIXTURE_VARIANT_ADD(open_close, xfs_own_dir) {
	.fstype = "xfs", .place = OWN_DIR };
FIXTURE_VARIANT_ADD(open_close, ext4_one_file) {
	.fstype = "ext4", .place = ONE_FILE };
FIXTURE_VARIANT_ADD(open_close, ext4_one_dir) {
	.fstype = "ext4", .place = ONE_DIR, .rest = true };
FIXTURE_VARIANT_ADD(open_close, ext4_own_dir) {
	.fstype = "ext4", .place = OWN_DIR };
FIXTURE_VARIANT_ADD(open_close, btrfs_one_file) {
	.fstype = "btrfs", .place = ONE_FILE };
FIXTURE_VARIANT_ADD(open_close, btrfs_one_dir) {
	.fstype = "btrfs", .place = ONE_DIR, .rest = true };
FIXTURE_VARIANT_ADD(open_close, btrfs_own_dir) {
	.fstype = "btrfs", .place = OWN_DIR };

FIXTURE_SETUP(open_close)
{
	if (BENCH_DEFAULT(!variant->rest) && SCRATCH(variant->fstype))
		make_files(_metadata, &self->files, variant->place);
}

FIXTURE_TEARDOWN(open_close)
{
}

TEST_F(open_close, processes_1)
{
	BENCH(open_close, &self->files, .after_round = check_file);
}

TEST_F(open_close, processes_n)
{
	BENCH(open_close, &self->files, .after_round = check_file, .several = true);
}

/*
 * Threads of one process, on one file: they share the file table, whose lock both
 * calls take.
 */

FIXTURE(open_close_threads) {
	struct files files;
};

FIXTURE_VARIANT(open_close_threads) {
	const char *fstype;
	bool rest;
};

FIXTURE_VARIANT_ADD(open_close_threads, tmpfs) { .fstype = "tmpfs" };
FIXTURE_VARIANT_ADD(open_close_threads, xfs) { .fstype = "xfs", .rest = true };
FIXTURE_VARIANT_ADD(open_close_threads, ext4) { .fstype = "ext4", .rest = true };
FIXTURE_VARIANT_ADD(open_close_threads, btrfs) { .fstype = "btrfs", .rest = true };

FIXTURE_SETUP(open_close_threads)
{
	if (BENCH_DEFAULT(!variant->rest) && SCRATCH(variant->fstype))
		make_files(_metadata, &self->files, ONE_FILE);
}

FIXTURE_TEARDOWN(open_close_threads)
{
}

TEST_F(open_close_threads, threads_1)
{
	BENCH(open_close, &self->files, .after_round = check_file, .second_thread = true);
}

TEST_F(open_close_threads, threads_n)
{
	BENCH(open_close, &self->files, .after_round = check_file, .threads = true);
}

TEST_HARNESS_MAIN
