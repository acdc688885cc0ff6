// SPDX-License-Identifier: GPL-2.0
/*
 * A suite of cases that end badly, each with a filesystem on a loop device: what
 * the harness does then differs between kernels and compilers, and teardown is
 * mostly not run.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>

#include "fsbench.h"

FIXTURE(body) {
	int fd;
};

FIXTURE_SETUP(body)
{
	if (!SCRATCH("btrfs"))
		return;
	self->fd = open("file", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(4, write(self->fd, "data", 4));
}

FIXTURE_TEARDOWN(body)
{
}

TEST_F(body, assert)
{
	ASSERT_TRUE(false);
}

TEST_F(body, segv)
{
	raise(SIGSEGV);
}

TEST_F_TIMEOUT(body, hang, 2)
{
	for (;;)
		pause();
}

/* Its own child would live for ever. */
TEST_F(body, orphan)
{
	if (!fork())
		for (;;)
			pause();
	ASSERT_TRUE(false);
}

/* And one that ends well, after all the others. */
TEST_F(body, right)
{
	EXPECT_LE(0, self->fd);
}

FIXTURE(setup) {
	int unused;
};

FIXTURE_SETUP(setup)
{
	if (!SCRATCH("btrfs"))
		return;
	ASSERT_TRUE(false);
}

FIXTURE_TEARDOWN(setup)
{
}

TEST_F(setup, assert)
{
}

TEST_HARNESS_MAIN
