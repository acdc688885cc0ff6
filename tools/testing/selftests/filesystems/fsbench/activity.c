// SPDX-License-Identifier: GPL-2.0
/*
 * What a file system does beside the calls that are timed. All of it is read where
 * nothing is timed, and what cannot be read is unknown and no error.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/btrfs_tree.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "activity.h"
#include "scratch.h"
#include "util.h"

/* The first number in a file that @format finds at the beginning of a line. */
static __u64 find_number(const char *path, const char *format)
{
	FILE *f = fopen(path, "re");
	unsigned long long n;
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, format, &n) != 1)
			continue;
		fclose(f);
		return n;
	}
	if (f)
		fclose(f);
	return ACTIVITY_UNKNOWN;
}

/* The file system in the working directory. */
static int open_here(void)
{
	return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void close_here(int fd)
{
	if (fd >= 0)
		close(fd);
}

static bool is_here(unsigned int magic)
{
	struct statfs st;

	return !statfs(".", &st) && (unsigned int)st.f_type == magic;
}

/**
 * activity_is_btrfs() - is there a transaction to be committed, and a profile?
 */
bool activity_is_btrfs(void)
{
	return is_here(BTRFS_SUPER_MAGIC);
}

/**
 * activity_is_xfs() - are inodes kept that nobody uses any more?
 */
bool activity_is_xfs(void)
{
	return is_here(XFS_SUPER_MAGIC);
}

/* The statistics of xfs on the device below. Opened by the first who asks: by root. */
static int xfs_stats(void)
{
	char link[64], target[256], path[320], *name;
	dev_t dev = scratch_device();
	static int fd = -1;
	ssize_t len;

	if (fd >= 0)
		return fd;
	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", major(dev), minor(dev));
	len = readlink(link, target, sizeof(target));
	if (len < 0 || len == sizeof(target))
		return -1;
	target[len] = '\0';
	name = strrchr(target, '/');
	if (!name)
		return -1;
	snprintf(path, sizeof(path), "/sys/fs/xfs/%s/stats/stats", name + 1);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd;
}

/**
 * activity_inode_cache() - what xfs has in memory, and has found there
 *
 * Return: false if it does not tell.
 */
bool activity_inode_cache(struct inode_cache *cache)
{
	unsigned long long inodes, found;
	char text[4096], *line;
	ssize_t len;

	len = pread(xfs_stats(), text, sizeof(text) - 1, 0);
	if (len <= 0)
		return false;
	text[len] = '\0';
	/* xs_ig_attempts, xs_ig_found */
	line = strstr(text, "\nig ");
	if (!line || sscanf(line, " ig %*u %llu", &found) != 1)
		return false;
	/* vn_active */
	line = strstr(text, "\nvnodes ");
	if (!line || sscanf(line, " vnodes %llu", &inodes) != 1)
		return false;
	cache->found = found;
	cache->inodes = inodes;
	return true;
}

/**
 * activity_commits() - how many transactions btrfs has committed since the mount
 */
__u64 activity_commits(void)
{
	struct btrfs_ioctl_fs_info_args info;
	int fd = open_here(), ret, i;
	char path[96], *s = path;
	const __u8 *id = info.fsid;

	memset(&info, 0, sizeof(info));
	ret = ioctl(fd, BTRFS_IOC_FS_INFO, &info);
	close_here(fd);
	if (ret)
		return ACTIVITY_UNKNOWN;
	s += sprintf(s, "/sys/fs/btrfs/");
	for (i = 0; i < BTRFS_FSID_SIZE; i++)
		s += sprintf(s, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			     id[i]);
	sprintf(s, "/commit_stats");
	return find_number(path, "commits %llu");
}

/**
 * activity_written() - what has been written until now
 */
void activity_written(struct written *w)
{
	dev_t dev = scratch_device();
	char path[64];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/stat", major(dev), minor(dev));
	w->sectors = find_number(path, " %*u %*u %*u %*u %*u %*u %llu");
	/* Something has been mounted on it: brd does not count. */
	w->all_devices = !w->sectors || w->sectors == ACTIVITY_UNKNOWN;
	if (!w->all_devices)
		return;
	/* In KiB, whatever it is called. */
	w->sectors = find_number("/proc/vmstat", "pgpgout %llu");
	if (w->sectors != ACTIVITY_UNKNOWN)
		w->sectors *= 2;
}

/**
 * activity_sync() - write back what is dirty in the file system
 *
 * Return: false with errno if that failed.
 */
bool activity_sync(void)
{
	int fd = open_here();
	bool ok = !syncfs(fd);

	close_here(fd);
	return ok;
}

static const char *profile_name(__u64 flags)
{
	static const struct {
		__u64 flag;
		const char *name;
	} names[] = {
		{ BTRFS_BLOCK_GROUP_DUP, "dup" }, { BTRFS_BLOCK_GROUP_RAID0, "raid0" },
		{ BTRFS_BLOCK_GROUP_RAID1, "raid1" }, { BTRFS_BLOCK_GROUP_RAID10, "raid10" },
		{ BTRFS_BLOCK_GROUP_RAID5, "raid5" }, { BTRFS_BLOCK_GROUP_RAID6, "raid6" },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & names[i].flag)
			return names[i].name;
	return flags & BTRFS_BLOCK_GROUP_PROFILE_MASK ? "other" : "single";
}

/**
 * activity_profile() - how many copies of it btrfs keeps
 */
const char *activity_profile(bool metadata)
{
	__u64 want = metadata ? BTRFS_BLOCK_GROUP_METADATA : BTRFS_BLOCK_GROUP_DATA;
	struct btrfs_ioctl_space_args *args;
	const char *name = "unknown";
	const unsigned int slots = 16;
	int fd = open_here();
	unsigned int i;

	args = calloc(1, sizeof(*args) + slots * sizeof(args->spaces[0]));
	if (args)
		args->space_slots = slots;
	if (args && !ioctl(fd, BTRFS_IOC_SPACE_INFO, args))
		for (i = 0; i < args->total_spaces && i < slots; i++)
			if (args->spaces[i].flags & want)
				name = profile_name(args->spaces[i].flags);
	free(args);
	close_here(fd);
	return name;
}
