/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Control pairs that were kept: how much two boots of one kernel differ here.
 *
 * A text file, one line per case and pair of boots that follow each other:
 *
 *	fsbench-calibration 1
 *	pair digest=HEX case=NAME boots=ID,ID ln_ratio=REAL
 *
 * The digest is of the keys that must be equal; ln_ratio is the natural logarithm
 * of the later time over the earlier one.
 */
#ifndef FSBENCH_CALIBRATION_H
#define FSBENCH_CALIBRATION_H

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

/* Of one case: it differs where the digest or the name does. */
/* What no two boots of one kernel differ by. */
#define LN_RATIO_MAX	7

struct pair {
	__u64 key;
	__u64 boots;
	double ln_ratio;
};

struct calibration {
	int fd;				/* locked; not used before the file is opened */
	bool sorted;
	unsigned int nr;
	struct pair *pairs;
	char *line;			/* what is to be appended, */
	size_t len, cap;		/* and its length and memory */
};

#define HASH_BASIS	0xcbf29ce484222325ull

__u64 hash_text(__u64 hash, const char *text);
__u64 calibration_key(__u64 digest, const char *name);
__u64 calibration_boots(const char *earlier, const char *later);

int calibration_open(struct calibration *c, const char *path, char *err, size_t size);
void calibration_add(struct calibration *c, const struct pair *pair);
const struct pair *calibration_find(struct calibration *c, __u64 key, unsigned int *nr);
void calibration_record(struct calibration *c, __u64 digest, const char *name,
			const char *earlier, const char *later, double ln_ratio);
int calibration_append(struct calibration *c, char *err, size_t size);
void calibration_free(struct calibration *c);

#endif
