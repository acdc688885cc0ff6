// SPDX-License-Identifier: GPL-2.0
/*
 * What a lookup of a POSIX ACL costs a user to whom it applies: files without, with
 * a small and with a large one, that are in memory or have to be read.
 *
 * It measures system calls, and says nothing about applications.
 */
#define _GNU_SOURCE
#include <endian.h>
#include <fcntl.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/stat.h>

#include "xattr.h"

#define ACL_NAME	"system.posix_acl_access"
/* Users named in a large one: more than an inode has room for, on each of them. */
#define LARGE		300
/* Files that are read one after the other. All of them fit into memory. */
#define FILES		2048

enum size { NONE, SMALL, BIG };

struct acl {
	struct posix_acl_xattr_header header;
	struct posix_acl_xattr_entry entry[LARGE + 5];
};

struct acl_files {
	char path[FILES][NAME_LEN];
	unsigned int nr;
	bool cold;			/* out of memory when they are used */
	unsigned int next;		/* the first that was not used since */
	unsigned long used, warm;	/* how many were, and of them still in memory */
	struct acl *acl, *seen;
	size_t size;			/* of the ACL, 0: none */
};

/* Of @users, the last of whom is the one who asks. Return: its size. */
static size_t make_acl(struct acl *acl, unsigned int users, unsigned int perm)
{
	struct posix_acl_xattr_entry *e = acl->entry;
	unsigned int i;

#define ENTRY(tag, bits, id)						\
	(*e++ = (struct posix_acl_xattr_entry){ htole16(tag), htole16(bits), htole32(id) })
	acl->header.a_version = htole32(POSIX_ACL_XATTR_VERSION);
	ENTRY(ACL_USER_OBJ, ACL_READ | ACL_WRITE, ACL_UNDEFINED_ID);
	for (i = 1; i < users; i++)
		ENTRY(ACL_USER, 0, USER_OTHER - users + i);
	ENTRY(ACL_USER, perm, USER_OTHER);
	ENTRY(ACL_GROUP_OBJ, 0, ACL_UNDEFINED_ID);
	ENTRY(ACL_MASK, ACL_READ, ACL_UNDEFINED_ID);
	/* Who is not asked about by name gets the opposite. */
	ENTRY(ACL_OTHER, ACL_READ & ~perm, ACL_UNDEFINED_ID);
#undef ENTRY
	return (char *)e - (char *)acl;
}

/* Return: NULL, or why ACLs cannot be had here. */
static const char *make_file(struct __test_metadata *const _metadata, const char *path,
			     struct acl *acl, size_t size, mode_t mode)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int ret;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, fchmod(fd, mode));
	ret = size ? fsetxattr(fd, ACL_NAME, acl, size, XATTR_CREATE) : 0;
	if (ret && errno == EOPNOTSUPP)
		return "no ACLs (CONFIG_*_POSIX_ACL)";
	ASSERT_EQ(0, ret);
	close(fd);
	return NULL;
}

/* A small one lies in the inode, a large one does not. Return: why it cannot be so. */
static const char *no_room(struct __test_metadata *const _metadata, const char *path,
			   size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool small = size < sizeof(struct acl) / 2;
	long blocks = xattr_blocks(fd);
	ssize_t others = flistxattr(fd, NULL, 0) - (size ? (ssize_t)sizeof(ACL_NAME) : 0);

	close(fd);
	if (small && blocks > 0 && others > 0)
		return NO_ROOM;
	ASSERT_LE(0, blocks);
	ASSERT_EQ(small, !blocks);
	return NULL;
}

/* Return: NULL, or why a file cannot be had that is not in memory. */
static const char *prove_cold(struct __test_metadata *const _metadata, const char *path)
{
	const char *why = cold_missing(path);

	if (why)
		return why;
	ASSERT_TRUE(cold_mark(path));
	ASSERT_TRUE(cold_drop("probe"));
	ASSERT_TRUE(cold_was(path));
	return NULL;
}

/* The same call is refused where the ACL, or the mode if there is none, says so. */
static const char *prove_refused(struct __test_metadata *const _metadata,
				 struct acl_files *f, enum size size)
{
	size_t len = size ? make_acl(f->seen, size == BIG ? LARGE : 1, 0) : 0;
	const char *why = make_file(_metadata, "refused", f->seen, len, size ? 0644 : 0640);

