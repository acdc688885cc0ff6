// SPDX-License-Identifier: GPL-2.0
/*
 * fsbench: reads results files and KTAP logs of the suites.
 *
 * Exit status: 0 no regression, 1 regression or wrong answers, 2 unusable input
 * or usage, 3 inconclusive, 4 not comparable.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "options.h"
#include "sandwich.h"

#define EXIT_REGRESSION		1
#define EXIT_USAGE		2
#define EXIT_INCONCLUSIVE	3
#define EXIT_NOT_COMPARABLE	4

struct command {
	const char *name;
	const char *usage;
	const char *help;
	int (*run)(int argc, char **argv);
};

__printf(1, 2)
static int usage_error(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "fsbench: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	return EXIT_USAGE;
}

static bool load(const char *path, struct results *res, bool complete)
{
	char err[600], why[300];

	if (results_read(path, res, err, sizeof(err)))
		fprintf(stderr, "fsbench: %s\n", err);
	else if (complete && results_complete(res, why, sizeof(why)))
		fprintf(stderr, "fsbench: %s: %s\n", path, why);
	else
		return true;
	results_free(res);
	return false;
}

/* Nothing but @nr files may be left. Return: 0 or EXIT_USAGE, having said which word. */
static int need_files(const char *command, int argc, char **argv, int nr)
{
	int i;

	for (i = 0; i < argc; i++) {
		if (argv[i][0] == '-' && argv[i][1])
			return usage_error("%s: unknown option %s", command, argv[i]);
		if (i == nr)
			return usage_error("%s: one file too many: %s", command, argv[i]);
	}
	if (argc < nr)
		return usage_error("%s needs %d file%s, not %d", command, nr, nr > 1 ? "s" : "",
				   argc);
	return 0;
}

/* Nanoseconds, or bytes, with one decimal: more would be noise. */
static double ns(__u64 milli)
{
	return milli / 1000.0;
}

static const char *case_note(const struct rcase *c)
{
	if (c->skipped)
		return "skipped";
	if (c->failed)
		return "FAILED";
	if (c->r.unexpected)
		return "WRONG ANSWERS";
	if (!c->timed)
		return "not finished";
	return judge_disturbed(&c->r) ? "disturbed" : "";
}

static void show_header(enum unit unit)
{
	printf("%-38s %10s %21s %10s %8s %5s\n", "case", unit_words[unit].each, "interval",
	       "median", "max", "dist.");
}

/* What a case of several tasks says beside its time. */
static void show_tasks(const struct rcase *c)
{
	const char *rate = rcase_word(c, "ops_per_s"), *fairness = rcase_word(c, "fairness");
	const char *stop = rcase_word(c, "stops_at");
	unsigned int tasks = judge_tasks(c);

	if (tasks == 1 || !rate)
		return;
	printf("    %u tasks: %s operations a second", tasks, rate);
	if (fairness)
		printf(", slowest over fastest %s", fairness);
	if (stop && !strcmp(stop, "none"))
		printf(", none is too many");
	else if (stop)
		printf(", more than %s do not help", stop);
	printf("\n");
}

static void show_run(const struct run *run)
{
	const char *release = fp_get(&run->fp, "kernel.release");
	const char *model = fp_get(&run->fp, "cpu.model");
	enum unit unit = UNIT_TIME;
	unsigned int i;

	printf("%s  %s  kernel %s  cpu %s%s\n", run->program, run->start,
	       release ? release : "unknown", model ? model : "unknown",
	       run->finished ? "" : "  UNFINISHED");
	show_header(unit);
	for (i = 0; i < run->nr_cases; i++) {
		const struct rcase *c = &run->cases[i];
		const struct result *r = &c->r;

		if (!c->timed) {
			printf("%-38s %10s\n", c->name, case_note(c));
			continue;
		}
		if (r->unit != unit)
			show_header(r->unit);
		unit = r->unit;
		printf("%-38s %10.1f %10.1f-%10.1f %10.1f %8.0f %4.1f%% %s\n", c->name,
		       ns(r->value), ns(r->low), ns(r->high), ns(r->median), ns(r->max),
		       r->batches ? 100.0 * r->disturbed / r->batches : 0.0, case_note(c));
		show_tasks(c);
	}
}

