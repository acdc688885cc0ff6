/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How much kernel memory something takes, by the accounts of the slab allocator.
 */
#ifndef FSBENCH_MEMORY_H
#define FSBENCH_MEMORY_H

#include <linux/types.h>

const char *memory_missing(void);
void memory_before(unsigned long objects);
__u64 memory_after(unsigned long objects);
const char *memory_why(void);

#endif
