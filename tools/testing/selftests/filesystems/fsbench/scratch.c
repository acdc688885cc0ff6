// SPDX-License-Identifier: GPL-2.0
/*
 * Scratch file systems. Whatever is made here hangs on file descriptors and on a
 * mount namespace of the process that runs the case, so the kernel takes it away
 * when that process ends, however it ends: nothing depends on a teardown.
 *
 *	tmpfs			a mount that only this process can see
 *	overlayfs		the same, over a tmpfs
 *	btrfs, xfs, ext4	on a loop device over a memfd; or on a brd device
 *				or one named by the user, if nobody can own it
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
/* A device may have more than 2 GiB where off_t has 32 bits. */
#define _FILE_OFFSET_BITS 64
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scratch.h"

/* linux/fs.h would bring it, and clashes with sys/mount.h of some libcs. */
#ifndef BLKGETSIZE64
#define BLKGETSIZE64	_IOR(0x12, 114, size_t)
#endif
#ifndef BLKROGET
#define BLKROGET	_IO(0x12, 94)
#endif
#ifndef BLKDISCARD
#define BLKDISCARD	_IO(0x12, 119)
#endif

#define MIB		(1024ull * 1024)
/* btrfs needs room for its chunks: below this it meets ENOSPC by itself. */
#define DEVICE_SIZE	(512 * MIB)
/* What a case takes at most: file system metadata, data, page cache. */
#define MEMORY_NEEDED	(192 * MIB)
/* By this label a file system on a device is recognised as one of ours. */
#define LABEL		"fsbench-scratch"
#define LOOP_TRIES	20
#define BUSY_TRIES	10
#define BUSY_NS		200000000l

#define SKIPPED		1
#define FAULTY		2
#define FAILED		(-1)

/*
 * Nothing may be left to be initialised while we measure, and names hash alike on each:
 * else directories differ.
 */
#define EXT4_EXTENDED	"nodiscard,lazy_itable_init=0,lazy_journal_init=0," \
			"hash_seed=66736265-6e63-4668-8173-65656466736a"

struct mkfs {
	const char *name;
	const char *fstype;
	const char *package;
	const char *needs;		/* of the kernel, beside the file system */
	const char *argv[10];		/* the device follows */
};

static const struct mkfs mkfs_table[] = {
	{ "btrfs", "btrfs", "btrfs-progs", NULL,
	  { "mkfs.btrfs", "-q", "-f", "-K", "-L", LABEL, NULL } },
	{ "xfs", "xfs", "xfsprogs", NULL,
	  /* A label of xfs has at most 12 characters. */
	  { "mkfs.xfs", "-q", "-f", "-K", "-L", "fsbench-xfs", NULL } },
	/* Smaller blocks than today's format has. */
	{ "xfs_512", "xfs", "xfsprogs", "CONFIG_XFS_SUPPORT_V4",
	  { "mkfs.xfs", "-q", "-f", "-K", "-L", "fsbench-xfs", "-mcrc=0",
	    "-bsize=512", "-ssize=512", NULL } },
	{ "ext4", "ext4", "e2fsprogs", NULL,
	  { "mkfs.ext4", "-q", "-F", "-L", LABEL, "-E",
	    EXT4_EXTENDED, NULL } },
	{ "ext4_ea_inode", "ext4", "e2fsprogs", NULL,
	  { "mkfs.ext4", "-q", "-F", "-L", LABEL, "-O", "ea_inode", "-E",
	    EXT4_EXTENDED, NULL } },
};

/* The brd or named device that a case has used: seen by all processes. */
struct used {
	char path[128];
	dev_t dev;
};

static struct used *used;
static dev_t device;			/* below the file system of this case */
static const struct options *options;
static char reason[512];
static char skip_reason[512];
static bool userns, entered;
static struct fingerprint keys;
static pid_t forking, parent;

__printf(2, 3)
static int give_up(int ret, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason, sizeof(reason), fmt, args);
	va_end(args);
	return ret;
}

