// SPDX-License-Identifier: GPL-2.0
/*
 * LD_PRELOAD=contend.so CONTEND=NS DELAY=NS: close() of what was opened by a relative
 * path takes longer: so many nanoseconds under a lock of all processes, and so many
 * without it.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

static pthread_spinlock_t *lock;
static unsigned long contend, delay;
static int (*real_close)(int fd);

__attribute__((constructor))
static void prepare(void)
{
	const char *c = getenv("CONTEND"), *d = getenv("DELAY");

	contend = c ? strtoul(c, NULL, 10) : 0;
	delay = d ? strtoul(d, NULL, 10) : 0;
	lock = mmap(NULL, sizeof(*lock), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	real_close = dlsym(RTLD_NEXT, "close");
	if (lock == MAP_FAILED || !real_close)
		abort();
	pthread_spin_init(lock, PTHREAD_PROCESS_SHARED);
}

static void spin(unsigned long ns)
{
	struct timespec from, now;

	clock_gettime(CLOCK_MONOTONIC, &from);
	do {
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - from.tv_sec) * 1000000000l + now.tv_nsec - from.tv_nsec < (long)ns);
}

int close(int fd)
{
	if (contend) {
		pthread_spin_lock(lock);
		spin(contend);
		pthread_spin_unlock(lock);
	}
	if (delay)
		spin(delay);
	return real_close(fd);
}
