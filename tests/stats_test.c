// SPDX-License-Identifier: GPL-2.0
/*
 * Known answers for the statistics and the judge, and simulations of what they
 * claim. Each defect that METHOD.md lists from other tools has its test, but for
 * one: no rate is computed here.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kselftest_harness.h"

#include "judge.h"

#define TRIALS		20000
#define BIG		0x8000000000000000ull

/* Repeatable noise: splitmix64 and what is made of it. */

static __u64 seed;

static double uniform(void)
{
	__u64 z = seed += 0x9e3779b97f4a7c15ull;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return (((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static double exponential(double mean)
{
	return -mean * log(uniform());
}

/* Statistics */

/* Quartiles by hand: definition 7 of Hyndman and Fan, halves rounded up. */
static const struct {
	size_t n;
	__u64 v[8], low, median, high;
} quartiles[] = {
	{ 1, { 7 }, 7, 7, 7 },
	{ 2, { 100, 200 }, 125, 150, 175 },
	{ 2, { 1, 2 }, 1, 2, 2 },
	{ 3, { 1000, 2000, 4000 }, 1500, 2000, 3000 },
	{ 4, { 10, 20, 30, 40 }, 18, 25, 33 },
	{ 5, { 10, 11, 12, 13, 30 }, 11, 12, 13 },
	{ 6, { 10, 11, 12, 13, 30, 1000 }, 11, 13, 26 },
	{ 8, { 0, 8, 16, 24, 32, 40, 48, 56 }, 14, 28, 42 },
	{ 6, { 5, 5, 5, 5, 5, 9 }, 5, 5, 5 },
	{ 4, { 5, 5, 9, 9 }, 5, 7, 9 },
	{ 3, { BIG - 1, BIG, BIG + 1 }, BIG, BIG, BIG + 1 },
	{ 2, { BIG, BIG + 4 }, BIG + 1, BIG + 2, BIG + 3 },
	{ 2, { 0, BIG }, BIG / 4, BIG / 2, BIG / 4 * 3 },
	{ 4, { 0, BIG, BIG, BIG }, BIG / 4 * 3, BIG, BIG },
	{ 2, { 0, ~0ull }, BIG / 2, BIG, BIG / 2 * 3 - 1 },
};

TEST(quantiles)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(quartiles); i++) {
		const __u64 *v = quartiles[i].v;
		size_t n = quartiles[i].n;

		EXPECT_EQ(quartiles[i].low, stats_quantile(v, n, 1, 4))
			TH_LOG("row %zu", i);
		EXPECT_EQ(quartiles[i].median, stats_median(v, n))
			TH_LOG("row %zu", i);
		EXPECT_EQ(quartiles[i].high, stats_quantile(v, n, 3, 4))
			TH_LOG("row %zu", i);
		EXPECT_EQ(v[0], stats_quantile(v, n, 0, 4));
		EXPECT_EQ(v[n - 1], stats_quantile(v, n, 4, 4));
	}
}

TEST(sort)
{
	static const __u64 sorted[] = { 0, 1, 1, 1u << 31, 1ull << 32, BIG - 1, BIG, ~0ull };
	__u64 v[] = { BIG, 1, ~0ull, 1ull << 32, 0, BIG - 1, 1, 1u << 31 };

	stats_sort(v, ARRAY_SIZE(v));
	EXPECT_EQ(0, memcmp(v, sorted, sizeof(v)));
}

/* Ranks and coverage from a table of the binomial distribution. */
static const struct {
	size_t n, low, high;
	double confidence;
} ranks[] = {
	{ 1, 1, 1, 0 },
	{ 2, 1, 2, 50 },
	{ 3, 1, 3, 75 },
	{ 4, 1, 4, 87.5 },
	{ 5, 1, 5, 93.75 },
	{ 6, 1, 6, 96.875 },
	{ 8, 1, 8, 99.219 },
	{ 9, 2, 8, 96.094 },
	{ 10, 2, 9, 97.852 },
	{ 15, 4, 12, 96.484 },
	{ 20, 6, 15, 95.861 },
	{ 100, 40, 61, 96.480 },
	{ 1000, 469, 532, 95.371 },
};

TEST(interval_ranks)
{
	__u64 v[1000];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(v); i++)
		v[i] = i + 1;
	for (i = 0; i < ARRAY_SIZE(ranks); i++) {
		struct interval in = stats_median_interval(v, ranks[i].n);

		EXPECT_EQ(ranks[i].low, in.low)
			TH_LOG("n=%zu", ranks[i].n);
		EXPECT_EQ(ranks[i].high, in.high)
			TH_LOG("n=%zu", ranks[i].n);
		EXPECT_TRUE(fabs(in.confidence - ranks[i].confidence) < 0.001)
			TH_LOG("n=%zu: %.3f %%", ranks[i].n, in.confidence);
	}
}

/*
 * One-sided and skewed, 2 % outliers of 10 %. All outliers lie above the median,
 * so that is where the exponential part reaches 0.5 / 0.98.
 */
TEST(interval_coverage)
{
	static const size_t counts[] = { 2, 3, 5, 6, 9, 15, 20, 50 };
	const __u64 truth = 100000 + 1000 * log(0.98 / 0.48);
	struct interval in = { .low = 0 };
	double covered;
	__u64 v[50];
	size_t c, i;
	int trial;

	seed = 1;
	for (c = 0; c < ARRAY_SIZE(counts); c++) {
		covered = 0;
		for (trial = 0; trial < TRIALS; trial++) {
			for (i = 0; i < counts[c]; i++)
				v[i] = 100000 + exponential(1000) + (uniform() < 0.02) * 10000;
			stats_sort(v, counts[c]);
			in = stats_median_interval(v, counts[c]);
			covered += in.low <= truth && truth <= in.high;
		}
		covered *= 100.0 / TRIALS;
		TH_LOG("n=%zu: claims %.2f %%, covers %.2f %%", counts[c], in.confidence, covered);
		/* Three standard errors are at most 1.1 % at 50 % and 0.5 % at 95 %. */
		EXPECT_TRUE(covered > in.confidence - (in.confidence < 90 ? 1.1 : 0.5));
		EXPECT_TRUE(counts[c] < 6 || covered >= 95);
		EXPECT_TRUE(counts[c] != 15 || (covered >= 94 && covered <= 98));
	}
}

/*
 * The same call on a machine that is now more and now less loaded: a share of
 * the batches takes up to twice as long. The mean follows the load.
 */
TEST(quartile_moves_less_than_mean)
{
	static const double load[] = { 0.01, 0.03, 0.08, 0.15, 0.20 };
	double lowest[3] = { 1e9, 1e9, 1e9 }, highest[3] = { 0 }, moved[3];
	__u64 v[20000], sum;
	size_t i, j;

	seed = 2;
	for (i = 0; i < ARRAY_SIZE(load); i++) {
		double figure[3];

		for (j = sum = 0; j < ARRAY_SIZE(v); j++) {
			v[j] = 100000 + exponential(2000);
			if (uniform() < load[i])
				v[j] += exponential(100000);
			sum += v[j];
		}
		stats_sort(v, ARRAY_SIZE(v));
		figure[0] = (double)sum / ARRAY_SIZE(v);
		figure[1] = stats_median(v, ARRAY_SIZE(v));
		figure[2] = stats_quantile(v, ARRAY_SIZE(v), 1, 4);
		for (j = 0; j < 3; j++) {
			lowest[j] = fmin(lowest[j], figure[j]);
			highest[j] = fmax(highest[j], figure[j]);
		}
	}
	for (j = 0; j < 3; j++)
		moved[j] = 100 * (highest[j] / lowest[j] - 1);
	TH_LOG("mean moves %.2f %%, median %.2f %%, lower quartile %.2f %%", moved[0], moved[1],
	       moved[2]);
	EXPECT_TRUE(moved[2] < 2 && moved[2] < moved[1] && moved[1] < moved[0] / 10);
}

/* The judge */

static struct result figures(__u64 value, __u64 low, __u64 high)
{
	return (struct result) {
		.value = value, .low = low, .high = high, .median = value, .mean = value,
		.min = low, .max = high, .confidence = 96484, .rounds = 15, .ops = 983040,
		.batches = 1000, .match_ratio = 100000,
	};
}

/* Value, low, high of the base and of the new; percent of threshold; answer. */
static const struct pair {
	const char *what;
	__u64 base[3], new[3];
	unsigned int threshold;
	double percent, noise;
	enum verdict verdict;
} pairs[] = {
	{ "identical", { 1000, 990, 1010 }, { 1000, 990, 1010 }, 5, 0, 2, NO_CHANGE },
	{ "+10 %", { 1000, 990, 1010 }, { 1100, 1080, 1110 }, 5, 10, 3, REGRESSION },
	{ "-10 %", { 1000, 990, 1010 }, { 900, 890, 920 }, 5, -10, 3, IMPROVEMENT },
	{ "+10 %, no noise", { 1000, 1000, 1000 }, { 1100, 1100, 1100 }, 5, 10, 0, REGRESSION },
	{ "the threshold", { 1000, 1000, 1000 }, { 1050, 1050, 1050 }, 5, 5, 0, NO_CHANGE },
	{ "above it", { 1000, 1000, 1000 }, { 1051, 1051, 1051 }, 5, 5.1, 0, REGRESSION },
	{ "minus it", { 1000, 1000, 1000 }, { 950, 950, 950 }, 5, -5, 0, NO_CHANGE },
	{ "below it", { 1000, 1000, 1000 }, { 949, 949, 949 }, 5, -5.1, 0, IMPROVEMENT },
	{ "touch", { 1000, 990, 1050 }, { 1100, 1050, 1110 }, 5, 10, 10, INCONCLUSIVE },
	{ "apart by 1", { 1000, 990, 1049 }, { 1100, 1050, 1110 }, 5, 10, 9.9, REGRESSION },
	{ "touch below", { 1000, 950, 1010 }, { 900, 890, 950 }, 5, -10, 10, INCONCLUSIVE },
	{ "apart below", { 1000, 951, 1010 }, { 900, 890, 950 }, 5, -10, 9.9, IMPROVEMENT },
	{ "overlap", { 1000, 900, 1200 }, { 1100, 1000, 1300 }, 5, 10, 30, INCONCLUSIVE },
	{ "+3 %, quiet", { 1000, 990, 1010 }, { 1030, 1020, 1040 }, 5, 3, 2, NO_CHANGE },
	{ "+3 %, limit 2", { 1000, 999, 1001 }, { 1030, 1029, 1031 }, 2, 3, 0.2, REGRESSION },
	{ "a step", { 1000, 1000, 1000 }, { 2000, 2000, 2000 }, 5, 100, 0, REGRESSION },
};

/* Both intervals in full count, not only the sides that face each other. */
static const struct pair hidden[] = {
	{ "up to +100 %", { 1000, 700, 1000 }, { 1010, 1010, 1400 }, 5, 1, 0, INCONCLUSIVE },
	{ "up to -50 %", { 1010, 1010, 1400 }, { 1000, 700, 1000 }, 5, -1, 0, INCONCLUSIVE },
	{ "0 %, up to +40 %", { 1000, 1000, 1000 }, { 1000, 1000, 1400 }, 5, 0, 0, INCONCLUSIVE },
	{ "0 %, up to -28 %", { 1000, 1000, 1400 }, { 1000, 1000, 1000 }, 5, 0, 0, INCONCLUSIVE },
};

static struct change judge_row(const struct pair *p, unsigned int scale)
{
	struct result base = figures(p->base[0] * scale, p->base[1] * scale, p->base[2] * scale);
	struct result new = figures(p->new[0] * scale, p->new[1] * scale, p->new[2] * scale);

	return judge_pair(&base, &new, p->threshold * 1000);
}

TEST(known_pairs)
{
	const struct pair *p;

	for (p = pairs; p < pairs + ARRAY_SIZE(pairs); p++) {
		struct change c = judge_row(p, 1), scaled = judge_row(p, 1000);

		EXPECT_EQ(p->verdict, c.verdict)
			TH_LOG("%s: %s", p->what, verdict_name(c.verdict));
		EXPECT_TRUE(fabs(c.percent - p->percent) < 0.0001 &&
			    fabs(c.noise - p->noise) < 0.0001)
			TH_LOG("%s: %.3f %%, noise %.3f %%", p->what, c.percent, c.noise);
		EXPECT_EQ(c.verdict, scaled.verdict);
	}
}

/* Change of the case and of its control, from 1000; the threshold is 5 %. */
static const struct {
	int change, control;
	enum verdict verdict;
} drifts[] = {
	{ 65, 66, INCONCLUSIVE },	/* a slow machine */
	{ 150, 66, INCONCLUSIVE },	/* a slow machine may slow the case down more */
	{ 190, 66, REGRESSION },
	{ 65, -66, REGRESSION },	/* a fast machine hides nothing more */
	{ 65, 0, REGRESSION },
	{ 800, 3000, REGRESSION },	/* every system call is slower */
	{ 240, 3000, REGRESSION },
	{ 500, 300, INCONCLUSIVE },	/* the machine is, by a third */
	{ -65, -66, INCONCLUSIVE },
	{ -190, -66, IMPROVEMENT },
	{ -65, 66, IMPROVEMENT },
	{ 20, 200, NO_CHANGE },
};

TEST(drift_of_the_machine)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(drifts); i++) {
		struct result base = figures(1000, 999, 1001);
		struct result new = figures(1000 + drifts[i].change, 999 + drifts[i].change,
					    1001 + drifts[i].change);

		base.control = 1000;
		new.control = 1000 + drifts[i].control;
		EXPECT_EQ(drifts[i].verdict, judge_pair(&base, &new, 5000).verdict)
			TH_LOG("%d and %d", drifts[i].change, drifts[i].control);
	}
}

