/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a set-up needs besides a file system, and the proofs that it is what the
 * name of the case says: another user, inodes that are not in memory, the place
 * where attributes lie.
 */
#ifndef FSBENCH_SETUP_H
#define FSBENCH_SETUP_H

#include <stdbool.h>

/* Nobody's: it owns nothing, here or anywhere. */
#define USER_OTHER	65534

const char *user_other(void);
bool user_root(void);

bool cold_mark(const char *path);
const char *cold_missing(const char *path);
bool cold_drop(const char *probe);
bool cold_was(const char *path);
unsigned long cold_found(void);

long xattr_blocks(int fd);
long inodes_used(int fd);

#endif