/**
 * scratch_reason() - why the last scratch_mount() did not succeed
 */
const char *scratch_reason(void)
{
	return reason;
}

/**
 * scratch_skip() - remember that the case is skipped
 */
void scratch_skip(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(skip_reason, sizeof(skip_reason), fmt, args);
	va_end(args);
}

/**
 * scratch_skipped() - the reason why the case is skipped, or NULL
 */
const char *scratch_skipped(void)
{
	return *skip_reason ? skip_reason : NULL;
}

/**
 * scratch_in_userns() - is this an ordinary user, root only in his namespace?
 */
bool scratch_in_userns(void)
{
	return userns;
}

/**
 * scratch_keys() - what a case has to say of its file system
 */
const struct fingerprint *scratch_keys(void)
{
	return &keys;
}

/**
 * scratch_block_size() - block size of the file system in the working directory
 */
size_t scratch_block_size(void)
{
	struct statvfs st;

	return statvfs(".", &st) ? 0 : st.f_bsize;
}

/**
 * scratch_device() - the block device below it; btrfs itself tells another number
 *
 * Return: 0 if there is none.
 */
dev_t scratch_device(void)
{
	return device;
}

/**
 * tie_to_parent() - end when the parent does, if it has not ended already
 *
 * The kernel forgets this at a change of credentials.
 */
void tie_to_parent(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		kill(getpid(), SIGKILL);
}

/**
 * die_prepare(), die_with_parent() - for pthread_atfork()
 *
 * The harness puts each test into a process group of its own, so that a signal
 * to the program does not reach it. This does.
 */
void die_prepare(void)
{
	forking = getpid();
}

void die_with_parent(void)
{
	parent = forking;
	tie_to_parent();
}

__printf(2, 3)
static int write_file(const char *path, const char *fmt, ...)
{
	char text[64];
	va_list args;
	int fd, len, ret;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	ret = write(fd, text, len) == len ? 0 : -1;
	close(fd);
	return ret;
}

/* A mount namespace, if need be inside a user namespace. */
static int enter_namespace(void)
{
	struct mount_attr attr = { .propagation = MS_PRIVATE };
	uid_t uid = geteuid();
	gid_t gid = getegid();

	if (entered)
		return 0;
	if (unshare(CLONE_NEWNS)) {
		if (errno != EPERM)
			return give_up(SKIPPED, "no mount namespace: %s", strerror(errno));
		if (unshare(CLONE_NEWUSER | CLONE_NEWNS))
			return give_up(SKIPPED, "needs root or CONFIG_USER_NS: %s",
				       strerror(errno));
		/* New credentials have cut it. */
		tie_to_parent();
		if (write_file("/proc/self/setgroups", "deny") ||
		    write_file("/proc/self/uid_map", "0 %u 1", uid) ||
		    write_file("/proc/self/gid_map", "0 %u 1", gid))
			return give_up(SKIPPED, "no user is mapped in the user namespace: %s",
				       strerror(errno));
		userns = true;
	}
	if (syscall(__NR_mount_setattr, AT_FDCWD, "/", AT_RECURSIVE, &attr, sizeof(attr)))
		return give_up(SKIPPED, "no private mounts: %s (needs 5.12, and / to be a mount)",
			       strerror(errno));
	entered = true;
	return 0;
}

/*
 * The kernel says in the context what it did not like.
 *
 * Return: the text, with a blank before it; errno is kept.
 */
static const char *context_log(int fs)
{
	static char log[200];
	int err = errno;
	ssize_t len;

	len = read(fs, log + 1, sizeof(log) - 2);
	errno = err;
	if (len <= 0)
		return "";
	log[0] = ' ';
	log[len + 1] = '\0';
	log[strcspn(log, "\n")] = '\0';
	return log;
}

