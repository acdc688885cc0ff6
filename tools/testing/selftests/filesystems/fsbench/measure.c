// SPDX-License-Identifier: GPL-2.0
/*
 * Measuring one case: calibration, a checked warm-up, rounds of short batches, and a
 * ledger of what disturbed them.
 *
 * Nothing makes a system call faster, many things make it slower for a moment.
 * So the headline is the lower quartile of many short batches, and a batch in
 * which the task lost its CPU is not used at all.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "activity.h"
#include "measure.h"
#include "memory.h"
#include "scratch.h"
#include "tasks.h"

/* A batch is no shorter than this, so that few of them fill a round... */
#define BATCH_NS	8000ull
/* ...and a round is at most this long, unless the operation is slower. */
#define ROUND_NS	10000000ull
#define ROUND_BATCHES	4096ul
/*
 * Where the clock counts instructions: always this many operations, or a whole cycle
 * of a workload whose operations differ, lest a quantile lies between two kinds. The
 * kernel makes random numbers for its own use, as for each transaction of xfs, 24 at
 * a time (batch_u32 of drivers/char/random.c); such a batch takes as many stocks as
 * an operation takes numbers, wherever it begins.
 */
#define ICOUNT_BATCH	24ul
/* The time stolen by a hypervisor is looked at this often. */
#define STEAL_NS	2000000ull
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

static struct bench reference;		/* what this case is compared with */
static int watch_error;			/* why nobody can tell what disturbed us */

/*
 * The samples of all rounds and the ledger. Samples: ns/op in thousandths. Those
 * of undisturbed batches grow from the front, the others from the back.
 */
struct samples {
	__u64 *v;
	size_t cap, nr, nr_other;
	__u64 ns, ops;			/* of the undisturbed ones; tasks: in thousandths */
	__u64 all_ops;
	__u64 unfit_ops;		/* of them, in batches that were something else */
	__u64 batches, preempted, migrated, stolen;
	__u64 control[ROUNDS_MAX * CONTROL_BATCHES];
	size_t nr_control;
	__u64 reference[ROUNDS_MAX * REFERENCE_BATCHES];
	size_t nr_reference;
	__u64 commits;			/* while rounds were timed, or unknown */
};

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

static bool batch_fits(struct bench *b, unsigned long ops)
{
	bool fits;

	if (!b->after_batch || b->unexpected_results)
		return true;
	b->phase = "after ";
	errno = 0;
	fits = b->after_batch(b, ops);
	b->phase = NULL;
	return fits;
}