static int cmd_show(int argc, char **argv)
{
	struct results res;
	unsigned int i;

	if (need_files("show", argc - 1, argv + 1, 1))
		return EXIT_USAGE;
	if (!load(argv[1], &res, false))
		return EXIT_USAGE;
	for (i = 0; i < res.nr_runs; i++) {
		if (i)
			printf("\n");
		show_run(&res.runs[i]);
	}
	results_free(&res);
	return 0;
}

static int cmd_check(int argc, char **argv)
{
	struct results res;
	unsigned int i, cases = 0;

	if (need_files("check", argc - 1, argv + 1, 1))
		return EXIT_USAGE;
	if (!load(argv[1], &res, true))
		return EXIT_USAGE;
	for (i = 0; i < res.nr_runs; i++)
		cases += res.runs[i].nr_cases;
	printf("%s: %s, %u run%s, %u cases\n", argv[1], res.ktap ? "KTAP log" : "results file",
	       res.nr_runs, res.nr_runs == 1 ? "" : "s", cases);
	results_free(&res);
	return 0;
}

/* Before the first row, and before one in another unit. */
static void compare_header(enum unit unit)
{
	char base[16], new[16];

	snprintf(base, sizeof(base), "base %s", unit_words[unit].name);
	snprintf(new, sizeof(new), "new %s", unit_words[unit].name);
	printf("%-38s %10s %10s %8s %7s  %s\n", "case", base, new, "change", "noise", "verdict");
}

/* How a case changed, if the two can be compared; @tasks: how many it is of. */
static enum verdict change_of(const struct results *base, const struct results *new,
			      const char *program, const char *name, unsigned int threshold,
			      struct change *c, unsigned int *tasks)
{
	const struct run *base_run = NULL, *new_run = NULL;
	char keys[8], mixed[8];
	struct rcase b, n;

	if (!judge_merge(base, program, name, &b, &base_run, keys, sizeof(keys)) ||
	    !judge_merge(new, program, name, &n, &new_run, mixed, sizeof(mixed)) ||
	    !b.timed || !n.timed)
		return NOT_MEASURED;
	if (*keys || *mixed ||
	    judge_keys(&base_run->fp, &new_run->fp, KEY_MUST, keys, sizeof(keys)) ||
	    judge_case_keys(&b, &n, keys, sizeof(keys)))
		return NOT_COMPARABLE;
	*c = judge_pair(&b.r, &n.r, judge_threshold(&b.r, threshold));
	*tasks = judge_tasks(&n);
	return c->verdict;
}

/*
 * Beside a gain, a loss is one already if nothing speaks against it but that two runs
 * of one kernel may differ as much: these do not seem to be one.
 */
static bool is_loss(const struct change *c)
{
	return c->verdict == REGRESSION || (c->floor && c->percent > 0);
}

/*
 * A case by one task or by several, and what became of the other one of the pair. A
 * gain of several never stands alone; and if it was bought by one, that is a loss.
 *
 * @c: of this case; becomes a regression then
 * @text: receives what is to be said
 * Return: is this a gain that hides a loss?
 */
static bool judge_scope(const struct results *base, const struct results *new,
			const char *program, const char *name, unsigned int threshold,
			struct change *c, unsigned int tasks, char *text, size_t size)
{
	char one[CASE_NAME_MAX + 2];
	unsigned int i, j, other;
	struct change pair;
	enum verdict v;

