/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fsbench: what a suite of file system microbenchmarks includes.
 *
 * A workload is a function that performs a number of operations and checks the
 * answer of each; a fixture that makes what it works on; and a TEST_F that hands
 * one to the other:
 *
 *	static void list_fd(struct bench *b, unsigned long ops)
 *	{
 *		struct xattr_file *f = b->arg;
 *
 *		while (ops--)
 *			bench_expect(b, flistxattr(f->fd, f->list, sizeof(f->list)) ==
 *				     f->list_len);
 *	}
 *
 *	TEST_F(xattr_list, flistxattr)
 *	{
 *		BENCH(list_fd, self);
 *	}
 *
 * All the rest is done here: options, CPU, calibration, rounds, statistics,
 * results, the gate. This brings kselftest_harness.h.
 */
#ifndef FSBENCH_H
#define FSBENCH_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The harness itself is not clean at -Wextra; its setjmp() is in each test. */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "../../kselftest_harness.h"
#pragma GCC diagnostic pop

#include "bench.h"
#include "scratch.h"
#include "setup.h"

/*
 * The harness hands a test its variant's data, and not the name. This and what
 * uses _metadata->fixture depend on how the harness keeps them, the same since
 * variants exist.
 */
static inline const char *bench_variant(const struct __fixture_metadata *fixture,
					const void *data)
{
	struct __fixture_variant_metadata *v;

	for (v = fixture->variant; v; v = v->next)
		if (v->data == data)
			return v->name;
	return "";
}

/*
 * BENCH() - measure a workload and report the case
 *
 * After a SKIP in the setup this does nothing: the harness of 6.1 runs the test
 * all the same.
 */
#define BENCH(function, argument, ...) do {				\
	struct bench __b = {						\
		.fn = (function), .arg = (argument), ##__VA_ARGS__	\
	};								\
	if (!scratch_skipped() && bench_lacks_tasks(&__b))		\
		BENCH_SKIP("%s", bench_lacks_tasks(&__b));		\
	EXPECT_TRUE(scratch_skipped() ||				\
		    bench_run(&__b, _metadata->fixture->name,		\
			      bench_variant(_metadata->fixture, variant), \
			      _metadata->name)) {			\
		TH_LOG("%s: not measured or not recorded", __b.name);	\
	}								\
	EXPECT_EQ(0UL, __b.unexpected_results);				\
	EXPECT_FALSE(__b.slower);					\
	EXPECT_FALSE(__b.not_comparable);				\
} while (0)

/*
 * BENCH_MEMORY() - count the bytes of kernel memory that each of @files takes
 *
 * The function does for each file what may take memory, and after_round undoes it,
 * on all of them. At least a thousand files, or what is counted is chance.
 */
#define BENCH_MEMORY(function, argument, files, ...)			\
	BENCH(function, argument, .memory = true, .ops = (files), ##__VA_ARGS__)

/*
 * BENCH_SLABINFO() - from the setup: skip a case for which memory cannot be counted
 *
 * Return: false if the setup has to return.
 */
#define BENCH_SLABINFO() __bench_slabinfo(_metadata, variant)

/*
 * BENCH_SKIP() - skip a case from its setup, with the reason in the results as well
 *
 * The setup has to return after it.
 */
#define BENCH_SKIP(fmt, ...) do {					\
	scratch_skip(fmt, ##__VA_ARGS__);				\
	__bench_skip(_metadata, variant);				\
} while (0)

/*
 * BENCH_DEFAULT() - from the setup: skip a case that is not in the default set
 *
 * Return: false if the setup has to return.
 */
#define BENCH_DEFAULT(wanted)						\
	((wanted) || bench_all() || __bench_not_default(_metadata))

static inline void __bench_skip(struct __test_metadata *const _metadata, const void *variant)
{
	bench_not_run("skip", _metadata->fixture->name,
		      bench_variant(_metadata->fixture, variant), _metadata->name,
		      scratch_skipped());
	SKIP(return, "%s", scratch_skipped());
}

/* There are many of them: the line of the result is enough. */
#undef TH_LOG_ENABLED
#define TH_LOG_ENABLED 0
static inline bool __bench_not_default(struct __test_metadata *const _metadata)
{
	scratch_skip("not in the default set, see FSBENCH_ALL");
	SKIP(return false, "%s", scratch_skipped());
}

#undef TH_LOG_ENABLED
#define TH_LOG_ENABLED 1

static inline bool __bench_slabinfo(struct __test_metadata *const _metadata,
				    const void *variant)
{
	if (bench_no_memory())
		BENCH_SKIP("%s", bench_no_memory());
	return !bench_no_memory();
}

/* Pages of their own: where a buffer lies must not differ between two runs. */
static inline void *bench_pages(struct __test_metadata *const _metadata, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	ASSERT_TRUE(p != MAP_FAILED);
	return p;
}

/*
 * SCRATCH() - a fresh file system of the given type, as the working directory
 *
 * It is gone when the case's processes are, however they end. Where it cannot
 * be had the case is skipped; where it should be had and fails, it fails.
 *
 * Return: false if the setup has to return.
 */
#define SCRATCH(fstype) __bench_scratch(_metadata, variant, fstype)

static inline bool __bench_scratch(struct __test_metadata *const _metadata,
				   const void *variant, const char *fstype)
{
	int ret;

	/* What is made here belongs to the memory next to the CPU that measures. */
	bench_pin();
	ret = scratch_mount(fstype);
	if (ret > 0)
		BENCH_SKIP("%s", scratch_reason());
	if (ret < 0)
		bench_not_run("fail", _metadata->fixture->name,
			      bench_variant(_metadata->fixture, variant), _metadata->name,
			      scratch_reason());
	ASSERT_LE(0, ret) {
		TH_LOG("%s", scratch_reason());
	}
	return !ret;
}

/*
 * The negative control: a system call that no file system change can touch. It
 * tells a slow machine from a slow kernel, so every program measures it, first.
 */
FIXTURE(control) {
	pid_t parent;
};

FIXTURE_SETUP(control)
{
	self->parent = getppid();
}

FIXTURE_TEARDOWN(control)
{
}

TEST_F(control, getppid)
{
	BENCH(bench_getppid, &self->parent, .control = true);
}

#endif
