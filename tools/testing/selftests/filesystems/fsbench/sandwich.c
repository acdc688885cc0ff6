// SPDX-License-Identifier: GPL-2.0
/*
 * The judge of control -> patched -> control runs: the statistics.
 *
 * What a boot measures differs from the next boot of the same kernel by more than
 * its rounds say, so a boot is one sample, however many rounds it has. A patched
 * boot is compared with the mean of the controls before and after it, which takes
 * a steady drift of the machine out.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "options.h"
#include "sandwich.h"

/*
 * Standard deviation of a boot, ln, where nothing better is known: that of the
 * control pairs in the reports this grew from (drift RMS 1.17 %).
 */
#define BOOT_SIGMA		0.0083
/* That of several tasks, between runs: they contend in one pattern or another. */
#define BOOT_SIGMA_TASKS	0.10
/* Stored control pairs that make the noise of one sandwich known. */
#define PAIRS_NEEDED		10
/* Sandwiches that, with as many pairs, tell 1 % from nothing: see "make simulate". */
#define SANDWICHES_SETTLE	3
/* From so many sandwiches on the median stands for them, not the mean. */
#define MEDIAN_FROM		5
/* Levels: of one case, both sides, and of all together. */
#define ALPHA			0.01
#define ALPHA_FAMILY		0.05
/* Quantile of what must be added to a limit so that a change goes beyond it. */
#define FOUND			0.95
/*
 * Counted instructions are exact from boot to boot, even where the rounds of each
 * differ a little. But where these differ by more than 0.3 % the same work meets the
 * memory in another state each time, and so it does on another kernel: on kernels
 * that treat them alike cold inodes of ext4 counted 2 % apart, of btrfs 0.24 %.
 */
#define COUNTED_WITHIN		0.001
/* A change so much larger than the drift is not the drift's. */
#define DRIFT_DWARFED		10
/* Thousandths of a percent: what is worth a verdict. */
#define THRESHOLD_MEASURED	2000
#define THRESHOLD_SETTLED	1000
#define THRESHOLD_BOUND		5000
#define SANDWICHES_MAX		(SANDWICH_BOOTS_MAX / 2)

/**
 * ln_percent() - a difference of logarithms as a percentage
 */
double ln_percent(double ln)
{
	return 100 * expm1(ln);
}

/**
 * sandwich_role() - "control A", "patched", ...
 */
const char *sandwich_role(const struct sandwich *s, unsigned int boot, char buf[24])
{
	if (s->nr_boots == 3 && boot == 1)
		snprintf(buf, 24, "patched");
	else if (s->nr_boots == 3)
		snprintf(buf, 24, "control %c", boot ? 'B' : 'A');
	else
		snprintf(buf, 24, "%s %u", boot & 1 ? "patched" : "control", boot / 2 + 1);
	return buf;
}

/**
 * sandwich_threshold() - thousandths of a percent that a change of a case must reach
 */
unsigned int sandwich_threshold(const struct sandwich *s, const struct sandwich_case *c)
{
	static const unsigned int by_noise[] = {
		[NOISE_MEASURED] = THRESHOLD_MEASURED,
		[NOISE_SETTLED] = THRESHOLD_SETTLED,
		[NOISE_BOUND] = THRESHOLD_BOUND,
		[NOISE_COUNTED] = THRESHOLD_COUNTED,
	};

	if (c->unit == UNIT_MEMORY)
		return c->memory_threshold;
	return s->threshold ? s->threshold : by_noise[c->e.noise];
}

static double delta_of(double a, double patched, double b)
{
	return log(patched / ((a + b) / 2));
}

/**
 * sandwich_delta() - ln of patched over the mean of its two controls
 *
 * The arithmetic mean, as people compute it: it differs from the geometric one by
 * an eighth of the squared drift, 0.001 % at a drift of 1 %.
 */
double sandwich_delta(const struct boot_value *boot, unsigned int sandwich)
{
	const struct boot_value *b = boot + 2 * sandwich;

	return delta_of(b[0].time, b[1].time, b[2].time);
}