	*text = '\0';
	for (i = 0; tasks == 1 && is_loss(c) && i < new->nr_runs; i++) {
		for (j = 0; j < new->runs[i].nr_cases; j++) {
			const char *several = new->runs[i].cases[j].name;

			if (!judge_is_pair(name, several) ||
			    change_of(base, new, program, several, threshold, &pair,
				      &other) != IMPROVEMENT || other == 1)
				continue;
			c->verdict = REGRESSION;
			c->why = NULL;
			snprintf(text, size, ": the gain at %u tasks hides a single-task loss",
				 other);
			return false;
		}
	}
	if (tasks == 1 || c->verdict != IMPROVEMENT || !strrchr(name, '_'))
		return false;
	snprintf(one, sizeof(one), "%.*s_1", (int)(strrchr(name, '_') - name), name);
	if (!judge_is_pair(one, name))
		return false;
	v = change_of(base, new, program, one, threshold, &pair, &other);
	if (v < NOT_COMPARABLE && is_loss(&pair)) {
		snprintf(text, size, " at %u tasks, hides a single-task loss", tasks);
		return true;
	}
	if (v != IMPROVEMENT)
		snprintf(text, size, " at %u tasks only; one task: %s", tasks, verdict_title(v));
	return false;
}

/*
 * One case of both files. Return: the verdict, NOT_MEASURED if one lacks it.
 *
 * @hidden: counts gains that hide a loss
 */
static enum verdict compare_case(const struct results *base, const struct results *new,
				 const char *program, const char *name,
				 unsigned int threshold, enum unit *unit,
				 unsigned int *hidden)
{
	const struct run *base_run = NULL, *new_run = NULL;
	char keys[900], mixed[900], scope[80];
	struct rcase b, n;
	struct change c;
	bool in_base, in_new;

	in_base = judge_merge(base, program, name, &b, &base_run, keys, sizeof(keys));
	in_new = judge_merge(new, program, name, &n, &new_run, mixed, sizeof(mixed));
	if (!in_base || !in_new) {
		printf("%-38s only in the %s\n", name, in_base ? "base" : "new");
		return in_base ? NOT_MEASURED : NO_BASE;
	}
	if (n.r.unexpected || b.r.unexpected) {
		printf("%-38s WRONG ANSWERS in the %s\n", name, n.r.unexpected ? "new" : "base");
		return WRONG_ANSWER;
	}
	if (!n.timed || !b.timed) {
		printf("%-38s not measured in the %s\n", name, n.timed ? "base" : "new");
		return NOT_MEASURED;
	}
	if (*mixed || *keys) {
		printf("%-38s NOT COMPARABLE: %s between runs of one file\n", name,
		       *mixed ? mixed : keys);
		return NOT_COMPARABLE;
	}
	if (n.r.unit != *unit)
		compare_header(n.r.unit);
	*unit = n.r.unit;
	if (judge_keys(&base_run->fp, &new_run->fp, KEY_MUST, keys, sizeof(keys)) ||
	    judge_case_keys(&b, &n, keys, sizeof(keys))) {
		printf("%-38s %10.1f %10.1f %8s %7s  NOT COMPARABLE: %.160s\n", name, ns(b.r.value),
		       ns(n.r.value), "", "", keys);
		return NOT_COMPARABLE;
	}
	if (!threshold)
		threshold = judge_counted(new_run) ? THRESHOLD_COUNTED : THRESHOLD_DEFAULT;
	c = judge_pair(&b.r, &n.r, judge_threshold(&b.r, threshold));
	*hidden += judge_scope(base, new, program, name, threshold, &c, judge_tasks(&n), scope,
			       sizeof(scope));
	printf("%-38s %10.1f %10.1f %+7.2f%% %6.2f%%  %s%s%s%s\n", name, ns(b.r.value),
	       ns(n.r.value), c.percent, c.noise, verdict_title(c.verdict), c.why ? ": " : "",
	       c.why ? c.why : "", scope);
	return c.verdict;
}

static void print_hidden(unsigned int nr)
{
	if (nr)
		printf("%u gain%s of several tasks hide%s a single-task loss\n", nr,
		       nr == 1 ? "" : "s", nr == 1 ? "s" : "");
}

static void warn_keys(const struct results *base, const struct results *new)
{
	char keys[900];

	if (judge_keys(&base->runs[base->nr_runs - 1].fp, &new->runs[new->nr_runs - 1].fp,
		       KEY_SHOULD, keys, sizeof(keys)))
		printf("warning: these should be equal: %s\n", keys);
}

