// SPDX-License-Identifier: GPL-2.0
/*
 * The judge: are two measurements comparable, and is one slower?
 */
#include <stdlib.h>
#include <string.h>

#include "judge.h"

/* More than this share of the batches disturbed: not to be relied on. */
#define DISTURBED_PERCENT	20

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
	return r->disturbed * 100 > r->batches * DISTURBED_PERCENT;
}

/**
 * judge_pair() - one measurement against one baseline
 *
 * A change counts if it is larger than the threshold and if the two intervals
 * do not overlap; then noise is the change at which they would touch. "No change"
 * needs intervals that would have shown one of the size of the threshold, in
 * either direction. One round has no interval and proves nothing.
 *
 * @threshold: thousandths of a percent
 */
struct change judge_pair(const struct result *base, const struct result *new,
			 unsigned int threshold)
{
	double diff = (double)new->value - (double)base->value;
	double limit = threshold / 1000.0, slower, faster;
	struct change c;

	/* What the intervals allow for in front of a rise, and of a fall. */
	slower = (double)(new->value - new->low) + (double)(base->high - base->value);
	faster = (double)(new->high - new->value) + (double)(base->value - base->low);
	c.percent = 100 * diff / base->value;
	if (c.percent > limit) {
		c.noise = 100 * slower / base->value;
		c.verdict = c.percent > c.noise ? REGRESSION : INCONCLUSIVE;
	} else if (-c.percent > limit) {
		c.noise = 100 * faster / base->value;
		c.verdict = -c.percent > c.noise ? IMPROVEMENT : INCONCLUSIVE;
	} else {
		c.noise = 100 * (slower > faster ? slower : faster) / base->value;
		c.verdict = c.noise > limit ? INCONCLUSIVE : NO_CHANGE;
	}
	if (judge_disturbed(base) || judge_disturbed(new) || !base->confidence ||
	    !new->confidence)
		c.verdict = INCONCLUSIVE;
	return c;
}

static void list_difference(char *buf, size_t size, const char *name, const char *a,
			    const char *b)
{
	size_t len = strlen(buf);

	snprintf(buf + len, size - len, "%s%s (%s, %s)", len ? "; " : "", name, a, b);
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
			    (other && !strcmp(other, k->value)))
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

static const char *case_key(const struct fp_key *keys, unsigned int nr, const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (!strcmp(keys[i].name, name))
			return keys[i].value;
	return "none";
}

/**
 * judge_case_keys() - the same for what the line of a case says
 */
unsigned int judge_case_keys(const struct fp_key *a, unsigned int nr_a,
			     const struct fp_key *b, unsigned int nr_b,
			     char *buf, size_t size)
{
	unsigned int i, n = 0;

	*buf = '\0';
	for (i = 0; i < ARRAY_SIZE(case_must); i++) {
		const char *va = case_key(a, nr_a, case_must[i]);
		const char *vb = case_key(b, nr_b, case_must[i]);

		if (!strcmp(va, vb))
			continue;
		n++;
		list_difference(buf, size, case_must[i], va, vb);
	}
	return n;
}

/**
 * judge_merge() - one measurement of a case out of all runs of a file
 *
 * Runs of the same kernel differ by more than the interval of one run says.
 * Where a file holds several of a program, the median stands for them and the
 * interval reaches from the lowest to the highest. Any wrong answer counts.
 *
 * @merged: the figures and keys of the last run, with the above; its arrays
 * belong to @res
 * @run: the last run that has the case
 * @mixed: receives the keys in which the runs differ and must not, or nothing
 * Return: false if no run has it.
 */
bool judge_merge(const struct results *res, const char *name, struct rcase *merged,
		 const struct run **run, char *mixed, size_t size)
{
	__u64 *values, low = ~0ull, high = 0;
	unsigned int i, n = 0, last = 0;
	struct rcase *c;

	*mixed = '\0';
	values = calloc(res->nr_runs, sizeof(*values));
	for (i = res->nr_runs; i-- && values; ) {
		c = run_find(&res->runs[i], name);
		if (!c || c->skipped || (n && strcmp(res->runs[i].program, (*run)->program)))
			continue;
		if (!n) {
			last = i;
			*run = &res->runs[i];
			*merged = *c;
		} else if (!c->timed) {
			*merged = *c;
		}
		values[n++] = c->r.value;
		if (c->r.low < low)
			low = c->r.low;
		if (c->r.high > high)
			high = c->r.high;
		if (!*mixed && i != last &&
		    !judge_keys(&res->runs[i].fp, &(*run)->fp, KEY_MUST, mixed, size))
			judge_case_keys(c->extra, c->nr_extra, merged->extra,
					merged->nr_extra, mixed, size);
	}
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