TEST(clock_overhead)
{
	struct result base = figures(1000, 999, 1001), new = figures(1100, 1099, 1101);

	new.clock_overhead = 7190;
	EXPECT_EQ(INCONCLUSIVE, judge_pair(&base, &new, 5000).verdict);
	EXPECT_EQ(INCONCLUSIVE, judge_pair(&new, &base, 5000).verdict);
}

TEST(no_change_hides_no_change)
{
	const struct pair *p;

	for (p = hidden; p < hidden + ARRAY_SIZE(hidden); p++) {
		struct change c = judge_row(p, 1);

		EXPECT_EQ(p->verdict, c.verdict)
			TH_LOG("%s: %s, noise %.2f %%", p->what, verdict_name(c.verdict), c.noise);
	}
}

TEST(near_overflow)
{
	struct result base = figures(BIG, BIG, BIG), new = figures(BIG / 8 * 9, BIG, ~0ull);

	EXPECT_EQ(INCONCLUSIVE, judge_pair(&base, &new, 5000).verdict);
	new.low = new.value;
	EXPECT_EQ(REGRESSION, judge_pair(&base, &new, 5000).verdict);
	EXPECT_EQ(IMPROVEMENT, judge_pair(&new, &base, 5000).verdict);
}

/* The filter the right way round, on either side. */
TEST(disturbed_batches)
{
	struct result good = figures(1000, 990, 1010), slow = figures(1100, 1090, 1110), r;

	r = slow;
	r.disturbed = 200;
	EXPECT_FALSE(judge_disturbed(&r));
	EXPECT_EQ(REGRESSION, judge_pair(&good, &r, 5000).verdict);
	r.disturbed = 201;
	EXPECT_TRUE(judge_disturbed(&r));
	EXPECT_EQ(INCONCLUSIVE, judge_pair(&good, &r, 5000).verdict);
	EXPECT_EQ(INCONCLUSIVE, judge_pair(&r, &good, 5000).verdict);
	EXPECT_EQ(INCONCLUSIVE, judge_pair(&r, &r, 5000).verdict);
}

