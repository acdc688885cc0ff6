// SPDX-License-Identifier: GPL-2.0
/*
 * A benchmark by several tasks at the same time.
 *
 * Each task has a CPU of its own and a copy of the benchmark in shared memory, so
 * that its operations and its first miss are seen from outside. A round begins for
 * all of them at once and goes on without a pause; it is cut into slices of time,
 * and in each slice it is counted what each task got done. The process that began
 * them sleeps meanwhile.
 *
 * Processes die with the one that began them, threads are part of it: nothing is
 * left, however it ends.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "batch.h"
#include "options.h"
#include "tasks.h"
#include "util.h"

/* Has a round ended? Asked this often, once it should have. */
#define POLL_NS		200000ull
/* A round that takes so much longer than it should does not end; others may be busy. */
#define HANG_NS		(15 * NSEC_PER_SEC)

/* Some milliseconds: who has the CPU of another one may want this one, too. */
#define SPINS		10000000ul

#define load(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define store(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define increment(p)	__atomic_add_fetch(p, 1, __ATOMIC_ACQ_REL)

enum work { ROUND, PROVE, END };

/* Pages of its own: nothing that a task writes is near what another one does. */
struct task {
	struct bench bench;
	sem_t begin;
	pid_t pid;			/* 0: has ended, or is a thread */
	pthread_t thread;
	int cpu;			/* -1: any */
	const char *failed;		/* what did, */
	int error;			/* with this */
	__u64 ops;			/* of all rounds */
	__u64 fair_ops;			/* of the slices that count, in thousandths */
	__u64 end;			/* when it stopped, since the start of the round */
	struct tasks_slice slice[TASKS_SLICES];
} __aligned(4096);

struct tasks {
	struct bench *bench;		/* of the process that began them, */
	unsigned long checked;		/* and how many it had done then */
	unsigned int nr, nr_started;
	bool broken;			/* not all are there to do a job */
	unsigned long batch;
	/* What is to be done, written while the tasks sleep. */
	enum work job;
	unsigned int taking_part;
	unsigned int slices;
	unsigned long limit;
	__u64 slice_ns;
	/* How far they are. */
	unsigned int arrived, done;
	bool go;
	__u64 start;
	struct task task[];
};

/* Return when all others are here as well. */
static void start_together(struct tasks *t)
{
	unsigned long spins;

	if (increment(&t->arrived) == t->taking_part) {
		t->start = now();
		store(&t->go, true);
	}
	/* A sleeper would be woken after the one that woke it. */
	for (spins = 1; !load(&t->go); spins++)
		if (spins % SPINS == 0)
			sched_yield();
}

/*
 * Operations from @from to @at, since the start of the round: a share of them for each
 * slice in between, so that who waits for a lock gets little done in all of them.
 */
static void add_operations(struct tasks *t, struct task *task, unsigned long ops, __u64 from,
			   __u64 at)
{
	__u64 i, begin, end;

	task->ops += ops;
	for (i = from / t->slice_ns; i < t->slices && i * t->slice_ns < at; i++) {
		begin = later(from, i * t->slice_ns);
		end = at < (i + 1) * t->slice_ns ? at : (i + 1) * t->slice_ns;
		task->slice[i].milli_ops += ops * 1000 * (end - begin) / (at - from);
	}
}

/*
 * Whether the task lost its CPU, or got another one, since slice @i began. The batch
 * that has just ended, in slice @last, may be where it did.
 */
static int add_watch(struct tasks *t, struct task *task, struct watch *before, __u64 i,
		     __u64 last, bool long_batch)
{
	struct watch after;
	int err = watch_read(&after);

	for (; i < t->slices && (i < last || (i == last && long_batch)); i++) {
		task->slice[i].preempted |= after.preempted != before->preempted;
		task->slice[i].migrated |= after.cpu != before->cpu ||
					   (task->cpu >= 0 && after.cpu != task->cpu);
	}
	*before = after;
	return err;
}