static __u64 prepare_and_run(struct bench *b, unsigned long ops)
{
	__u64 took;

	prepare_batch(b, ops);
	took = run_batch(b, ops);
	batch_fits(b, ops);
	return took;
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
	unsigned long ops = suite.options.ops ? suite.options.ops : b->ops, limit, batch;
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
	if (suite.options.icount) {
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
	if (!suite.options.ops && p->ops > CASE_NS / 16 / each)
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
	if (suite.options.icount) {
		/*
		 * Rounds are alike: each batch comes once in each of them. The quartile
		 * has to lie among those, not where they and the next ones meet.
		 */
		if (p->batches % 4 == 0)
			p->batches--;
		p->ops = batch * p->batches;
	}
	p->batch = batch_ops(p, 0);
	/* The harness would kill the case in the middle of its first round. */
	if (each * p->ops > CASE_NS / 4) {
		snprintf(b->why, sizeof(b->why),
			 "%s%lu operations a round take %llu s, more than %llu",
			 suite.options.ops ? "FSBENCH_OPS: " : "", p->ops,
			 each * p->ops / NSEC_PER_SEC, CASE_NS / 4 / NSEC_PER_SEC);
		return false;
	}
	return true;
}

static bool plan_time(struct bench *b, struct plan *p)
{
	p->rounds = suite.options.rounds;
	call_hook(b, b->before_round);
	return calibrate(b, p);
}

/* As many files as the suite says: few of them would be chance. */
static bool plan_memory(struct bench *b, struct plan *p)
{
	unsigned int most = suite.options.icount ? MEMORY_ICOUNT : MEMORY_ROUNDS;

	p->rounds = suite.options.rounds < most ? suite.options.rounds : most;
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
	__u64 ticks, steal = machine_steal_ticks(suite.cpu), looked = now();
	__u64 ns = 0, ops = 0, took, sample;
	struct watch before, after;
	size_t stretch = s->nr;
	unsigned long i, n;
	bool fits;

	look(&before);
	for (i = 0; i < p->batches && !b->unexpected_results; i++) {
		n = batch_ops(p, i);
		prepare_batch(b, n);
		if (b->before_batch || b->after_batch)
			look(&before);
		took = run_batch(b, n);
		look(&after);
		sample = took * 1000 / n;
		fits = batch_fits(b, n);
		s->batches += fits;
		if (!fits) {
			s->unfit_ops += n;
		} else if (after.cpu != before.cpu || (suite.cpu >= 0 && after.cpu != suite.cpu)) {
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
		ticks = machine_steal_ticks(suite.cpu);
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

/* Thousandths of a nanosecond between two operations of any task. */
static __u64 slice_sample(const struct tasks_slice *slice)
{
	/* One, if none came to an end. */
	return later(slice->ns * 1000000 / later(slice->milli_ops, 1000), 1);
}

/* Undisturbed slices of the last round count as to how fair it was. */
static void count_slices(const struct plan *p)
{
	struct tasks_slice slice;
	unsigned int i;

	for (i = 0; i < p->batches; i++)
		if (tasks_slice(p->tasks, i, &slice) && !slice.migrated && !slice.preempted)
			tasks_count_slice(p->tasks, i);
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
			break;
		sample = slice_sample(&slice);
		s->batches++;
		if (slice.migrated) {
			add_other(s, sample, &s->migrated);
		} else if (slice.preempted) {
			add_other(s, sample, &s->preempted);
		} else {
			s->v[s->nr++] = sample;
			ns += slice.ns * 1000;
			ops += slice.milli_ops;
		}
	}
	s->all_ops = tasks_total(p->tasks);
	if (machine_steal_ticks(-1) != steal) {
		put_aside(s, from);
		return;
	}
	s->ns += ns;
	s->ops += ops;
	count_slices(p);
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
	s->all_ops += p->ops - s->unfit_ops;
	s->unfit_ops = 0;
}

/**
 * measure() - all rounds of a case; they go to the results file
 *
 * @deadline: when the last round has to end
 * @repeat: this only repeats a measurement: no rounds in the file
 * @r: receives what comes out
 * Return: false if nothing does; the reason is in @b.
 */
bool measure(struct bench *b, const struct plan *p, __u64 deadline, bool repeat,
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
	if (!s.nr && !s.nr_other && !b->memory && !b->unexpected_results) {
		snprintf(b->why, sizeof(b->why), "no batch was what the case says");
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
		r->mean = s.ops ? s.ns * 1000 / s.ops : r->median;
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
				v[nr++] = slice_sample(&slice);
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

	if (b->before_batch || b->after_batch) {
		snprintf(b->why, sizeof(b->why), "several tasks cannot look at each batch");
		return false;
	}
	p->limit = suite.options.ops ? suite.options.ops : b->ops;
	p->nr_tasks = bench_tasks();
	p->slice_ns = SLICE_NS;
	p->batches = TASKS_SLICES;
	p->tasks = tasks_start(b, p->nr_tasks, &suite.options.allowed, suite.cpu, p->batch);
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

/**
 * measure_prepare() - plan a case, and warm it up: a round, checked like any other
 *
 * Return: false after a wrong answer, or if it cannot be measured; the reason is in @b.
 */
bool measure_prepare(struct bench *b, struct plan *p)
{
	reference.fn = b->reference;
	reference.arg = b->arg;
	reference.phase = "reference ";
	if (b->second_thread && !tasks_second_thread(b))
		return false;
	return (b->memory ? plan_memory(b, p) : plan_time(b, p)) && warm_up(b, p);
}

/**
 * measure_end() - let the tasks go
 *
 * Return: false if one of them did not end well.
 */
bool measure_end(const struct plan *p)
{
	return !p->tasks || tasks_end(p->tasks);
}

/**
 * measure_prove() - the proof of the result, once more at the end
 *
 * Return: false if it is wrong.
 */
bool measure_prove(struct bench *b, const struct plan *p)
{
	if (p->tasks)
		return tasks_prove(p->tasks);
	call_hook(b, b->prove);
	return !b->unexpected_results;
}