/* Has an earlier run of the file, or an earlier file, shown this case? */
static bool seen(const struct results *first, const struct results *res, unsigned int nr,
		 const char *name)
{
	const struct results *files[] = { first, res };
	const char *program = res->runs[nr].program;
	unsigned int f, i;

	for (f = first == res; f < 2; f++) {
		for (i = 0; i < (files[f] == res ? nr : files[f]->nr_runs); i++) {
			const struct run *run = &files[f]->runs[i];
			const struct rcase *c = strcmp(run->program, program) ? NULL :
						run_find(run, name);

			if (c && !c->skipped)
				return true;
		}
	}
	return false;
}

static int cmd_compare(int argc, char **argv)
{
	unsigned int counts[NO_BASE + 1] = { 0 };
	unsigned int threshold = 0, hidden = 0, f, i, j;
	enum unit unit = UNIT_TIME;
	struct results file[2];
	int arg = 1;

	if (argc > arg && !strcmp(argv[arg], "--threshold")) {
		if (argc == arg + 1)
			return usage_error("compare: --threshold needs a percentage");
		if (parse_percent(argv[arg + 1], &threshold))
			return usage_error("compare: --threshold %s: not a percentage up to 1000",
					   argv[arg + 1]);
		arg += 2;
	}
	if (need_files("compare", argc - arg, argv + arg, 2))
		return EXIT_USAGE;
	if (!load(argv[arg], &file[0], true))
		return EXIT_USAGE;
	if (!load(argv[arg + 1], &file[1], true)) {
		results_free(&file[0]);
		return EXIT_USAGE;
	}
	warn_keys(&file[0], &file[1]);
	compare_header(unit);
	for (f = 0; f < 2; f++) {
		for (i = 0; i < file[f].nr_runs; i++) {
			const struct run *run = &file[f].runs[i];

			for (j = 0; j < run->nr_cases; j++) {
				const struct rcase *c = &run->cases[j];

				enum verdict v;

				if (c->skipped || seen(&file[0], &file[f], i, c->name))
					continue;
				v = compare_case(&file[0], &file[1], run->program, c->name,
						 threshold, &unit, &hidden);
				/* The control is no case of ours: it is shown. */
				if (v == WRONG_ANSWER || v == NOT_COMPARABLE || v == NOT_MEASURED ||
				    strncmp(c->name, "control.", 8))
					counts[v]++;
			}
		}
	}
	printf("%u regressions, %u improvements, %u without change, ",
	       counts[REGRESSION], counts[IMPROVEMENT], counts[NO_CHANGE]);
	printf("%u inconclusive, %u not comparable, %u not measured, %u with wrong answers\n",
	       counts[INCONCLUSIVE], counts[NOT_COMPARABLE], counts[NOT_MEASURED],
	       counts[WRONG_ANSWER]);
	print_hidden(hidden);
	printf("One run of each kernel: a difference may be the boot's and not the kernel's.\n");
	results_free(&file[0]);
	results_free(&file[1]);
	if (counts[WRONG_ANSWER] || counts[REGRESSION])
		return EXIT_REGRESSION;
	if (counts[NOT_COMPARABLE] || !(counts[NO_CHANGE] + counts[IMPROVEMENT] +
					counts[INCONCLUSIVE]))
		return EXIT_NOT_COMPARABLE;
	return counts[INCONCLUSIVE] || counts[NOT_MEASURED] ? EXIT_INCONCLUSIVE : 0;
}

#define COLUMNS	100

/* Text in lines of at most COLUMNS, broken at blanks; those that follow are indented. */
static void print_wrapped(const char *text, size_t column)
{
	const char *blank = "";
	size_t word;

	while (*text) {
		word = strcspn(text, " ");
		if (column + 1 + word > COLUMNS && column > 8) {
			column = printf("\n        ") - 1;
			blank = "";
		}
		column += printf("%s%.*s", blank, (int)word, text);
		text += word + (text[word] == ' ');
		blank = " ";
	}
	printf("\n");
}