static int cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The mean of a few sandwiches; the median of many, lest one bad boot decides. */
static double middle(double *delta, unsigned int k)
{
	double sum = 0;
	unsigned int i;

	if (k >= MEDIAN_FROM) {
		qsort(delta, k, sizeof(*delta), cmp_double);
		return (delta[(k - 1) / 2] + delta[k / 2]) / 2;
	}
	for (i = 0; i < k; i++)
		sum += delta[i];
	return sum / k;
}

/*
 * The variance of a median over that of a mean: 1.434 for 5 normal values, 1.473
 * for 7, pi/2 for many; David and Nagaraja, "Order Statistics", 3rd ed., chapter 4.
 */
static double median_factor(unsigned int k)
{
	return k < MEDIAN_FROM ? 1 : M_PI_2 - 0.69 / k;
}

/*
 * Variance of the estimate in units of a boot's. Of one sandwich it is 1 + 1/4 +
 * 1/4. Neighbours share a control, so that of a mean of k is not 1.5 / k: the inner
 * controls weigh 1/k, the outer ones 1/2k.
 */
static double variance_factor(unsigned int k)
{
	return (2.0 * k - 0.5) / ((double)k * k) * median_factor(k);
}

static double within_boots(const struct boot_value *boot, unsigned int k)
{
	double sum = 0, weight;
	unsigned int i;

	for (i = 0; i <= 2 * k; i++) {
		weight = i && i < 2 * k ? 1.0 / k : 0.5 / k;
		sum += weight * weight * boot[i].within * boot[i].within;
	}
	return sqrt(sum * median_factor(k));
}

/*
 * What is left of the boots after the level of each kernel and a straight drift:
 * 2k + 1 values less 3 parameters. The levels and the drift can be fitted apart,
 * because both kernels have the middle of the run as their middle.
 */
static double residual_squares(const struct boot_value *boot, unsigned int k)
{
	double mean[2] = { 0 }, slope = 0, squares = 0, sum = 0, r;
	unsigned int i;
	int t;

	for (i = 0; i <= 2 * k; i++)
		mean[i & 1] += log(boot[i].time) / (k + !(i & 1));
	for (i = 0; i <= 2 * k; i++) {
		t = (int)i - (int)k;
		slope += t * (log(boot[i].time) - mean[i & 1]);
		squares += (double)t * t;
	}
	slope /= squares;
	for (i = 0; i <= 2 * k; i++) {
		r = log(boot[i].time) - mean[i & 1] - slope * ((int)i - (int)k);
		sum += r * r;
	}
	return sum;
}

/**
 * sandwich_reach() - how far chance takes the estimate, one-sided, with probability @p
 *
 * The interval is never narrower than the one within the boots, of which there are
 * samples enough for the normal distribution.
 */
double sandwich_reach(const struct estimate *e, double p)
{
	return fmax(stats_t_quantile(p, e->df) * e->se, stats_t_quantile(p, 0) * e->within);
}

/* A p-value that knows of a noise of nothing: any difference is one. */
static double tail(double delta, double se, unsigned int df)
{
	if (!se)
		return delta ? 0 : 1;
	return stats_t_tail(fabs(delta) / se, df);
}

static double p_value(const struct estimate *e)
{
	return fmax(tail(e->delta, e->se, e->df), tail(e->delta, e->within, 0));
}

/**
 * sandwich_estimate() - how much patched boots differ from control boots
 *
 * The noise of a boot comes from stored control pairs, each of which varies by twice
 * a boot's variance, and from what several sandwiches leave unexplained. Where
 * these do not suffice it is bounded from below.
 *
 * @boot: @nr_boots, odd and at least 3, in order, each with a time
 * @nr_pairs: stored control pairs; @squares: sum of the squares of their ln ratios
 * @counted: instructions: there is no noise but what the controls show
 */
void sandwich_estimate(const struct boot_value *boot, unsigned int nr_boots,
		       unsigned int nr_pairs, double squares, bool counted,
		       struct estimate *e)
{
	unsigned int i, k = nr_boots / 2;
	double delta[SANDWICHES_MAX], factor = sqrt(variance_factor(k));
	double sigma, d;

