// SPDX-License-Identifier: GPL-2.0
/*
 * How often the judge is right: the shipped judge on simulated sandwiches.
 *
 *	simulate [SANDWICHES [FAMILIES]]
 *
 * A round takes the boot's time plus one-sided (exponential) noise, 2 % of the
 * rounds 10 % more; the boot's time is normal around the kernel's, which drifts by
 * 0.1 % a boot. A boot has 15 rounds, and their lower quartile is its time. Prints
 * one line a way of measuring, and a line "missed" for each bound that is not kept;
 * then it fails.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sandwich.h"

#define ROUNDS		15
#define FAMILY		55
#define DRIFT		0.001
#define EFFECTS		4

static const double effects[EFFECTS] = { 0, 0.02, 0.03, 0.05 };

struct way {
	const char *name;
	unsigned int boots;
	unsigned int pairs;		/* stored control pairs */
};

static const struct way ways[] = {
	{ "3 boots, not calibrated", 3, 0 },
	{ "3 boots, 10 control pairs", 3, 10 },
	{ "3 boots, 20 control pairs", 3, 20 },
	{ "3 boots, 40 control pairs", 3, 40 },
	{ "7 boots, not calibrated", 7, 0 },
	{ "7 boots, 20 control pairs", 7, 20 },
	{ "7 boots, 40 control pairs", 7, 40 },
	{ "11 boots, 20 control pairs", 11, 20 },
};

struct machine {
	double boot, round;		/* standard deviation; mean of the noise */
};

static const struct machine machines[] = {
	{ 0.0083, 0.005 }, { 0.0083, 0.02 }, { 0.0053, 0.005 }, { 0.0053, 0.02 },
};

/* Repeatable noise: splitmix64 and what is made of it. */

static __u64 seed;

static double uniform(void)
{
	__u64 z = seed += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* The rounds of a boot, in order, and what bench.c makes of them. */
static void one_boot(const struct machine *m, double level, __u64 *round, struct result *r)
{
	double time = 1000000 * exp(level + m->boot * normal()), slower;
	__u64 sorted[ROUNDS];
	struct interval in;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		slower = -m->round * log(uniform());
		if (uniform() < 0.02)
			slower += 0.1;
		round[i] = time * (1 + slower);
	}
	memcpy(sorted, round, sizeof(sorted));
	stats_sort(sorted, ROUNDS);
	in = stats_median_interval(sorted, ROUNDS);
	r->value = stats_quantile(sorted, ROUNDS, 1, 4);
	r->low = in.low < r->value ? in.low : r->value;
	r->high = in.high;
	r->confidence = in.confidence * 1000;
}

/* What a results file of one boot would be read as. */
struct boot {
	struct results results;
	struct run run;
	struct rcase cases[FAMILY];
	__u64 rounds[FAMILY][ROUNDS];
};

static struct boot *new_boot(unsigned int nr)
{
	struct boot *b = calloc(1, sizeof(*b));
	unsigned int i;

	if (!b)
		exit(2);
	b->results.nr_runs = 1;
	b->results.runs = &b->run;
	b->run.cases = b->cases;
	snprintf(b->run.program, sizeof(b->run.program), "simulate");
	fp_set(&b->run.fp, "kernel.boot_id", "%u", nr);
	for (i = 0; i < FAMILY; i++) {
		snprintf(b->cases[i].name, sizeof(b->cases[i].name), "case.%u", i);
		b->cases[i].timed = true;
		b->cases[i].nr_rounds = ROUNDS;
		b->cases[i].round = b->rounds[i];
	}
	return b;
}

static struct boot *boots[SANDWICH_BOOTS_MAX];

static __u64 case_key(unsigned int i)
{
	char name[24];

	/* The digest of a machine that says nothing of itself. */
	snprintf(name, sizeof(name), "case.%u", i);
	return calibration_key(HASH_BASIS, name);
}

static void stored_pair(const struct machine *m, struct calibration *cal, unsigned int i)
{
	struct pair pair = { .key = case_key(i), .boots = 1 };
	__u64 round[ROUNDS];
	struct result a, b;

	one_boot(m, 0, round, &a);
	one_boot(m, 2 * DRIFT, round, &b);
	pair.ln_ratio = log((double)b.value / a.value);
	calibration_add(cal, &pair);
}

/* One sandwich of so many cases, of which the first is slower when patched. */
static void sandwich(const struct machine *m, const struct way *w, unsigned int nr_cases,
		     double effect, struct sandwich *s)
{
	static struct calibration cal;
	unsigned int b, i, j;
	char err[600];

	cal.nr = 0;
	for (i = 0; i < nr_cases; i++)
		for (j = 0; j < w->pairs; j++)
			stored_pair(m, &cal, i);
	sandwich_start(s, w->boots);
	s->calibration = &cal;
	for (b = 0; b < w->boots; b++) {
		boots[b]->run.nr_cases = nr_cases;
		for (i = 0; i < nr_cases; i++)
			one_boot(m, b * DRIFT + (b & 1 && !i ? log1p(effect) : 0),
				 boots[b]->rounds[i], &boots[b]->cases[i].r);
		if (sandwich_add(s, &boots[b]->results, err, sizeof(err))) {
			fprintf(stderr, "%s\n", err);
			exit(2);
		}
	}
	sandwich_judge(s);
}

static bool called(const struct sandwich_case *c)
{
	return c->verdict == REGRESSION || c->verdict == IMPROVEMENT;
}