static int no_such_filesystem(const char *fstype)
{
	char symbol[16];
	unsigned int i;

	for (i = 0; fstype[i] && i < sizeof(symbol) - 1; i++)
		symbol[i] = toupper(fstype[i]);
	symbol[i] = '\0';
	return give_up(SKIPPED, "this kernel has no %s (CONFIG_%s_FS)", fstype, symbol);
}

/*
 * Mount and go there. The mount is attached on top of "/" of our namespace:
 * some file systems refuse one that is attached nowhere, and there it hides
 * nothing, since paths are walked from the root that we had before.
 *
 * @params: pairs of names and values, a flag has the value NULL; ended by NULL
 * Return: 0, SKIPPED or FAILED, then with errno
 */
static int mount_and_enter(const char *fstype, const char * const *params)
{
	int fs, mnt, err, ret = FAILED;
	const char *log;

	fs = syscall(__NR_fsopen, fstype, FSOPEN_CLOEXEC);
	if (fs < 0) {
		if (errno == ENODEV)
			return no_such_filesystem(fstype);
		return give_up(SKIPPED, "fsopen %s: %s", fstype, strerror(errno));
	}
	for (; *params; params += 2) {
		unsigned int cmd = params[1] ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG;

		if (!syscall(__NR_fsconfig, fs, cmd, params[0], params[1], 0))
			continue;
		log = context_log(fs);
		ret = errno == EPERM ? SKIPPED : FAILED;
		give_up(ret, "%s: option %s: %s%s", fstype, params[0], strerror(errno), log);
		goto out;
	}
	if (syscall(__NR_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0)) {
		/* mkfs may write a format that this kernel cannot read. */
		if (errno == EINVAL || errno == EOPNOTSUPP || errno == EPERM)
			ret = SKIPPED;
		log = context_log(fs);
		give_up(ret, "%s cannot be mounted: %s%s", fstype, strerror(errno), log);
		goto out;
	}
	mnt = syscall(__NR_fsmount, fs, FSMOUNT_CLOEXEC, 0);
	if (mnt < 0) {
		ret = errno == EPERM ? SKIPPED : FAILED;
		give_up(ret, "fsmount %s: %s", fstype, strerror(errno));
		goto out;
	}
	if (syscall(__NR_move_mount, mnt, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) ||
	    fchdir(mnt)) {
		ret = errno == EPERM ? SKIPPED : FAILED;
		give_up(ret, "attach %s: %s", fstype, strerror(errno));
	} else {
		ret = 0;
	}
	close(mnt);
out:
	err = errno;
	close(fs);
	errno = err;
	return ret;
}

static int mount_tmpfs(void)
{
	static const char * const params[] = { "source", "fsbench", "mode", "0755", NULL };

	return mount_and_enter("tmpfs", params);
}

static int mount_overlayfs(void)
{
	static const char * const params[] = {
		"source", "fsbench", "lowerdir", "lower", "upperdir", "upper",
		"workdir", "work", NULL
	};
	/* trusted.* is not for the root of a user namespace. */
	static const char * const user_params[] = {
		"source", "fsbench", "lowerdir", "lower", "upperdir", "upper",
		"workdir", "work", "userxattr", NULL, NULL
	};
	int ret = mount_tmpfs();

	if (ret)
		return ret;
	if (mkdir("lower", 0755) || mkdir("upper", 0755) || mkdir("work", 0755))
		return give_up(FAILED, "directories for overlayfs: %s", strerror(errno));
	return mount_and_enter("overlay", userns ? user_params : params);
}

