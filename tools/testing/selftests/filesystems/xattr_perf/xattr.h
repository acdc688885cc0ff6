/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the programs of this suite share: names, and memory for answers.
 */
#ifndef XATTR_PERF_XATTR_H
#define XATTR_PERF_XATTR_H

#include <stdio.h>
#include <sys/xattr.h>

#include "../fsbench/fsbench.h"

#define NAME_LEN	32

#define NO_ROOM		"no room in the inode beside what a security module stores"
#define NO_USER_XATTRS	"no user.* attributes (tmpfs: 6.6, CONFIG_TMPFS_XATTR)"

static inline void name_of(unsigned int i, char name[NAME_LEN])
{
	snprintf(name, NAME_LEN, "user.fsbench%02u", i);
}

/* Only these are known to lack them; elsewhere it is a fault. */
static inline bool may_lack_user_xattrs(const char *fstype)
{
	return errno == EOPNOTSUPP &&
	       (!strcmp(fstype, "tmpfs") || !strcmp(fstype, "overlayfs"));
}

/* Nor have all block sizes of these room for much. */
static inline bool may_not_fit(const char *fstype)
{
	return errno == ENOSPC && (!strcmp(fstype, "ext4") || !strcmp(fstype, "btrfs") ||
				   !strcmp(fstype, "ext4_ea_inode"));
}

#endif
