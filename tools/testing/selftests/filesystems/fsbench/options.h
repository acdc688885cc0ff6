/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the user asked for through the environment.
 */
#ifndef FSBENCH_OPTIONS_H
#define FSBENCH_OPTIONS_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

enum option_device { DEVICE_AUTO, DEVICE_BRD, DEVICE_LOOP, DEVICE_PATH };

struct options {
	const char *results;		/* path or NULL */
	const char *baseline;		/* path or NULL */
	unsigned int threshold;		/* thousandths of a percent */
	unsigned int rounds;
	unsigned long ops;		/* operations a round, 0: calibrated */
	int cpu;			/* -1: chosen */
	unsigned int tasks;
	enum option_device device;
	const char *device_path;	/* with DEVICE_PATH */
	bool strict;
	bool trace;
	bool all;			/* also what is not in the default set */
	bool icount;			/* the clock counts instructions */
	bool slow;
	cpu_set_t allowed;		/* CPUs this process started with */
};

#define ROUNDS_MAX	1000
#define OPS_MAX		1000000000ul
#define TASKS_MAX	1024
/* What a change must exceed, in thousandths of a percent. */
#define THRESHOLD_DEFAULT	5000
#define THRESHOLD_COUNTED	200	/* of instructions */
#define THRESHOLD_MEMORY	2000	/* and at least THRESHOLD_BYTES */
#define THRESHOLD_BYTES		2
#define THRESHOLD_MAX		1000000

int options_read(struct options *o, char *err, size_t size);
int parse_percent(const char *s, unsigned int *milli);

#endif