	memset(e, 0, sizeof(*e));
	for (i = 0; i < k; i++) {
		delta[i] = sandwich_delta(boot, i);
		d = log(boot[2 * i + 2].time / boot[2 * i].time);
		if (fabs(d) > fabs(e->drift))
			e->drift = d;
	}
	e->delta = middle(delta, k);

	if (counted) {
		e->noise = NOISE_COUNTED;
		e->se = fabs(e->drift) * M_SQRT1_2 * factor;
		e->within = within_boots(boot, k);
		if (e->within < COUNTED_WITHIN)
			e->within = 0;
		e->drift_limit = log1p(THRESHOLD_COUNTED / 100000.0);
		return;
	}
	if (nr_pairs >= PAIRS_NEEDED || k > 1) {
		e->noise = nr_pairs >= PAIRS_NEEDED && k >= SANDWICHES_SETTLE ?
			   NOISE_SETTLED : NOISE_MEASURED;
		e->df = nr_pairs + 2 * k - 2;
		sigma = sqrt((squares / 2 + (k > 1 ? residual_squares(boot, k) : 0)) / e->df);
	} else {
		e->noise = NOISE_BOUND;
		sigma = nr_pairs ? sqrt(squares / 2 / nr_pairs) : 0;
		sigma = fmax(sigma, BOOT_SIGMA);
	}
	e->se = sigma * factor;
	e->within = within_boots(boot, k);
	e->drift_limit = sandwich_reach(e, 1 - ALPHA / 2 / k) * M_SQRT2 / factor;
	if (e->noise == NOISE_BOUND)
		e->se = fmax(e->se, fabs(e->drift) * M_SQRT1_2 * factor);
}

/* Where the noise of a boot is not known, that of several tasks may be larger. */
static void widen_for_tasks(struct estimate *e, unsigned int k)
{
	double factor = sqrt(variance_factor(k));

	if (e->noise != NOISE_BOUND)
		return;
	e->se = fmax(e->se, BOOT_SIGMA_TASKS * factor);
	e->drift_limit = sandwich_reach(e, 1 - ALPHA / 2 / k) * M_SQRT2 / factor;
}

/**
 * sandwich_skip_first() - the same difference without the first round of each boot
 *
 * Return: false if a boot has no such rounds.
 */
bool sandwich_skip_first(const struct boot_value *boot, unsigned int nr_boots,
			 double *delta, double *drift)
{
	double all[SANDWICHES_MAX], d;
	unsigned int i, k = nr_boots / 2;

	for (i = 0; i < nr_boots; i++)
		if (!boot[i].skip_first)
			return false;
	*drift = 0;
	for (i = 0; i < k; i++, boot += 2) {
		all[i] = delta_of(boot[0].skip_first, boot[1].skip_first, boot[2].skip_first);
		d = log(boot[2].skip_first / boot[0].skip_first);
		if (fabs(d) > fabs(*drift))
			*drift = d;
	}
	*delta = middle(all, k);
	return true;
}

/* The level of one case in a family: the first step of Holm's. */
static double strict_level(const struct sandwich *s)
{
	return s->nr_family > ALPHA_FAMILY / ALPHA ? ALPHA_FAMILY / s->nr_family : ALPHA;
}

/*
 * How many more boots would make a change of this size, or of the threshold if
 * it is larger, stand out, should the noise stay as it is.
 */
static unsigned int more_boots(const struct sandwich *s, const struct sandwich_case *c)
{
	double limit = log1p(sandwich_threshold(s, c) / 100000.0), scale;
	unsigned int k = s->nr_boots / 2, more;
	struct estimate e = c->e;

	limit = fmax(limit, fabs(e.delta));
	e.se = fmax(e.se, fabs(e.drift) * M_SQRT1_2 * sqrt(variance_factor(k)));
	for (more = 1; k + more <= SANDWICHES_MAX; more++) {
		scale = sqrt(variance_factor(k + more) / variance_factor(k));
		/* The noise of several sandwiches would be known, if only just. */
		if (e.noise == NOISE_BOUND)
			e.df = 2 * (k + more) - 2;
		else if (e.df)
			e.df = c->e.df + 2 * more;
		if (sandwich_reach(&e, 1 - strict_level(s) / 2) * scale <= limit)
			return 2 * more;
	}
	return 0;
}

