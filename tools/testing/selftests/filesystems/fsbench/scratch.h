/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Scratch file systems that the kernel takes away with the process.
 */
#ifndef FSBENCH_SCRATCH_H
#define FSBENCH_SCRATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "machine.h"
#include "options.h"
#include "util.h"

int scratch_configure(const struct options *o, char *err, size_t size);
int scratch_mount(const char *fstype);
const char *scratch_reason(void);
size_t scratch_block_size(void);
dev_t scratch_device(void);
bool scratch_in_userns(void);
const struct fingerprint *scratch_keys(void);
void scratch_cleanup(void);

__printf(1, 2) void scratch_skip(const char *fmt, ...);
const char *scratch_skipped(void);

void die_prepare(void);
void die_with_parent(void);
void tie_to_parent(void);

#endif
