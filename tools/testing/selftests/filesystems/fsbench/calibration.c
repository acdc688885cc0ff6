// SPDX-License-Identifier: GPL-2.0
/*
 * The calibration file: see calibration.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "calibration.h"
#include "results.h"

#define MAGIC		"fsbench-calibration 1"
/* No two boots of one kernel differ by more than a factor of 1000. */
#define LINE_MAX_LEN	512

/**
 * hash_text() - FNV-1a, 64 bits, of one more text and its end
 */
__u64 hash_text(__u64 hash, const char *text)
{
	do {
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3ull;
	} while (*text++);
	return hash;
}

/**
 * calibration_key() - what stands for a case with these keys of the machine
 */
__u64 calibration_key(__u64 digest, const char *name)
{
	return hash_text(digest, name);
}

/**
 * calibration_boots() - what stands for a pair of boots
 */
__u64 calibration_boots(const char *earlier, const char *later)
{
	return hash_text(hash_text(HASH_BASIS, earlier), later);
}

static void *more_memory(void *array, size_t size)
{
	array = realloc(array, size);
	if (!array) {
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	return array;
}

/**
 * calibration_add() - one more pair, in memory only
 */
void calibration_add(struct calibration *c, const struct pair *pair)
{
	/* Doubles at each power of two. */
	if (!(c->nr & (c->nr - 1)))
		c->pairs = more_memory(c->pairs, (c->nr ? 2 * c->nr : 1) * sizeof(*pair));
	c->pairs[c->nr++] = *pair;
	c->sorted = false;
}

static int cmp_key(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return x->key < y->key ? -1 : x->key > y->key;
}

/**
 * calibration_find() - the pairs of a case
 *
 * Return: the first of @nr pairs.
 */
const struct pair *calibration_find(struct calibration *c, __u64 key, unsigned int *nr)
{
	unsigned int low = 0, high = c->nr, mid;

	if (!c->sorted && c->nr)
		qsort(c->pairs, c->nr, sizeof(*c->pairs), cmp_key);
	c->sorted = true;
	while (low < high) {
		mid = (low + high) / 2;
		if (c->pairs[mid].key < key)
			low = mid + 1;
		else
			high = mid;
	}
	for (*nr = 0; low + *nr < c->nr && c->pairs[low + *nr].key == key; )
		++*nr;
	return c->pairs + low;
}

static const char *parse(struct calibration *c, const char *line, size_t len)
{
	char earlier[65], later[65], name[CASE_NAME_MAX];
	unsigned long long digest;
	struct pair pair;
	int end = 0, last = 0;

	if (!len || line[len - 1] != '\n')
		return "the line is cut";
	if (len > LINE_MAX_LEN)
		return "the line is too long";
	if (sscanf(line, "pair digest=%16llx case=%127[^ ] boots=%64[0-9a-f-],%64[0-9a-f-]%n",
		   &digest, name, earlier, later, &end) != 4 ||
	    sscanf(line + end, " ln_ratio=%lf%n", &pair.ln_ratio, &last) != 1 ||
	    (size_t)end + last + 1 != len)
		return "not a pair of boots";
	if (!isfinite(pair.ln_ratio) || fabs(pair.ln_ratio) > LN_RATIO_MAX)
		return "ln_ratio is out of range";
	pair.key = calibration_key(digest, name);
	pair.boots = calibration_boots(earlier, later);
	calibration_add(c, &pair);
	return NULL;
}

/**
 * calibration_open() - open, lock and read a calibration file
 *
 * It is created if it is not there. See append_open() for what is refused.
 *
 * @c: to be freed with calibration_free(), also after an error
 * Return: 0, or -1 and a line in @err.
 */
int calibration_open(struct calibration *c, const char *path, char *err, size_t size)
{
	const char *why = NULL;
	unsigned int nr = 0;
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	FILE *f;
	int fd;

	memset(c, 0, sizeof(*c));
	c->fd = append_open(path, MAGIC, "calibration", err, size);
	if (c->fd < 0)
		return -1;
	fd = dup(c->fd);
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f) {
		snprintf(err, size, "%.200s: %s", path, strerror(errno));
		return -1;
	}
	while (!why && (len = getline(&line, &cap, f)) > 0)
		if (nr++)
			why = parse(c, line, len);
	if (!why && ferror(f)) {
		why = strerror(errno);
		nr++;
	}
	if (why)
		snprintf(err, size, "%.200s: line %u: %s", path, nr, why);
	free(line);
	fclose(f);
	if (!why && !nr)
		calibration_record(c, 0, NULL, NULL, NULL, 0);
	return why ? -1 : 0;
}

/**
 * calibration_record() - prepare one line to be appended
 *
 * @name: without blanks; NULL: the first line of the file
 */
void calibration_record(struct calibration *c, __u64 digest, const char *name,
			const char *earlier, const char *later, double ln_ratio)
{
	if (c->cap - c->len < LINE_MAX_LEN) {
		c->cap = 2 * c->cap + LINE_MAX_LEN;
		c->line = more_memory(c->line, c->cap);
	}
	if (!name)
		c->len += snprintf(c->line, LINE_MAX_LEN, MAGIC "\n");
	else
		c->len += snprintf(c->line + c->len, LINE_MAX_LEN,
				   "pair digest=%016llx case=%s boots=%.64s,%.64s ln_ratio=%+.9f\n",
				   digest, name, earlier, later, ln_ratio);
}

/**
 * calibration_append() - append what was prepared, with one write
 *
 * Return: 0, or -1 and a line in @err.
 */
int calibration_append(struct calibration *c, char *err, size_t size)
{
	ssize_t ret;

	do {
		ret = c->len ? write(c->fd, c->line, c->len) : 0;
	} while (ret < 0 && errno == EINTR);
	if (ret == (ssize_t)c->len) {
		c->len = 0;
		return 0;
	}
	snprintf(err, size, "%s", ret < 0 ? strerror(errno) : "short write");
	return -1;
}

/**
 * calibration_free() - close the file and give the memory back
 */
void calibration_free(struct calibration *c)
{
	if (c->fd > 0)
		close(c->fd);
	free(c->pairs);
	free(c->line);
	memset(c, 0, sizeof(*c));
}