/* Batches until the last slice is over. */
static void run_slices(struct tasks *t, struct task *task)
{
	unsigned long n, left = t->limit ? t->limit : ~0ul;
	const __u64 slice_ns = t->slice_ns;
	struct bench *b = &task->bench;
	__u64 start, from, at, slice = 0;
	struct watch before;
	int err, ret;

	start_together(t);
	start = t->start;
	err = watch_read(&before);
	at = now() - start;
	while (slice < t->slices && left && !b->unexpected_results) {
		from = at;
		n = left < t->batch ? left : t->batch;
		do_batch(b, n);
		left -= n;
		at = later(now() - start, from + 1);
		add_operations(t, task, n, from, at);
		if (at / slice_ns == slice)
			continue;
		ret = add_watch(t, task, &before, slice, at / slice_ns, at - from > slice_ns / 2);
		err = err ? err : ret;
		slice = at / slice_ns;
	}
	task->end = at;
	if (err && !task->failed) {
		task->error = err;
		task->failed = "getrusage";
	}
}

static void pin(struct task *task)
{
	cpu_set_t set;

	if (task->cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(task->cpu, &set);
	if (!sched_setaffinity(0, sizeof(set), &set))
		return;
	task->error = errno;
	task->failed = "sched_setaffinity";
}

static void task_main(struct tasks *t, struct task *task)
{
	struct bench *b = &task->bench;
	enum work job;

	pin(task);
	do {
		while (sem_wait(&task->begin))
			;
		job = t->job;
		if (job == ROUND) {
			memset(task->slice, 0, sizeof(task->slice));
			call_hook(b, b->before_round);
			run_slices(t, task);
			call_hook(b, b->after_round);
		} else if (job == PROVE) {
			call_hook(b, b->prove);
		}
		increment(&t->done);
	} while (job != END);
}

struct thread_argument {
	struct tasks *tasks;
	struct task *task;
};

static void *thread_main(void *argument)
{
	struct thread_argument *arg = argument;

	task_main(arg->tasks, arg->task);
	return NULL;
}

/* Return: 0 or an errno. */
static int start_task(struct tasks *t, unsigned int i)
{
	static struct thread_argument arg[TASKS_MAX];
	struct task *task = &t->task[i];
	pid_t pid;

	task->bench = *t->bench;
	task->bench.checked = 0;
	task->bench.task = i;
	if (sem_init(&task->begin, !t->bench->threads, 0))
		return errno;
	if (t->bench->threads) {
		arg[i] = (struct thread_argument){ t, task };
		return pthread_create(&task->thread, NULL, thread_main, &arg[i]);
	}
	pid = fork();
	if (pid < 0)
		return errno;
	if (!pid) {
		task_main(t, task);
		_exit(0);
	}
	/* In shared memory: only this one writes it. */
	task->pid = pid;
	return 0;
}

/* Threads cannot end alone, and go with the process. */
static void kill_all(struct tasks *t)
{
	unsigned int i;

	for (i = 0; i < t->nr_started; i++)
		if (t->task[i].pid > 0)
			kill(t->task[i].pid, SIGKILL);
	for (i = 0; i < t->nr_started; i++)
		if (t->task[i].pid > 0)
			waitpid(t->task[i].pid, NULL, 0);
	t->nr_started = 0;
}

/* Return: whether one has ended that should not have; then why is in the bench. */
static bool one_died(struct tasks *t, int flags)
{
	struct bench *b = t->bench;
	unsigned int i;
	int status;

	for (i = 0; i < t->nr_started; i++) {
		struct task *task = &t->task[i];

		if (task->pid <= 0 || waitpid(task->pid, &status, flags) != task->pid)
			continue;
		task->pid = 0;
		if (WIFSIGNALED(status))
			snprintf(b->why, sizeof(b->why), "task %u of %u was killed by signal %d",
				 i, t->nr, WTERMSIG(status));
		else if (t->job != END || WEXITSTATUS(status))
			snprintf(b->why, sizeof(b->why), "task %u of %u ended with status %d", i,
				 t->nr, WEXITSTATUS(status));
		else
			continue;
		return true;
	}
	return false;
}

static void nap(__u64 ns)
{
	const struct timespec ts = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };

	nanosleep(&ts, NULL);
}

