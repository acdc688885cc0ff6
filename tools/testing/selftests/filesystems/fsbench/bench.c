// SPDX-License-Identifier: GPL-2.0
/*
 * A suite as a program: its options, its cases one after the other, and the lines
 * that report them.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "judge.h"
#include "measure.h"
#include "memory.h"
#include "scratch.h"
#include "tasks.h"

/* Calls that are timed to see what the clock counts. */
#define COUNT_TRIES	16

struct suite suite = { .cpu = -1 };

static struct fingerprint notes;	/* what is said of this case beside its figures */

/**
 * remark() - say something beside the records
 */
void remark(const char *fmt, ...)
{
	va_list args;

	printf("# fsbench: ");
	va_start(args, fmt);
	vprintf(fmt, args);
	va_end(args);
	printf("\n");
	/* The harness of 6.1 loses a buffer. */
	fflush(stdout);
}

/**
 * bench_all() - are the cases wanted that are not in the default set?
 */
bool bench_all(void)
{
	return suite.options.all;
}

/**
 * bench_no_memory() - why kernel memory cannot be counted here, NULL if it can
 */
const char *bench_no_memory(void)
{
	return memory_missing();
}

/**
 * bench_tasks() - how many tasks take part in a case for several
 *
 * One a CPU: more would wait for each other whatever the kernel does.
 *
 * Return: at least 1.
 */
unsigned int bench_tasks(void)
{
	unsigned int cpus = CPU_COUNT(&suite.options.allowed);

	return suite.options.tasks < cpus ? suite.options.tasks : cpus;
}

/**
 * bench_lacks_tasks() - why the case cannot be measured by several tasks, or NULL
 */
const char *bench_lacks_tasks(const struct bench *b)
{
	if ((!b->several && !b->threads) || (bench_tasks() > 1 && !suite.options.icount))
		return NULL;
	if (suite.options.icount)
		return "needs two CPUs, instructions are counted on one (FSBENCH_ICOUNT)";
	return CPU_COUNT(&suite.options.allowed) > 1 ?
	       "needs two tasks, FSBENCH_TASKS=1 allows one" :
	       "needs two CPUs, and this process may use one";
}

/**
 * bench_note() - add name=value to the line of the case: information, no verdict
 *
 * Only where nothing is timed. The last value of a name counts.
 */
void bench_note(const char *name, const char *fmt, ...)
{
	char value[FP_VALUE_MAX];
	va_list args;

	va_start(args, fmt);
	vsnprintf(value, sizeof(value), fmt, args);
	va_end(args);
	fp_set(&notes, name, "%s", value);
}

static void describe(char *buf, size_t size, const struct fingerprint *keys)
{
	char quoted[FP_VALUE_MAX + 4];
	unsigned int i;
	size_t len = 0;

	*buf = '\0';
	for (i = 0; i < keys->nr && len < size; i++) {
		value_quote(quoted, sizeof(quoted), keys->key[i].value);
		len += snprintf(buf + len, size - len, " %s=%s", keys->key[i].name, quoted);
	}
}

/* What is said of several tasks beside the figures that every case has. */
static void describe_tasks(char *buf, size_t size, const struct plan *p, const struct result *r)
{
	size_t len;

	*buf = '\0';
	if (!p->tasks)
		return;
	len = snprintf(buf, size, " tasks=%u ops_per_s=%llu", p->nr_tasks,
		       NSEC_PER_SEC * 1000 / r->value);
	if (tasks_fairness(p->tasks))
		len += snprintf(buf + len, size - len, " fairness=%.4f",
				tasks_fairness(p->tasks));
	if (p->stops_at)
		len += snprintf(buf + len, size - len, " stops_at=%u", p->stops_at);
	else
		len += snprintf(buf + len, size - len, " stops_at=none");
	len += snprintf(buf + len, size - len, " per_task=");
	tasks_operations(p->tasks, buf + len, size - len);
}

static void report(const struct bench *b, const struct plan *p, const struct result *r,
		   const char *tasks)
{
	char figures[768], where[768], more[768];

	result_format(figures, sizeof(figures), r);
	describe(where, sizeof(where), scratch_keys());
	describe(more, sizeof(more), &notes);
	results_case("%s%s%s%s%s", b->name, figures, tasks, where, more);
	if (p->clock_overhead > 100000 / CLOCK_SHARE && !suite.options.icount)
		remark("%s: reading the clock costs %.2f %% of a batch of %lu", b->name,
		       p->clock_overhead / 1000.0, p->batch);
	if (judge_disturbed(r))
		remark("%s: %llu of %llu batches disturbed, do not rely on this", b->name,
		       r->disturbed, r->batches);
	if (r->rounds < p->rounds)
		remark("%s: stopped after %llu of %u rounds, they take too long", b->name,
		       r->rounds, p->rounds);
}

