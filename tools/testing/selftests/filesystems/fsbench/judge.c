// SPDX-License-Identifier: GPL-2.0
/*
 * The judge: are two measurements comparable, and is one slower?
 */
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "options.h"

/* More than this share of the batches disturbed: not to be relied on. */
#define DISTURBED_PERCENT	20
/*
 * A machine that got slower takes the control and the case with it, in proportion
 * or worse. Beyond this many percent it may as well be the entry into the kernel,
 * which adds the same time to both.
 */
#define DRIFT_PERCENT		20
/*
 * Programs differ from one run to the next, by where their memory lies and what the
 * machine did: up to this many percent in 300 pairs of runs of one kernel. As many
 * runs show it by themselves.
 */
#define RUN_PERCENT		7
/*
 * Tasks that contend fall into one of several patterns, which lasts as long as they
 * do: up to these in nearly all of 8 runs of 32 cases, 1.55 times as long or as short.
 */
#define RUN_SLOWER_TASKS	55
#define RUN_FASTER_TASKS	35
#define RUNS_ENOUGH		3
/* Thousandths of a percent of a batch: what reading the clock may cost. */
#define OVERHEAD_MAX		1000

static const struct {
	const char *name, *title;
} verdicts[] = {
	[NO_CHANGE] = { "no_change", "NO CHANGE" },
	[IMPROVEMENT] = { "improvement", "IMPROVEMENT" },
	[REGRESSION] = { "regression", "REGRESSION" },
	[INCONCLUSIVE] = { "inconclusive", "INCONCLUSIVE" },
	[NOT_COMPARABLE] = { "not_comparable", "NOT COMPARABLE" },
	[WRONG_ANSWER] = { "wrong_answer", "WRONG ANSWER" },
	[NOT_MEASURED] = { "not_measured", "NOT MEASURED" },
	[NO_BASE] = { "no_base", "NO BASE" },
};

/**
 * verdict_name(), verdict_title() - a verdict in a record, and for people
 */
const char *verdict_name(enum verdict v)
{
	return verdicts[v].name;
}

const char *verdict_title(enum verdict v)
{
	return verdicts[v].title;
}

/**
 * judge_disturbed() - were too many batches disturbed to rely on the rest?
 */
bool judge_disturbed(const struct result *r)
{
	return (double)r->disturbed * 100 > (double)r->batches * DISTURBED_PERCENT;
}

/* Return: NULL, or why nothing can be concluded from this. */
static const char *unreliable(const struct result *r)
{
	if (!r->confidence)
		return "one round has no interval";
	if (r->clock_overhead > OVERHEAD_MAX)
		return "batches so short are mostly the clock's";
	return judge_disturbed(r) ? "too many batches disturbed" : NULL;
}

/* At least so much, in percent. */
static double runs_differ(unsigned int tasks, bool slower, double noise)
{
	double least = RUN_PERCENT;

	if (tasks > 1)
		least = slower ? RUN_SLOWER_TASKS : RUN_FASTER_TASKS;
	return noise < least ? least : noise;
}

/**
 * judge_threshold() - what a change of a case must exceed
 *
 * Memory has a threshold of its own, whatever that of times is: it is a number of
 * objects, and differs only where the kernel does.
 *
 * @base: with a value above 0
 * @timed: what it is if the case was timed
 * Return: thousandths of a percent of @base.
 */
unsigned int judge_threshold(const struct result *base, unsigned int timed)
{
	__u64 share;

	if (base->unit != UNIT_MEMORY)
		return timed;
	share = THRESHOLD_BYTES * 1000 * 100000ull / base->value;
	return share > THRESHOLD_MEMORY ? share : THRESHOLD_MEMORY;
}

/**
 * judge_pair() - one measurement against one baseline
 *
 * A change counts if it is larger than the threshold and if the two intervals
 * do not overlap; then noise is the change at which they would touch. "No change"
 * needs intervals that would have shown one of the size of the threshold, in
 * either direction.
 *
 * The control that was measured beside the case says how the machine was: up to
 * twice as much as it moved in the same direction is no change of the case.
 *
 * @threshold: thousandths of a percent
 */