/* Samples of unequal size are nothing special. */
TEST(unequal_sizes)
{
	struct result base = figures(1000, 990, 1010), new = figures(1001, 990, 1010);

	new.rounds = 6;
	new.batches = 64;
	new.ops = 384;
	EXPECT_EQ(NO_CHANGE, judge_pair(&base, &new, 5000).verdict);
	EXPECT_EQ(NO_CHANGE, judge_pair(&new, &base, 5000).verdict);
}

/* One round says nothing about the noise, which is not to say that there is none. */
TEST(one_round)
{
	struct result base = figures(1000, 990, 1010), one = figures(1100, 1100, 1100);

	one.rounds = 1;
	one.confidence = 0;
	EXPECT_EQ(INCONCLUSIVE, judge_pair(&base, &one, 5000).verdict);
	EXPECT_EQ(INCONCLUSIVE, judge_pair(&one, &base, 5000).verdict);
	one.value = 1000;
	one.low = 1000;
	one.high = 1000;
	EXPECT_EQ(INCONCLUSIVE, judge_pair(&base, &one, 5000).verdict);
}

/* A step within the rounds belongs to the interval, wherever it lies. */
TEST(step_in_rounds)
{
	__u64 v[15];
	size_t first, i;

	for (first = 4; first <= 11; first++) {
		for (i = 0; i < 15; i++)
			v[i] = i < first ? 1000 : 1200;
		EXPECT_EQ(1000, stats_median_interval(v, 15).low);
		EXPECT_EQ(1200, stats_median_interval(v, 15).high);
	}
}

