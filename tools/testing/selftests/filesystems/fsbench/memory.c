// SPDX-License-Identifier: GPL-2.0
/*
 * How much kernel memory something takes, by the accounts of the slab allocator:
 * /proc/slabinfo, objects in use times their size.
 *
 * The accounts are of the whole machine, which does other things meanwhile. So
 * the same is done for thousands of files, and only caches count of which at least
 * every second file takes an object. And they are not exact: an object that lies
 * in the stock of a CPU counts as in use. So these stocks are given back before
 * each reading, by /sys/kernel/slab/CACHE/shrink.
 *
 * Objects of more than two pages come from the page allocator, and are not seen.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "activity.h"
#include "memory.h"

#define SLABINFO	"/proc/slabinfo"
#define SLAB_DIR	"/sys/kernel/slab"
#define CACHES_MAX	1024
/* What was freed is still being freed: wait so long, and so many times. */
#define SETTLE_NS	20000000l
#define SETTLE_TRIES	50

struct cache {
	char name[56];
	__u64 active;			/* objects */
	__u64 size;			/* of one, bytes */
};

static struct caches {
	unsigned int nr;
	struct cache cache[CACHES_MAX];
} before, now;

/* Those that count, once a first round has shown which they are. */
static char counted[CACHES_MAX][sizeof(now.cache->name)];
static unsigned int nr_counted;
static bool known;
static char why[160];

/**
 * memory_missing() - what keeps memory from being counted here
 *
 * Return: NULL if nothing does, else a line that says what would help.
 */
const char *memory_missing(void)
{
	static char line[160];
	const char *file = SLAB_DIR "/dentry/shrink";

	if (!access(SLABINFO, R_OK) && !access(file, W_OK))
		return NULL;
	snprintf(line, sizeof(line), "%s: %s (needs root, SLUB and CONFIG_SLUB_DEBUG)",
		 access(SLABINFO, R_OK) ? SLABINFO : file, strerror(errno));
	return line;
}

static bool read_slabinfo(struct caches *c)
{
	FILE *f = fopen(SLABINFO, "re");
	char *line = NULL;
	size_t size = 0;

	c->nr = 0;
	while (f && getline(&line, &size, f) > 0 && c->nr < CACHES_MAX) {
		struct cache *cache = &c->cache[c->nr];

		/* name <active_objs> <num_objs> <objsize> ...; not so the headings. */
		c->nr += sscanf(line, "%55s %llu %*u %llu", cache->name, &cache->active,
				&cache->size) == 3;
	}
	if (!c->nr)
		snprintf(why, sizeof(why), "%s: %s", SLABINFO, strerror(errno));
	free(line);
	if (f)
		fclose(f);
	return c->nr;
}

static struct cache *find(struct caches *c, const char *name)
{
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		if (!strcmp(c->cache[i].name, name))
			return &c->cache[i];
	return NULL;
}

static bool counts(const char *name)
{
	unsigned int i;

	for (i = 0; i < nr_counted; i++)
		if (!strcmp(counted[i], name))
			return true;
	return false;
}

/* What the CPUs have in stock, of the caches that count. */
static void give_back(void)
{
	char path[128];
	unsigned int i;
	int fd;

	for (i = 0; i < nr_counted; i++) {
		snprintf(path, sizeof(path), SLAB_DIR "/%.55s/shrink", counted[i]);
		fd = open(path, O_WRONLY | O_CLOEXEC);
		if (fd < 0 || write(fd, "1", 1) != 1)
			snprintf(why, sizeof(why), "%s: %s", path, strerror(errno));
		if (fd >= 0)
			close(fd);
	}
}

static bool take_reading(struct caches *c)
{
	give_back();
	return !*why && read_slabinfo(c);
}

/* What waits for the end of a transaction is not the files' for long. */
static void write_back(void)
{
	if (!activity_sync())
		snprintf(why, sizeof(why), "syncfs: %s", strerror(errno));
}

static void wait_for_rcu(void)
{
	const struct timespec pause = { .tv_nsec = SETTLE_NS };

	/* Where there is none the pauses have to do. */
	syscall(__NR_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
	nanosleep(&pause, NULL);
}

/* Do two readings differ by less than a thousandth of the objects, in each cache? */
static bool settled(unsigned long objects)
{
	unsigned int i;

	for (i = 0; i < nr_counted; i++) {
		const struct cache *a = find(&before, counted[i]), *b = find(&now, counted[i]);

		if (a && b && (a->active > b->active + objects / 1000 ||
			       b->active > a->active + objects / 1000))
			return false;
	}
	return true;
}

/**
 * memory_before() - a reading before memory is taken
 *
 * What the caller dirtied in the file system of its working directory is written
 * back, and what was freed until now is waited for, some seconds at most.
 *
 * @objects: how many times the same will be done
 */
void memory_before(unsigned long objects)
{
	int try;

	*why = '\0';
	write_back();
	if (*why || !take_reading(&before))
		return;
	for (try = 0; try < SETTLE_TRIES; try++) {
		wait_for_rcu();
		if (!take_reading(&now))
			return;
		if (settled(objects))
			break;
		before = now;
	}
	before = now;
}

/**
 * memory_after() - what was taken since memory_before()
 *
 * The first time in a process it finds out which caches count; what it returns
 * then is not exact.
 *
 * @objects: as before
 * Return: bytes, 0 if no cache has grown or on an error, see memory_why().
 */
__u64 memory_after(unsigned long objects)
{
	__u64 bytes = 0;
	unsigned int i;

	write_back();
	if (*why || !take_reading(&now))
		return 0;
	for (i = 0; i < now.nr; i++) {
		const struct cache *c = &now.cache[i], *old = find(&before, c->name);

		if (!old || c->active < old->active + objects / 2)
			continue;
		if (!known)
			snprintf(counted[nr_counted++], sizeof(counted[0]), "%s", c->name);
		if (counts(c->name))
			bytes += (c->active - old->active) * c->size;
	}
	known = true;
	return bytes;
}

/**
 * memory_why() - why memory_after() returned 0
 */
const char *memory_why(void)
{
	return *why ? why : "no slab cache has grown with the files";
}