/* A number in a file: the only one, or the one behind @name. */
static unsigned long long read_number(const char *dir, const char *file, const char *name)
{
	unsigned long long n = ~0ull;
	char path[700], line[128];
	size_t len = strlen(name);
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, file);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, len) && sscanf(line + len, "%llu", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

/* What is left below the limit of a control group; clean page cache is free. */
static unsigned long long group_available(const char *dir, bool v1)
{
	unsigned long long limit, usage, cache;

	limit = read_number(dir, v1 ? "memory.limit_in_bytes" : "memory.max", "");
	usage = read_number(dir, v1 ? "memory.usage_in_bytes" : "memory.current", "");
	cache = read_number(dir, "memory.stat", v1 ? "total_inactive_file" : "inactive_file");
	if (limit == ~0ull || usage == ~0ull)
		return limit;
	if (cache != ~0ull)
		usage -= cache < usage ? cache : usage;
	return usage < limit ? limit - usage : 0;
}

/*
 * The least that our control group and those around it leave, version 2 or 1; all
 * ones if there is no limit.
 */
static unsigned long long memory_limit(void)
{
	unsigned long long left, least = ~0ull;
	char line[512], dir[600], *group, *slash;
	FILE *f;
	bool v1;

	f = fopen("/proc/self/cgroup", "re");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		group = strstr(line, ":memory:");
		v1 = group;
		if (!v1 && strncmp(line, "0::", 3))
			continue;
		group = v1 ? group + strlen(":memory:") : line + strlen("0::");
		do {
			snprintf(dir, sizeof(dir), "/sys/fs/cgroup%s%s", v1 ? "/memory" : "",
				 group);
			left = group_available(dir, v1);
			if (left < least)
				least = left;
			slash = strrchr(group, '/');
			if (slash)
				*slash = '\0';
		} while (slash);
	}
	if (f)
		fclose(f);
	return least;
}

