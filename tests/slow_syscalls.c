// SPDX-License-Identifier: GPL-2.0
/*
 * slow_syscalls INSTRUCTIONS SYSCALL|all COMMAND [ARG...]
 *
 * Runs COMMAND under a seccomp filter of that many instructions which allows
 * everything: a slower kernel, as far as COMMAND can tell. The filter looks at
 * an argument, else the kernel would remember its answer and not run it again.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <err.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sock_filter code[BPF_MAXINSNS];
static unsigned short len;

static void add(unsigned short op, unsigned int k, unsigned char jt, unsigned char jf)
{
	code[len++] = (struct sock_filter)BPF_JUMP(op, k, jt, jf);
}

static long number_of(const char *name)
{
	static const struct {
		const char *name;
		long nr;
	} known[] = {
		{ "all", -1 },
		{ "flistxattr", SYS_flistxattr },
		{ "getppid", SYS_getppid },
		{ "ioctl", SYS_ioctl },
		{ }
	}, *k;

	for (k = known; k->name; k++)
		if (!strcmp(name, k->name))
			return k->nr;
	if (!isdigit(*name))
		errx(2, "system call %s is not known here, give its number", name);
	return atol(name);
}

int main(int argc, char **argv)
{
	struct sock_fprog program = { .filter = code };
	long nr;
	int n;

	if (argc < 4)
		errx(2, "usage: slow_syscalls INSTRUCTIONS SYSCALL|all COMMAND [ARG...]");
	n = atoi(argv[1]);
	nr = number_of(argv[2]);
	if (n < 2 || n > BPF_MAXINSNS - 3)
		errx(2, "%s: 2 to %d instructions", argv[1], BPF_MAXINSNS - 3);
	if (nr >= 0) {
		add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr), 0, 0);
		add(BPF_JMP | BPF_JEQ | BPF_K, nr, 1, 0);
		add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);
	}
	add(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args), 0, 0);
	/* Each needs the one before. */
	while (n-- > 2)
		add(BPF_ALU | BPF_MUL | BPF_K, 3, 0, 0);
	add(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0);

	program.len = len;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program))
		err(2, "seccomp");
	execvp(argv[3], argv + 3);
	err(2, "%s", argv[3]);
}