static void inconclusive(struct sandwich_case *c, const char *fmt, double a, double b)
{
	c->verdict = INCONCLUSIVE;
	snprintf(c->note, sizeof(c->note), fmt, a, b);
}

/* Alone it would be a change, among so many cases it may be none. */
static void not_in_family(const struct sandwich *s, struct sandwich_case *c)
{
	inconclusive(c, "as one of %.0f cases this may be chance", s->nr_family, 0);
	c->one_of_many = true;
}

/* In thousandths of a percent, like a threshold. */
static double change_size(const struct sandwich_case *c)
{
	return fabs(ln_percent(c->e.delta)) * 1000;
}

/* One case whose p is corrected for the family, unless it is the control. */
static void judge_case(const struct sandwich *s, struct sandwich_case *c, double raw)
{
	double gap = 0, limit, needed;
	unsigned int i;

	for (i = 0; i < s->nr_boots; i++)
		gap = fmax(gap, c->boot[i].gap);
	limit = log1p(sandwich_threshold(s, c) / 100000.0);
	needed = fmax(limit, sandwich_reach(&c->e, 1 - strict_level(s) / 2));
	if (c->e.noise == NOISE_BOUND)
		needed = fmax(needed, log1p(THRESHOLD_BOUND / 100000.0));
	c->seen = ln_percent(needed + sandwich_reach(&c->e, FOUND));

	if (*c->note)	/* disturbed */
		c->verdict = INCONCLUSIVE;
	else if (gap > limit && fabs(c->e.delta) <= gap)
		inconclusive(c, "the rounds have two modes, %.1f %% apart", ln_percent(gap), 0);
	else if (fabs(c->e.drift) > c->e.drift_limit &&
		 fabs(c->e.delta) < DRIFT_DWARFED * fabs(c->e.drift))
		inconclusive(c, "the controls drift by %+.2f %%, beyond their limit of %.2f %%",
			     ln_percent(c->e.drift), ln_percent(c->e.drift_limit));
	else if (change_size(c) < sandwich_threshold(s, c) ||
		 (raw > ALPHA && c->e.noise != NOISE_BOUND))
		c->verdict = NO_CHANGE;
	else if (c->e.noise == NOISE_BOUND && (raw > ALPHA || change_size(c) < THRESHOLD_BOUND))
		inconclusive(c, "not known how much boots differ here, %+.2f %% may be chance",
			     ln_percent(c->e.delta), 0);
	else if (c->p <= ALPHA_FAMILY)
		c->verdict = c->e.delta > 0 ? REGRESSION : IMPROVEMENT;
	else
		not_in_family(s, c);
}

/* If the call that no filesystem touches has moved, the machine has; memory does not. */
static void judge_control(struct sandwich *s, const struct sandwich_case *control)
{
	unsigned int i;

	if (control->verdict != REGRESSION && control->verdict != IMPROVEMENT)
		return;
	for (i = 0; i < s->nr_cases; i++) {
		struct sandwich_case *c = &s->cases[i];

		if (!c->estimated || c->unit != UNIT_TIME ||
		    strcmp(c->program, control->program))
			continue;
		inconclusive(c, "the control call moved by %+.2f %%",
			     ln_percent(control->e.delta), 0);
		c->one_of_many = false;
	}
}

/*
 * Beside a gain of several tasks a loss of one is one if its interval is beyond none:
 * it is asked of this case alone, not of so many, nor of what is worth a verdict.
 */
static bool is_loss(const struct sandwich_case *one)
{
	return one->verdict == REGRESSION || (one->e.delta > 0 && one->one_of_many) ||
	       (one->verdict == NO_CHANGE && one->e.delta > sandwich_reach(&one->e, 0.975));
}

