// SPDX-License-Identifier: GPL-2.0
/*
 * Measuring one case: calibration, a checked warm-up, rounds of short batches, a
 * ledger of what disturbed them, the line that reports it, and the gate.
 *
 * Nothing makes a system call faster, many things make it slower for a moment.
 * So the headline is the lower quartile of many short batches, and a batch in
 * which the task lost its CPU is not used at all.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"
#include "batch.h"
#include "judge.h"
#include "memory.h"
#include "results.h"
#include "scratch.h"
#include "tasks.h"
#include "util.h"

/* Reading the clock may cost at most 1/200 of a batch, 0.5 %. */
#define CLOCK_SHARE	200
/* A batch is no shorter than this, so that few of them fill a round... */
#define BATCH_NS	8000ull
/* ...and a round is at most this long, unless the operation is slower. */
#define ROUND_NS	10000000ull
#define ROUND_BATCHES	4096ul
/*
 * Where the clock counts instructions: always this many operations, or a whole cycle
 * of a workload whose operations differ, lest a quantile lies between two kinds.
 */
#define ICOUNT_BATCH	32ul
/* The time stolen by a hypervisor is looked at this often. */
#define STEAL_NS	2000000ull
/* A case that takes longer ends early: the harness kills it after 30 s. */
#define CASE_NS		(20 * NSEC_PER_SEC)
/*
 * Several tasks: a slice is this long, or as long as some batches, but not too long;
 * a round has some slices. With more tasks they have to be faster by so many percent
 * in some rounds, or these have not helped.
 */
#define SLICE_NS	100000ull
#define SLICE_BATCHES	8
#define SLICE_NS_MAX	10000000ull
#define SLICES_MIN	10
#define TRY_ROUNDS	2
#define HELP_PERCENT	5
/* Batches of the control between two rounds. */
#define CONTROL_BATCHES	16
#define CONTROL_OPS	64
/* Batches of the reference beside each round: few, what they write is synced. */
#define REFERENCE_BATCHES 4
/* Rounds in which memory is counted: they hardly differ, and not at all... */
#define MEMORY_ROUNDS	5
/* ...where one CPU has nothing else to do, and takes its time. */
#define MEMORY_ICOUNT	2
/*
 * Repeats of a case that seems slower than its baseline, how many confirm it, and
 * the time between them: what slowed the machine down may have gone by then.
 */
#define GATE_REPEATS	3
#define GATE_CONFIRM	2
#define GATE_PAUSE_NS	300000000l

/* Everything about this program that is the same for all its cases. */
static struct options options;
static struct fingerprint machine;
static struct fingerprint notes;	/* what the suite says of this case */
static struct results baseline;
static struct bench reference;		/* what this case is compared with */
static int cpu = -1;
static int watch_error;			/* why nobody can tell what disturbed us */

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

/*
 * The samples of all rounds and the ledger. Samples: ns/op in thousandths. Those
 * of undisturbed batches grow from the front, the others from the back.
 */
struct samples {
	__u64 *v;
	size_t cap, nr, nr_other;
	__u64 ns, ops;			/* of the undisturbed ones; ns: of all tasks */
	__u64 all_ops;
	__u64 batches, preempted, migrated, stolen;
	__u64 control[ROUNDS_MAX * CONTROL_BATCHES];
	size_t nr_control;
	__u64 reference[ROUNDS_MAX * REFERENCE_BATCHES];
	size_t nr_reference;
	__u64 commits;			/* while rounds were timed, or unknown */
};

