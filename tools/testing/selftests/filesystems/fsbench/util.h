/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the kernel's own headers call the same, for files that do without
 * kselftest.h.
 */
#ifndef FSBENCH_UTIL_H
#define FSBENCH_UTIL_H

#ifndef ARRAY_SIZE
#define ARRAY_SIZE(arr) (sizeof(arr) / sizeof((arr)[0]))
#endif
#ifndef __printf
#define __printf(a, b) __attribute__((				\
	format(printf, a, b)))
#endif
#ifndef __aligned
#define __aligned(n) __attribute__((				\
	aligned(n)))
#endif

#endif