/* The symbol is what people look for; not every libc knows them. */
static const char *errno_name(int err)
{
#define NAME(e) { e, #e }
	static const struct {
		int err;
		const char *name;
	} names[] = {
		NAME(EPERM), NAME(ENOENT), NAME(EINTR), NAME(EIO), NAME(EBADF),
		NAME(EAGAIN), NAME(ENOMEM), NAME(EACCES), NAME(EFAULT), NAME(EBUSY),
		NAME(EEXIST), NAME(EXDEV), NAME(ENODEV), NAME(EISDIR), NAME(EINVAL),
		NAME(EMFILE), NAME(ENOSPC), NAME(EROFS), NAME(ERANGE), NAME(ENXIO),
		NAME(ENODATA), NAME(EOPNOTSUPP), NAME(E2BIG), NAME(EDQUOT), NAME(EUCLEAN),
	};
#undef NAME
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].err == err)
			return names[i].name;
	return err ? "errno" : "none";
}

/* Wrong answers come first: such a case has no time, however fast it was. */
static void report_wrong(const struct bench *b)
{
	/* Hooks count no operations, so there may be more misses than checks. */
	double ratio = b->unexpected_results < b->checked ?
		100 - 100.0 * b->unexpected_results / b->checked : 0;
	char task[24] = "";

	if (ratio > 99.999)
		ratio = 99.999;
	results_case("%s expected_match_ratio=%.3f unexpected_results=%lu errno=%s", b->name,
		     ratio, b->unexpected_results, errno_name(b->miss_errno));
	if (b->nr_tasks)
		snprintf(task, sizeof(task), " of task %u", b->task);
	remark("%s: %soperation %lu%s: not as expected: %s; errno %d (%s, %s)", b->name,
	       b->miss_phase ? b->miss_phase : "", b->miss_op, task, b->miss, b->miss_errno,
	       errno_name(b->miss_errno),
	       b->miss_errno ? strerror(b->miss_errno) : "the call itself succeeded");
}

/**
 * bench_pin() - stay on the CPU that measures; what is made there is near it
 */