struct change judge_pair(const struct result *base, const struct result *new,
			 unsigned int threshold)
{
	double diff = (double)new->value - (double)base->value;
	double limit = threshold / 1000.0, slower, faster, drift, size, control, own;
	struct change c = { .drift = 0 };

	/* What the intervals allow for in front of a rise, and of a fall. */
	slower = (double)(new->value - new->low) + (double)(base->high - base->value);
	faster = (double)(new->high - new->value) + (double)(base->value - base->low);
	c.percent = 100 * diff / base->value;
	if (base->control && new->control)
		c.drift = 100 * ((double)new->control - (double)base->control) / base->control;
	drift = c.percent > 0 ? c.drift : -c.drift;
	control = (double)new->control - (double)base->control;
	/* A constant cost of every system call is no drift. */
	if (drift < 0 || (drift > DRIFT_PERCENT && diff / control < 1.5))
		drift = 0;
	size = c.percent > 0 ? c.percent : -c.percent;

	if (size > limit) {
		c.noise = 100 * (c.percent > 0 ? slower : faster) / base->value;
		own = c.noise;
		if (base->runs && base->runs < RUNS_ENOUGH)
			c.noise = runs_differ(base->tasks, c.percent > 0, own);
		c.verdict = c.percent > 0 ? REGRESSION : IMPROVEMENT;
		if (size <= c.noise)
			c.why = "within the noise";
		if (size > own && size - 2 * drift <= limit)
			c.why = "the control moved too";
		else
			c.floor = c.why && size > own;
	} else {
		c.noise = 100 * (slower > faster ? slower : faster) / base->value;
		c.verdict = NO_CHANGE;
		if (c.noise > limit)
			c.why = "noise above the threshold";
	}
	if (unreliable(base))
		c.why = unreliable(base);
	if (unreliable(new))
		c.why = unreliable(new);
	if (unreliable(base) || unreliable(new))
		c.floor = false;
	if (c.why)
		c.verdict = INCONCLUSIVE;
	return c;
}

static void list_difference(char *buf, size_t size, const char *name, const char *a,
			    const char *b)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s%s (%s, %s)", len ? "; " : "", name, a, b);
}

/* Two machines that nobody knows are not one. */
static bool must_know(const struct fp_key *k)
{
	return !strcmp(k->name, "cpu.model") && !strcmp(k->value, "unknown");
}

/**
 * judge_keys() - keys of one class in which two fingerprints differ
 *
 * A key that one side lacks differs too: a log of another version cannot be
 * taken for equal.
 *
 * @buf: receives "name (a, b); ...", cut to @size
 * Return: the number of such keys.
 */
unsigned int judge_keys(const struct fingerprint *a, const struct fingerprint *b,
			enum key_class class, char *buf, size_t size)
{
	const struct fingerprint *side[] = { a, b };
	unsigned int s, i, n = 0;

	*buf = '\0';
	for (s = 0; s < 2; s++) {
		for (i = 0; i < side[s]->nr; i++) {
			const struct fp_key *k = &side[s]->key[i];
			const char *other = fp_get(side[!s], k->name);

			if (fp_class(k->name) != class || (s && other) ||
			    (other && !strcmp(other, k->value) && !must_know(k)))
				continue;
			n++;
			list_difference(buf, size, k->name, s ? "missing" : k->value,
					s ? k->value : other ? other : "missing");
		}
	}
	return n;
}

/* What a case says of its filesystem: all of it must be equal. */
static const char * const case_must[] = { "fs", "device", "mkfs", "block", "mount", "tasks" };

/**
 * judge_case_must() - is this among the keys of a case that must be equal?
 */
bool judge_case_must(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(case_must); i++)
		if (!strcmp(case_must[i], name))
			return true;
	return false;
}

/**
 * judge_case_keys() - the same for what the line of a case says, and its unit
 */
unsigned int judge_case_keys(const struct rcase *a, const struct rcase *b, char *buf,
			     size_t size)
{
	unsigned int i, n = 0;

	*buf = '\0';
	if (a->r.unit != b->r.unit) {
		n++;
		list_difference(buf, size, "unit", unit_words[a->r.unit].each,
				unit_words[b->r.unit].each);
	}
	for (i = 0; i < ARRAY_SIZE(case_must); i++) {
		const char *va = rcase_word(a, case_must[i]);
		const char *vb = rcase_word(b, case_must[i]);

		va = va ? va : "none";
		vb = vb ? vb : "none";
		if (!strcmp(va, vb))
			continue;
		n++;
		list_difference(buf, size, case_must[i], va, vb);
	}
	return n;
}