/* Microseconds and more do not need three decimals. */
static void print_time(double time)
{
	if (time)
		printf("%10.*f", time < 10000 ? 3 : 1, time);
	else
		printf("%10s", "-");
}

/* A patched boot and its controls; 0 is a time that there is not. */
static void print_times(const char *label, double a, double patched, double b)
{
	printf("%-10s", label);
	print_time(a);
	print_time(patched);
	print_time(b);
	print_time(a && b ? (a + b) / 2 : 0);
}

static void print_estimate(const struct sandwich_case *c)
{
	double reach = sandwich_reach(&c->e, 0.975);

	printf("%+9.3f %+7.2f %+7.2f%+8.3f", ln_percent(c->e.delta),
	       ln_percent(c->e.delta - reach), ln_percent(c->e.delta + reach),
	       ln_percent(c->e.drift));
}

static void print_note(const struct sandwich_case *c)
{
	size_t column = printf("%s", c->name);
	char text[300];

	*text = '\0';
	if (c->estimated && c->verdict == NO_CHANGE)
		snprintf(text, sizeof(text), ": a change of %.2f %% would have been found",
			 c->seen);
	else if (*c->note && c->more_boots)
		snprintf(text, sizeof(text), ": %s; %u more boots may settle it", c->note,
			 c->more_boots);
	else if (*c->note)
		snprintf(text, sizeof(text), ": %s", c->note);
	print_wrapped(text, column);
}

static void print_case(const struct sandwich *s, const struct sandwich_case *c)
{
	const struct boot_value *b = c->boot;
	double delta, drift;
	unsigned int i;
	char label[24];

	print_note(c);
	for (i = 0; s->nr_boots > 3 && i + 2 < s->nr_boots; i += 2) {
		snprintf(label, sizeof(label), "  %u", i / 2 + 1);
		print_times(label, b[i].time, b[i + 1].time, b[i + 2].time);
		if (c->estimated)
			printf("%+9.3f%16s%+8.3f", ln_percent(sandwich_delta(b, i / 2)), "",
			       100 * (b[i + 2].time / b[i].time - 1));
		printf("\n");
	}
	if (s->nr_boots == 3)
		print_times("all", b[0].time, b[1].time, b[2].time);
	else
		printf("%-50s", "all");
	if (c->estimated)
		print_estimate(c);
	else
		printf("%33s", "");
	printf("  %s\n", verdict_title(c->verdict));
	if (!c->estimated || !sandwich_skip_first(b, s->nr_boots, &delta, &drift))
		return;
	if (s->nr_boots == 3)
		print_times("skip-first", b[0].skip_first, b[1].skip_first, b[2].skip_first);
	else
		printf("%-50s", "skip-first");
	printf("%+9.3f%16s%+8.3f\n", ln_percent(delta), "", ln_percent(drift));
}

static void print_noise(const struct sandwich *s)
{
	static const char * const source[] = {
		[NOISE_MEASURED] = "measured between boots",
		[NOISE_SETTLED] = "measured between many boots",
		[NOISE_BOUND] = "not known, at least 0.83 % a boot, see --calibration",
		[NOISE_COUNTED] = "instructions: what the controls differ by",
		[NOISE_MEMORY] = "memory: what the controls differ by",
	};
	unsigned int i, noise, nr, nr_tasks, threshold;

	for (noise = 0; noise < NOISE_SOURCES; noise++) {
		for (i = 0, nr = 0, nr_tasks = 0, threshold = 0; i < s->nr_cases; i++) {
			if (!s->cases[i].estimated || s->cases[i].e.noise != noise)
				continue;
			threshold = sandwich_threshold(s, &s->cases[i]);
			nr_tasks += s->cases[i].tasks > 1;
			nr++;
		}
		/* How many percent the bytes are depends on the case. */
		if (noise == NOISE_MEMORY)
			threshold = THRESHOLD_MEMORY;
		if (nr)
			printf("noise in %u of %u cases: %s; threshold %g %%%s\n", nr, s->nr_cases,
			       source[noise], threshold / 1000.0,
			       noise == NOISE_MEMORY ? " and 2 bytes" : "");
		if (nr_tasks && noise == NOISE_BOUND)
			printf("%u of these are of several tasks: at least 10 %% a boot\n",
			       nr_tasks);
	}
}

