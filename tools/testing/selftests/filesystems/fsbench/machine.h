/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine's fingerprint: what has to be equal for two runs to be compared,
 * and what may make the numbers of a run poor.
 */
#ifndef FSBENCH_MACHINE_H
#define FSBENCH_MACHINE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>

#include "util.h"

/* A key that differs makes two runs incomparable, is a warning, is only told. */
enum key_class { KEY_MUST, KEY_SHOULD, KEY_INFO };

#define FP_KEYS_MAX	128
#define FP_NAME_MAX	48
#define FP_VALUE_MAX	256

struct fp_key {
	char name[FP_NAME_MAX];
	char value[FP_VALUE_MAX];
};

struct fingerprint {
	unsigned int nr;
	struct fp_key key[FP_KEYS_MAX];
};

void fp_read(struct fingerprint *fp, int cpu);
const char *fp_get(const struct fingerprint *fp, const char *name);
__printf(3, 4) void fp_set(struct fingerprint *fp, const char *name, const char *fmt, ...);
enum key_class fp_class(const char *name);
unsigned int fp_warnings(const struct fingerprint *fp, const char *why[], unsigned int max);
const char *fp_debug_kernel(const struct fingerprint *fp);

int machine_pick_cpu(const cpu_set_t *allowed);
unsigned long long machine_steal_ticks(int cpu);

#endif