/* Two kernels are not one, whatever else is equal. */
static bool same_kernel(const struct fingerprint *a, const struct fingerprint *b, char *buf,
			size_t size)
{
	static const char * const names[] = {
		"kernel.release", "kernel.version", "kernel.build_id"
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const char *va = fp_get(a, names[i]), *vb = fp_get(b, names[i]);

		if (va && vb && strcmp(va, vb)) {
			list_difference(buf, size, names[i], va, vb);
			return false;
		}
	}
	return true;
}

/**
 * judge_counted() - are the times of this run instructions?
 */
bool judge_counted(const struct run *run)
{
	const char *unit = fp_get(&run->fp, KEY_UNIT);

	return unit && !strcmp(unit, UNIT_INSTRUCTIONS);
}

/**
 * judge_merge() - one measurement of a case out of all runs of a file
 *
 * Runs of the same kernel differ by more than the interval of one run says.
 * Where a file holds several of a program, the median stands for them and the
 * interval reaches from the lowest to the highest. Any wrong answer counts.
 *
 * @program: whose case it is: all of them have the control
 * @merged: the figures and keys of the last run, with the above; its arrays
 * belong to @res
 * @run: the last run that has the case
 * @mixed: receives the keys in which the runs differ and must not, or nothing
 * Return: false if no run has it.
 */
bool judge_merge(const struct results *res, const char *program, const char *name,
		 struct rcase *merged, const struct run **run, char *mixed, size_t size)
{
	__u64 *values, low = ~0ull, high = 0;
	unsigned int i, n = 0;
	struct rcase *c;

	*mixed = '\0';
	values = calloc(res->nr_runs, sizeof(*values));
	for (i = res->nr_runs; i-- && values; ) {
		const struct run *r = &res->runs[i];

		c = strcmp(r->program, program) ? NULL : run_find(r, name);
		if (!c || c->skipped)
			continue;
		if (!n) {
			*run = r;
			*merged = *c;
		} else if (c->r.unexpected || (!c->timed && !merged->r.unexpected)) {
			*merged = *c;
		}
		values[n++] = c->r.value;
		if (c->r.low < low)
			low = c->r.low;
		if (c->r.high > high)
			high = c->r.high;
		if (!*mixed && n > 1 && same_kernel(&r->fp, &(*run)->fp, mixed, size) &&
		    !judge_keys(&r->fp, &(*run)->fp, KEY_MUST, mixed, size))
			judge_case_keys(c, merged, mixed, size);
	}
	if (n)
		merged->r.tasks = judge_tasks(merged);
	/*
	 * Neither instructions, nor those of the clock, nor the memory of a file
	 * vary from run to run.
	 */
	if (n && merged->r.unit == UNIT_TIME && !judge_counted(*run))
		merged->r.runs = n;
	else if (n)
		merged->r.clock_overhead = 0;
	if (n > 1 && merged->timed) {
		stats_sort(values, n);
		merged->r.value = stats_median(values, n);
		merged->r.low = low;
		merged->r.high = high;
		/* The range of n covers the median but for 2^(1-n). */
		if (n > 5 || !merged->r.confidence)
			merged->r.confidence = n > 16 ? 100000 : 100000 - (200000 >> n);
	}
	free(values);
	return n;
}

/**
 * judge_tasks() - how many tasks a case is of, by what its line says
 */
unsigned int judge_tasks(const struct rcase *c)
{
	const char *word = rcase_word(c, "tasks");

	/* The reader has seen to it that it is a number. */
	return word ? strtoul(word, NULL, 10) : 1;
}

/**
 * judge_is_pair() - is this one case, by one task and by several?
 *
 * Their names are equal up to the end, which is "_1" for the one.
 */
bool judge_is_pair(const char *one, const char *several)
{
	const char *a = strrchr(one, '_'), *b = strrchr(several, '_');

	return a && b && !strcmp(a, "_1") && a - one == b - several &&
	       !strncmp(one, several, a - one) && (!strcmp(b, "_n") ||
	       (b[1] && strspn(b + 1, "0123456789") == strlen(b + 1) && strcmp(b, "_1")));
}
