// SPDX-License-Identifier: GPL-2.0
/*
 * What goes into a sandwich: boots, read from results, that may be compared.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sandwich.h"

static void *checked(void *memory)
{
	if (!memory) {
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	return memory;
}

__printf(2, 3)
static void add_message(struct sandwich *s, const char *fmt, ...)
{
	va_list args;
	unsigned int i;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	checked(text);
	for (i = 0; i < s->nr_messages && strcmp(s->messages[i], text); i++)
		;
	if (i < s->nr_messages) {
		free(text);
		return;
	}
	s->messages = checked(realloc(s->messages, (i + 1) * sizeof(*s->messages)));
	s->messages[s->nr_messages++] = text;
}

/* What is worse stays: a wrong answer, then what is missing, then the rest. */
__printf(3, 4)
static void set_state(struct sandwich_case *c, enum verdict v, const char *fmt, ...)
{
	va_list args;

	if (c->verdict == WRONG_ANSWER || (v <= c->verdict && v != WRONG_ANSWER))
		return;
	c->verdict = v;
	va_start(args, fmt);
	vsnprintf(c->note, sizeof(c->note), fmt, args);
	va_end(args);
}

/**
 * sandwich_start() - expect so many boots
 *
 * @s: to be freed with sandwich_free()
 * @nr_boots: odd, 3 to SANDWICH_BOOTS_MAX
 */
void sandwich_start(struct sandwich *s, unsigned int nr_boots)
{
	memset(s, 0, sizeof(*s));
	s->nr_boots = nr_boots;
}

static const char *known(const struct run *run, const char *key)
{
	const char *value = fp_get(&run->fp, key);

	return value ? value : "unknown";
}

static int check_boot(struct sandwich *s, const struct results *res, char *err, size_t size)
{
	const char *id = known(&res->runs[0], "kernel.boot_id");
	char a[24], b[24];
	unsigned int i;

	for (i = 1; i < res->nr_runs; i++) {
		if (!strcmp(id, known(&res->runs[i], "kernel.boot_id")))
			continue;
		snprintf(err, size, "line %u: a run of another boot; one file has to be one boot",
			 res->runs[i].line);
		return -1;
	}
	snprintf(s->boot_id[s->added], FP_VALUE_MAX, "%s", id);
	if (!strcmp(id, "unknown")) {
		add_message(s, "warning: %s does not say in which boot it ran",
			    sandwich_role(s, s->added, a));
		return 0;
	}
	/* Where nothing is random, two boots draw the same number. */
	for (i = 0; i < s->added && !s->counted; i++) {
		if (strcmp(s->boot_id[i], id))
			continue;
		snprintf(err, size, "%s and %s are of the same boot, %s", sandwich_role(s, i, a),
			 sandwich_role(s, s->added, b), id);
		return -1;
	}
	return 0;
}

static int check_kernel(struct sandwich *s, const struct run *run, char *err, size_t size)
{
	const char *id = known(run, "kernel.build_id");
	char kernel[sizeof(s->kernel[0])], a[24], b[24];

	snprintf(kernel, sizeof(kernel), "%s %s, build %s", known(run, "kernel.release"),
		 known(run, "kernel.version"), id);
	if (s->added < 2) {
		snprintf(s->kernel[s->added], sizeof(s->kernel[0]), "%s", kernel);
	} else if (strcmp(kernel, s->kernel[s->added & 1])) {
		snprintf(err, size, "%s is not the kernel of %s: %s; %s",
			 sandwich_role(s, s->added, a), sandwich_role(s, s->added & 1, b),
			 kernel, s->kernel[s->added & 1]);
		return -1;
	}
	if (s->added == 1 && !strcmp(kernel, s->kernel[0]) && strcmp(id, "unknown"))
		add_message(s, "warning: control and patched are the same kernel");
	return 0;
}

/*
 * The keys of the machine: do they differ from those of the first boot? Asked for
 * every case, but a file holds only one or two runs.
 */
static bool machine_differs(struct sandwich *s, const struct run *base, const struct run *run)
{
	char keys[2000], role[24];
	unsigned int i;

	if (s->last_run == run)
		return s->last_differs;
	s->last_run = run;
	s->last_digest = HASH_BASIS;
	for (i = 0; i < run->fp.nr; i++) {
		if (fp_class(run->fp.key[i].name) != KEY_MUST)
			continue;
		s->last_digest = hash_text(s->last_digest, run->fp.key[i].name);
		s->last_digest = hash_text(s->last_digest, run->fp.key[i].value);
	}
	sandwich_role(s, s->added, role);
	if (judge_keys(&base->fp, &run->fp, KEY_SHOULD, keys, sizeof(keys)))
		add_message(s, "warning: %s should be equal in control and in %s: %s",
			    run->program, role, keys);
	s->last_differs = judge_keys(&base->fp, &run->fp, KEY_MUST, keys, sizeof(keys));
	if (s->last_differs)
		add_message(s, "not comparable: %s differs in control and in %s: %s",
			    run->program, role, keys);
	return s->last_differs;
}