static void sandwich_header(const struct sandwich *s, enum unit unit)
{
	printf("\n%s, change and drift in percent, interval of 95 %%\n",
	       unit == UNIT_MEMORY ? "Bytes a file" :
	       s->counted ? "Instructions an operation" : "Nanoseconds an operation");
	printf("%20s%10s%10s%10s%9s%16s%8s  %s\n", "control A", "patched", "control B", "midpoint",
	       "change", "interval", "drift", "verdict");
}

static void print_sandwich(const struct sandwich *s, char **paths, unsigned int counts[])
{
	const char *program = "";
	enum unit unit = UNIT_TIME;
	unsigned int i, wrong;
	char role[24];

	for (i = 0; i < s->nr_boots; i++)
		printf("%-10s  %s\n", sandwich_role(s, i, role), paths[i]);
	for (i = 0; i < 2; i++)
		print_wrapped(s->kernel[i], printf("%s kernel  ", i ? "patched" : "control"));
	for (i = 0; i < s->nr_messages; i++)
		print_wrapped(s->messages[i], 0);
	sandwich_header(s, unit);
	/* Wrong answers come first. */
	for (wrong = 2; wrong--; ) {
		for (i = 0; i < s->nr_cases; i++) {
			const struct sandwich_case *c = &s->cases[i];

			if (wrong ? c->verdict != WRONG_ANSWER : c->verdict == WRONG_ANSWER)
				continue;
			if (c->estimated && c->unit != unit) {
				unit = c->unit;
				sandwich_header(s, unit);
			}
			if (!wrong && strcmp(program, c->program))
				printf("\n# %s\n", c->program);
			program = wrong ? "" : c->program;
			print_case(s, c);
			/* The control is no case of ours: it is shown. */
			if (!c->control || c->verdict >= INCONCLUSIVE)
				counts[c->verdict]++;
		}
	}
	printf("\n");
	print_noise(s);
	printf("A case counts at 99 %%, %u together at 95 %% (Holm). skip-first: the median\n"
	       "of the rounds but the first.\n", s->nr_family);
}

static int sandwich_files(struct sandwich *s, char **paths)
{
	struct results first, next;
	char err[1200];
	unsigned int i;
	int ret = 0;

	/* One beside the first at a time: many cases take much memory. */
	for (i = 0; i < s->nr_boots && !ret; i++) {
		struct results *res = i ? &next : &first;

		if (!load(paths[i], res, true)) {
			results_free(res);
			ret = -1;
		} else if (sandwich_add(s, res, err, sizeof(err))) {
			usage_error("%s: %s", paths[i], err);
			ret = -1;
		}
		if (i)
			results_free(res);
	}
	results_free(&first);
	return ret;
}

/* @calibration: NULL, or a file for the control pairs; not made for bad input */
static int judge_files(struct sandwich *s, char **paths, const char *calibration)
{
	unsigned int counts[NOT_MEASURED + 1] = { 0 };
	char err[600];
	int status = 0;

	if (sandwich_files(s, paths))
		return EXIT_USAGE;
	if (calibration && calibration_open(s->calibration, calibration, err, sizeof(err)))
		return usage_error("%s", err);
	sandwich_judge(s);
	sandwich_record(s);
	print_sandwich(s, paths, counts);
	printf("%u regressions, %u improvements, %u without change, %u inconclusive,\n"
	       "%u not comparable, %u with wrong answers, %u not measured in every boot\n",
	       counts[REGRESSION], counts[IMPROVEMENT], counts[NO_CHANGE],
	       counts[INCONCLUSIVE], counts[NOT_COMPARABLE], counts[WRONG_ANSWER],
	       counts[NOT_MEASURED]);
	print_hidden(s->nr_hidden);
	if (calibration && calibration_append(s->calibration, err, sizeof(err)))
		status = usage_error("the control pairs were not stored: %s", err);
	if (counts[WRONG_ANSWER] || counts[REGRESSION])
		return EXIT_REGRESSION;
	if (status)
		return status;
	if (counts[NOT_COMPARABLE] || !s->nr_family)
		return EXIT_NOT_COMPARABLE;
	return counts[INCONCLUSIVE] || counts[NOT_MEASURED] ? EXIT_INCONCLUSIVE : 0;
}

