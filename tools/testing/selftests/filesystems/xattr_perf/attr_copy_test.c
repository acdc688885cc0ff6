// SPDX-License-Identifier: GPL-2.0
/*
 * What "cp -a" and install pay for the extended attributes of a file: attr_copy_fd()
 * of libattr, from one file to another that has none.
 *
 * It is one list, and for each name two gets and a set: what the other programs
 * measure alone, as an application meets it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#ifdef HAVE_LIBATTR
#include <attr/libattr.h>
#else
/* Not called: then all cases are skipped. */
static int attr_copy_fd(const char *src, ...)
{
	return *src ? -1 : 0;
}
#endif

#include "xattr.h"

/* Destinations: a copy to one that has the names already costs something else. */
#define FILES		64

static const char value[16] = "fsbench-value-0";

struct copy {
	int src, dst[FILES];
	unsigned int names;
	unsigned long used;		/* of the destinations, by the batch before */
};

FIXTURE(attr_copy) {
	struct copy c;
};

FIXTURE_VARIANT(attr_copy) {
	const char *fstype;
	unsigned int names;
};

FIXTURE_VARIANT_ADD(attr_copy, tmpfs_1) { .fstype = "tmpfs", .names = 1 };
FIXTURE_VARIANT_ADD(attr_copy, tmpfs_4) { .fstype = "tmpfs", .names = 4 };
FIXTURE_VARIANT_ADD(attr_copy, tmpfs_16) { .fstype = "tmpfs", .names = 16 };
FIXTURE_VARIANT_ADD(attr_copy, xfs_1) { .fstype = "xfs", .names = 1 };
FIXTURE_VARIANT_ADD(attr_copy, ext4_1) { .fstype = "ext4", .names = 1 };
FIXTURE_VARIANT_ADD(attr_copy, btrfs_1) { .fstype = "btrfs", .names = 1 };

FIXTURE_SETUP(attr_copy)
{
	struct copy *c = &self->c;
	char name[NAME_LEN];
	unsigned int i;

#ifndef HAVE_LIBATTR
	BENCH_SKIP("built without libattr (package libattr1-dev)");
	return;
#endif
	if (!SCRATCH(variant->fstype))
		return;
	c->names = variant->names;
	c->src = open("src", O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	ASSERT_LE(0, c->src);
	for (i = 0; i < c->names; i++) {
		name_of(i, name);
		if (fsetxattr(c->src, name, value, sizeof(value), XATTR_CREATE)) {
			ASSERT_TRUE(may_lack_user_xattrs(variant->fstype));
			BENCH_SKIP("%s: %s", variant->fstype, NO_USER_XATTRS);
			return;
		}
	}
	for (i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "dst%u", i);
		c->dst[i] = open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
		ASSERT_LE(0, c->dst[i]);
	}
}

FIXTURE_TEARDOWN(attr_copy)
{
}

static void copy(struct bench *b, unsigned long ops)
{
	struct copy *c = b->arg;

	while (ops--)
		bench_expect(b, !attr_copy_fd("src", c->src, "dst", c->dst[ops], NULL, NULL));
}

/* Not timed: what the batch before has copied. */
static void remove_names(struct bench *b, unsigned long ops)
{
	struct copy *c = b->arg;
	char name[NAME_LEN];
	unsigned int i;

	for (i = 0; i < c->used * c->names; i++) {
		name_of(i % c->names, name);
		bench_prove(b, !fremovexattr(c->dst[i / c->names], name));
	}
	c->used = ops;
}

static void check_copy(struct bench *b)
{
	struct copy *c = b->arg;
	char name[NAME_LEN], seen[sizeof(value) + 1];
	unsigned int i;

	for (i = 0; i < c->used * c->names; i++) {
		name_of(i % c->names, name);
		bench_prove(b, fgetxattr(c->dst[i / c->names], name, seen, sizeof(seen)) ==
			    sizeof(value));
		bench_prove(b, !memcmp(seen, value, sizeof(value)));
	}
}

TEST_F(attr_copy, attr_copy_fd)
{
	BENCH(copy, &self->c, .before_batch = remove_names, .after_round = check_copy,
	      .max_batch = FILES);
}

TEST_HARNESS_MAIN
