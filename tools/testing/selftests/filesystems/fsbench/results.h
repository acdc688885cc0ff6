/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Results: one grammar for the results file and for the lines that the suites
 * print into their KTAP output. A record is a line of words:
 *
 *	fsbench-results 1				first line of a file
 *	run program=NAME start=TIME rounds=N ...	a program begins
 *	machine GROUP key=value ...			the fingerprint
 *	warning text="..."				why numbers may be poor
 *	round CASE round=N ns_per_op=... ...		only in the file
 *	CASE ns_per_op=... low=... high=... ...		a case, measured
 *	CASE bytes_per_file=... low=... high=... ...	a case, memory counted
 *	CASE unexpected_results=N ...			a case, wrong: no time
 *	skip CASE reason="..."				cannot be measured here
 *	fail CASE reason="..."				could not be measured
 *	gate CASE verdict=... ...
 *	end cases=N					the program is done
 *
 * A case of several tasks says tasks=N; its time is that between two operations of any
 * of them. A value with blanks stands in double quotes. In KTAP each record follows
 * "# fsbench: ". A run without its end is an unfinished one. With the key
 * clock.unit=instructions all times are instructions, not nanoseconds.
 *
 * Where memory is counted the rounds of the case say bytes_per_file as well, ops
 * is the number of files in all rounds, and there are no batches.
 */
#ifndef FSBENCH_RESULTS_H
#define FSBENCH_RESULTS_H

#include <stdbool.h>
#include <stdio.h>

#include "machine.h"
#include "stats.h"
#include "util.h"

#define RESULTS_MAGIC	"fsbench-results 1"
#define CASE_NAME_MAX	128
#define RECORD_MAX	4096

/* What a case is measured in. */
enum unit {
	UNIT_TIME,
	UNIT_MEMORY,
	NR_UNITS,
};

struct unit_words {
	const char *key;		/* of the headline: "ns_per_op" */
	const char *name;		/* "ns" */
	const char *each;		/* "ns/op" */
};

extern const struct unit_words unit_words[NR_UNITS];

/* What was measured in one case, in thousandths of a nanosecond or of a byte. */
struct result {
	enum unit unit;
	__u64 value;			/* the headline */
	__u64 low, high;		/* interval, from the rounds */
	__u64 confidence;		/* of the interval, thousandths of a percent */
	__u64 median, mean, min, max;
	__u64 rounds;
	__u64 ops;
	__u64 batches;
	__u64 disturbed;		/* batches not used: sum of the next three */
	__u64 preempted, migrated, stolen;
	__u64 clock_overhead;		/* thousandths of a percent of a batch */
	__u64 control;			/* getppid() at the same time, 0: not there */
	__u64 match_ratio;		/* answers as expected, thousandths of a percent */
	__u64 unexpected;
	unsigned int runs;		/* that were merged into this, 0: not merged; */
	unsigned int tasks;		/* and of how many tasks it is */
};

/* A case as read from a file. */
struct rcase {
	char name[CASE_NAME_MAX];
	bool skipped;
	bool failed;			/* could not be measured */
	bool timed;			/* none of these, and no wrong answers */
	struct result r;
	unsigned int nr_rounds;
	__u64 *round;			/* headline of each round, in order */
	unsigned int nr_extra;
	struct fp_key *extra;		/* what else the line says: fs, device, ... */
};

struct run {
	char program[64];
	char start[32];
	unsigned int line;		/* where it begins */
	bool finished;
	struct fingerprint fp;
	unsigned int nr_cases;
	struct rcase *cases;
};

struct results {
	bool ktap;			/* read from a log, not from a results file */
	unsigned int nr_runs;
	struct run *runs;
};

/* Writing, by the suites */
int append_open(const char *path, const char *magic, const char *kind, char *err, size_t size);
int results_open(const char *path, char *err, size_t size);
bool results_start(const char *program, const char *settings, const struct fingerprint *fp);
void results_end(void);
__printf(1, 2) void results_record(const char *fmt, ...);
__printf(1, 2) void results_file_record(const char *fmt, ...);
bool results_failed(void);
__printf(1, 2) void results_case(const char *fmt, ...);
void value_quote(char *buf, size_t size, const char *value);
void result_format(char *buf, size_t size, const struct result *r);
const char *milli_format(char buf[24], __u64 v);

/* Reading */
int results_read(const char *path, struct results *res, char *err, size_t size);
int results_complete(const struct results *res, char *err, size_t size);
void results_free(struct results *res);
struct rcase *run_find(const struct run *run, const char *name);
const char *rcase_word(const struct rcase *c, const char *name);

#endif
