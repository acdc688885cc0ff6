/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a file system does beside the calls that are timed: transactions that it
 * commits, sectors that it writes, inodes that it keeps.
 */
#ifndef FSBENCH_ACTIVITY_H
#define FSBENCH_ACTIVITY_H

#include <linux/types.h>
#include <stdbool.h>

#define ACTIVITY_UNKNOWN	(~0ull)

/* Sectors of 512 bytes written so far to the device below the working directory. */
struct written {
	__u64 sectors;
	bool all_devices;		/* to any, since its driver does not count */
};

/* The inodes that xfs has in memory, whether somebody uses them or not. */
struct inode_cache {
	__u64 inodes;
	__u64 found;			/* so often one that was looked for, since the mount */
};

void activity_written(struct written *w);
__u64 activity_commits(void);
bool activity_sync(void);
bool activity_is_btrfs(void);
bool activity_is_xfs(void);
bool activity_inode_cache(struct inode_cache *cache);
const char *activity_profile(bool metadata);

#endif