/* Free memory as far as this process may use it. */
static unsigned long long memory_available(void)
{
	unsigned long long kb = ~0ull / 1024, limit = memory_limit();
	char line[128];
	FILE *f;

	f = fopen("/proc/meminfo", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu kB", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb * 1024 < limit ? kb * 1024 : limit;
}

static const char *find_program(const char *name, char *path, size_t size)
{
	static const char * const dirs[] = {
		"/usr/sbin", "/sbin", "/usr/bin", "/bin", "/usr/local/sbin", NULL
	};
	unsigned int i;

	for (i = 0; dirs[i]; i++) {
		snprintf(path, size, "%s/%s", dirs[i], name);
		if (!access(path, X_OK))
			return path;
	}
	return NULL;
}

/*
 * Run a program by path, with a clean environment and without our descriptors.
 * What it says goes to a memory file and comes back as its last line.
 *
 * @target: descriptor that the program finds as /proc/self/fd/3, or -1
 * Return: its exit status, -1 if it did not exit.
 */
static int run(const char *path, const char * const *argv, int target, char *said, size_t size)
{
	static const char * const env[] = {
		"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C", NULL
	};
	int log = memfd_create("fsbench-log", MFD_CLOEXEC);
	int status, null;
	ssize_t len;
	pid_t pid;

	*said = '\0';
	/* Without it the program would write into our own output. */
	pid = log < 0 ? -1 : fork();
	if (pid < 0) {
		snprintf(said, size, "not started: %s", strerror(errno));
		goto out;
	}
	if (!pid) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (null >= 0)
			dup2(null, 0);
		dup2(log, 1);
		dup2(log, 2);
		if (target == 3)
			fcntl(target, F_SETFD, 0);
		else if (target >= 0)
			dup2(target, 3);
		execve(path, (char * const *)argv, (char * const *)env);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			goto out;
	len = pread(log, said, size - 1, 0);
	said[len > 0 ? len : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
	close(log);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
out:
	close(log);
	return -1;
}

static void pause_ns(long ns)
{
	struct timespec ts = { .tv_nsec = ns };

	nanosleep(&ts, NULL);
}

/* The version of mkfs decides about the format. */
static void add_mkfs_version(const char *path)
{
	const char * const argv[] = { path, "-V", NULL };
	char said[200];

	run(path, argv, -1, said, sizeof(said));
	fp_set(&keys, "mkfs", "%s", said);
}

/*
 * @device: its path, or the file behind it, which is descriptor 3 to mkfs
 */
static int make_filesystem(const struct mkfs *m, int target, const char *device)
{
	char path[64], said[256], page[24];
	const char *argv[14];
	unsigned int n;
	int ret;

	if (!find_program(m->argv[0], path, sizeof(path)))
		return give_up(SKIPPED, "no %s (package %s)", m->argv[0], m->package);
	add_mkfs_version(path);
	for (n = 0; m->argv[n]; n++)
		argv[n] = m->argv[n];
	if (options->icount && !strcmp(m->fstype, "btrfs")) {
		/*
		 * Whether the pages of a larger tree block lie together in
		 * memory is chance, and some calls cost 17 % more if not.
		 */
		snprintf(page, sizeof(page), "%ld", sysconf(_SC_PAGESIZE));
		argv[n++] = "-n";
		argv[n++] = page;
		fp_set(&keys, "nodesize", "%s", page);
	}
	argv[n++] = device;
	argv[n] = NULL;
	ret = run(path, argv, target, said, sizeof(said));
	if (ret)
		/* An old format may be gone, or not for this device. */
		return give_up(m->needs ? SKIPPED : FAILED, "%s failed (%d): %s", m->argv[0],
			       ret, said);
	return 0;
}

/*
 * A loop device on @file that detaches itself when its last user has gone. The
 * number that LOOP_CTL_GET_FREE gives is a hint: somebody may be faster.
 *
 * Return: a descriptor that keeps it alive until it is mounted; below 0 with the
 * reason: -FAULTY if it had to be possible.
 */
static int attach_loop(int file, char *path, size_t size)
{
	struct loop_config config = {
		.fd = file,
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO,
	};
	int ctl, fd, nr, try, err = 0;

	snprintf(path, size, "/dev/loop-control");
	ctl = open(path, O_RDWR | O_CLOEXEC);
	if (ctl < 0)
		return give_up(-SKIPPED, "%s: %s (CONFIG_BLK_DEV_LOOP)", path, strerror(errno));
	snprintf((char *)config.info.lo_file_name, LO_NAME_SIZE, "fsbench");
	for (try = 0; try < LOOP_TRIES; try++) {
		nr = ioctl(ctl, LOOP_CTL_GET_FREE);
		if (nr < 0) {
			err = errno;
			break;
		}
		snprintf(path, size, "/dev/loop%d", nr);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0) {
			if (!ioctl(fd, LOOP_CONFIGURE, &config)) {
				close(ctl);
				return fd;
			}
			err = errno;
			close(fd);
			if (err != EBUSY)
				break;
		} else {
			err = errno;
			if (err != ENOENT && err != EBUSY && err != ENXIO)
				break;
			/* udev makes the node; in a container nobody may. */
		}
		pause_ns(BUSY_NS / 10);
	}
	close(ctl);
	/* A device that was there and refuses a file of ours is no missing feature. */
	return give_up(err == EINVAL || err == EFAULT || err == EBADF ? -FAULTY : -SKIPPED,
		       "no loop device, last %s: %s", path, strerror(err));
}

static bool loop_is_direct(int fd)
{
	struct loop_info64 info;

	return !ioctl(fd, LOOP_GET_STATUS64, &info) && info.lo_flags & LO_FLAGS_DIRECT_IO;
}

/* Mount what mkfs made; udev may still be looking at the device. */
static int mount_device(const struct mkfs *m, const char *path)
{
	const char *params[3] = { [0] = "source", [1] = path };
	struct stat st;
	int try, ret;

	device = stat(path, &st) ? 0 : st.st_rdev;
	for (try = 0; try < BUSY_TRIES; try++) {
		ret = mount_and_enter(m->fstype, params);
		if (ret == SKIPPED && m->needs)
			snprintf(reason + strlen(reason), sizeof(reason) - strlen(reason),
				 " (needs %s)", m->needs);
		if (ret != FAILED || errno != EBUSY)
			return ret;
		pause_ns(BUSY_NS);
	}
	return give_up(SKIPPED, "%s stays busy", path);
}

/*
 * The same device behind the same descriptor, no longer for writing: from 6.8 on
 * a kernel without CONFIG_BLK_DEV_WRITE_MOUNTED mounts nothing that may be written.
 */
static int reopen_read_only(int fd)
{
	char link[32];
	int ro, ret;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	ro = open(link, O_RDONLY | O_CLOEXEC);
	if (ro < 0)
		return -1;
	ret = dup3(ro, fd, O_CLOEXEC);
	close(ro);
	return ret < 0 ? -1 : 0;
}

static int mount_on_loop(const struct mkfs *m)
{
	int file, loop, ret;
	char path[32];

	if (memory_available() < MEMORY_NEEDED)
		return give_up(SKIPPED, "%llu MiB of memory available, %s on loop needs %llu",
			       memory_available() / MIB, m->fstype, MEMORY_NEEDED / MIB);
	file = memfd_create("fsbench", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, DEVICE_SIZE)) {
		ret = give_up(SKIPPED, "no memory file: %s", strerror(errno));
		goto out;
	}
	/* On the file, not on the device: nobody else can be looking at it. */
	ret = make_filesystem(m, file, "/proc/self/fd/3");
	if (ret)
		goto out;
	loop = attach_loop(file, path, sizeof(path));
	if (loop < 0) {
		ret = loop == -FAULTY ? FAILED : SKIPPED;
		goto out;
	}
	ret = reopen_read_only(loop) ? give_up(FAILED, "%s: %s", path, strerror(errno)) :
				       mount_device(m, path);
	fp_set(&keys, "device", "%s", loop_is_direct(loop) ? "loop,direct" : "loop");
	close(loop);
out:
	if (file >= 0)
		close(file);
	return ret;
}

