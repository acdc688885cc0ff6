// SPDX-License-Identifier: GPL-2.0
/*
 * The environment variables of the suites. The harness owns the command line,
 * so options come from the environment. An unset variable means the default; a
 * value that cannot be meant is an error that names the variable and the value,
 * never a silent default.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "options.h"

/* One line, whatever the value holds: it goes into a KTAP stream. */
static int bad(char *err, size_t size, const char *name, const char *value,
	       const char *want)
{
	char shown[81];
	size_t i;

	for (i = 0; value[i] && i < sizeof(shown) - 1; i++)
		shown[i] = value[i] >= ' ' && value[i] <= '~' ? value[i] : '?';
	shown[i] = '\0';
	snprintf(err, size, "%s=\"%s%s\": %s", name, shown, value[i] ? "..." : "", want);
	return -1;
}

/* Decimal digits only: no sign, no blank, no other base, no overflow. */
static int parse_number(const char *s, unsigned long min, unsigned long max,
			unsigned long *val)
{
	char *end;

	if (*s < '0' || *s > '9')
		return -1;
	errno = 0;
	*val = strtoul(s, &end, 10);
	if (errno || *end || *val < min || *val > max)
		return -1;
	return 0;
}

/**
 * parse_percent() - read a percentage above 0 and up to 1000
 *
 * At most three decimals, written with a point.
 *
 * @milli: thousandths of a percent
 * Return: 0, or -1 and nothing stored.
 */
int parse_percent(const char *s, unsigned int *milli)
{
	unsigned long whole = 0, frac = 0, scale = 1000;
	const char *p = s;

	for (; *p >= '0' && *p <= '9'; p++) {
		whole = whole * 10 + (*p - '0');
		if (whole > THRESHOLD_MAX / 1000)
			return -1;
	}
	if (p == s)
		return -1;
	if (*p == '.') {
		const char *start = ++p;

		for (; *p >= '0' && *p <= '9' && scale > 1; p++) {
			scale /= 10;
			frac += (*p - '0') * scale;
		}
		if (p == start)
			return -1;
	}
	whole = whole * 1000 + frac;
	if (*p || !whole || whole > THRESHOLD_MAX)
		return -1;
	*milli = whole;
	return 0;
}

static int get_number(const char *name, unsigned long min, unsigned long max,
		      unsigned long *val, char *err, size_t size)
{
	const char *s = getenv(name);
	char want[80];

	if (!s || !parse_number(s, min, max, val))
		return 0;
	snprintf(want, sizeof(want), "not a whole number from %lu to %lu", min, max);
	return bad(err, size, name, s, want);
}

static int get_switch(const char *name, bool *val, char *err, size_t size)
{
	const char *s = getenv(name);

	if (!s)
		return 0;
	if (strcmp(s, "0") && strcmp(s, "1"))
		return bad(err, size, name, s, "not 0 or 1");
	*val = *s == '1';
	return 0;
}

/* CI systems export this one; they write yes, 1 or true. */
static int get_slow(bool *val, char *err, size_t size)
{
	static const char * const words[] = {
		"no", "yes", "n", "y", "0", "1", "false", "true", "off", "on", NULL
	};
	const char *s = getenv("KSFT_MACHINE_SLOW");
	unsigned int i;

	if (!s)
		return 0;
	for (i = 0; words[i]; i++) {
		if (!strcasecmp(s, words[i])) {
			*val = i & 1;
			return 0;
		}
	}
	return bad(err, size, "KSFT_MACHINE_SLOW", s, "not yes or no");
}

static int get_path(const char *name, const char **val, char *err, size_t size)
{
	const char *s = getenv(name);

	if (!s)
		return 0;
	if (!*s)
		return bad(err, size, name, s, "not a file name");
	*val = s;
	return 0;
}

static int get_device(struct options *o, char *err, size_t size)
{
	const char *s = getenv("FSBENCH_DEVICE");
	struct stat st;

	if (!s || !strcmp(s, "auto")) {
		o->device = DEVICE_AUTO;
	} else if (!strcmp(s, "brd")) {
		o->device = DEVICE_BRD;
	} else if (!strcmp(s, "loop")) {
		o->device = DEVICE_LOOP;
	} else if (*s != '/') {
		return bad(err, size, "FSBENCH_DEVICE", s,
			   "not auto, brd, loop or the path of a block device");
	} else if (stat(s, &st)) {
		return bad(err, size, "FSBENCH_DEVICE", s, strerror(errno));
	} else if (S_ISBLK(st.st_mode)) {
		o->device = DEVICE_PATH;
		o->device_path = s;
	} else {
		return bad(err, size, "FSBENCH_DEVICE", s, "not a block device");
	}
	return 0;
}

/**
 * options_read() - read and check every variable; touches nothing
 *
 * @err: receives one line that names the first bad variable and its value
 * Return: 0 or -1.
 */
int options_read(struct options *o, char *err, size_t size)
{
	unsigned long rounds = 15, ops = 0, cpu, tasks;
	const char *s;

	memset(o, 0, sizeof(*o));
	if (sched_getaffinity(0, sizeof(o->allowed), &o->allowed)) {
		/* More CPUs than the mask holds: choose among the first ones. */
		for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
			CPU_SET(cpu, &o->allowed);
	}
	tasks = CPU_COUNT(&o->allowed);

	o->threshold = THRESHOLD_DEFAULT;
	s = getenv("FSBENCH_THRESHOLD");
	if (s && parse_percent(s, &o->threshold))
		return bad(err, size, "FSBENCH_THRESHOLD", s,
			   "not a percentage above 0 and up to 1000");
	if (get_number("FSBENCH_ROUNDS", 1, ROUNDS_MAX, &rounds, err, size) ||
	    get_number("FSBENCH_OPS", 1, OPS_MAX, &ops, err, size) ||
	    get_number("FSBENCH_TASKS", 1, TASKS_MAX, &tasks, err, size) ||
	    get_switch("FSBENCH_STRICT", &o->strict, err, size) ||
	    get_switch("FSBENCH_TRACE", &o->trace, err, size) ||
	    get_switch("FSBENCH_ALL", &o->all, err, size) ||
	    get_switch("FSBENCH_ICOUNT", &o->icount, err, size) ||
	    get_slow(&o->slow, err, size) ||
	    get_device(o, err, size) ||
	    get_path("FSBENCH_RESULTS", &o->results, err, size) ||
	    get_path("FSBENCH_BASELINE", &o->baseline, err, size))
		return -1;
	o->rounds = rounds;
	o->ops = ops;
	o->tasks = tasks;

	o->cpu = -1;
	s = getenv("FSBENCH_CPU");
	if (s) {
		if (parse_number(s, 0, CPU_SETSIZE - 1, &cpu))
			return bad(err, size, "FSBENCH_CPU", s, "not the number of a CPU");
		if (!CPU_ISSET(cpu, &o->allowed))
			return bad(err, size, "FSBENCH_CPU", s,
				   "not among the CPUs that this process may use");
		o->cpu = cpu;
	}
	return 0;
}