	if (!why)
		why = user_other();
	if (why)
		return why;
	ASSERT_EQ(-1, access("refused", R_OK));
	ASSERT_EQ(EACCES, errno);
	ASSERT_EQ(-1, open("refused", O_RDONLY));
	ASSERT_EQ(EACCES, errno);
	ASSERT_EQ(0, access(f->path[0], R_OK));
	return NULL;
}

/* Return: false if the setup has to return. */
static bool set_up(struct __test_metadata *const _metadata, struct acl_files *f,
		   const char *fstype, enum size size, const char **why)
{
	unsigned int i;

	*why = user_other();
	if (*why)
		return false;
	ASSERT_TRUE(user_root());
	f->acl = bench_pages(_metadata, sizeof(*f->acl));
	f->seen = bench_pages(_metadata, sizeof(*f->seen));
	f->size = size ? make_acl(f->acl, size == BIG ? LARGE : 1, ACL_READ) : 0;
	for (i = 0; i < f->nr; i++) {
		snprintf(f->path[i], NAME_LEN, "file%u", i);
		*why = make_file(_metadata, f->path[i], f->acl, f->size, f->size ? 0640 : 0644);
		if (*why)
			return false;
	}
	if (!strcmp(fstype, "xfs") || !strcmp(fstype, "ext4")) {
		*why = no_room(_metadata, f->path[0], f->size);
		if (*why)
			return false;
	}
	/* Without ACLs there is no lookup, so nothing to measure on a file without one. */
	*why = make_file(_metadata, "probe", f->seen, make_acl(f->seen, 1, 0), 0600);
	if (!*why && f->cold)
		*why = prove_cold(_metadata, f->path[0]);
	if (!*why)
		*why = prove_refused(_metadata, f, size);
	if (*why)
		return false;
	memset(f->seen, 0, sizeof(*f->seen));
	return true;
}

FIXTURE(acl) {
	struct acl_files f;
};

FIXTURE_VARIANT(acl) {
	const char *fstype;
	enum size size;
	bool cold;
	bool rest;			/* not in the default set */
};

FIXTURE_VARIANT_ADD(acl, tmpfs_none) { .fstype = "tmpfs", .size = NONE };
FIXTURE_VARIANT_ADD(acl, tmpfs_small) { .fstype = "tmpfs", .size = SMALL };
FIXTURE_VARIANT_ADD(acl, tmpfs_large) { .fstype = "tmpfs", .size = BIG, .rest = true };
FIXTURE_VARIANT_ADD(acl, xfs_none) { .fstype = "xfs", .size = NONE };
FIXTURE_VARIANT_ADD(acl, xfs_small) { .fstype = "xfs", .size = SMALL };
FIXTURE_VARIANT_ADD(acl, xfs_large) { .fstype = "xfs", .size = BIG, .rest = true };
FIXTURE_VARIANT_ADD(acl, ext4_none) { .fstype = "ext4", .size = NONE, .rest = true };
FIXTURE_VARIANT_ADD(acl, ext4_small) { .fstype = "ext4", .size = SMALL };
FIXTURE_VARIANT_ADD(acl, ext4_large) { .fstype = "ext4", .size = BIG, .rest = true };
FIXTURE_VARIANT_ADD(acl, btrfs_none) { .fstype = "btrfs", .size = NONE, .rest = true };
FIXTURE_VARIANT_ADD(acl, btrfs_small) { .fstype = "btrfs", .size = SMALL };
FIXTURE_VARIANT_ADD(acl, btrfs_large) { .fstype = "btrfs", .size = BIG, .rest = true };
/* tmpfs has nothing but memory. */
FIXTURE_VARIANT_ADD(acl, xfs_none_cold) { .fstype = "xfs", .size = NONE, .cold = true };
FIXTURE_VARIANT_ADD(acl, xfs_small_cold) { .fstype = "xfs", .size = SMALL, .cold = true };
FIXTURE_VARIANT_ADD(acl, xfs_large_cold) { .fstype = "xfs", .size = BIG, .cold = true };
FIXTURE_VARIANT_ADD(acl, ext4_none_cold) { .fstype = "ext4", .size = NONE, .cold = true };
FIXTURE_VARIANT_ADD(acl, ext4_small_cold) { .fstype = "ext4", .size = SMALL, .cold = true };
FIXTURE_VARIANT_ADD(acl, ext4_large_cold) { .fstype = "ext4", .size = BIG, .cold = true };
FIXTURE_VARIANT_ADD(acl, btrfs_none_cold) { .fstype = "btrfs", .size = NONE, .cold = true };
FIXTURE_VARIANT_ADD(acl, btrfs_small_cold) { .fstype = "btrfs", .size = SMALL, .cold = true };

