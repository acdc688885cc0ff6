// SPDX-License-Identifier: GPL-2.0
/*
 * Order statistics on samples: quantiles, and an interval that assumes nothing
 * about the distribution. The noise of a system call loop is one-sided and
 * skewed, so within a boot nothing uses a mean or a standard deviation. Between
 * boots there are too few values for anything but Student's t.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdlib.h>

#include "stats.h"

static int cmp_u64(const void *a, const void *b)
{
	__u64 x = *(const __u64 *)a, y = *(const __u64 *)b;

	return x < y ? -1 : x > y;
}

/**
 * stats_sort() - sort samples in ascending order
 */
void stats_sort(__u64 *v, size_t n)
{
	qsort(v, n, sizeof(*v), cmp_u64);
}

/**
 * stats_quantile() - the num/den quantile of sorted samples
 *
 * Linear interpolation between the two neighbours, rounded to nearest:
 * definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages",
 * The American Statistician 50(4), 1996. With 1/2 this is the usual median for
 * an odd and for an even number of samples.
 *
 * @n: at least 1; @num: at most @den
 */
__u64 stats_quantile(const __u64 *sorted, size_t n, unsigned int num, unsigned int den)
{
	__u64 pos = (__u64)(n - 1) * num, rest = pos % den, gap;
	size_t i = pos / den;

	if (!rest)
		return sorted[i];
	/* gap * rest / den, without overflow */
	gap = sorted[i + 1] - sorted[i];
	return sorted[i] + gap / den * rest + (gap % den * rest + den / 2) / den;
}

/**
 * stats_median() - the median of at least one sorted sample
 */
__u64 stats_median(const __u64 *sorted, size_t n)
{
	return stats_quantile(sorted, n, 1, 2);
}

/**
 * stats_median_interval() - interval for the median of a distribution
 *
 * The narrowest pair of order statistics x(k), x(n+1-k) that covers the median
 * with at least 95 % (the sign test turned round): the number of samples below
 * the median is binomial with p = 1/2 whatever the distribution, so coverage is
 * 1 - 2 P(B < k). Fewer than 6 samples cannot reach 95 %: then it is the whole
 * range, and the confidence says what that is worth. See David and Nagaraja,
 * "Order Statistics", 3rd ed., section 7.1.
 *
 * @n: 1 to 1000 (2^-n must not underflow)
 */
struct interval stats_median_interval(const __u64 *sorted, size_t n)
{
	double term = 1, tail, next;
	size_t i, k = 1;

	for (i = 0; i < n; i++)
		term /= 2;
	/* tail = P(B < k), term = P(B = k - 1); starts with k = 1 */
	tail = term;
	while (k < (n + 1) / 2) {
		term = term * (n - k + 1) / k;
		next = tail + term;
		if (2 * next > 0.05)
			break;
		tail = next;
		k++;
	}
	return (struct interval) {
		.low = sorted[k - 1],
		.high = sorted[n - k],
		.confidence = n > 1 ? 100 * (1 - 2 * tail) : 0,
	};
}

/* Two modes: this share of the distance between their medians is empty. */
#define MODE_SHARE	0.7
#define MODE_SAMPLES	12

/**
 * stats_two_modes() - do sorted samples fall into two groups?
 *
 * The largest gap that leaves at least a quarter of the samples on either side is
 * compared with the distance between the medians of the two sides. Medians, so that
 * one wild sample neither makes a mode nor hides one. Of 15 samples with one-sided
 * exponential noise 0.3 % are taken for two modes: tests/simulate.c counts them.
 *
 * Return: ln of the ratio of the two samples beside the gap; 0 if there is one
 * mode, or if there are fewer than 12 samples, which cannot tell.
 */
double stats_two_modes(const __u64 *sorted, size_t n)
{
	size_t i, at = 0, side = (n + 3) / 4;
	__u64 gap = 0, apart;

	if (n < MODE_SAMPLES)
		return 0;
	for (i = side; i + side <= n; i++) {
		if (sorted[i] - sorted[i - 1] > gap) {
			gap = sorted[i] - sorted[i - 1];
			at = i;
		}
	}
	if (!gap || !sorted[0])
		return 0;
	apart = stats_median(sorted + at, n - at) - stats_median(sorted, at);
	return gap > MODE_SHARE * apart ? log((double)sorted[at] / sorted[at - 1]) : 0;
}

/**
 * stats_t_tail() - P(|T| >= t) for Student's t, both sides together
 *
 * The finite series for whole degrees of freedom: Abramowitz and Stegun, "Handbook
 * of Mathematical Functions", 26.7.3 and 26.7.4. The absolute error is 1e-13 at most.
 *
 * @t: at least 0
 * @df: degrees of freedom; 0 or above 1000: the normal distribution
 */
double stats_t_tail(double t, unsigned int df)
{
	double cos2, sine, term, sum;
	unsigned int i;

	if (!df || df > 1000)
		return erfc(t / M_SQRT2);
	cos2 = df / (df + t * t);
	sine = sqrt(1 - cos2);
	if (df & 1) {
		term = sqrt(cos2);
		for (sum = 0, i = 3; i <= df; i += 2) {
			sum += term;
			term *= cos2 * (i - 1) / i;
		}
		return 1 - M_2_PI * (atan(t / sqrt(df)) + sine * sum);
	}
	term = 1;
	for (sum = 0, i = 2; i <= df; i += 2) {
		sum += term;
		term *= cos2 * (i - 1) / i;
	}
	return 1 - sine * sum;
}

/**
 * stats_t_quantile() - the value that T exceeds with probability 1 - @p
 *
 * One-sided: an interval of 95 % needs @p = 0.975. By bisection of the tail.
 *
 * @p: 0.5 to 0.99999999; @df: as for stats_t_tail()
 */
double stats_t_quantile(double p, unsigned int df)
{
	double low = 0, high = 1, mid, tail = 2 * (1 - p);

	while (stats_t_tail(high, df) > tail) {
		low = high;
		high *= 2;
	}
	while (high - low > high / 1e9) {
		mid = (low + high) / 2;
		if (stats_t_tail(mid, df) > tail)
			low = mid;
		else
			high = mid;
	}
	return high;
}

static int cmp_pointed(const void *a, const void *b)
{
	double x = **(double * const *)a, y = **(double * const *)b;

	return x < y ? -1 : x > y;
}

/**
 * stats_holm() - correct a family of p-values for their number
 *
 * What rejects at a level afterwards is wrong anywhere in the family with at most
 * that probability, however the members depend on each other: Holm, "A Simple
 * Sequentially Rejective Multiple Test Procedure", Scandinavian Journal of
 * Statistics 6, 1979.
 *
 * @p: pointers to the values, which are replaced; the pointers come out sorted
 */
void stats_holm(double **p, size_t n)
{
	double least = 0, adjusted;
	size_t i;

	qsort(p, n, sizeof(*p), cmp_pointed);
	for (i = 0; i < n; i++) {
		adjusted = *p[i] * (n - i);
		if (adjusted > least)
			least = adjusted < 1 ? adjusted : 1;
		*p[i] = least;
	}
}