/* A case by one task and one by several: a gain of several never stands alone. */
static void judge_scope(struct sandwich *s, struct sandwich_case *several,
			struct sandwich_case *one)
{
	if (one && is_loss(one)) {
		one->verdict = REGRESSION;
		snprintf(one->note, sizeof(one->note),
			 "the gain at %u tasks hides a single-task loss", several->tasks);
		snprintf(several->note, sizeof(several->note),
			 "a gain at %u tasks, which hides a single-task loss", several->tasks);
		s->nr_hidden++;
	} else if (!one || one->verdict != IMPROVEMENT) {
		snprintf(several->note, sizeof(several->note),
			 "a gain at %u tasks only; one task: %s", several->tasks,
			 verdict_title(one ? one->verdict : NOT_MEASURED));
	}
}

static void judge_pairs(struct sandwich *s)
{
	struct sandwich_case *one;
	unsigned int i, j;

	for (i = 0; i < s->nr_cases; i++) {
		struct sandwich_case *c = &s->cases[i];

		if (c->tasks < 2 || c->verdict != IMPROVEMENT)
			continue;
		for (j = 0, one = NULL; j < s->nr_cases && !one; j++)
			if (judge_is_pair(s->cases[j].name, c->name) &&
			    !strcmp(s->cases[j].program, c->program))
				one = &s->cases[j];
		judge_scope(s, c, one);
	}
}

/* Those of earlier sandwiches, not of this one if it is judged again. */
static unsigned int stored_pairs(const struct sandwich *s, const struct sandwich_case *c,
				 double *squares)
{
	unsigned int i, j, nr, n = 0;
	const struct pair *p;

	*squares = 0;
	if (!s->calibration)
		return 0;
	p = calibration_find(s->calibration, calibration_key(c->digest, c->name), &nr);
	for (i = 0; i < nr; i++) {
		for (j = 2; j < s->nr_boots; j += 2)
			if (p[i].boots == calibration_boots(s->boot_id[j - 2], s->boot_id[j]))
				break;
		if (j < s->nr_boots)
			continue;
		*squares += p[i].ln_ratio * p[i].ln_ratio;
		n++;
	}
	return n;
}

/**
 * sandwich_judge() - reach a verdict on every case, once all boots are there
 */
void sandwich_judge(struct sandwich *s)
{
	double **family = calloc(s->nr_cases + 1, sizeof(*family));
	double *raw = calloc(s->nr_cases + 1, sizeof(*raw));
	struct sandwich_case *c;
	unsigned int i, nr_pairs;
	double squares;

	if (!family || !raw) {
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	for (i = 0; i < s->nr_cases; i++) {
		c = &s->cases[i];
		sandwich_incomplete(s, c);
		if (!c->estimated)
			continue;
		nr_pairs = stored_pairs(s, c, &squares);
		sandwich_estimate(c->boot, s->nr_boots, nr_pairs, squares,
				  s->counted || c->unit == UNIT_MEMORY, &c->e);
		if (c->unit == UNIT_MEMORY) {
			c->e.noise = NOISE_MEMORY;
			c->e.within = within_boots(c->boot, s->nr_boots / 2);
			c->e.drift_limit = log1p(c->memory_threshold / 100000.0);
		}
		if (c->tasks > 1)
			widen_for_tasks(&c->e, s->nr_boots / 2);
		c->p = p_value(&c->e);
		raw[i] = c->p;
		if (!c->control)
			family[s->nr_family++] = &c->p;
	}
	stats_holm(family, s->nr_family);
	for (i = 0; i < s->nr_cases; i++)
		if (s->cases[i].estimated)
			judge_case(s, &s->cases[i], raw[i]);
	for (i = 0; i < s->nr_cases; i++)
		if (s->cases[i].control && s->cases[i].estimated)
			judge_control(s, &s->cases[i]);
	judge_pairs(s);
	for (i = 0; i < s->nr_cases; i++) {
		c = &s->cases[i];
		if (c->estimated && c->verdict == INCONCLUSIVE)
			c->more_boots = more_boots(s, c);
	}
	free(family);
	free(raw);
}
