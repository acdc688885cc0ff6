// SPDX-License-Identifier: GPL-2.0
/*
 * Known answers for what decides between boots: Student's t, Holm, two modes, and
 * the estimate of one and of several sandwiches.
 */
#include <math.h>
#include <string.h>

#include "kselftest_harness.h"

#include "sandwich.h"

#define TINY	(1 / 1e12)
#define SMALL	(1 / 1e6)

static bool near(double want, double have, double by)
{
	if (fabs(want - have) <= by)
		return true;
	printf("# %.12g, not %.12g\n", have, want);
	return false;
}

/* Two-sided 95 and 99 %, from the table of any textbook; 0 is the normal one. */
static const struct {
	unsigned int df;
	double q95, q99;
} quantiles[] = {
	{ 1, 12.706, 63.657 }, { 2, 4.303, 9.925 }, { 3, 3.182, 5.841 }, { 4, 2.776, 4.604 },
	{ 5, 2.571, 4.032 }, { 10, 2.228, 3.169 }, { 19, 2.093, 2.861 }, { 20, 2.086, 2.845 },
	{ 30, 2.042, 2.750 }, { 120, 1.980, 2.617 }, { 1000, 1.962, 2.581 },
	{ 5000, 1.960, 2.576 }, { 0, 1.960, 2.576 },
};

/* An interval of 99 % reaches to the quantile of 99.5 %, not to that of 99 %. */
TEST(t_quantiles)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(quantiles); i++) {
		unsigned int df = quantiles[i].df;
		double q95 = stats_t_quantile(0.975, df);

		EXPECT_TRUE(near(quantiles[i].q95, q95, 0.0006));
		EXPECT_TRUE(near(quantiles[i].q99, stats_t_quantile(0.995, df), 0.0006));
		EXPECT_TRUE(near(0.05, stats_t_tail(q95, df), TINY * 1000));
	}
	EXPECT_TRUE(near(1, stats_t_tail(0, 7), TINY));
	EXPECT_TRUE(near(0, stats_t_tail(1e9, 7), TINY));
	EXPECT_TRUE(near(0, stats_t_quantile(0.5, 3), SMALL));
}

TEST(holm)
{
	double p[] = { 0.01, 0.04, 0.03, 0.005 }, one = 0.2;
	double *at[] = { &p[0], &p[1], &p[2], &p[3] }, *alone = &one;

	stats_holm(at, 4);
	EXPECT_TRUE(near(0.03, p[0], TINY));
	EXPECT_TRUE(near(0.06, p[1], TINY));
	EXPECT_TRUE(near(0.06, p[2], TINY));
	EXPECT_TRUE(near(0.02, p[3], TINY));
	stats_holm(&alone, 1);
	EXPECT_TRUE(near(0.2, one, TINY));
	stats_holm(NULL, 0);
}

TEST(two_modes)
{
	__u64 two[] = { 10, 10, 11, 11, 12, 12, 13, 25, 25, 26, 26, 27, 27, 50, 400 };
	__u64 one[] = { 20, 21, 21, 22, 22, 23, 24, 24, 25, 27, 29, 31, 35, 39, 46 };
	__u64 wild[] = { 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15, 16, 900, 900 };
	__u64 same[] = { 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7 };

	EXPECT_TRUE(near(log(25.0 / 13), stats_two_modes(two, 15), TINY));
	EXPECT_EQ(0, stats_two_modes(one, 15));
	EXPECT_EQ(0, stats_two_modes(wild, 15));
	EXPECT_EQ(0, stats_two_modes(same, 15));
	EXPECT_EQ(0, stats_two_modes(two, 11));
	EXPECT_EQ(0, stats_two_modes(two, 0));
}

static void fill(struct boot_value *b, const double *time, unsigned int n)
{
	unsigned int i;

	memset(b, 0, n * sizeof(*b));
	for (i = 0; i < n; i++)
		b[i].time = time[i];
}

