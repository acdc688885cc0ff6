/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A benchmark: what a suite says of it, and what measuring it left there.
 */
#ifndef FSBENCH_BENCH_H
#define FSBENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>

#include "util.h"

/*
 * A benchmark. The members above the line are the suite's, by designated
 * initialisers behind BENCH(function, argument, ...).
 */
struct bench {
	/* Does @ops operations, each with exactly one bench_expect(). */
	void (*fn)(struct bench *b, unsigned long ops);
	void *arg;
	/* Not timed. Each may use bench_prove(), none bench_expect(). */
	void (*before_round)(struct bench *b);
	void (*before_batch)(struct bench *b, unsigned long ops);
	/* False if the batch was not what the case says: then it is not used. */
	bool (*after_batch)(struct bench *b, unsigned long ops);
	void (*after_round)(struct bench *b);
	/* The result, after the warm-up and after the last round. Not timed. */
	void (*prove)(struct bench *b);
	/*
	 * What @fn is to be compared with: timed beside each round, before
	 * @before_round, with an argument and expectations like those of @fn.
	 */
	void (*reference)(struct bench *b, unsigned long ops);
	unsigned long reference_ops;	/* of it beside a round, at most; 0: no limit */
	unsigned long ops;		/* operations a round; 0: calibrated */
	unsigned long max_ops;		/* the same, whatever is asked for; 0: no limit */
	bool memory;			/* is counted, not time: see BENCH_MEMORY() */
	unsigned long max_batch;	/* operations a batch; 0: no limit */
	unsigned long cycle;		/* operations until all starts over; 0: each is alike */
	bool activity;			/* tell what is written, and commits of btrfs */
	bool control;			/* reported and compared, never gated */
	/*
	 * By a process on each CPU at once, or by threads of one. Each has its copy of
	 * this, and knows itself by @task; threads share what @arg points to. All
	 * hooks but those of a batch, which there are none of, are called in each.
	 */
	bool several;
	bool threads;
	/* By one, whose file table is shared with a thread that sleeps. */
	bool second_thread;
	/* ------------------------------------------------------------------ */
	unsigned int task;		/* which of several this is, from 0 */
	unsigned int nr_tasks;		/* how many, 0: one alone */
	unsigned long checked;		/* operations checked so far */
	unsigned long unexpected_results;
	const char *miss;		/* the first expectation that was not met, */
	unsigned long miss_op;		/* the operation in which, from 1, */
	int miss_errno;			/* and errno after it, 0: call succeeded */
	const char *phase;		/* now, NULL: in an operation, */
	const char *miss_phase;		/* and where it was */
	bool slower;			/* than the baseline, beyond doubt */
	bool not_comparable;		/* and FSBENCH_STRICT forbids that */
	char name[128];			/* of the case, as the harness prints it */
	char why[160];			/* it could not be measured */
};

void bench_pin(void);
bool bench_all(void);
const char *bench_no_memory(void);
unsigned int bench_tasks(void);
const char *bench_lacks_tasks(const struct bench *b);
__printf(2, 3) void bench_note(const char *name, const char *fmt, ...);
void bench_getppid(struct bench *b, unsigned long ops);
void bench_miss(struct bench *b, const char *expectation);
bool bench_run(struct bench *b, const char *fixture, const char *variant, const char *test);
void bench_not_run(const char *what, const char *fixture, const char *variant,
		   const char *test, const char *reason);

static inline void __bench_prove(struct bench *b, bool met, const char *expectation)
{
	if (__builtin_expect(!met, 0))
		bench_miss(b, expectation);
}

static inline void __bench_expect(struct bench *b, bool met, const char *expectation)
{
	b->checked++;
	__bench_prove(b, met, expectation);
}

/* One operation's answer: costs an increment and a predicted branch. */
#define bench_expect(b, expectation) __bench_expect(b, expectation, #expectation)

/* Anything else that has to be true, in the functions that are not timed. */
#define bench_prove(b, expectation) __bench_prove(b, expectation, #expectation)

#endif