static int cmd_sandwich(int argc, char **argv)
{
	struct calibration calibration = { 0 };
	const char *path = NULL;
	unsigned int threshold = 0;
	struct sandwich s;
	int arg, status;

	for (arg = 1; arg < argc && !strncmp(argv[arg], "--", 2); arg += 2) {
		bool percent = !strcmp(argv[arg], "--threshold");

		if (!percent && strcmp(argv[arg], "--calibration"))
			return usage_error("sandwich: unknown option %s", argv[arg]);
		if (arg + 1 == argc)
			return usage_error("sandwich: %s needs a %s", argv[arg],
					   percent ? "percentage" : "file");
		if (!percent)
			path = argv[arg + 1];
		else if (parse_percent(argv[arg + 1], &threshold))
			return usage_error("sandwich: --threshold %s: not a percentage up to 1000",
					   argv[arg + 1]);
	}
	if (argc - arg < 3 || (argc - arg) % 2 == 0 || argc - arg > SANDWICH_BOOTS_MAX)
		return usage_error("sandwich takes an odd number of files from 3 to %d, not %d",
				   SANDWICH_BOOTS_MAX, argc - arg);
	sandwich_start(&s, argc - arg);
	s.threshold = threshold;
	s.calibration = path ? &calibration : NULL;
	status = judge_files(&s, argv + arg, path);
	calibration_free(&calibration);
	sandwich_free(&s);
	return status;
}

static const struct command commands[] = {
	{ "show", "show FILE", "table of the runs in a file", cmd_show },
	{ "check", "check FILE", "validates a file: first bad line and why", cmd_check },
	{ "compare", "compare [--threshold PERCENT] BASE NEW",
	  "one against one, case by case; a change counts above the threshold: 5 %, 0.2 % in\n"
	  "\tinstructions, and whatever PERCENT is, 2 % and 2 bytes in memory",
	  cmd_compare },
	{ "sandwich",
	  "sandwich [--threshold PERCENT] [--calibration FILE] CONTROL PATCHED CONTROL [...]",
	  "boots of two kernels in turn, one file a boot; FILE keeps the control pairs, which\n"
	  "\ttell the noise of this machine; a change counts from 2 % on, 5 % while the noise\n"
	  "\tis not known, 0.2 % in instructions, and in memory 2 % and 2 bytes", cmd_sandwich },
};

static void help(void)
{
	unsigned int i;

	printf("Reads results files and KTAP logs of the fsbench suites.\n\n");
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  fsbench %s\n\t%s\n", commands[i].usage, commands[i].help);
	printf("\nExit status: 0 no regression, 1 regression or wrong answers,\n"
	       "2 unusable input or usage, 3 inconclusive, 4 not comparable.\n");
}

/* What nobody can read is no result. */
static int flushed(int status)
{
	if (fflush(stdout) || ferror(stdout))
		return usage_error("standard output: %s", strerror(errno));
	return status;
}

int main(int argc, char **argv)
{
	unsigned int i;
	int arg;

	if (argc < 2)
		return usage_error("no command; try fsbench --help");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help();
		return 0;
	}
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		for (arg = 2; arg < argc; arg++) {
			if (!strcmp(argv[arg], "--help")) {
				printf("fsbench %s\n\t%s\n", commands[i].usage, commands[i].help);
				return 0;
			}
		}
		return flushed(commands[i].run(argc - 1, argv + 1));
	}
	return usage_error("unknown command %s", argv[1]);
}