static bool covers(const struct sandwich_case *c, double truth)
{
	return fabs(c->e.delta - truth) <= sandwich_reach(&c->e, 0.975);
}

static int missed;

/* Beyond the bound by more than three standard errors of the simulation. */
static void bound(bool upper, double limit, double percent, unsigned int trials,
		  const char *what)
{
	double slack = 3 * sqrt(limit * (100 - limit) / trials);

	if (upper ? percent <= limit + slack : percent >= limit - slack)
		return;
	printf("missed: %s: %.2f %%\n", what, percent);
	missed = 1;
}

/* Percentages of one line of the table. */
struct line {
	double found[EFFECTS], cover, seen, family, family_found;
};

static void simulate(const struct machine *m, const struct way *w, unsigned int trials,
		     unsigned int families, struct line *l)
{
	unsigned int t, i, alarms, effect;
	double seen = 0;
	struct sandwich s;

	memset(l, 0, sizeof(*l));
	for (effect = 0; effect < EFFECTS; effect++) {
		for (t = 0; t < trials; t++) {
			sandwich(m, w, 1, effects[effect], &s);
			l->found[effect] += 100.0 * called(s.cases) / trials;
			if (!effect) {
				l->cover += 100.0 * covers(s.cases, 0) / trials;
				seen += s.cases->seen / 100 / trials;
			}
			sandwich_free(&s);
		}
	}
	/* A change as large as the judge says on average that it would find. */
	for (t = 0; t < trials; t++) {
		sandwich(m, w, 1, seen, &s);
		l->seen += 100.0 * called(s.cases) / trials;
		sandwich_free(&s);
	}
	for (t = 0; t < families; t++) {
		sandwich(m, w, FAMILY, 0, &s);
		for (i = 0, alarms = 0; i < FAMILY; i++)
			alarms += called(&s.cases[i]);
		l->family += 100.0 * !!alarms / families;
		sandwich_free(&s);
		sandwich(m, w, FAMILY, 0.05, &s);
		l->family_found += 100.0 * called(s.cases) / families;
		sandwich_free(&s);
	}
}

/*
 * The interval may be wider where the noise is only bounded, or where that within
 * the boots bounds it. With a round noise of 2 %, one sandwich needs more pairs: what
 * 20 leave unknown of the noise costs too much of what 5 % is beyond it.
 */
static void check(const struct machine *m, const struct way *w, const struct line *l,
		  unsigned int trials, unsigned int families)
{
	bool quiet = m->round < 0.01;

	bound(true, 1, l->found[0], trials, "false alarms");
	bound(true, 5, l->family, families, "false alarms in a family");
	bound(false, 94, l->cover, trials, "the interval covers");
	if (w->pairs || w->boots > 3)
		bound(true, quiet ? 97 : 98, l->cover, trials, "the interval covers");
	if (w->pairs < 20)
		return;
	if (w->boots == 3 && (quiet || w->pairs >= 40))
		bound(false, 93, l->found[3], trials, "+5 % found with 3 boots");
	if (w->boots == 7)
		bound(false, 91, l->found[2], trials, "+3 % found with 7 boots");
}

/* How often the rounds of a boot with one mode are taken for two. */
static void two_modes(const struct machine *m, unsigned int trials)
{
	__u64 round[ROUNDS];
	struct result r;
	double two = 0;
	unsigned int t;

	for (t = 0; t < trials; t++) {
		one_boot(m, 0, round, &r);
		stats_sort(round, ROUNDS);
		two += 100.0 * (stats_two_modes(round, ROUNDS) > 0) / trials;
	}
	printf("round noise %.1f %%: %.2f %% of the boots seem to have two modes\n",
	       100 * m->round, two);
	bound(true, 0.3, two, trials, "two modes seen");
}

int main(int argc, char **argv)
{
	unsigned int trials = argc > 1 ? strtoul(argv[1], NULL, 10) : 10000, i, j;
	unsigned int families = argc > 2 ? strtoul(argv[2], NULL, 10) : trials / 10;
	struct line l;

	if (!trials || !families)
		return 2;
	for (i = 0; i < SANDWICH_BOOTS_MAX; i++)
		boots[i] = new_boot(i);
	printf("%u sandwiches a cell, %u families of %d cases; percent\n", trials, families,
	       FAMILY);
	printf("%-11s %-26s %6s %6s %6s %6s %6s %6s %7s %7s\n", "boot/round", "", "alarms",
	       "+2 %", "+3 %", "+5 %", "covers", "seen", "alarms", "+5 %");
	printf("%-11s %-26s %34s %22s\n", "noise, %", "", "", "of 55");
	for (i = 0; i < ARRAY_SIZE(machines); i++) {
		for (j = 0; j < ARRAY_SIZE(ways); j++) {
			seed = 1000 * i + j;
			simulate(&machines[i], &ways[j], trials, families, &l);
			printf("%.2f / %-4.1f %-26s ", 100 * machines[i].boot,
			       100 * machines[i].round, ways[j].name);
			printf("%6.2f %6.1f %6.1f %6.1f %6.1f %6.1f %7.2f %7.1f\n", l.found[0],
			       l.found[1], l.found[2], l.found[3], l.cover, l.seen, l.family,
			       l.family_found);
			fflush(stdout);
			check(&machines[i], &ways[j], &l, trials, families);
		}
	}
	for (i = 0; i < 2; i++)
		two_modes(&machines[i], 10 * trials);
	return missed;
}