FIXTURE_VARIANT_ADD(acl, btrfs_large_cold) {
	.fstype = "btrfs", .size = BIG, .cold = true, .rest = true
};

FIXTURE_SETUP(acl)
{
	struct acl_files *f = &self->f;
	const char *why;

	bool open_only_small = variant->cold && variant->size != SMALL &&
			       !strcmp(_metadata->name, "open");

	if (!BENCH_DEFAULT(!variant->rest && !open_only_small) || !SCRATCH(variant->fstype))
		return;
	f->cold = variant->cold;
	f->nr = f->cold ? FILES : 1;
	/* At first all are in memory. */
	f->next = f->cold ? f->nr : 0;
	if (!set_up(_metadata, f, variant->fstype, variant->size, &why))
		BENCH_SKIP("%s: %s", variant->fstype, why);
}

FIXTURE_TEARDOWN(acl)
{
}

/*
 * Before a batch for which too few are left: all out of memory. They are used by whom
 * the ACL names, not by root.
 */
static void drop(struct bench *b, unsigned long ops)
{
	struct acl_files *f = b->arg;
	unsigned int i;

	if (f->next + ops <= f->nr)
		return;
	bench_prove(b, user_root());
	for (i = 0; i < f->nr; i++)
		bench_prove(b, cold_mark(f->path[i]));
	bench_prove(b, cold_drop("probe"));
	cold_found();
	bench_prove(b, !user_other());
	f->next = 0;
}

/* After a batch, which brought them back. */
static bool were_cold(struct bench *b, unsigned long ops)
{
	struct acl_files *f = b->arg;
	unsigned long i, warm = cold_found();

	for (i = f->next - ops; i < f->next; i++)
		warm += !cold_was(f->path[i]);
	/* This has looked at them again. */
	cold_found();
	f->used += ops;
	f->warm += warm;
	return !warm;
}

/* A few were not, if somebody else was about to drop them as well. */
static void prove_cold_enough(struct bench *b)
{
	struct acl_files *f = b->arg;

	bench_prove(b, f->warm * 50 <= f->used);
	bench_note("warm", "%lu", f->warm);
}

static void ask_access(struct bench *b, unsigned long ops)
{
	struct acl_files *f = b->arg;

	for (; ops--; f->next += f->cold)
		bench_expect(b, !access(f->path[f->next], R_OK));
}

static void ask_open(struct bench *b, unsigned long ops)
{
	struct acl_files *f = b->arg;
	int fd;

	for (; ops--; f->next += f->cold) {
		fd = open(f->path[f->next], O_RDONLY | O_CLOEXEC);
		bench_expect(b, fd >= 0 && !close(fd));
	}
}

static void ask_acl(struct bench *b, unsigned long ops)
{
	struct acl_files *f = b->arg;
	ssize_t answer = f->size ? (ssize_t)f->size : -1, ret;

	for (; ops--; f->next += f->cold) {
		ret = getxattr(f->path[f->next], ACL_NAME, f->seen, sizeof(*f->seen));
		bench_expect(b, ret == answer && (ret >= 0 || errno == ENODATA));
	}
}

static void check_acl(struct bench *b)
{
	struct acl_files *f = b->arg;

	bench_prove(b, !memcmp(f->seen, f->acl, f->size));
	memset(f->seen, 0, sizeof(*f->seen));
}

#define ASK(function, ...)						\
	BENCH(function, &self->f, .before_batch = self->f.cold ? drop : NULL,	\
	      .after_batch = self->f.cold ? were_cold : NULL,		\
	      .max_batch = self->f.cold ? FILES : 0,			\
	      .cycle = self->f.cold ? 8 : 0,				\
	      .prove = self->f.cold ? prove_cold_enough : NULL, ##__VA_ARGS__)

TEST_F(acl, access)
{
	ASK(ask_access);
}

TEST_F(acl, open)
{
	ASK(ask_open);
}

TEST_F(acl, getxattr)
{
	ASK(ask_acl, .after_round = check_acl);
}

TEST_HARNESS_MAIN
