// SPDX-License-Identifier: GPL-2.0
/*
 * The plainest loop around flistxattr() on tmpfs with one name: what the headline
 * of xattr_list.tmpfs_1.flistxattr is compared with by tests/benchmark.sh.
 */
#define _GNU_SOURCE
#include <err.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static int cmp(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1e9 + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	static char list[4096];
	double *ns, start, sum = 0;
	int batch, batches, i, j, fd;

	if (argc != 3)
		errx(2, "usage: plain_loop OPERATIONS_PER_BATCH BATCHES");
	batch = atoi(argv[1]);
	batches = atoi(argv[2]);
	ns = calloc(batches, sizeof(*ns));
	if (!ns || batch < 1 || batches < 4)
		errx(2, "bad count");
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", "/tmp", "tmpfs", 0, NULL) || chdir("/tmp"))
		err(1, "tmpfs");
	fd = open("file", O_RDWR | O_CREAT, 0600);
	if (fd < 0 || fsetxattr(fd, "user.fsbench00", "fsbench-value-1", 16, 0))
		err(1, "file");
	for (i = 0; i < batches; i++) {
		start = now();
		for (j = 0; j < batch; j++)
			if (flistxattr(fd, list, sizeof(list)) != 15)
				err(1, "flistxattr");
		ns[i] = (now() - start) / batch;
		sum += ns[i];
	}
	qsort(ns, batches, sizeof(*ns), cmp);
	printf("%.3f %.3f\n", ns[batches / 4], sum / batches);
	return 0;
}