/* Is this one of our own, left by a run that was killed? */
static bool is_ours(const unsigned char *head)
{
	return (!memcmp(head + 0x10040, "_BHRfS_M", 8) &&
		!memcmp(head + 0x1012b, LABEL, sizeof(LABEL))) ||
	       (!memcmp(head, "XFSB", 4) && !memcmp(head + 108, "fsbench-xfs", 12)) ||
	       (!memcmp(head + 1080, "\x53\xef", 2) && !memcmp(head + 1144, LABEL, 16));
}

static unsigned char device_part[MIB];

static bool is_empty(size_t len)
{
	/* Each byte is as the one before it, and the first is 0. */
	return !device_part[0] && !memcmp(device_part, device_part + 1, len - 1);
}

/* brd counts its pages: with none in use there is nothing to read. */
static bool brd_has_no_pages(int fd, const char *path)
{
	/* What was written has to arrive there first. */
	return !fsync(fd) &&
	       !read_number("/sys/kernel/debug/ramdisk_pages", path + strlen("/dev/"), "");
}

/*
 * Is there nothing on it? On a device that nobody named, nothing at all, since
 * not every owner leaves a signature; holes of brd are quick to read. On one that
 * the user named, nothing in the first and last MiB, where signatures are.
 */
static int device_is_empty(int fd, const char *path, unsigned long long size, bool named)
{
	unsigned long long at = 0;
	ssize_t len;

	if (!named && brd_has_no_pages(fd, path))
		return 0;
	while (at < size) {
		len = pread(fd, device_part, sizeof(device_part), at);
		if (len <= 0)
			return give_up(SKIPPED, "%s cannot be read: %s", path,
				       len ? strerror(errno) : "end of file");
		if (!at && len == sizeof(device_part) && is_ours(device_part))
			return 0;
		if (!is_empty(len))
			return give_up(SKIPPED, "%s is not empty: it may belong to somebody",
				       path);
		posix_fadvise(fd, at, len, POSIX_FADV_DONTNEED);
		at += len;
		if (named && at < size - sizeof(device_part))
			at = size - sizeof(device_part);
	}
	return 0;
}