/* What the tasks found goes to the benchmark. Return: is all well? */
static bool collect(struct tasks *t)
{
	struct bench *b = t->bench;
	unsigned int i;

	b->checked = t->checked;
	b->unexpected_results = 0;
	for (i = 0; i < t->nr; i++) {
		const struct task *task = &t->task[i];
		const struct bench *own = &task->bench;

		if (task->failed) {
			snprintf(b->why, sizeof(b->why), "task %u on CPU %d: %s: %s", i, task->cpu,
				 task->failed, strerror(task->error));
			return false;
		}
		b->checked += own->checked;
		if (own->unexpected_results && !b->unexpected_results) {
			b->miss = own->miss;
			b->miss_op = own->miss_op;
			b->miss_errno = own->miss_errno;
			b->miss_phase = own->miss_phase;
			b->task = i;
		}
		b->unexpected_results += own->unexpected_results;
	}
	return !b->unexpected_results;
}

/*
 * Wake the first @nr tasks for a job that should take @ns, and sleep until they
 * are done with it.
 */
static bool do_job(struct tasks *t, enum work job, unsigned int nr, __u64 ns)
{
	__u64 begin = now();
	unsigned int i;

	t->job = job;
	t->taking_part = nr;
	t->arrived = 0;
	t->done = 0;
	t->go = false;
	for (i = 0; i < nr; i++)
		sem_post(&t->task[i].begin);
	nap(ns);
	while (load(&t->done) < nr && !t->broken) {
		t->broken = one_died(t, WNOHANG);
		if (!t->broken && now() - begin > ns * 2 + HANG_NS) {
			snprintf(t->bench->why, sizeof(t->bench->why),
				 "a round of %u tasks does not end", nr);
			t->broken = true;
		}
		nap(POLL_NS);
	}
	return !t->broken && collect(t);
}

/* The CPU that measures alone is the first, the others follow in their order. */
static void choose_cpus(struct tasks *t, const cpu_set_t *allowed, int cpu)
{
	unsigned int i = 0;
	int next;

	if (cpu >= 0)
		t->task[i++].cpu = cpu;
	for (next = 0; next < CPU_SETSIZE && i < t->nr; next++)
		if (next != cpu && CPU_ISSET(next, allowed))
			t->task[i++].cpu = cpu < 0 ? -1 : next;
}

/**
 * tasks_start() - begin tasks, which sleep until there is a round
 *
 * @nr: how many, at most the number of CPUs in @allowed
 * @cpu: that of the first task; -1: none is bound to a CPU
 * @batch: operations between two readings of the clock
 * Return: to be ended with tasks_end(), also after a failure; or NULL, and @b says
 * why.
 */
struct tasks *tasks_start(struct bench *b, unsigned int nr, const cpu_set_t *allowed, int cpu,
			  unsigned long batch)
{
	size_t size = sizeof(struct tasks) + nr * sizeof(struct task);
	struct tasks *t;
	int err = 0;

	/* It lasts as long as the process. */
	t = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t == MAP_FAILED) {
		snprintf(b->why, sizeof(b->why), "no memory for %u tasks: %s", nr,
			 strerror(errno));
		return NULL;
	}
	t->bench = b;
	t->nr = nr;
	t->batch = batch;
	t->checked = b->checked;
	b->nr_tasks = nr;
	choose_cpus(t, allowed, cpu);
	while (t->nr_started < nr && !err) {
		err = start_task(t, t->nr_started);
		t->nr_started += !err;
	}
	if (!err)
		return t;
	snprintf(b->why, sizeof(b->why), "task %u of %u: %s", t->nr_started, nr, strerror(err));
	kill_all(t);
	return NULL;
}

/**
 * tasks_round() - one round of the first @nr tasks
 *
 * @slices: how long, at most TASKS_SLICES; @slice_ns: nanoseconds each
 * @limit: operations of each task; 0: no limit
 * Return: false if an answer was wrong or a task did not come to the end; the
 * benchmark says which.
 */
bool tasks_round(struct tasks *t, unsigned int nr, unsigned int slices, __u64 slice_ns,
		 unsigned long limit)
{
	t->slices = slices;
	t->slice_ns = slice_ns;
	t->limit = limit;
	/* Not to wake up in its last slice. */
	return do_job(t, ROUND, nr, slice_ns * (slices + 1));
}

