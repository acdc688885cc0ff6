/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A benchmark by several tasks at the same time: processes, or the threads of one.
 */
#ifndef FSBENCH_TASKS_H
#define FSBENCH_TASKS_H

#include <linux/types.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "bench.h"

/* A round is at most so many slices of time, the same ones for all tasks. */
#define TASKS_SLICES	100

/* What all tasks together did in one slice. */
struct tasks_slice {
	__u64 ns;
	__u64 milli_ops;	/* thousandths of an operation */
	bool preempted;		/* one of them was */
	bool migrated;
};

struct tasks;

struct tasks *tasks_start(struct bench *b, unsigned int nr, const cpu_set_t *allowed, int cpu,
			  unsigned long batch);
bool tasks_round(struct tasks *t, unsigned int nr, unsigned int slices, __u64 slice_ns,
		 unsigned long limit);
bool tasks_slice(const struct tasks *t, unsigned int i, struct tasks_slice *slice);
bool tasks_prove(struct tasks *t);
bool tasks_end(struct tasks *t);
__u64 tasks_total(const struct tasks *t);
void tasks_reset(struct tasks *t);
void tasks_count_slice(struct tasks *t, unsigned int i);
double tasks_fairness(const struct tasks *t);
void tasks_operations(const struct tasks *t, char *buf, size_t size);
bool tasks_second_thread(struct bench *b);

#endif