/* Runs of a file, in a form that is quick to write. */

static void add_run(struct results *res, const char *name, __u64 value, bool wrong)
{
	struct run *run;

	res->runs = realloc(res->runs, (res->nr_runs + 1) * sizeof(*run));
	run = &res->runs[res->nr_runs++];
	memset(run, 0, sizeof(*run));
	run->finished = true;
	snprintf(run->program, sizeof(run->program), "p");
	if (!name)
		return;
	run->nr_cases = 1;
	run->cases = calloc(1, sizeof(*run->cases));
	snprintf(run->cases->name, CASE_NAME_MAX, "%s", name);
	run->cases->timed = value && !wrong;
	run->cases->skipped = !value && !wrong;
	run->cases->r = figures(value, value - 10, value + 20);
	run->cases->r.unexpected = wrong;
}

FIXTURE(merge) {
	struct results res;
	struct rcase merged;
	const struct run *last;
};

FIXTURE_SETUP(merge)
{
}

FIXTURE_TEARDOWN(merge)
{
	results_free(&self->res);
}

static bool merge(FIXTURE_DATA(merge) * self)
{
	char mixed[200];

	return judge_merge(&self->res, "p", "a.b", &self->merged, &self->last, mixed,
			   sizeof(mixed)) && !*mixed;
}

