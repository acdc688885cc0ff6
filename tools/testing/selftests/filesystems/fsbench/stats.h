/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Order statistics on samples, and what decides between boots. Samples are
 * unsigned integers in any unit; the suites use thousandths of a nanosecond per
 * operation.
 */
#ifndef FSBENCH_STATS_H
#define FSBENCH_STATS_H

#include <linux/types.h>
#include <stddef.h>

/* An interval and the probability, in percent, with which it covers. */
struct interval {
	__u64 low;
	__u64 high;
	double confidence;
};

void stats_sort(__u64 *v, size_t n);
__u64 stats_quantile(const __u64 *sorted, size_t n, unsigned int num, unsigned int den);
__u64 stats_median(const __u64 *sorted, size_t n);
struct interval stats_median_interval(const __u64 *sorted, size_t n);
double stats_two_modes(const __u64 *sorted, size_t n);
double stats_t_tail(double t, unsigned int df);
double stats_t_quantile(double p, unsigned int df);
void stats_holm(double **p, size_t n);

#endif