void bench_pin(void)
{
	cpu_set_t set;

	if (suite.cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(suite.cpu, &set);
	if (!sched_setaffinity(0, sizeof(set), &set))
		return;
	results_record("warning text=\"not pinned to CPU %d: %s\"", suite.cpu, strerror(errno));
	suite.cpu = -1;
}

/*
 * Where instructions are counted there is one CPU, and what a worker of the kernel
 * does on it would be counted too. By number: sched_setscheduler() of musl refuses.
 */
static void keep_cpu(void)
{
	struct sched_param param = { .sched_priority = 1 };

	syscall(SYS_sched_setscheduler, 0, SCHED_FIFO, &param);
}

static bool keeps_cpu(void)
{
	return syscall(SYS_sched_getscheduler, 0) == SCHED_FIFO;
}

/* The first case to come, in whichever process, begins the run. */
static void begin(void)
{
	const struct options *o = &suite.options;
	char settings[64];

	snprintf(settings, sizeof(settings), "rounds=%u device=%s", o->rounds,
		 o->device == DEVICE_PATH ? "named" : o->device == DEVICE_LOOP ? "loop" :
		 o->device == DEVICE_BRD ? "brd" : "auto");
	if (!results_start(program_invocation_short_name, settings, &suite.machine))
		return;
	if (o->trace)
		results_record("warning text=\"FSBENCH_TRACE=1, but there are no trace cases\"");
	if (o->icount && !keeps_cpu())
		results_record("warning text=\"kernel workers may be counted: not SCHED_FIFO\"");
}

static void case_name(char *buf, size_t size, const char *fixture, const char *variant,
		      const char *test)
{
	snprintf(buf, size, "%s%s%s.%s", fixture, *variant ? "." : "", variant, test);
}

/**
 * bench_run() - measure one case, prove its answers, report it, gate it
 *
 * The outcome is in @b: unexpected_results, slower, not_comparable.
 *
 * Return: false if it could not be measured or recorded.
 */
bool bench_run(struct bench *b, const char *fixture, const char *variant, const char *test)
{
	static char tasks[RECORD_MAX / 2];
	__u64 deadline = now() + CASE_NS;
	static bool measured_one;
	struct plan plan = { .nr_tasks = 1 };
	char line[RECORD_MAX];
	struct result r;
	bool ok;

	case_name(b->name, sizeof(b->name), fixture, variant, test);
	begin();
	if (measured_one) {
		remark("%s: one BENCH() a test, and this is the second", b->name);
		return false;
	}
	measured_one = true;
	bench_pin();
	/* What this opens is open then: no descriptor of a workload changes its number. */
	machine_steal_ticks(suite.cpu);

	ok = measure_prepare(b, &plan);
	*line = '\0';
	if (ok) {
		ok = measure(b, &plan, deadline, false, &r);
		if (ok && !b->unexpected_results) {
			describe_tasks(tasks, sizeof(tasks), &plan, &r);
			gate(b, &plan, &r, deadline, line);
		}
		ok = ok && !*b->why && !b->unexpected_results && measure_prove(b, &plan);
	}
	if (!measure_end(&plan))
		ok = false;
	if (b->unexpected_results)
		report_wrong(b);
	else if (ok)
		report(b, &plan, &r, tasks);
	else
		results_case("fail %s reason=\"%s\"", b->name, b->why);
	if (ok && *line && !b->unexpected_results)
		results_record("%s", line);
	return (ok || b->unexpected_results) && !results_failed();
}

/**
 * bench_not_run() - the case was not measured; the results say why
 *
 * @what: "skip" if it cannot be had here, "fail" if it should be had
 */
void bench_not_run(const char *what, const char *fixture, const char *variant,
		   const char *test, const char *reason)
{
	char name[CASE_NAME_MAX], quoted[512];

	case_name(name, sizeof(name), fixture, variant, test);
	value_quote(quoted, sizeof(quoted), reason);
	begin();
	results_case("%s %s reason=%s", what, name, quoted);
}

static void finish(void)
{
	scratch_cleanup();
	results_end();
}

__printf(1, 2)
static void bail_out(const char *fmt, ...)
{
	char line[1024], *s;
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	/* It may quote a file name, which may hold anything. */
	for (s = line; *s; s++)
		if (*s < ' ' || *s > '~')
			*s = '?';
	printf("TAP version 13\nBail out! %s\n", line);
	exit(1);
}

/* Then the same takes the same time, but for interrupts. */
static bool clock_counts(void)
{
	__u64 took[COUNT_TRIES], start;
	unsigned int i, j, same = 0;
	pid_t parent = getppid();
	struct bench b = { .arg = &parent };

	for (i = 0; i < COUNT_TRIES; i++) {
		start = now();
		bench_getppid(&b, 256);
		took[i] = now() - start;
		for (j = 0; j < i; j++)
			same += took[i] == took[j];
	}
	/* Of all pairs, at least half. */
	return same * 4 > COUNT_TRIES * (COUNT_TRIES - 1);
}

/* A baseline that grows by each run would follow a regression. */
static bool same_file(const char *a, const char *b)
{
	struct stat sa, sb;

	return !stat(a, &sa) && !stat(b, &sb) && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

/*
 * Before main(), because main() is the harness's: read the options, refuse what
 * cannot be meant, and only then create the one file that was asked for.
 */
__attribute__((constructor))
static void fsbench_init(void)
{
	struct options *o = &suite.options;
	char err[600];
	int fd;

	/* A file of ours must not become somebody's standard output. */
	do {
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);

	if (options_read(o, err, sizeof(err)))
		bail_out("%s", err);
	if (scratch_configure(o, err, sizeof(err)))
		bail_out("%s", err);
	if (o->baseline &&
	    (results_read(o->baseline, &suite.baseline, err, sizeof(err)) ||
	     results_complete(&suite.baseline, err, sizeof(err))))
		bail_out("FSBENCH_BASELINE=\"%s\": %s", o->baseline, err);
	if (o->results && o->baseline && same_file(o->results, o->baseline))
		bail_out("FSBENCH_BASELINE and FSBENCH_RESULTS are one file, \"%s\"",
			 o->baseline);
	if (o->icount && !clock_counts())
		bail_out("FSBENCH_ICOUNT=1, but the clock does not count instructions");
	if (results_open(o->results, err, sizeof(err)))
		bail_out("FSBENCH_RESULTS: %s", err);
	/* Too large a file is an error, not a signal. */
	signal(SIGXFSZ, SIG_IGN);

	/* Every process of this program goes when its parent does. */
	pthread_atfork(die_prepare, NULL, die_with_parent);
	suite.cpu = o->cpu >= 0 ? o->cpu : machine_pick_cpu(&o->allowed);
	fp_read(&suite.machine, suite.cpu);
	if (o->icount)
		keep_cpu();
	/* Few operations a batch are not the same measurement. */
	if (o->ops)
		fp_set(&suite.machine, "suite.ops", "%lu", o->ops);
	if (o->icount)
		fp_set(&suite.machine, KEY_UNIT, UNIT_INSTRUCTIONS);
	atexit(finish);
}