TEST_F(merge, nothing)
{
	add_run(&self->res, NULL, 0, false);
	add_run(&self->res, "a.b", 0, false);
	add_run(&self->res, "a.b.c", 1000, false);
	EXPECT_FALSE(merge(self));
}

/* Values of the runs, 0: skipped; then what they come to. */
static const struct {
	__u64 v[5], value, low, high;
	unsigned int last;
} merges[] = {
	{ { 1000 }, 1000, 990, 1020, 0 },
	{ { 1000, 1020 }, 1010, 990, 1040, 1 },
	{ { 1020, 1000, 1500 }, 1020, 990, 1520, 2 },
	{ { 1040, 0, 1000, 1020, 0 }, 1020, 990, 1060, 3 },
	{ { 1030, 1000, 1010, 1020 }, 1015, 990, 1050, 3 },
};

TEST_F(merge, medians)
{
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(merges); i++) {
		for (j = 0; j < 5; j++)
			add_run(&self->res, j < 4 || merges[i].v[j] ? "a.b" : NULL, merges[i].v[j],
				false);
		ASSERT_TRUE(merge(self));
		EXPECT_EQ(merges[i].value, self->merged.r.value)
			TH_LOG("row %zu", i);
		EXPECT_EQ(merges[i].low, self->merged.r.low);
		EXPECT_EQ(merges[i].high, self->merged.r.high);
		EXPECT_EQ(&self->res.runs[merges[i].last], self->last);
		EXPECT_TRUE(self->merged.timed);
		results_free(&self->res);
	}
}

TEST_F(merge, one_wrong_answer)
{
	add_run(&self->res, "a.b", 1000, false);
	add_run(&self->res, "a.b", 0, true);
	add_run(&self->res, "a.b", 1000, false);
	ASSERT_TRUE(merge(self));
	EXPECT_FALSE(self->merged.timed);
	EXPECT_EQ(1, self->merged.r.unexpected);
}