/*
 * May this device be formatted? Only if no other run has it, nobody else holds it
 * for himself, it can be written and is large enough, and nothing is on it or a
 * file system of ours.
 *
 * @pinned: receives a descriptor that stands for the device from now on, whatever
 * becomes of the path, and keeps other runs away
 * Return: 0 or SKIPPED with the reason.
 */
static int device_pin(const char *path, bool named, int *pinned)
{
	unsigned long long size = 0;
	int fd, excl, read_only = 0, ret;
	char link[32];

	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return give_up(SKIPPED, "%s: %s", path, strerror(errno));
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	excl = flock(fd, LOCK_EX | LOCK_NB) ? -1 : open(link, O_RDWR | O_EXCL | O_CLOEXEC);
	if (excl < 0)
		ret = give_up(SKIPPED, "%s is in use: %s", path, strerror(errno));
	else if (ioctl(fd, BLKROGET, &read_only) || read_only)
		ret = give_up(SKIPPED, "%s is read-only", path);
	else if (ioctl(fd, BLKGETSIZE64, &size) || size < DEVICE_SIZE)
		ret = give_up(SKIPPED, "%s has %llu MiB and %llu are needed", path, size / MIB,
			      DEVICE_SIZE / MIB);
	else
		ret = device_is_empty(fd, path, size, named);
	if (excl >= 0)
		close(excl);
	if (ret)
		close(fd);
	else
		*pinned = fd;
	return ret;
}

/* A file system of the case before may still be on its way out. */
static int device_pin_soon(const char *path, bool named, int *pinned)
{
	int try, ret;

	for (try = 0; ; try++) {
		ret = device_pin(path, named, pinned);
		if (!ret || strcmp(path, used->path) || try == BUSY_TRIES)
			return ret;
		pause_ns(BUSY_NS);
	}
}

/* The first brd device that may be used. It is never loaded or unloaded here. */
static int find_brd(char *path, size_t size, int *pinned)
{
	int nr;

	give_up(SKIPPED, "no /dev/ram0 (modprobe brd rd_nr=1 rd_size=1048576)");
	for (nr = 0; nr < 16; nr++) {
		snprintf(path, size, "/dev/ram%d", nr);
		if (access(path, F_OK))
			break;
		if (!device_pin_soon(path, false, pinned))
			return 0;
	}
	return SKIPPED;
}

static int mount_on_device(const struct mkfs *m, int pinned, const char *path,
			   const char *kind)
{
	char link[32];
	struct stat st;
	int ret;

	if (fstat(pinned, &st))
		return give_up(FAILED, "%s: %s", path, strerror(errno));
	snprintf(used->path, sizeof(used->path), "%s", path);
	used->dev = st.st_rdev;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", pinned);
	ret = make_filesystem(m, pinned, "/proc/self/fd/3");
	/* The lock has gone with the old file. */
	if (!ret && (reopen_read_only(pinned) || flock(pinned, LOCK_EX | LOCK_NB)))
		ret = give_up(SKIPPED, "%s: %s", path, strerror(errno));
	if (!ret)
		ret = mount_device(m, link);
	fp_set(&keys, "device", "%s", kind);
	/* It stays open, and locked, as long as this process lives. */
	return ret;
}

static int mount_block(const struct mkfs *m)
{
	char path[32];
	int ret, pinned;

	if (userns)
		return give_up(SKIPPED, "%s needs root: it is on a block device", m->fstype);
	if (options->device == DEVICE_PATH) {
		ret = device_pin_soon(options->device_path, true, &pinned);
		return ret ? ret : mount_on_device(m, pinned, options->device_path,
						   options->device_path);
	}
	if (options->device == DEVICE_LOOP)
		return mount_on_loop(m);
	ret = find_brd(path, sizeof(path), &pinned);
	if (!ret)
		return mount_on_device(m, pinned, path, "brd");
	if (options->device == DEVICE_BRD)
		return ret;
	/* auto: what is in doubt is left alone */
	return mount_on_loop(m);
}

