/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control, patched, control: is one kernel slower than the other?
 *
 * The boot is the unit. Boots are numbered from 0 in the order in which they
 * were run: controls are even, patched kernels odd.
 */
#ifndef FSBENCH_SANDWICH_H
#define FSBENCH_SANDWICH_H

#include "calibration.h"
#include "judge.h"

#define SANDWICH_BOOTS_MAX	63

/* Where the noise between boots is known from. */
enum noise {
	NOISE_MEASURED,		/* stored control pairs, or several sandwiches */
	NOISE_SETTLED,		/* both, and no fewer than three sandwiches */
	NOISE_BOUND,		/* not known: only bounded from below */
	NOISE_COUNTED,		/* instructions: none but what the controls show */
	NOISE_MEMORY,		/* nor has memory */
	NOISE_SOURCES,
};

/* One case in one boot. */
struct boot_value {
	double time;		/* ns or instructions an operation, bytes a file; 0: none */
	double skip_first;	/* median of the rounds but the first; 0: no rounds */
	double within;		/* standard deviation of ln time within the boot */
	double gap;		/* ln of the distance of two modes; 0: one mode */
};

/* Differences are natural logarithms of ratios. */
struct estimate {
	double delta;		/* patched over the mean of its controls */
	double se;		/* standard deviation of delta, between boots, */
	double within;		/* and what the rounds alone would make it */
	double drift;		/* largest of later control over earlier one */
	double drift_limit;
	unsigned int df;	/* degrees of freedom of se; 0: normal distribution */
	enum noise noise;
};

struct sandwich_case {
	char name[CASE_NAME_MAX];
	char program[64];
	bool control;		/* the negative control: nothing may move it */
	enum unit unit;
	unsigned int memory_threshold;	/* if that is memory; see judge_threshold() */
	unsigned int tasks;
	struct boot_value *boot;
	__u64 digest;		/* of the keys that must be equal */

	enum verdict verdict;
	bool estimated;
	struct estimate e;
	double p;		/* of equal kernels; corrected by Holm, */
	bool one_of_many;	/* and only that makes it inconclusive */
	double seen;		/* percent: is found about 9 times out of 10 */
	unsigned int more_boots;	/* may settle it; 0: not known */
	char note[200];		/* why the verdict is not a plain one */
};

struct sandwich {
	unsigned int nr_boots;
	unsigned int threshold;		/* of times, in thousandths of a percent; 0: by the noise */
	struct calibration *calibration;	/* or NULL */
	bool counted;			/* in instructions */
	unsigned int nr_cases;
	struct sandwich_case *cases;
	unsigned int nr_family;		/* cases that were tested together */
	unsigned int nr_hidden;		/* gains that hide a single-task loss */
	unsigned int nr_messages;
	char **messages;		/* for people: what differs between boots */
	/* ------------------------------------------------------------------ */
	unsigned int added;
	const struct results *first;
	const struct run *last_run;	/* whose keys were compared last, */
	__u64 last_digest;		/* and what came out */
	bool last_differs;
	char boot_id[SANDWICH_BOOTS_MAX][FP_VALUE_MAX];
	char kernel[2][FP_VALUE_MAX * 3];
};

void sandwich_start(struct sandwich *s, unsigned int nr_boots);
int sandwich_add(struct sandwich *s, const struct results *res, char *err, size_t size);
void sandwich_judge(struct sandwich *s);
void sandwich_record(struct sandwich *s);
void sandwich_free(struct sandwich *s);

void sandwich_estimate(const struct boot_value *boot, unsigned int nr_boots,
		       unsigned int nr_pairs, double squares, bool counted,
		       struct estimate *e);
void sandwich_incomplete(const struct sandwich *s, struct sandwich_case *c);
double sandwich_reach(const struct estimate *e, double p);
bool sandwich_skip_first(const struct boot_value *boot, unsigned int nr_boots,
			 double *delta, double *drift);
double sandwich_delta(const struct boot_value *boot, unsigned int sandwich);
unsigned int sandwich_threshold(const struct sandwich *s, const struct sandwich_case *c);
const char *sandwich_role(const struct sandwich *s, unsigned int boot, char buf[24]);
double ln_percent(double ln);

#endif