TEST(one_sandwich)
{
	static const double time[] = { 100, 110, 102 };
	double squares = 10 * 0.01 * 0.01;
	struct boot_value b[3];
	struct estimate e;

	fill(b, time, 3);
	/* Ten stored pairs of 1 %: a boot varies by 1 / sqrt(2), the rest follows. */
	sandwich_estimate(b, 3, 10, squares, false, &e);
	EXPECT_EQ(NOISE_MEASURED, e.noise);
	EXPECT_EQ(10, e.df);
	EXPECT_TRUE(near(log(110.0 / 101), e.delta, TINY));
	EXPECT_TRUE(near(log(102.0 / 100), e.drift, TINY));
	EXPECT_TRUE(near(sqrt(1.5 / 2) * 0.01, e.se, TINY));
	EXPECT_TRUE(near(3.169 * 0.01, e.drift_limit, SMALL * 10));
	EXPECT_TRUE(near(2.228 * e.se, sandwich_reach(&e, 0.975), SMALL * 10));
	/* Nine are too few: the noise of one sandwich is not known, and not nothing. */
	sandwich_estimate(b, 3, 9, squares, false, &e);
	EXPECT_EQ(NOISE_BOUND, e.noise);
	EXPECT_TRUE(near(sqrt(0.75) * e.drift, e.se, TINY));
	b[2].time = 100;
	sandwich_estimate(b, 3, 0, 0, false, &e);
	EXPECT_TRUE(near(sqrt(1.5) * 0.0083, e.se, TINY));
	/* Never narrower than the rounds of the boots allow. */
	b[0].within = 0.02;
	b[1].within = 0.03;
	b[2].within = 0.02;
	sandwich_estimate(b, 3, 10, squares, false, &e);
	EXPECT_TRUE(near(sqrt(0.0009 + 0.0002), e.within, TINY));
	EXPECT_TRUE(near(1.95996 * e.within, sandwich_reach(&e, 0.975), SMALL));
}

TEST(counted)
{
	static const double time[] = { 1000, 1002.5, 1000 };
	struct boot_value b[3];
	struct estimate e;

	fill(b, time, 3);
	b[1].within = 0.0009;
	sandwich_estimate(b, 3, 20, 1, true, &e);
	EXPECT_EQ(NOISE_COUNTED, e.noise);
	EXPECT_EQ(0, e.se);
	EXPECT_EQ(0, sandwich_reach(&e, 0.995));
	EXPECT_TRUE(near(log1p(0.002), e.drift_limit, TINY));
	/* Rounds that differ by far are not exact between kernels either. */
	b[1].within = 0.002;
	sandwich_estimate(b, 3, 20, 1, true, &e);
	EXPECT_TRUE(near(0.002, e.within, TINY));
}

/* Steady drift and a real step are no noise; what is left is. */
TEST(several_sandwiches)
{
	static const double waves[] = { 0.01, 0, -0.01, 0, -0.01, 0, 0.01 };
	struct boot_value b[7];
	double time[7];
	struct estimate e;
	unsigned int i;

	for (i = 0; i < 7; i++)
		time[i] = 100 * exp(0.001 * i + (i & 1 ? 0.1 : 0));
	fill(b, time, 7);
	sandwich_estimate(b, 7, 0, 0, false, &e);
	EXPECT_EQ(NOISE_MEASURED, e.noise);
	EXPECT_EQ(4, e.df);
	EXPECT_TRUE(near(0.1, e.delta, SMALL));
	EXPECT_TRUE(near(0, e.se, TINY * 1000));

	for (i = 0; i < 7; i++)
		b[i].time = 100 * exp(waves[i]);
	sandwich_estimate(b, 7, 0, 0, false, &e);
	/* Squares 4 * 0.01^2 over 4; neighbours share controls: 5.5 / 9, not 1.5 / 3. */
	EXPECT_TRUE(near(0.01 * sqrt(5.5 / 9), e.se, TINY));
	/* Stored pairs and this run are one sample. */
	sandwich_estimate(b, 7, 20, 20 * 0.0002, false, &e);
	EXPECT_EQ(24, e.df);
	EXPECT_TRUE(near(0.01 * sqrt(5.5 / 9), e.se, TINY));
}

/* One bad boot of eleven does not decide. */
TEST(median)
{
	static const double time[] = { 100, 110, 100, 111, 100, 112, 100, 113, 100, 300, 100 };
	struct boot_value b[11];
	struct estimate e;

	fill(b, time, 11);
	sandwich_estimate(b, 11, 0, 0, false, &e);
	EXPECT_TRUE(near(log(1.12), e.delta, TINY));
	sandwich_estimate(b, 9, 0, 0, false, &e);
	EXPECT_TRUE(near(log(1.10 * 1.11 * 1.12 * 1.13) / 4, e.delta, TINY));
}

TEST_HARNESS_MAIN