/* Everything that is said beside the records; the harness of 6.1 loses a buffer. */
__printf(1, 2)
static void remark(const char *fmt, ...)
{
	va_list args;

	printf("# fsbench: ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

/* The cost of a reading; one of a pair falls into the batch. */
static __u64 measure_clock(void)
{
	__u64 start, best = ~0ull, took;
	int i, j;

	for (i = 0; i < 32; i++) {
		start = now();
		for (j = 0; j < 64; j++)
			now();
		took = (now() - start) * 1000 / 65;
		if (took < best)
			best = took;
	}
	return best ? best : 1;
}

/**
 * bench_getppid() - the control: no file system change can touch it
 *
 * @b: its argument points to the pid that is the right answer
 */
void bench_getppid(struct bench *b, unsigned long ops)
{
	const pid_t parent = *(const pid_t *)b->arg;

	while (ops--)
		bench_expect(b, getppid() == parent);
}

/*
 * The control beside a case, so that each case says how the machine was when it
 * was measured. Not part of any round.
 */
static void run_control(struct samples *s)
{
	pid_t parent = getppid();
	struct bench b = { .arg = &parent };
	__u64 start;
	int i;

	for (i = 0; i < CONTROL_BATCHES; i++) {
		start = now();
		bench_getppid(&b, CONTROL_OPS);
		s->control[s->nr_control++] = (now() - start) * 1000 / CONTROL_OPS;
	}
}

/**
 * bench_miss() - an expectation was not met; out of line, never in the fast path
 */
void bench_miss(struct bench *b, const char *expectation)
{
	int err = errno;

	if (b->unexpected_results++)
		return;
	b->miss = expectation;
	b->miss_op = b->checked;
	b->miss_errno = err;
	b->miss_phase = b->phase;
}

static void prepare_batch(struct bench *b, unsigned long ops)
{
	if (!b->before_batch)
		return;
	b->phase = "after ";
	errno = 0;
	b->before_batch(b, ops);
	b->phase = NULL;
}

static __u64 run_batch(struct bench *b, unsigned long ops)
{
	__u64 start = now(), end;

	do_batch(b, ops);
	end = now();
	return end > start ? end - start : 1;
}

static __u64 prepare_and_run(struct bench *b, unsigned long ops)
{
	prepare_batch(b, ops);
	return run_batch(b, ops);
}

/* A batch of the reference. Its wrong answer is the case's. */
static __u64 run_reference(struct bench *b, unsigned long ops)
{
	__u64 took = run_batch(&reference, ops);

	if (!reference.unexpected_results)
		return took;
	b->unexpected_results = reference.unexpected_results;
	b->miss = reference.miss;
	b->miss_op = reference.miss_op;
	b->miss_errno = reference.miss_errno;
	b->miss_phase = reference.phase;
	return took;
}

/* All of it that is beside one round: a ratio needs both in one run. */
static void run_references(struct bench *b, const struct plan *p, struct samples *s)
{
	unsigned long i;

	for (i = 0; i < p->references && !b->unexpected_results; i++)
		s->reference[s->nr_reference++] = run_reference(b, p->reference) * 1000 /
						  p->reference;
}

/* A batch, counted: the bytes of kernel memory that were taken, 0 if not known. */
static __u64 count_batch(struct bench *b, unsigned long ops)
{
	if (b->unexpected_results)
		return 0;
	memory_before(ops);
	run_batch(b, ops);
	return memory_after(ops);
}

static unsigned long power_of_two(unsigned long n)
{
	while (n & (n - 1))
		n &= n - 1;
	return n;
}

/* Operations of batch @i: they differ by at most one. */
static unsigned long batch_ops(const struct plan *p, unsigned long i)
{
	return p->ops / p->batches + (i < p->ops % p->batches);
}

/*
 * The number of operations that makes a batch take @want, at most @limit: the first
 * of 1, 2, 4, ... that does, by the shortest of a few, lest a hiccup stops this early.
 *
 * @best: receives what it took
 */
static unsigned long find_batch(struct bench *b, __u64 (*run)(struct bench *, unsigned long),
				__u64 want, unsigned long limit, __u64 *best)
{
	unsigned long batch = 1;
	__u64 took;
	int try;

	for (;;) {
		*best = ~0ull;
		for (try = 0; try < 5 && !b->unexpected_results; try++) {
			took = run(b, batch);
			if (took < *best)
				*best = took;
		}
		if (*best >= want || batch >= limit || b->unexpected_results)
			return batch;
		batch = batch * 2 < limit ? batch * 2 : limit;
	}
}

static void calibrate_reference(struct bench *b, struct plan *p, __u64 want, unsigned long limit)
{
	unsigned long ops = b->reference_ops;
	__u64 best;

	p->references = ops && ops < REFERENCE_BATCHES ? ops : REFERENCE_BATCHES;
	if (ops && limit > ops / p->references)
		limit = ops / p->references;
	p->reference = find_batch(b, run_reference, want, limit, &best);
}

/*
 * Find the number of operations that makes a batch long enough, and from it the
 * number that makes a round. Powers of two, so that two runs mostly agree.
 */
static bool calibrate(struct bench *b, struct plan *p)
{
	unsigned long ops = options.ops ? options.ops : b->ops, limit, batch;
	__u64 want, best, each;

	if (b->max_ops && ops > b->max_ops)
		ops = b->max_ops;
	p->clock_cost = measure_clock();
	want = p->clock_cost * CLOCK_SHARE / 1000;
	if (want < BATCH_NS)
		want = BATCH_NS;
	limit = ops ? ops : OPS_MAX;
	if (b->max_batch && b->max_batch < limit)
		limit = b->max_batch;
	if (options.icount) {
		/*
		 * A length that is found could differ between two kernels, and
		 * with it what reading the clock adds to an operation.
		 */
		want = ~0ull;
		if (limit > (b->cycle ? b->cycle : ICOUNT_BATCH))
			limit = b->cycle ? b->cycle : ICOUNT_BATCH;
	}
	batch = find_batch(b, prepare_and_run, want, limit, &best);
	if (b->reference && !b->unexpected_results)
		calibrate_reference(b, p, want, limit);
	if (b->unexpected_results)
		return false;
	each = best / batch ? best / batch : 1;
	p->ops = ops;
	/* A kernel on which so many take too long gets fewer. */
	if (!options.ops && p->ops > CASE_NS / 16 / each)
		p->ops = CASE_NS / 16 / each ? CASE_NS / 16 / each : 1;
	if (!p->ops) {
		p->batches = power_of_two(ROUND_NS / best ? ROUND_NS / best : 1);
		p->ops = batch * p->batches;
	} else {
		p->batches = p->ops / batch ? p->ops / batch : 1;
	}
	if (b->max_batch && p->batches < (p->ops + b->max_batch - 1) / b->max_batch)
		p->batches = (p->ops + b->max_batch - 1) / b->max_batch;
	else if (!b->max_batch && p->batches > ROUND_BATCHES)
		p->batches = ROUND_BATCHES;
	p->batch = batch_ops(p, 0);
	/* The harness would kill the case in the middle of its first round. */
	if (each * p->ops > CASE_NS / 4) {
		snprintf(b->why, sizeof(b->why),
			 "%lu operations a round take %llu s, more than %llu", p->ops,
			 each * p->ops / NSEC_PER_SEC, CASE_NS / 4 / NSEC_PER_SEC);
		return false;
	}
	return true;
}

static bool plan_time(struct bench *b, struct plan *p)
{
	p->rounds = options.rounds;
	call_hook(b, b->before_round);
	return calibrate(b, p);
}

/* As many files as the suite says: few of them would be chance. */
static bool plan_memory(struct bench *b, struct plan *p)
{
	unsigned int most = options.icount ? MEMORY_ICOUNT : MEMORY_ROUNDS;

	p->rounds = options.rounds < most ? options.rounds : most;
	p->ops = b->ops;
	p->batches = 1;
	return true;
}

static void look(struct watch *w)
{
	int err = watch_read(w);

	if (err)
		watch_error = err;
}

/* The batch counts as disturbed: its sample goes to the back. */
static void add_other(struct samples *s, __u64 sample, __u64 *reason)
{
	s->v[s->cap - ++s->nr_other] = sample;
	++*reason;
}

/*
 * The hypervisor tells what it took in ticks, for whole stretches of time. So a
 * stretch in which a tick was stolen is put aside as a whole.
 */
static void put_aside(struct samples *s, size_t from)
{
	while (s->nr > from) {
		__u64 sample = s->v[--s->nr];

		add_other(s, sample, &s->stolen);
	}
}

static void run_round(struct bench *b, const struct plan *p, struct samples *s)
{
	__u64 ticks, steal = machine_steal_ticks(cpu), looked = now();
	__u64 ns = 0, ops = 0, took, sample;
	struct watch before, after;
	size_t stretch = s->nr;
	unsigned long i, n;

	look(&before);
	for (i = 0; i < p->batches && !b->unexpected_results; i++) {
		n = batch_ops(p, i);
		if (b->before_batch) {
			prepare_batch(b, n);
			look(&before);
		}
		took = run_batch(b, n);
		look(&after);
		sample = took * 1000 / n;
		s->batches++;
		if (after.cpu != before.cpu || (cpu >= 0 && after.cpu != cpu)) {
			add_other(s, sample, &s->migrated);
		} else if (after.preempted != before.preempted) {
			add_other(s, sample, &s->preempted);
		} else {
			s->v[s->nr++] = sample;
			ns += took;
			ops += n;
		}
		before = after;
		if (now() - looked < STEAL_NS && i + 1 < p->batches)
			continue;
		ticks = machine_steal_ticks(cpu);
		if (ticks != steal) {
			put_aside(s, stretch);
		} else {
			s->ns += ns;
			s->ops += ops;
		}
		steal = ticks;
		stretch = s->nr;
		ns = 0;
		ops = 0;
		looked = now();
		look(&before);
	}
}

static void note_milli(const char *name, __u64 value)
{
	char text[24];

	bench_note(name, "%s", milli_format(text, value));
}

static void add_commits(struct samples *s, __u64 from, __u64 to)
{
	if (s->commits == ACTIVITY_UNKNOWN || from == ACTIVITY_UNKNOWN || to == ACTIVITY_UNKNOWN)
		s->commits = ACTIVITY_UNKNOWN;
	else
		s->commits += to - from;
}

static void note_count(const char *name, __u64 count)
{
	if (count == ACTIVITY_UNKNOWN)
		bench_note(name, "unknown");
	else
		bench_note(name, "%llu", (unsigned long long)count);
}

/* What is told of a case beside its time. */
static void note_beside(const struct bench *b, struct samples *s, const struct result *r)
{
	__u64 v;

	if (b->reference) {
		stats_sort(s->reference, s->nr_reference);
		v = stats_quantile(s->reference, s->nr_reference, 1, 4);
		note_milli("reference", v);
		note_milli("ratio", r->value * 1000 / (v ? v : 1));
	}
	if (b->activity && activity_is_btrfs()) {
		note_count("commits", s->commits);
		bench_note("meta", "%s", activity_profile(true));
		bench_note("data", "%s", activity_profile(false));
	}
}

/*
 * The warm-up: a whole round, checked like any other. Said of it is also what was
 * written, up to the end of a sync behind it, which would be too slow in each round.
 *
 * Return: the time that the operations took
 */
static __u64 warm_round(struct bench *b, const struct plan *p)
{
	struct written before, after;
	unsigned long i;
	__u64 took = 0;

	call_hook(b, b->before_round);
	if (b->activity)
		activity_written(&before);
	if (b->memory)
		count_batch(b, p->ops);
	for (i = 0; i < p->batches && !b->memory && !b->unexpected_results; i++)
		took += prepare_and_run(b, batch_ops(p, i));
	call_hook(b, b->after_round);
	if (!b->activity || b->unexpected_results)
		return took;
	b->phase = "after ";
	bench_prove(b, activity_sync());
	b->phase = NULL;
	activity_written(&after);
	if (after.sectors == ACTIVITY_UNKNOWN || before.sectors == ACTIVITY_UNKNOWN)
		bench_note("sectors_per_op", "unknown");
	else
		note_milli("sectors_per_op", (after.sectors - before.sectors) * 1000 / p->ops);
	if (after.all_devices)
		bench_note("sectors_of", "all_devices");
	return took;
}

static void record_round(const struct bench *b, unsigned int round, __u64 value,
			 size_t batches, __u64 ops)
{
	const char *key = unit_words[b->memory ? UNIT_MEMORY : UNIT_TIME].key;
	char text[24], more[32] = "";

	if (!b->memory)
		snprintf(more, sizeof(more), " batches=%zu", batches);
	results_file_record("round %s round=%u %s=%s%s ops=%llu", b->name, round, key,
			    value ? milli_format(text, value) : "none", more, ops);
}

/* One batch, and nothing disturbs it. Bytes stand where nanoseconds do. */
static void run_memory_round(struct bench *b, const struct plan *p, struct samples *s)
{
	__u64 bytes = count_batch(b, p->ops);

	if (!bytes)
		return;
	s->v[s->nr++] = bytes * 1000 / p->ops;
	s->ns += bytes;
	s->ops += p->ops;
}

/*
 * A round of several tasks: each slice of time is a batch. Time an operation is that
 * between two operations of any of them, the inverse of their throughput.
 */
static void run_tasks(const struct plan *p, struct samples *s)
{
	__u64 steal = machine_steal_ticks(-1), sample, ns = 0, ops = 0;
	struct tasks_slice slice;
	size_t from = s->nr;
	unsigned int i;

	if (!tasks_round(p->tasks, p->nr_tasks, p->batches, p->slice_ns, p->limit))
		return;
	for (i = 0; i < p->batches; i++) {
		if (!tasks_slice(p->tasks, i, &slice))
			continue;
		sample = slice.ns * 1000 / (slice.ops * p->nr_tasks);
		sample += !sample;
		s->batches++;
		if (slice.migrated) {
			add_other(s, sample, &s->migrated);
		} else if (slice.preempted) {
			add_other(s, sample, &s->preempted);
		} else {
			s->v[s->nr++] = sample;
			ns += slice.ns;
			ops += slice.ops;
			tasks_count_slice(p->tasks, i);
		}
	}
	s->all_ops = tasks_total(p->tasks);
	if (machine_steal_ticks(-1) != steal) {
		put_aside(s, from);
	} else {
		s->ns += ns;
		s->ops += ops;
	}
}

/* By one task or by several, timed or counted. */
static void run_checked_round(struct bench *b, const struct plan *p, struct samples *s)
{
	__u64 commits;

	if (p->tasks) {
		run_tasks(p, s);
		return;
	}
	call_hook(b, b->before_round);
	commits = b->activity ? activity_commits() : 0;
	if (b->memory)
		run_memory_round(b, p, s);
	else
		run_round(b, p, s);
	if (b->activity)
		add_commits(s, commits, activity_commits());
	call_hook(b, b->after_round);
	s->all_ops += p->ops;
}

/*
 * All rounds. What comes out is in @r; the rounds go to the results file unless
 * this only repeats a measurement.
 */
static bool measure(struct bench *b, const struct plan *p, __u64 deadline, bool repeat,
		    struct result *r)
{
	static struct samples s;
	__u64 round[ROUNDS_MAX], value, *v, start, longest = 0, ops;
	unsigned int i, nr = 0;
	size_t from, n;

	memset(r, 0, sizeof(*r));
	memset(&s, 0, sizeof(s));
	r->unit = b->memory ? UNIT_MEMORY : UNIT_TIME;
	if (p->tasks)
		tasks_reset(p->tasks);
	s.cap = (size_t)p->rounds * p->batches;
	/* Only what is used takes memory. */
	s.v = mmap(NULL, s.cap * sizeof(*s.v), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (s.v == MAP_FAILED) {
		snprintf(b->why, sizeof(b->why), "no memory for %zu samples: %s", s.cap,
			 strerror(errno));
		return false;
	}
	for (i = 0; i < p->rounds && !b->unexpected_results; i++) {
		start = now();
		if (i && start + longest > deadline)
			break;
		if (!b->memory)
			run_control(&s);
		run_references(b, p, &s);
		from = s.nr;
		ops = s.all_ops;
		run_checked_round(b, p, &s);
		if (b->unexpected_results || *b->why)
			break;
		r->rounds++;
		if (now() - start > longest)
			longest = now() - start;
		n = s.nr - from;
		value = 0;
		if (n) {
			stats_sort(s.v + from, n);
			value = stats_quantile(s.v + from, n, 1, 4);
			round[nr++] = value;
		}
		if (!repeat)
			record_round(b, i + 1, value, n, s.all_ops - ops);
	}
	if (b->memory && !s.nr && !b->unexpected_results) {
		snprintf(b->why, sizeof(b->why), "%s", memory_why());
		r->rounds = 0;
	}
	if (r->rounds && !b->unexpected_results) {
		/* With nothing undisturbed the rest has to do, and it says so. */
		v = s.nr ? s.v : s.v + s.cap - s.nr_other;
		n = s.nr ? s.nr : s.nr_other;
		stats_sort(v, n);
		r->median = stats_median(v, n);
		/* The noise of time is one-sided, that of memory is not. */
		r->value = b->memory ? r->median : stats_quantile(v, n, 1, 4);
		r->mean = s.ops ? s.ns * 1000 / (s.ops * p->nr_tasks) : r->median;
		r->min = v[0];
		r->max = v[n - 1];
		r->low = r->value;
		r->high = r->value;
		if (nr) {
			struct interval in;

			stats_sort(round, nr);
			in = stats_median_interval(round, nr);
			r->confidence = in.confidence * 1000;
			if (in.low < r->low)
				r->low = in.low;
			if (in.high > r->high)
				r->high = in.high;
		}
		r->ops = s.all_ops;
		r->match_ratio = 100000;
		r->batches = s.batches;
		r->disturbed = s.nr_other;
		r->preempted = s.preempted;
		r->migrated = s.migrated;
		r->stolen = s.stolen;
		r->clock_overhead = p->clock_overhead;
		stats_sort(s.control, s.nr_control);
		if (s.nr_control)
			r->control = stats_quantile(s.control, s.nr_control, 1, 4);
		if (!repeat)
			note_beside(b, &s, r);
	}
	munmap(s.v, s.cap * sizeof(*s.v));
	if (watch_error) {
		snprintf(b->why, sizeof(b->why), "getrusage: %s", strerror(watch_error));
		return false;
	}
	return r->rounds && !*b->why;
}

/*
 * A few rounds of the first @n tasks. Return: the time between two operations of any
 * of them, in thousandths of a nanosecond; 0 if a round failed.
 */
static __u64 try_tasks(const struct plan *p, unsigned int n)
{
	__u64 v[TRY_ROUNDS * TASKS_SLICES];
	unsigned int i, round, nr = 0;
	struct tasks_slice slice;

	for (round = 0; round < TRY_ROUNDS; round++) {
		if (!tasks_round(p->tasks, n, p->batches, p->slice_ns, p->limit))
			return 0;
		for (i = 0; i < p->batches; i++)
			if (tasks_slice(p->tasks, i, &slice))
				v[nr++] = slice.ns * 1000 / (slice.ops * n) + 1;
	}
	stats_sort(v, nr);
	return stats_quantile(v, nr, 1, 4);
}

/* A task more, or twice as many: do they get more done in the same time? */
static bool find_stop(struct plan *p)
{
	__u64 value, last = 0;
	unsigned int n, tried = 0;

	for (n = 1; ; n = 2 * n < p->nr_tasks ? 2 * n : p->nr_tasks) {
		value = try_tasks(p, n);
		if (!value)
			return false;
		if (last && value * (100 + HELP_PERCENT) > last * 100) {
			p->stops_at = tried;
			return true;
		}
		if (n == p->nr_tasks)
			return true;
		tried = n;
		last = value;
	}
}

/* The tasks, their warm-up, and how long a slice has to be. */
static bool prepare_tasks(struct bench *b, struct plan *p)
{
	__u64 value, batch_ns, most;

	if (b->before_batch) {
		snprintf(b->why, sizeof(b->why), "several tasks cannot prepare each batch");
		return false;
	}
	p->limit = options.ops ? options.ops : b->ops;
	p->nr_tasks = bench_tasks();
	p->slice_ns = SLICE_NS;
	p->batches = TASKS_SLICES;
	p->tasks = tasks_start(b, p->nr_tasks, &options.allowed, cpu, p->batch);
	if (!p->tasks)
		return false;
	value = try_tasks(p, p->nr_tasks);
	if (!value || !tasks_prove(p->tasks))
		return false;
	/* The time of a batch while the others are at it. */
	batch_ns = value * p->nr_tasks * p->batch / 1000 + 1;
	most = batch_ns > SLICE_NS_MAX ? batch_ns : SLICE_NS_MAX;
	if (batch_ns * SLICE_BATCHES > p->slice_ns)
		p->slice_ns = batch_ns * SLICE_BATCHES;
	if (p->slice_ns > most)
		p->slice_ns = most;
	p->batches = ROUND_NS / p->slice_ns;
	if (p->batches < SLICES_MIN)
		p->batches = SLICES_MIN;
	p->clock_overhead = p->clock_cost * 100 / batch_ns;
	return find_stop(p);
}

static bool warm_up(struct bench *b, struct plan *p)
{
	__u64 took;

	if (b->several || b->threads)
		return prepare_tasks(b, p);
	took = warm_round(b, p);
	call_hook(b, b->prove);
	p->clock_overhead = p->clock_cost * p->batches * 100 / (took ? took : 1);
	return !b->unexpected_results;
}

/* Once more, at the end. */
static bool prove(struct bench *b, const struct plan *p)
{
	if (p->tasks)
		return tasks_prove(p->tasks);
	call_hook(b, b->prove);
	return !b->unexpected_results;
}

/**
 * bench_all() - are the cases wanted that are not in the default set?
 */
bool bench_all(void)
{
	return options.all;
}

/**
 * bench_no_memory() - why kernel memory cannot be counted here, NULL if it can
 */
const char *bench_no_memory(void)
{
	return memory_missing();
}

/**
 * bench_tasks() - how many tasks take part in a case for several
 *
 * One a CPU: more would wait for each other whatever the kernel does.
 *
 * Return: at least 1.
 */
unsigned int bench_tasks(void)
{
	unsigned int cpus = CPU_COUNT(&options.allowed);

	return options.tasks < cpus ? options.tasks : cpus;
}

/**
 * bench_lacks_tasks() - why the case cannot be measured by several tasks, or NULL
 */
const char *bench_lacks_tasks(const struct bench *b)
{
	if ((!b->several && !b->threads) || (bench_tasks() > 1 && !options.icount))
		return NULL;
	if (options.icount)
		return "needs two CPUs, instructions are counted on one (FSBENCH_ICOUNT)";
	return CPU_COUNT(&options.allowed) > 1 ? "needs two tasks, FSBENCH_TASKS=1 allows one" :
	       "needs two CPUs, and this process may use one";
}

/**
 * bench_note() - add name=value to the line of the case: information, no verdict
 *
 * Only where nothing is timed. The last value of a name counts.
 */
void bench_note(const char *name, const char *fmt, ...)
{
	char value[FP_VALUE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(value, sizeof(value), fmt, args);
	va_end(args);
	fp_set(&notes, name, "%s", value);
}

static void describe(char *buf, size_t size, const struct fingerprint *keys)
{
	char quoted[FP_VALUE_MAX + 4];
	unsigned int i;
	size_t len = 0;

	*buf = '\0';
	for (i = 0; i < keys->nr && len < size; i++) {
		value_quote(quoted, sizeof(quoted), keys->key[i].value);
		len += snprintf(buf + len, size - len, " %s=%s", keys->key[i].name, quoted);
	}
}

/* What is said of several tasks beside the figures that every case has. */
static void describe_tasks(char *buf, size_t size, const struct plan *p, const struct result *r)
{
	size_t len;

	*buf = '\0';
	if (!p->tasks)
		return;
	len = snprintf(buf, size, " tasks=%u ops_per_s=%llu", p->nr_tasks,
		       NSEC_PER_SEC * 1000 / r->value);
	if (tasks_fairness(p->tasks))
		len += snprintf(buf + len, size - len, " fairness=%.4f",
				tasks_fairness(p->tasks));
	if (p->stops_at)
		len += snprintf(buf + len, size - len, " stops_at=%u", p->stops_at);
	else
		len += snprintf(buf + len, size - len, " stops_at=none");
	len += snprintf(buf + len, size - len, " per_task=");
	tasks_operations(p->tasks, buf + len, size - len);
}

static void report(const struct bench *b, const struct plan *p, const struct result *r,
		   const char *tasks)
{
	char figures[768], where[768], more[768];

	result_format(figures, sizeof(figures), r);
	describe(where, sizeof(where), scratch_keys());
	describe(more, sizeof(more), &notes);
	results_case("%s%s%s%s%s", b->name, figures, tasks, where, more);
	if (p->clock_overhead > 100000 / CLOCK_SHARE && !options.icount)
		remark("%s: reading the clock costs %.2f %% of a batch of %lu", b->name,
		       p->clock_overhead / 1000.0, p->batch);
	if (judge_disturbed(r))
		remark("%s: %llu of %llu batches disturbed, do not rely on this", b->name,
		       r->disturbed, r->batches);
	if (r->rounds < p->rounds)
		remark("%s: stopped after %llu of %u rounds, they take too long", b->name,
		       r->rounds, p->rounds);
}

/* The symbol is what people look for; not every libc knows them. */
static const char *errno_name(int err)
{
#define NAME(e) { e, #e }
	static const struct {
		int err;
		const char *name;
	} names[] = {
		NAME(EPERM), NAME(ENOENT), NAME(EINTR), NAME(EIO), NAME(EBADF),
		NAME(EAGAIN), NAME(ENOMEM), NAME(EACCES), NAME(EFAULT), NAME(EBUSY),
		NAME(EEXIST), NAME(EXDEV), NAME(ENODEV), NAME(EISDIR), NAME(EINVAL),
		NAME(EMFILE), NAME(ENOSPC), NAME(EROFS), NAME(ERANGE), NAME(ENXIO),
		NAME(ENODATA), NAME(EOPNOTSUPP), NAME(E2BIG), NAME(EDQUOT), NAME(EUCLEAN),
	};
#undef NAME
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].err == err)
			return names[i].name;
	return err ? "errno" : "none";
}

/* Wrong answers come first: such a case has no time, however fast it was. */
static void report_wrong(const struct bench *b)
{
	/* Hooks count no operations, so there may be more misses than checks. */
	double ratio = b->unexpected_results < b->checked ?
		100 - 100.0 * b->unexpected_results / b->checked : 0;
	char task[24] = "";

	if (ratio > 99.999)
		ratio = 99.999;
	results_case("%s expected_match_ratio=%.3f unexpected_results=%lu errno=%s", b->name,
		     ratio, b->unexpected_results, errno_name(b->miss_errno));
	if (b->nr_tasks)
		snprintf(task, sizeof(task), " of task %u", b->task);
	remark("%s: %soperation %lu%s: not as expected: %s; errno %d (%s, %s)", b->name,
	       b->miss_phase ? b->miss_phase : "", b->miss_op, task, b->miss, b->miss_errno,
	       errno_name(b->miss_errno),
	       b->miss_errno ? strerror(b->miss_errno) : "the call itself succeeded");
}

__printf(4, 5)
static void gate_line(char *line, const struct bench *b, const char *verdict,
		      const char *fmt, ...)
{
	size_t len = snprintf(line, RECORD_MAX, "gate %s verdict=%s ", b->name, verdict);
	va_list args;

	va_start(args, fmt);
	vsnprintf(line + len, RECORD_MAX - len, fmt, args);
	va_end(args);
}

/*
 * Find the baseline of this case, or say why there is none to compare with.
 * Values in the reason are fit to be quoted: they were read from a record.
 */
static bool find_baseline(const struct bench *b, const struct result *r, struct rcase *base,
			  char *why, size_t size)
{
	static struct fingerprint keys;
	struct rcase new = { .r = *r };
	const struct run *run = NULL;

	/* As its line will say it. */
	keys = *scratch_keys();
	if (b->nr_tasks)
		fp_set(&keys, "tasks", "%u", b->nr_tasks);
	new.extra = keys.key;
	new.nr_extra = keys.nr;
	if (!judge_merge(&baseline, program_invocation_short_name, b->name, base, &run, why,
			 size)) {
		snprintf(why, size, "the baseline does not have this case");
		return false;
	}
	if (!base->timed) {
		snprintf(why, size, base->r.unexpected ? "the baseline has wrong answers here" :
			 "the baseline did not finish this case");
		return false;
	}
	return !*why && !judge_keys(&run->fp, &machine, KEY_MUST, why, size) &&
	       !judge_case_keys(base, &new, why, size);
}

/*
 * The gate. One boot against one baseline: a case fails only if it is slower
 * than the baseline by more than the threshold and the noise, and is so again
 * when it is repeated.
 *
 * @line: receives the record that says so
 */
static void gate(struct bench *b, const struct plan *p, const struct result *r,
		 __u64 deadline, char *line)
{
	const char *debug = fp_debug_kernel(&machine);
	unsigned int confirmed = 0, repeats = 0, threshold;
	char measured[24], base_text[24];
	const struct timespec pause = { .tv_nsec = GATE_PAUSE_NS };
	__u64 start, longest = 0;
	struct result again;
	struct change c, last;
	struct rcase base;
	char why[900];

	*line = '\0';
	if (!baseline.nr_runs)
		return;
	if (options.slow || debug) {
		gate_line(line, b, "not_gated", "reason=\"%s%s\"",
			  options.slow ? "KSFT_MACHINE_SLOW is set" : "debug kernel: ",
			  options.slow ? "" : debug);
		return;
	}
	if (!find_baseline(b, r, &base, why, sizeof(why))) {
		char quoted[sizeof(why) + 2];

		value_quote(quoted, sizeof(quoted), why);
		gate_line(line, b, verdict_name(NOT_COMPARABLE), "reason=%s", quoted);
		b->not_comparable = options.strict;
		return;
	}

	threshold = judge_threshold(&base.r, options.threshold);
	c = judge_pair(&base.r, r, threshold);
	last = c;
	while (c.verdict == REGRESSION && !b->control && repeats < GATE_REPEATS) {
		remark("%s: %+.1f %% against the baseline, repeat %u of %u", b->name,
		       last.percent, repeats + 1, GATE_REPEATS);
		nanosleep(&pause, NULL);
		start = now();
		/* Better no verdict than one by the harness's timeout. */
		if (start + longest > deadline || !measure(b, p, deadline, true, &again) ||
		    again.rounds < r->rounds)
			break;
		if (now() - start > longest)
			longest = now() - start;
		repeats++;
		last = judge_pair(&base.r, &again, threshold);
		confirmed += last.verdict == REGRESSION;
	}
	if (c.verdict == REGRESSION && !b->control) {
		b->slower = confirmed >= GATE_CONFIRM;
		if (!b->slower) {
			c.verdict = INCONCLUSIVE;
			c.why = "not confirmed";
		}
	}
	snprintf(why, sizeof(why), "threshold=%u.%03u%% confirmed=%u/%u%s%s%s%s",
		 threshold / 1000, threshold % 1000, confirmed, repeats,
		 c.why ? " reason=\"" : "", c.why ? c.why : "", c.why ? "\"" : "",
		 c.verdict == IMPROVEMENT ? " hint=\"improvement, refresh the baseline\"" :
		 c.verdict == REGRESSION && b->control ?
		 " hint=\"every system call is slower, or the machine is\"" : "");
	gate_line(line, b, verdict_name(c.verdict),
		  "measured=%s baseline=%s change=%+.2f%% noise=%.2f%% control=%+.2f%% %s",
		  milli_format(measured, r->value), milli_format(base_text, base.r.value),
		  c.percent, c.noise, c.drift, why);
}

/**
 * bench_pin() - stay on the CPU that measures; what is made there is near it
 */
void bench_pin(void)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (!sched_setaffinity(0, sizeof(set), &set))
		return;
	results_record("warning text=\"not pinned to CPU %d: %s\"", cpu, strerror(errno));
	cpu = -1;
}

/* The first case to come, in whichever process, begins the run. */
static void begin(void)
{
	char settings[64];

	snprintf(settings, sizeof(settings), "rounds=%u device=%s", options.rounds,
		 options.device == DEVICE_PATH ? "named" :
		 options.device == DEVICE_LOOP ? "loop" :
		 options.device == DEVICE_BRD ? "brd" : "auto");
	if (results_start(program_invocation_short_name, settings, &machine) && options.trace)
		results_record("warning text=\"FSBENCH_TRACE=1, but there are no trace cases\"");
}

static void case_name(char *buf, size_t size, const char *fixture, const char *variant,
		      const char *test)
{
	snprintf(buf, size, "%s%s%s.%s", fixture, *variant ? "." : "", variant, test);
}

/**
 * bench_run() - measure one case, prove its answers, report it, gate it
 *
 * The outcome is in @b: unexpected_results, slower, not_comparable.
 *
 * Return: false if it could not be measured or recorded.
 */
bool bench_run(struct bench *b, const char *fixture, const char *variant, const char *test)
{
	static char tasks[RECORD_MAX / 2];
	__u64 deadline = now() + CASE_NS;
	static bool measured_one;
	struct plan plan = { .nr_tasks = 1 };
	char line[RECORD_MAX];
	struct result r;
	bool ok;

	case_name(b->name, sizeof(b->name), fixture, variant, test);
	begin();
	if (measured_one) {
		remark("%s: one BENCH() a test, and this is the second", b->name);
		return false;
	}
	measured_one = true;
	bench_pin();
	/* What this opens is open then: no descriptor of a workload changes its number. */
	machine_steal_ticks(cpu);

	reference.fn = b->reference;
	reference.arg = b->arg;
	reference.phase = "reference ";
	ok = !b->second_thread || tasks_second_thread(b);
	ok = ok && (b->memory ? plan_memory(b, &plan) : plan_time(b, &plan)) && warm_up(b, &plan);
	*line = '\0';
	if (ok) {
		ok = measure(b, &plan, deadline, false, &r);
		if (ok && !b->unexpected_results) {
			describe_tasks(tasks, sizeof(tasks), &plan, &r);
			gate(b, &plan, &r, deadline, line);
		}
		ok = ok && !*b->why && !b->unexpected_results && prove(b, &plan);
	}
	if (plan.tasks && !tasks_end(plan.tasks))
		ok = false;
	if (b->unexpected_results)
		report_wrong(b);
	else if (ok)
		report(b, &plan, &r, tasks);
	else
		results_case("fail %s reason=\"%s\"", b->name, b->why);
	if (ok && *line && !b->unexpected_results)
		results_record("%s", line);
	return (ok || b->unexpected_results) && !results_failed();
}

/**
 * bench_not_run() - the case was not measured; the results say why
 *
 * @what: "skip" if it cannot be had here, "fail" if it should be had
 */
void bench_not_run(const char *what, const char *fixture, const char *variant,
		   const char *test, const char *reason)
{
	char name[CASE_NAME_MAX], quoted[512];

	case_name(name, sizeof(name), fixture, variant, test);
	value_quote(quoted, sizeof(quoted), reason);
	begin();
	results_case("%s %s reason=%s", what, name, quoted);
}

static void finish(void)
{
	scratch_cleanup();
	results_end();
}

__printf(1, 2)
static void bail_out(const char *fmt, ...)
{
	char line[1024], *s;
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	/* It may quote a file name, which may hold anything. */
	for (s = line; *s; s++)
		if (*s < ' ' || *s > '~')
			*s = '?';
	printf("TAP version 13\nBail out! %s\n", line);
	exit(1);
}

/* A baseline that grows by each run would follow a regression. */
static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/*
 * Before main(), because main() is the harness's: read the options, refuse what
 * cannot be meant, and only then create the one file that was asked for.
 */
__attribute__((constructor))
static void fsbench_init(void)
{
	char err[600];
	int fd;

	/* A file of ours must not become somebody's standard output. */
	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);

	if (options_read(&options, err, sizeof(err)))
		bail_out("%s", err);
	if (scratch_configure(&options, err, sizeof(err)))
		bail_out("%s", err);
	if (options.baseline &&
	    (results_read(options.baseline, &baseline, err, sizeof(err)) ||
	     results_complete(&baseline, err, sizeof(err))))
		bail_out("FSBENCH_BASELINE=\"%s\": %s", options.baseline, err);
	if (options.results && options.baseline && same_file(options.results, options.baseline))
		bail_out("FSBENCH_BASELINE and FSBENCH_RESULTS are one file, \"%s\"",
			 options.baseline);
	if (results_open(options.results, err, sizeof(err)))
		bail_out("FSBENCH_RESULTS: %s", err);
	/* Too large a file is an error, not a signal. */
	signal(SIGXFSZ, SIG_IGN);

	/* Every process of this program goes when its parent does. */
	pthread_atfork(die_prepare, NULL, die_with_parent);
	cpu = options.cpu >= 0 ? options.cpu : machine_pick_cpu(&options.allowed);
	fp_read(&machine, cpu);
	/* Few operations a batch are not the same measurement. */
	if (options.ops)
		fp_set(&machine, "suite.ops", "%lu", options.ops);
	if (options.icount)
		fp_set(&machine, KEY_UNIT, UNIT_INSTRUCTIONS);
	atexit(finish);
}