static double milli(__u64 v)
{
	return v / 1000.0;
}

/*
 * The interval of a boot as a standard deviation. One round has none, which does
 * not mean that it is 0: the noise between boots is never less than it was found
 * to be.
 */
static double within(const struct result *r)
{
	double confidence = r->confidence / 100000.0, z = 1;

	if (!r->low)
		return 1;
	if (confidence > 0.999)
		confidence = 0.999;
	if (confidence >= 0.5)
		z = stats_t_quantile(0.5 + confidence / 2, 0);
	return log((double)r->high / r->low) / 2 / z;
}

static void read_rounds(struct boot_value *v, const struct rcase *c)
{
	__u64 *round = checked(malloc((c->nr_rounds + 1) * sizeof(*round)));
	unsigned int i, skip, n;

	for (skip = 0; skip < 2; skip++) {
		/* A round without an undisturbed batch is 0. */
		for (i = skip, n = 0; i < c->nr_rounds; i++)
			if (c->round[i])
				round[n++] = c->round[i];
		stats_sort(round, n);
		if (!skip)
			v->gap = stats_two_modes(round, n);
		else if (n)
			v->skip_first = milli(stats_median(round, n));
	}
	free(round);
}

static struct sandwich_case *find_case(struct sandwich *s, const char *program,
				       const char *name, unsigned int *at)
{
	struct sandwich_case *c;
	unsigned int i;

	/* Every boot has its cases in the same order: look behind the last one first. */
	for (i = 0; i < s->nr_cases; i++) {
		c = &s->cases[(*at + i) % s->nr_cases];
		if (!strcmp(c->name, name) && !strcmp(c->program, program)) {
			*at = c - s->cases + 1;
			return c;
		}
	}
	/* Doubles at each power of two. */
	if (!(s->nr_cases & (s->nr_cases - 1))) {
		i = s->nr_cases ? 2 * s->nr_cases : 1;
		s->cases = checked(realloc(s->cases, i * sizeof(*s->cases)));
	}
	c = &s->cases[s->nr_cases++];
	memset(c, 0, sizeof(*c));
	snprintf(c->name, sizeof(c->name), "%s", name);
	snprintf(c->program, sizeof(c->program), "%s", program);
	c->control = !strncmp(name, "control.", 8);
	c->boot = checked(calloc(s->nr_boots, sizeof(*c->boot)));
	*at = s->nr_cases;
	return c;
}

static void read_case(struct sandwich *s, struct sandwich_case *c, const struct rcase *merged,
		      const struct run *run)
{
	struct boot_value *v = &c->boot[s->added];
	const struct run *base_run;
	struct rcase base;
	char role[24], keys[150];
	unsigned int i;

	sandwich_role(s, s->added, role);
	if (merged->r.unexpected)
		set_state(c, WRONG_ANSWER, "%llu wrong answers in %s", merged->r.unexpected, role);
	else if (!merged->timed)
		set_state(c, NOT_MEASURED, merged->failed ? "failed in %s" : "not finished in %s",
			  role);
	if (!merged->timed)
		return;
	c->unit = merged->r.unit;
	if (!c->memory_threshold)
		c->memory_threshold = judge_threshold(&merged->r, 0);
	c->tasks = judge_tasks(merged);
	v->time = milli(merged->r.value);
	v->within = within(&merged->r);
	read_rounds(v, merged);
	if (judge_disturbed(&merged->r))
		set_state(c, INCONCLUSIVE, "%.0f %% of the batches of %s were disturbed",
			  100.0 * merged->r.disturbed / merged->r.batches, role);
	if (!judge_merge(s->first, c->program, c->name, &base, &base_run, keys, sizeof(keys)))
		return;
	if (machine_differs(s, base_run, run))
		set_state(c, NOT_COMPARABLE, "%s ran under other conditions", role);
	if (judge_case_keys(&base, merged, keys, sizeof(keys)))
		set_state(c, NOT_COMPARABLE, "%s: %s", role, keys);
	if (s->added)
		return;
	c->digest = s->last_digest;
	for (i = 0; i < merged->nr_extra; i++) {
		if (!judge_case_must(merged->extra[i].name))
			continue;
		c->digest = hash_text(c->digest, merged->extra[i].name);
		c->digest = hash_text(c->digest, merged->extra[i].value);
	}
}