/* However many there are, each counts: 60 at 1000, then 40 at 2000. */
TEST_F(merge, many_runs)
{
	int i;

	for (i = 0; i < 100; i++)
		add_run(&self->res, "a.b", i < 60 ? 1000 : 2000, false);
	ASSERT_TRUE(merge(self));
	EXPECT_EQ(1000, self->merged.r.value);
	EXPECT_EQ(990, self->merged.r.low);
	EXPECT_EQ(2020, self->merged.r.high);
}

TEST_F(merge, many_runs_first_is_wrong)
{
	int i;

	for (i = 0; i < 100; i++)
		add_run(&self->res, "a.b", 1000, !i);
	ASSERT_TRUE(merge(self));
	EXPECT_FALSE(self->merged.timed);
}

/* Fingerprints */

FIXTURE(keys) {
	struct fingerprint a, b;
	char buf[200];
};

FIXTURE_SETUP(keys)
{
	fp_set(&self->a, "kernel.release", "6.12");	/* information */
	fp_set(&self->a, "cpu.model", "A CPU");		/* must be equal */
	fp_set(&self->a, "cpu.governor", "performance"); /* should be equal */
	fp_set(&self->b, "cpu.governor", "performance");
	fp_set(&self->b, "kernel.release", "6.13");
	fp_set(&self->b, "cpu.model", "A CPU");
}

FIXTURE_TEARDOWN(keys)
{
}

TEST_F(keys, equal_in_any_order)
{
	EXPECT_EQ(0, judge_keys(&self->a, &self->b, KEY_MUST, self->buf, sizeof(self->buf)));
	EXPECT_STREQ("", self->buf);
	EXPECT_EQ(0, judge_keys(&self->a, &self->b, KEY_SHOULD, self->buf, sizeof(self->buf)));
	EXPECT_EQ(1, judge_keys(&self->a, &self->b, KEY_INFO, self->buf, sizeof(self->buf)));
	EXPECT_STREQ("kernel.release (6.12, 6.13)", self->buf);
}

TEST_F(keys, missing_on_one_side)
{
	fp_set(&self->a, "clock.source", "tsc");
	fp_set(&self->b, "lsm.active", "ima");
	EXPECT_EQ(2, judge_keys(&self->a, &self->b, KEY_MUST, self->buf, sizeof(self->buf)));
	EXPECT_STREQ("clock.source (tsc, missing); lsm.active (missing, ima)", self->buf);
	EXPECT_EQ(2, judge_keys(&self->b, &self->a, KEY_MUST, self->buf, sizeof(self->buf)));
	EXPECT_EQ(0, judge_keys(&self->a, &self->b, KEY_SHOULD, self->buf, sizeof(self->buf)));
}

TEST_F(keys, cut_to_size)
{
	self->b.nr = 0;
	memset(self->buf, 'x', sizeof(self->buf));
	EXPECT_EQ(1, judge_keys(&self->a, &self->b, KEY_MUST, self->buf, 10));
	EXPECT_STREQ("cpu.model", self->buf);
	EXPECT_EQ('x', self->buf[10]);
}

TEST_F(keys, of_a_case)
{
	struct fp_key a[] = { { "fs", "xfs" }, { "clock_overhead", "1" }, { "block", "4096" } };
	struct fp_key b[] = { { "block", "4096" }, { "fs", "xfs" }, { "clock_overhead", "2" } };
	struct rcase ca = { .extra = a, .nr_extra = 3 }, cb = { .extra = b, .nr_extra = 3 };

	EXPECT_EQ(0, judge_case_keys(&ca, &cb, self->buf, sizeof(self->buf)));
	cb.nr_extra = 1;
	EXPECT_EQ(1, judge_case_keys(&ca, &cb, self->buf, sizeof(self->buf)));
	EXPECT_STREQ("fs (xfs, none)", self->buf);
	memcpy(b[1].value, "ext4", 5);
	cb.nr_extra = 3;
	EXPECT_EQ(1, judge_case_keys(&ca, &cb, self->buf, sizeof(self->buf)));
	EXPECT_STREQ("fs (xfs, ext4)", self->buf);
	memcpy(b[1].value, "xfs", 4);
	cb.r.unit = UNIT_MEMORY;
	EXPECT_EQ(1, judge_case_keys(&ca, &cb, self->buf, sizeof(self->buf)));
}

TEST_HARNESS_MAIN
