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
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "options.h"

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

/* Nanoseconds with one decimal: more would be noise. */
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

static void show_run(const struct run *run)
{
	const char *release = fp_get(&run->fp, "kernel.release");
	const char *model = fp_get(&run->fp, "cpu.model");
	unsigned int i;

	printf("%s  %s  kernel %s  cpu %s%s\n", run->program, run->start,
	       release ? release : "unknown", model ? model : "unknown",
	       run->finished ? "" : "  UNFINISHED");
	printf("%-38s %10s %21s %10s %8s %5s\n", "case", "ns/op", "interval", "median",
	       "max", "dist.");
	for (i = 0; i < run->nr_cases; i++) {
		const struct rcase *c = &run->cases[i];
		const struct result *r = &c->r;

		if (!c->timed) {
			printf("%-38s %10s\n", c->name, case_note(c));
			continue;
		}
		printf("%-38s %10.1f %10.1f-%10.1f %10.1f %8.0f %4.1f%% %s\n", c->name,
		       ns(r->value), ns(r->low), ns(r->high), ns(r->median), ns(r->max),
		       r->batches ? 100.0 * r->disturbed / r->batches : 0.0, case_note(c));
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

/* One case of both files. Return: the verdict, NOT_MEASURED if one lacks it. */
static enum verdict compare_case(const struct results *base, const struct results *new,
				 const char *program, const char *name,
				 unsigned int threshold)
{
	const struct run *base_run = NULL, *new_run = NULL;
	char keys[900], mixed[900];
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
	if (judge_keys(&base_run->fp, &new_run->fp, KEY_MUST, keys, sizeof(keys)) ||
	    judge_case_keys(b.extra, b.nr_extra, n.extra, n.nr_extra, keys, sizeof(keys))) {
		printf("%-38s %10.1f %10.1f %8s %7s  NOT COMPARABLE: %.160s\n", name, ns(b.r.value),
		       ns(n.r.value), "", "", keys);
		return NOT_COMPARABLE;
	}
	c = judge_pair(&b.r, &n.r, threshold);
	printf("%-38s %10.1f %10.1f %+7.2f%% %6.2f%%  %s%s%s\n", name, ns(b.r.value),
	       ns(n.r.value), c.percent, c.noise, verdict_title(c.verdict), c.why ? ": " : "",
	       c.why ? c.why : "");
	return c.verdict;
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
	unsigned int threshold = 5000, f, i, j;
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
	printf("%-38s %10s %10s %8s %7s  %s\n", "case", "base ns", "new ns", "change", "noise",
	       "verdict");
	for (f = 0; f < 2; f++) {
		for (i = 0; i < file[f].nr_runs; i++) {
			const struct run *run = &file[f].runs[i];

			for (j = 0; j < run->nr_cases; j++) {
				const struct rcase *c = &run->cases[j];

				enum verdict v;

				if (c->skipped || seen(&file[0], &file[f], i, c->name))
					continue;
				v = compare_case(&file[0], &file[1], run->program, c->name,
						 threshold);
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

static const struct command commands[] = {
	{ "show", "show FILE", "table of the runs in a file", cmd_show },
	{ "check", "check FILE", "validates a file: first bad line and why", cmd_check },
	{ "compare", "compare [--threshold PERCENT] BASE NEW",
	  "one against one, case by case; a change counts above the threshold (5)",
	  cmd_compare },
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
		return commands[i].run(argc - 1, argv + 1);
	}
	return usage_error("unknown command %s", argv[1]);
}
