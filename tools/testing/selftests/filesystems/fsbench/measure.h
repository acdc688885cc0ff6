/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Measuring one case, and the gate: for the files that do it, not for suites.
 */
#ifndef FSBENCH_MEASURE_H
#define FSBENCH_MEASURE_H

#include "batch.h"
#include "options.h"
#include "results.h"

/* Everything about this program that is the same for all its cases. */
struct suite {
	struct options options;
	struct fingerprint machine;
	struct results baseline;
	int cpu;			/* that measures, -1: any */
};

extern struct suite suite;

/* Reading the clock may cost at most 1/200 of a batch, 0.5 %. */
#define CLOCK_SHARE	200
/* A case that takes longer ends early: the harness kills it after 30 s. */
#define CASE_NS		(20 * NSEC_PER_SEC)

/* How the operations of a round are split, and what they are measured with. */
struct plan {
	unsigned int rounds;
	unsigned long ops;
	unsigned long batches;
	unsigned long batch;		/* operations of the first one */
	__u64 clock_cost;		/* thousandths of a nanosecond a reading */
	__u64 clock_overhead;		/* thousandths of a percent of a batch */
	unsigned long reference;	/* operations of the reference a batch, */
	unsigned long references;	/* and its batches beside a round */
	/* For several tasks; then a batch is a slice of time. */
	struct tasks *tasks;
	unsigned int nr_tasks;
	unsigned int stops_at;		/* tasks that are not too many; 0: all of them */
	__u64 slice_ns;
	unsigned long limit;		/* operations of a task in a round; 0: none */
};

bool measure_prepare(struct bench *b, struct plan *p);
bool measure(struct bench *b, const struct plan *p, __u64 deadline, bool repeat,
	     struct result *r);
bool measure_prove(struct bench *b, const struct plan *p);
bool measure_end(const struct plan *p);

void gate(struct bench *b, const struct plan *p, const struct result *r, __u64 deadline,
	  char *line);

__printf(1, 2) void remark(const char *fmt, ...);

#endif