/* The options in force: of the mount, then of the file system. */
static void add_mount_options(void)
{
	char line[1024], opts[128], super[384], *dash;
	int dir = open(".", O_PATH | O_CLOEXEC), id = -1, line_id;
	FILE *f;

	snprintf(line, sizeof(line), "/proc/self/fdinfo/%d", dir);
	f = fopen(line, "re");
	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "mnt_id: %d", &id);
	if (f)
		fclose(f);
	close(dir);
	f = fopen("/proc/self/mountinfo", "re");
	*opts = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		dash = strstr(line, " - ");
		if (dash && sscanf(line, "%d %*s %*s %*s %*s %127s", &line_id, opts) == 2 &&
		    line_id == id && sscanf(dash, " - %*s %*s %383s", super) == 1) {
			fp_set(&keys, "mount", "%s;%s", opts, super);
			break;
		}
	}
	if (f)
		fclose(f);
}

/**
 * scratch_mount() - a fresh file system as the working directory
 *
 * @fstype: tmpfs, overlayfs, btrfs, xfs, xfs_512, ext4 or ext4_ea_inode
 * Return: 0; 1 if it cannot be had here, -1 if it should be had and failed, both
 * with a scratch_reason().
 */
int scratch_mount(const char *fstype)
{
	unsigned int i;
	int ret;

	keys.nr = 0;
	fp_set(&keys, "fs", "%s", fstype);
	ret = enter_namespace();
	if (ret)
		return ret;
	if (!strcmp(fstype, "tmpfs")) {
		ret = mount_tmpfs();
	} else if (!strcmp(fstype, "overlayfs")) {
		ret = mount_overlayfs();
	} else {
		for (i = 0; i < ARRAY_SIZE(mkfs_table); i++)
			if (!strcmp(fstype, mkfs_table[i].name))
				break;
		if (i == ARRAY_SIZE(mkfs_table))
			return give_up(FAILED, "%s is not known here", fstype);
		ret = mount_block(&mkfs_table[i]);
	}
	if (ret)
		return ret;
	fp_set(&keys, "block", "%zu", scratch_block_size());
	add_mount_options();
	return 0;
}

/**
 * scratch_configure() - take note of the options, refuse an unfit device
 *
 * Return: 0, or -1 and a line in @err.
 */
int scratch_configure(const struct options *o, char *err, size_t size)
{
	int pinned;

	options = o;
	used = mmap(NULL, sizeof(*used), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		    -1, 0);
	if (used == MAP_FAILED) {
		snprintf(err, size, "shared memory: %s", strerror(errno));
		return -1;
	}
	if (o->device != DEVICE_PATH)
		return 0;
	if (strlen(o->device_path) >= sizeof(used->path))
		give_up(SKIPPED, "the path is too long");
	else if (!device_pin(o->device_path, true, &pinned))
		return close(pinned);
	snprintf(err, size, "FSBENCH_DEVICE=\"%.100s\": %.300s", o->device_path, reason);
	return -1;
}

/**
 * scratch_cleanup() - at the end of the program: empty the device that was used
 *
 * What lies on it after a crash is recognised by its label and used again.
 * Everything else is gone by itself.
 */
void scratch_cleanup(void)
{
	__u64 range[2] = { 0, 0 };
	unsigned long long size;
	struct stat st;
	int fd;

	if (!used || !*used->path || device_pin_soon(used->path, true, &fd))
		return;
	if (fstat(fd, &st) || st.st_rdev != used->dev)
		goto out;
	memset(device_part, 0, sizeof(device_part));
	if (pwrite(fd, device_part, sizeof(device_part), 0) < 0 || fsync(fd))
		fprintf(stderr, "# fsbench: %s: %s\n", used->path, strerror(errno));
	/* Gives the pages of brd back, where it can (not in 6.1). */
	if (!ioctl(fd, BLKGETSIZE64, &size)) {
		range[1] = size;
		ioctl(fd, BLKDISCARD, range);
	}
out:
	close(fd);
}
