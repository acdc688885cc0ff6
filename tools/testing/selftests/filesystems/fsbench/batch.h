/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One batch of operations and what may disturb it: for the files that measure,
 * not for suites.
 */
#ifndef FSBENCH_BATCH_H
#define FSBENCH_BATCH_H

#include <errno.h>
#include <linux/types.h>
#include <sched.h>
#include <sys/resource.h>
#include <time.h>

#include "bench.h"

#define NSEC_PER_SEC	1000000000ull

static inline __u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static inline __u64 later(__u64 a, __u64 b)
{
	return a > b ? a : b;
}

/* A function that is not timed. After a wrong answer nothing more is done. */
static inline void call_hook(struct bench *b, void (*hook)(struct bench *b))
{
	if (!hook || b->unexpected_results)
		return;
	b->phase = "after ";
	errno = 0;
	hook(b);
	b->phase = NULL;
}

/* The operations of a batch. Checks that each of them was checked. */
static inline void do_batch(struct bench *b, unsigned long ops)
{
	unsigned long checked = b->checked;

	errno = 0;
	b->fn(b, ops);
	if (b->checked - checked != ops && !b->unexpected_results) {
		errno = 0;
		bench_miss(b, "one bench_expect() for each operation");
	}
}

/* Was the CPU taken away, or changed, since the last call? */
struct watch {
	long preempted;
	int cpu;
};

/* Return: 0, or why nobody can tell. */
static inline int watch_read(struct watch *w)
{
	struct rusage usage = { .ru_nivcsw = 0 };
	int err = getrusage(RUSAGE_THREAD, &usage) ? errno : 0;

	w->preempted = usage.ru_nivcsw;
	w->cpu = sched_getcpu();
	return err;
}

#endif
