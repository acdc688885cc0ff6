// SPDX-License-Identifier: GPL-2.0
/*
 * The gate: is a case slower than its baseline? One boot against one baseline, so a
 * case fails only if that shows itself again when it is repeated.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "judge.h"
#include "measure.h"
#include "scratch.h"

/*
 * Repeats of a case that seems slower than its baseline, how many confirm it, and
 * the time between them: what slowed the machine down may have gone by then.
 */
#define GATE_REPEATS	3
#define GATE_CONFIRM	2
#define GATE_PAUSE_NS	300000000l

__printf(4, 5)
static void gate_line(char *line, const struct bench *b, const char *verdict,
		      const char *fmt, ...)
{
	size_t len = snprintf(line, RECORD_MAX, "gate %s verdict=%s ", b->name, verdict);
	va_list args;

	va_start(args, fmt);
	vsnprintf(line + len, RECORD_MAX - len, fmt, args);
	va_end(args);
}

/*
 * Find the baseline of this case, or say why there is none to compare with.
 * Values in the reason are fit to be quoted: they were read from a record.
 */
static bool find_baseline(const struct bench *b, const struct result *r, struct rcase *base,
			  char *why, size_t size)
{
	static struct fingerprint keys;
	struct rcase new = { .r = *r };
	const struct run *run = NULL;

	/* As its line will say it. */
	keys = *scratch_keys();
	if (b->nr_tasks)
		fp_set(&keys, "tasks", "%u", b->nr_tasks);
	new.extra = keys.key;
	new.nr_extra = keys.nr;
	if (!judge_merge(&suite.baseline, program_invocation_short_name, b->name, base, &run, why,
			 size)) {
		snprintf(why, size, "the baseline does not have this case");
		return false;
	}
	if (!base->timed) {
		snprintf(why, size, base->r.unexpected ? "the baseline has wrong answers here" :
			 "the baseline did not finish this case");
		return false;
	}
	return !*why && !judge_keys(&run->fp, &suite.machine, KEY_MUST, why, size) &&
	       !judge_case_keys(base, &new, why, size);
}

/**
 * gate() - compare a case with its baseline
 *
 * It is slower if it exceeds the threshold and the noise, and does so again in most
 * of the repeats. Whether it is, or cannot be compared, is in @b.
 *
 * @deadline: when the last repeat has to end
 * @line: receives the record that says so, empty without a baseline; RECORD_MAX bytes
 */
void gate(struct bench *b, const struct plan *p, const struct result *r, __u64 deadline,
	  char *line)
{
	const char *debug = fp_debug_kernel(&suite.machine);
	unsigned int confirmed = 0, repeats = 0, threshold;
	char measured[24], base_text[24];
	const struct timespec pause = { .tv_nsec = GATE_PAUSE_NS };
	__u64 start, longest = 0;
	struct result again;
	struct change c, last;
	struct rcase base;
	char why[900];

	*line = '\0';
	if (!suite.baseline.nr_runs)
		return;
	if (suite.options.slow || debug) {
		gate_line(line, b, "not_gated", "reason=\"%s%s\"",
			  suite.options.slow ? "KSFT_MACHINE_SLOW is set" : "debug kernel: ",
			  suite.options.slow ? "" : debug);
		return;
	}
	if (!find_baseline(b, r, &base, why, sizeof(why))) {
		char quoted[sizeof(why) + 2];

		value_quote(quoted, sizeof(quoted), why);
		gate_line(line, b, verdict_name(NOT_COMPARABLE), "reason=%s", quoted);
		b->not_comparable = suite.options.strict;
		return;
	}

	threshold = judge_threshold(&base.r, suite.options.threshold);
	c = judge_pair(&base.r, r, threshold);
	last = c;
	while (c.verdict == REGRESSION && !b->control && repeats < GATE_REPEATS) {
		remark("%s: %+.1f %% against the baseline, repeat %u of %u", b->name,
		       last.percent, repeats + 1, GATE_REPEATS);
		nanosleep(&pause, NULL);
		start = now();
		/* Better no verdict than one by the harness's timeout. */
		if (start + longest > deadline || !measure(b, p, deadline, true, &again) ||
		    again.rounds < r->rounds)
			break;
		if (now() - start > longest)
			longest = now() - start;
		repeats++;
		last = judge_pair(&base.r, &again, threshold);
		confirmed += last.verdict == REGRESSION;
	}
	if (c.verdict == REGRESSION && !b->control) {
		b->slower = confirmed >= GATE_CONFIRM;
		if (!b->slower) {
			c.verdict = INCONCLUSIVE;
			c.why = "not confirmed";
		}
	}
	snprintf(why, sizeof(why), "threshold=%u.%03u%% confirmed=%u/%u%s%s%s%s",
		 threshold / 1000, threshold % 1000, confirmed, repeats,
		 c.why ? " reason=\"" : "", c.why ? c.why : "", c.why ? "\"" : "",
		 c.verdict == IMPROVEMENT && b->nr_tasks ?
		 " hint=\"improvement of several tasks, see that of one\"" :
		 c.verdict == IMPROVEMENT ? " hint=\"improvement, refresh the baseline\"" :
		 c.verdict == REGRESSION && b->control ?
		 " hint=\"every system call is slower, or the machine is\"" : "");
	gate_line(line, b, verdict_name(c.verdict),
		  "measured=%s baseline=%s change=%+.2f%% noise=%.2f%% control=%+.2f%% %s",
		  milli_format(measured, r->value), milli_format(base_text, base.r.value),
		  c.percent, c.noise, c.drift, why);
}
