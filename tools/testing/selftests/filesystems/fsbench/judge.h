/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The judge: are two measurements comparable, and is one slower?
 */
#ifndef FSBENCH_JUDGE_H
#define FSBENCH_JUDGE_H

#include "results.h"

/* What a time is counted in, set by the suites: nanoseconds or instructions. */
#define KEY_UNIT		"clock.unit"
#define UNIT_INSTRUCTIONS	"instructions"

enum verdict {
	NO_CHANGE,
	IMPROVEMENT,
	REGRESSION,
	INCONCLUSIVE,
	NOT_COMPARABLE,
	WRONG_ANSWER,
	NOT_MEASURED,		/* in the new run, though the base has it */
	NO_BASE,		/* only there */
};

struct change {
	double percent;		/* of the baseline; above 0: slower */
	double noise;		/* percent: what the two intervals allow for */
	double drift;		/* percent: how much the control moved */
	enum verdict verdict;
	const char *why;	/* it is inconclusive, or NULL */
	bool floor;		/* only because runs of one kernel differ so much */
};

unsigned int judge_threshold(const struct result *base, unsigned int timed);
struct change judge_pair(const struct result *base, const struct result *new,
			 unsigned int threshold);
bool judge_disturbed(const struct result *r);
bool judge_counted(const struct run *run);
bool judge_merge(const struct results *res, const char *program, const char *name,
		 struct rcase *merged, const struct run **run, char *mixed, size_t size);
unsigned int judge_keys(const struct fingerprint *a, const struct fingerprint *b,
			enum key_class class, char *buf, size_t size);
bool judge_case_must(const char *name);
unsigned int judge_case_keys(const struct rcase *a, const struct rcase *b, char *buf,
			     size_t size);
unsigned int judge_tasks(const struct rcase *c);
bool judge_is_pair(const char *one, const char *several);
const char *verdict_name(enum verdict v);
const char *verdict_title(enum verdict v);

#endif