/**
 * tasks_slice() - what was done in slice @i of the last round
 *
 * Return: false if it is none of all the tasks: one had done all that it should. The
 * first is one always, and as long as any of them took if that was less.
 */
bool tasks_slice(const struct tasks *t, unsigned int i, struct tasks_slice *slice)
{
	unsigned int k;
	__u64 end = 0;

	memset(slice, 0, sizeof(*slice));
	for (k = 0; k < t->taking_part; k++) {
		const struct tasks_slice *own = &t->task[k].slice[i];

		if (i && t->task[k].end < (i + 1) * t->slice_ns)
			return false;
		end = later(end, t->task[k].end);
		slice->milli_ops += own->milli_ops;
		slice->preempted |= own->preempted;
		slice->migrated |= own->migrated;
	}
	slice->ns = end < t->slice_ns ? end : t->slice_ns;
	return true;
}

/**
 * tasks_prove() - let each task prove its result
 *
 * Return: false as for tasks_round().
 */
bool tasks_prove(struct tasks *t)
{
	return do_job(t, PROVE, t->nr, 0);
}

/**
 * tasks_end() - end all tasks
 *
 * Return: false if one of them could not be asked to, or ended otherwise.
 */
bool tasks_end(struct tasks *t)
{
	unsigned int i;
	bool ok;

	if (!t->broken)
		do_job(t, END, t->nr, 0);
	ok = !t->broken && !one_died(t, 0);
	for (i = 0; ok && i < t->nr && t->bench->threads; i++)
		pthread_join(t->task[i].thread, NULL);
	kill_all(t);
	return ok;
}

/**
 * tasks_total() - the operations of all tasks since tasks_reset()
 */
__u64 tasks_total(const struct tasks *t)
{
	__u64 ops = 0;
	unsigned int i;

	for (i = 0; i < t->nr; i++)
		ops += t->task[i].ops;
	return ops;
}

/**
 * tasks_reset() - forget the operations done so far
 */
void tasks_reset(struct tasks *t)
{
	unsigned int i;

	for (i = 0; i < t->nr; i++) {
		t->task[i].ops = 0;
		t->task[i].fair_ops = 0;
	}
}

/**
 * tasks_count_slice() - slice @i of the last round is one to be fair in
 */
void tasks_count_slice(struct tasks *t, unsigned int i)
{
	unsigned int k;

	for (k = 0; k < t->nr; k++)
		t->task[k].fair_ops += t->task[k].slice[i].milli_ops;
}

/**
 * tasks_fairness() - the slowest task over the fastest, in operations
 *
 * In the slices that tasks_count_slice() was told of: who has lost his CPU is not
 * slow.
 *
 * Return: above 0, at most 1; 0 if there was no slice.
 */
double tasks_fairness(const struct tasks *t)
{
	__u64 ops, low = ~0ull, high = 0;
	unsigned int i;

	for (i = 0; i < t->nr; i++) {
		ops = t->task[i].fair_ops;
		if (ops < low)
			low = ops;
		if (ops > high)
			high = ops;
	}
	return high ? fmax((double)low / high, 0.0001) : 0;
}

/**
 * tasks_operations() - the operations of each task since tasks_reset()
 *
 * @buf: receives "a,b,...", with the dots if there is no room for all
 */
void tasks_operations(const struct tasks *t, char *buf, size_t size)
{
	size_t len = 0;
	unsigned int i;

	for (i = 0; i < t->nr; i++) {
		if (size - len < 32) {
			snprintf(buf + len, size - len, ",...");
			return;
		}
		len += snprintf(buf + len, size - len, "%s%llu", i ? "," : "", t->task[i].ops);
	}
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/**
 * tasks_second_thread() - a thread that sleeps as long as the process lives
 *
 * With it the process shares its file table.
 *
 * Return: false if there can be none, and @b says why.
 */
bool tasks_second_thread(struct bench *b)
{
	pthread_t thread;
	int err = pthread_create(&thread, NULL, sleep_on, NULL);

	if (err)
		snprintf(b->why, sizeof(b->why), "a second thread: %s", strerror(err));
	return !err;
}
