// SPDX-License-Identifier: GPL-2.0
/*
 * Order statistics on samples: quantiles, and an interval that assumes nothing
 * about the distribution. The noise of a system call loop is one-sided and
 * skewed, so nothing here uses a mean or a standard deviation.
 */
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