/**
 * sandwich_add() - the next boot
 *
 * Runs of one case in one boot count as one: see judge_merge().
 *
 * @res: complete, and not empty; the first one has to stay until the last is added
 * Return: 0, or -1 and in @err why this file cannot be part of the sandwich.
 */
int sandwich_add(struct sandwich *s, const struct results *res, char *err, size_t size)
{
	const char *debug = fp_debug_kernel(&res->runs[0].fp);
	unsigned int i, j, at = 0;
	char mixed[150];

	if (!s->added) {
		s->first = res;
		s->counted = judge_counted(&res->runs[0]);
	}
	if (check_boot(s, res, err, size) || check_kernel(s, &res->runs[0], err, size))
		return -1;
	if (debug)
		add_message(s, "warning: debug kernel: %s", debug);
	for (i = 0; i < res->nr_runs; i++) {
		const char *program = res->runs[i].program;

		for (j = 0; j < res->runs[i].nr_cases; j++) {
			const char *name = res->runs[i].cases[j].name;
			struct sandwich_case *c;
			const struct run *run;
			struct rcase merged;

			if (!judge_merge(res, program, name, &merged, &run, mixed,
					 sizeof(mixed)))
				continue;
			c = find_case(s, program, name, &at);
			if (*mixed)
				set_state(c, NOT_COMPARABLE, "runs of one file differ: %s", mixed);
			/* An earlier run of this boot had it, and that was merged. */
			if (!c->boot[s->added].time)
				read_case(s, c, &merged, run);
		}
	}
	s->added++;
	s->last_run = NULL;
	return 0;
}

/**
 * sandwich_incomplete() - has a case what an estimate needs?
 *
 * Sets @c->estimated, or the verdict and why.
 */
void sandwich_incomplete(const struct sandwich *s, struct sandwich_case *c)
{
	char role[24];
	unsigned int i;

	for (i = 0; i < s->nr_boots; i++)
		if (!c->boot[i].time)
			set_state(c, NOT_MEASURED, "not measured in %s",
				  sandwich_role(s, i, role));
	c->estimated = c->verdict == NO_CHANGE || c->verdict == INCONCLUSIVE;
}

static bool storable(const char *boot_id)
{
	size_t len = strspn(boot_id, "0123456789abcdef-");

	return len && len <= 64 && !boot_id[len];
}

static bool is_stored(struct calibration *cal, const struct sandwich_case *c, __u64 boots)
{
	unsigned int i, nr;
	const struct pair *p = calibration_find(cal, calibration_key(c->digest, c->name), &nr);

	for (i = 0; i < nr && p[i].boots != boots; i++)
		;
	return i < nr;
}

/**
 * sandwich_record() - prepare the control pairs of this sandwich to be stored
 *
 * Also those that drift: leaving them out would make the machine look calm. Not
 * those of a boot that cannot be told from others, nor counted instructions or
 * bytes, which need no calibration. See calibration_append().
 */
void sandwich_record(struct sandwich *s)
{
	unsigned int i, j;

	if (!s->calibration || s->counted)
		return;
	for (j = 2; j < s->nr_boots; j += 2) {
		const char *a = s->boot_id[j - 2], *b = s->boot_id[j];

		if (!storable(a) || !storable(b)) {
			add_message(s, "warning: control pairs of unknown boots are not stored");
			continue;
		}
		for (i = 0; i < s->nr_cases; i++) {
			const struct sandwich_case *c = &s->cases[i];

			if (!c->estimated || c->unit != UNIT_TIME ||
			    fabs(log(c->boot[j].time / c->boot[j - 2].time)) > LN_RATIO_MAX ||
			    is_stored(s->calibration, c, calibration_boots(a, b)))
				continue;
			calibration_record(s->calibration, c->digest, c->name, a, b,
					   log(c->boot[j].time / c->boot[j - 2].time));
		}
	}
}

/**
 * sandwich_free() - give the memory back; the calibration is the caller's
 */
void sandwich_free(struct sandwich *s)
{
	unsigned int i;

	for (i = 0; i < s->nr_cases; i++)
		free(s->cases[i].boot);
	for (i = 0; i < s->nr_messages; i++)
		free(s->messages[i]);
	free(s->cases);
	free(s->messages);
	memset(s, 0, sizeof(*s));
}
