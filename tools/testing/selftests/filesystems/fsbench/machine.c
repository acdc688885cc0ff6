// SPDX-License-Identifier: GPL-2.0
/*
 * The machine's fingerprint: one table of keys, each with its class and the
 * function that reads it. Nothing here fails. What cannot be read is "unknown",
 * what this kind of machine does not have is "n/a", so that a run in a bare
 * initramfs and a run on a laptop have the same keys.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <assert.h>
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "machine.h"

#ifndef FSBENCH_VERSION
#define FSBENCH_VERSION "1"
#endif
#ifndef FSBENCH_CFLAGS
#define FSBENCH_CFLAGS "unknown"
#endif

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif
#ifndef ARRAY_SIZE
#define ARRAY_SIZE(arr) (sizeof(arr) / sizeof((arr)[0]))
#endif
#define CPU_DIR		"/sys/devices/system/cpu"
#define TEXT_MAX	(8u << 20)
#define FNV_BASIS	0xcbf29ce484222325ULL
#define FNV_PRIME	0x100000001b3ULL

static const char absent[] = "n/a";

/* What the readers share. The texts are NULL if they could not be read. */
struct machine {
	int cpu;
	cpu_set_t measured;		/* cpu, or all that are allowed */
	struct utsname uts;
	char *cmdline;
	char *config;
	char *status;
	char *cpuinfo;			/* the part about the measured CPU */
	char word[64];			/* of param() */
	char buf[8192];			/* what a reader returns */
};

static unsigned long long fnv1a(unsigned long long hash, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		hash = (hash ^ *p++) * FNV_PRIME;
	return hash;
}

/* Files */

static char *slurp(int fd)
{
	size_t len = 0, size = 0;
	char *text = NULL;
	ssize_t n;

	do {
		if (size - len < 2) {
			char *more;

			size = size ? 2 * size : 16384;
			more = size <= TEXT_MAX ? realloc(text, size) : NULL;
			if (!more) {
				free(text);
				return NULL;
			}
			text = more;
		}
		n = read(fd, text + len, size - len - 1);
		if (n > 0)
			len += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

static char *slurp_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;

	if (fd < 0)
		return NULL;
	text = slurp(fd);
	close(fd);
	return text;
}

/* Length, or -1 and errno; for attributes, which one read returns in full. */
static ssize_t read_at(int dir, const char *path, char *buf, size_t size)
{
	int saved, fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -1;
	n = read(fd, buf, size - 1);
	saved = errno;
	close(fd);
	errno = saved;
	buf[n > 0 ? n : 0] = '\0';
	return n;
}

/* A missing file says something only where its filesystem is mounted. */
static const char *missing(const char *path)
{
	static const struct {
		const char *prefix, *witness;
	} mounts[] = {
		{ "/sys/kernel/security/", "/sys/kernel/security/lsm" },
		{ "/sys/kernel/debug/", "/sys/kernel/debug/sched" },
		{ "/sys/kernel/tracing/", "/sys/kernel/tracing/trace" },
		{ "/sys/", "/sys/kernel" },
		{ "/proc/", "/proc/self" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mounts); i++)
		if (!strncmp(path, mounts[i].prefix, strlen(mounts[i].prefix)))
			return access(mounts[i].witness, F_OK) ? NULL : absent;
	return NULL;
}

static const char *rd_file(struct machine *m, const char *path)
{
	size_t len;

	if (read_at(AT_FDCWD, path, m->buf, sizeof(m->buf)) < 0)
		return errno == ENOENT || errno == ENOTDIR ? missing(path) : NULL;
	len = strcspn(m->buf, "\n");
	if (!m->buf[len + !!m->buf[len]])	/* one line, as most are */
		m->buf[len] = '\0';
	return m->buf[0] && strcmp(m->buf, "(null)") ? m->buf : "none";
}

/* The chosen one of "always [madvise] never" or "none (full) lazy". */
static const char *rd_choice(struct machine *m, const char *path)
{
	const char *v = rd_file(m, path);
	char *start;

	if (v != m->buf)
		return v;
	start = strpbrk(m->buf, "[(");
	if (!start)
		return v;
	start[strcspn(start, "])")] = '\0';
	return start + 1;
}

/* The value of "name : value" in a text of lines, up to the end of the text. */
static const char *field(const char *text, const char *name)
{
	size_t len = strlen(name);

	while (text) {
		if (!strncmp(text, name, len)) {
			const char *v = text + len + strspn(text + len, " \t");

			if (*v == ':')
				return v + 1 + strspn(v + 1, " \t");
		}
		text = strchr(text, '\n');
		text = text ? text + 1 : NULL;
	}
	return NULL;
}

static const char *rd_field(struct machine *m, const char *v, const char *otherwise)
{
	if (!v)
		return otherwise;
	snprintf(m->buf, sizeof(m->buf), "%.*s", (int)strcspn(v, "\n"), v);
	return m->buf;
}

/* The value of a boot parameter, "" if it stands alone; the last one counts. */
static const char *param(struct machine *m, const char *name)
{
	size_t n, len = strlen(name);
	const char *p, *found = NULL;

	for (p = m->cmdline; p && *p; p += n + strspn(p + n, "\n ")) {
		n = strcspn(p, "\n ");
		if (n == 2 && !strncmp(p, "--", n))
			break;			/* the rest is for init */
		if (n < len || strncmp(p, name, len) || (n > len && p[len] != '='))
			continue;
		n -= len;
		p += len;
		snprintf(m->word, sizeof(m->word), "%.*s", n ? (int)n - 1 : 0, p + !!n);
		found = m->word;
	}
	return found;
}

/* CPUs */

static void parse_list(const char *text, cpu_set_t *set)
{
	unsigned long from, to;
	char *end;

	CPU_ZERO(set);
	for (; *text >= '0' && *text <= '9'; text = end + (*end == ',')) {
		from = strtoul(text, &end, 10);
		to = *end == '-' ? strtoul(end + 1, &end, 10) : from;
		for (; from <= to && from < CPU_SETSIZE; from++)
			CPU_SET(from, set);
	}
}

/* A file of the measured CPU; of all of them, if it may be any. */
static const char *rd_cpu(struct machine *m, const char *file)
{
	char path[128], first[128] = "";
	int cpu;

	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		const char *v;

		if (!CPU_ISSET(cpu, &m->measured))
			continue;
		snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, file);
		v = rd_file(m, path);
		if (!v)
			return NULL;
		if (first[0] && strncmp(first, v, sizeof(first) - 1))
			return "mixed";
		snprintf(first, sizeof(first), "%s", v);
	}
	if (!first[0])
		return NULL;
	memcpy(m->buf, first, sizeof(first));
	return m->buf;
}

/*
 * Not every release shows cpu_capacity on x86. Without the file all CPUs are
 * alike to the scheduler, which is 1024 where there is one: so two releases on
 * one machine can be compared.
 */
static const char *rd_capacity(struct machine *m, const char *file)
{
	const char *v = rd_cpu(m, file);

	return v && !strcmp(v, absent) ? "1024" : v;
}

/* Hybrid x86 has one PMU for each core type, arm64 an ID register. */
static const char *rd_core_type(struct machine *m, const char *file)
{
	static const char * const pmu[] = { "cpu_core", "cpu_atom", "cpu_lowpower" };
	char path[64];
	cpu_set_t set;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pmu); i++) {
		snprintf(path, sizeof(path), "/sys/devices/%s/cpus", pmu[i]);
		if (rd_file(m, path) != m->buf)
			continue;
		parse_list(m->buf, &set);
		CPU_AND(&set, &set, &m->measured);
		if (CPU_COUNT(&set))
			return CPU_EQUAL(&set, &m->measured) ? pmu[i] : "mixed";
	}
	return rd_cpu(m, file);
}

static const char *rd_model(struct machine *m, const char *arg)
{
	static const char * const names[] = {
		"model name", "Model Name", "cpu model", "cpu family", "model", "stepping",
		"CPU implementer", "CPU variant", "CPU part", "CPU revision",
		"cpu", "revision", "uarch", "isa", "mvendorid", "marchid", "mimpid",
	};
	size_t i, len = 0;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		const char *v = field(m->cpuinfo, names[i]);

		if (v && len < sizeof(m->buf))
			len += snprintf(m->buf + len, sizeof(m->buf) - len, "%s%.*s",
					len ? "/" : "", (int)strcspn(v, "\n"), v);
	}
	return len ? m->buf : NULL;
}

static const char *rd_cpuinfo(struct machine *m, const char *name)
{
	return m->cpuinfo ? rd_field(m, field(m->cpuinfo, name), absent) : NULL;
}

static const char *rd_status(struct machine *m, const char *name)
{
	return rd_field(m, field(m->status, name), NULL);
}

static const char *rd_measured(struct machine *m, const char *arg)
{
	snprintf(m->buf, sizeof(m->buf), "%d", m->cpu);
	return m->cpu < 0 ? arg : m->buf;
}

static const char *rd_turbo(struct machine *m, const char *path)
{
	const char *v = rd_file(m, path);

	if (v == m->buf)
		return *v == '0' ? "on" : "off";	/* the file is no_turbo */
	v = rd_file(m, CPU_DIR "/cpufreq/boost");
	return v == m->buf ? (*v == '1' ? "on" : "off") : v;
}

static const char *rd_node(struct machine *m, const char *path)
{
	char dir[64];
	int node = -1;
	struct dirent *de;
	DIR *d;

	if (m->cpu < 0)
		return rd_file(m, path);
	snprintf(dir, sizeof(dir), CPU_DIR "/cpu%d", m->cpu);
	d = opendir(dir);
	if (!d)
		return NULL;
	while (node < 0 && (de = readdir(d)))
		if (sscanf(de->d_name, "node%d", &node) != 1)
			node = -1;
	closedir(d);
	snprintf(m->buf, sizeof(m->buf), "%d", node);
	return node < 0 ? absent : m->buf;
}

/* Kernel */

static const char *rd_uts(struct machine *m, const char *what)
{
	return *what == 'r' ? m->uts.release : *what == 'v' ? m->uts.version : m->uts.machine;
}

static const char *rd_build_id(struct machine *m, const char *path)
{
	unsigned int note[3];	/* size of the name, of the content, type */
	char notes[8192];
	ssize_t len = read_at(AT_FDCWD, path, notes, sizeof(notes));
	size_t i, desc, pos = 0;

	while (len > 0 && pos + sizeof(note) <= (size_t)len) {
		memcpy(note, notes + pos, sizeof(note));
		if (note[0] > sizeof(notes) || note[1] > sizeof(notes))
			break;
		desc = pos + sizeof(note) + ((note[0] + 3) & ~3u);
		pos = desc + ((note[1] + 3) & ~3u);
		if (pos > (size_t)len)
			break;
		if (note[2] != NT_GNU_BUILD_ID || !note[1] || note[0] != 4 ||
		    memcmp(notes + desc - 4, "GNU", 4))
			continue;
		for (i = 0; i < note[1] && i < 64; i++)
			snprintf(m->buf + 2 * i, 3, "%02x", (unsigned char)notes[desc + i]);
		return m->buf;
	}
	return NULL;
}

/* What gzip makes of an open file, or NULL. */
static char *gunzip(int fd)
{
	static const char * const paths[] = { "/bin/gzip", "/usr/bin/gzip" };
	char *const argv[] = { "gzip", "-dc", NULL };
	char *const envp[] = { NULL };
	int status = 0, pipefd[2];
	char *text;
	size_t i;
	pid_t pid;

	if (pipe2(pipefd, O_CLOEXEC))
		return NULL;
	pid = fork();
	if (!pid) {
		/* Moved up first: dup2() to itself would leave it O_CLOEXEC. */
		int in = fcntl(fd, F_DUPFD_CLOEXEC, 3);
		int out = fcntl(pipefd[1], F_DUPFD_CLOEXEC, 3);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(in, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0)
			_exit(127);
		for (i = 0; i < ARRAY_SIZE(paths); i++)
			execve(paths[i], argv, envp);
		_exit(127);
	}
	close(pipefd[1]);
	text = pid > 0 ? slurp(pipefd[0]) : NULL;
	close(pipefd[0]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (status) {
		free(text);
		text = NULL;
	}
	return text;
}

static char *read_config(const char *release)
{
	static const char * const places[] = {
		"/boot/config-%s", "/lib/modules/%s/config", "/lib/modules/%s/build/.config",
	};
	char path[128], *text = NULL;
	size_t i;
	int fd;

	fd = open("/proc/config.gz", O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		text = gunzip(fd);
		close(fd);
	}
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		if (text && strstr(text, "\nCONFIG_"))
			return text;
		free(text);
		snprintf(path, sizeof(path), places[i], release);
		text = slurp_file(path);
	}
	return text;
}

/* One symbol, or several separated by '|': names that it had in other releases. */
static const char *rd_config(struct machine *m, const char *symbols)
{
	char pattern[80];
	const char *v;
	size_t n;

	if (!m->config)
		return NULL;
	for (; *symbols; symbols += n + (symbols[n] == '|')) {
		n = strcspn(symbols, "|");
		snprintf(pattern, sizeof(pattern), "\nCONFIG_%.*s=", (int)n, symbols);
		v = strstr(m->config, pattern);
		if (!v)
			continue;
		v += strlen(pattern);
		v += *v == '"';
		snprintf(m->buf, sizeof(m->buf), "%.*s", (int)strcspn(v, "\"\n"), v);
		return m->buf;
	}
	return "n";
}

static bool config_is(struct machine *m, const char *symbol, const char *value)
{
	const char *v = rd_config(m, symbol);

	return v && !strcmp(v, value);
}

static const char *rd_config_hash(struct machine *m, const char *arg)
{
	unsigned long long hash = FNV_BASIS;
	const char *p;
	size_t n;

	(void)arg;
	if (!m->config)
		return NULL;
	for (p = m->config; *p; p += n) {
		n = strcspn(p, "\n");
		n += p[n] == '\n';
		if (!memmem(p, n, "LOCALVERSION", 12) && !memmem(p, n, "BUILD_SALT", 10))
			hash = fnv1a(hash, p, n);
	}
	snprintf(m->buf, sizeof(m->buf), "%016llx", hash);
	return m->buf;
}

/*
 * debugfs is for root; the command line and the configuration give everybody
 * the same answer as long as nobody wrote to debugfs.
 */
static const char *rd_preempt(struct machine *m, const char *path)
{
	static const struct {
		const char *symbol, *mode;
	} model[] = {
		{ "PREEMPT_NONE", "none" }, { "PREEMPT_VOLUNTARY", "voluntary" },
		{ "PREEMPT_LAZY", "lazy" }, { "PREEMPT", "full" }, { "PREEMPT_RT", "full" },
	};
	const size_t nr = ARRAY_SIZE(model);
	bool dynamic = strstr(m->uts.version, "PREEMPT_DYNAMIC");
	const char *v = rd_choice(m, path);
	size_t i;

	if (v && v != absent)
		return v;
	v = dynamic ? param(m, "preempt") : NULL;
	for (i = 0; v && i < nr; i++)
		if (!strcmp(v, model[i].mode))
			return v;
	for (i = 0; i < nr; i++)
		if (config_is(m, model[i].symbol, "y"))
			return model[i].mode;
	if (dynamic || !strstr(m->uts.version, "PREEMPT"))
		return NULL;
	return strstr(m->uts.version, "PREEMPT_LAZY") ? "lazy" : "full";
}

static const char *rd_realtime(struct machine *m, const char *path)
{
	const char *v = rd_file(m, path);

	if (v == m->buf)
		return v;
	return strstr(m->uts.version, "PREEMPT_RT") ? "1" : "0";
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/*
 * "Not affected" is left out: it costs nothing, and every release adds files
 * that say so, which must not keep two releases from being compared.
 */
static const char *rd_mitigations(struct machine *m, const char *dir)
{
	char path[512], text[512];
	struct dirent **list;
	int i, nr = scandir(dir, &list, NULL, by_name);
	size_t len = 0;

	if (nr < 0)
		return errno == ENOENT ? missing(dir) : NULL;
	m->buf[0] = '\0';
	for (i = 0; i < nr; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, list[i]->d_name);
		if (list[i]->d_name[0] != '.' && len < sizeof(m->buf)) {
			if (read_at(AT_FDCWD, path, text, sizeof(text)) < 0)
				memcpy(text, "unknown", sizeof("unknown"));
			if (strncmp(text, "Not affected", 12))
				len += snprintf(m->buf + len, sizeof(m->buf) - len, "%s: %.*s; ",
						list[i]->d_name, (int)strcspn(text, "\n"), text);
		}
		free(list[i]);
	}
	free(list);
	return len ? m->buf : "none";
}

static const char *rd_lines(struct machine *m, const char *path)
{
	char *p, *text = slurp_file(path);
	unsigned int lines = 0;

	if (!text)
		return errno == ENOENT ? missing(path) : NULL;
	for (p = text; (p = strchr(p, '\n')); p++)
		lines++;
	free(text);
	snprintf(m->buf, sizeof(m->buf), "%u", lines);
	return m->buf;
}

static const char *rd_seccomp(struct machine *m, const char *arg)
{
	const char *mode = field(m->status, arg);
	const char *filters = field(m->status, "Seccomp_filters");	/* since 5.9 */

	if (!mode)
		return NULL;
	snprintf(m->buf, sizeof(m->buf), "mode %d, filters %d", atoi(mode),
		 filters ? atoi(filters) : atoi(mode) == 2);
	return m->buf;
}

/* Debug features */

static const char *rd_exists(struct machine *m, const char *path)
{
	(void)m;
	if (!access(path, F_OK))
		return "yes";
	return errno == ENOENT && missing(path) ? "no" : NULL;
}

static const char *rd_kmemleak(struct machine *m, const char *arg)
{
	const char *v = param(m, arg);

	if (!m->config)
		return NULL;
	if (!config_is(m, "DEBUG_KMEMLEAK", "y"))
		return "off";
	if (v)
		return strcmp(v, "off") ? "on" : "off";
	return config_is(m, "DEBUG_KMEMLEAK_DEFAULT_OFF", "y") ? "off" : "on";
}

/* The debug flags that any slab has. The files are for root. */
static const char *rd_slab(struct machine *m, const char *dir)
{
	static const char * const flags[] = {
		"sanity_checks", "red_zone", "poison", "store_user",
	};
	const size_t nr = ARRAY_SIZE(flags);
	bool denied = false, on[4] = { false };
	char path[512], value[8];
	size_t i, len = 0;
	struct dirent *de;
	const char *v;
	DIR *d = opendir(dir);

	if (!d)
		return errno == ENOENT ? missing(dir) : NULL;
	while ((de = readdir(d))) {
		/* A symbolic link is an alias of a slab that has its own entry. */
		if (de->d_name[0] == '.' || de->d_type == DT_LNK)
			continue;
		for (i = 0; i < nr; i++) {
			snprintf(path, sizeof(path), "%s/%s", de->d_name, flags[i]);
			if (on[i])
				continue;
			if (read_at(dirfd(d), path, value, sizeof(value)) > 0)
				on[i] = value[0] == '1';
			else if (errno != ENOENT)
				denied = true;
		}
	}
	closedir(d);
	for (i = 0; i < nr; i++)
		if (on[i])
			len += snprintf(m->buf + len, sizeof(m->buf) - len, "%s%s",
					len ? "," : "", flags[i]);
	if (len)
		return m->buf;
	if (!denied)
		return "none";
	v = param(m, "slab_debug");
	v = v ? v : param(m, "slub_debug");
	return v && *v != '-' && *v != 'O' ? "on the command line" : NULL;
}

/* Clock and virtualisation */

/* ns for one read: the best of short batches, since noise only adds. */
static const char *rd_clock_cost(struct machine *m, const char *arg)
{
	const int batches = 16, reads = 256;
	unsigned long long ns, best = ~0ULL;
	struct timespec a, b;
	int i, j;

	(void)arg;
	for (i = 0; i < batches; i++) {
		clock_gettime(CLOCK_MONOTONIC_RAW, &a);
		for (j = 0; j < reads; j++)
			clock_gettime(CLOCK_MONOTONIC_RAW, &b);
		ns = (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec;
		if (ns < best)
			best = ns;
	}
	snprintf(m->buf, sizeof(m->buf), "%llu", (best + reads / 2) / reads);
	return m->buf;
}

/* x86 has a CPU flag, Xen and the device tree say it elsewhere; DMI has the name. */
static const char *rd_hypervisor(struct machine *m, const char *path)
{
	static const char * const dmi[] = {
		"/sys/class/dmi/id/sys_vendor", "/sys/class/dmi/id/product_name",
	};
	const char *p, *flags = field(m->cpuinfo, "flags");
	size_t i, n, len = 0;

	n = flags ? strcspn(flags, "\n") : 0;
	p = n ? memmem(flags, n, " hypervisor", 11) : NULL;
	if (!p && rd_file(m, path) == m->buf)
		return m->buf;
	if (!p && rd_file(m, "/proc/device-tree/hypervisor/compatible") == m->buf)
		return m->buf;
	if (!p)
		return flags ? "none" : NULL;
	for (i = 0; i < ARRAY_SIZE(dmi); i++) {
		ssize_t got = read_at(AT_FDCWD, dmi[i], m->buf + len, sizeof(m->buf) / 4);

		if (got > 0)
			len += got;		/* the newline becomes the blank between */
	}
	return len ? m->buf : "yes";
}

/* Memory and suite */

static const char *rd_sysconf(struct machine *m, const char *what)
{
	long n = sysconf(*what == 'c' ? _SC_NPROCESSORS_ONLN :
			 *what == 'p' ? _SC_PAGESIZE : _SC_PHYS_PAGES);

	if (*what == 'k')
		n *= sysconf(_SC_PAGESIZE) / 1024;
	snprintf(m->buf, sizeof(m->buf), "%ld", n);
	return n > 0 ? m->buf : NULL;
}

static const char *rd_string(struct machine *m, const char *text)
{
	(void)m;
	return text;
}

static const char *rd_libc(struct machine *m, const char *arg)
{
	(void)arg;
#ifdef __GLIBC__
	snprintf(m->buf, sizeof(m->buf), "glibc %s", gnu_get_libc_version());
	return m->buf;
#else
	(void)m;
	return "not glibc";	/* musl does not say its name */
#endif
}

/*
 * Some linkers put the file header and the build id into the same segment as
 * the code. Both change with the debug information, the code does not. The
 * header ends where the program headers begin.
 */
static bool is_code(const struct dl_phdr_info *info, unsigned long at)
{
	int i;

	for (i = 0; i < info->dlpi_phnum; i++) {
		unsigned long start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		unsigned long end = start;

		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			end = start + info->dlpi_phdr[i].p_filesz;
		else if (info->dlpi_phdr[i].p_type == PT_LOAD && !info->dlpi_phdr[i].p_offset)
			end = (unsigned long)info->dlpi_phdr;
		if (at >= start && at < end)
			return false;
	}
	return true;
}

static int hash_code(struct dl_phdr_info *info, size_t size, void *hash)
{
	unsigned long at, end;
	int i;

	(void)size;
	for (i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type != PT_LOAD ||
		    (info->dlpi_phdr[i].p_flags & (PF_X | PF_R)) != (PF_X | PF_R))
			continue;
		at = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
		for (end = at + info->dlpi_phdr[i].p_filesz; at < end; at++)
			if (is_code(info, at))
				*(unsigned long long *)hash = fnv1a(*(unsigned long long *)hash,
								      (void *)at, 1);
	}
	return 1;	/* the first object is the program */
}

static const char *rd_binary(struct machine *m, const char *arg)
{
	unsigned long long hash = FNV_BASIS;

	(void)arg;
	dl_iterate_phdr(hash_code, &hash);
	snprintf(m->buf, sizeof(m->buf), "%016llx", hash);
	return hash == FNV_BASIS ? NULL : m->buf;
}

/*
 * MUST is what changes the cost of a call: the same code would not do the same
 * work. Every name has a dot: the results file groups the keys by what is before.
 */
static const struct key {
	const char *name;
	enum key_class class;
	const char *(*read)(struct machine *m, const char *arg);
	const char *arg;
} keys[] = {
	{ "kernel.release", KEY_INFO, rd_uts, "release" },
	{ "kernel.version", KEY_INFO, rd_uts, "version" },
	{ "kernel.machine", KEY_MUST, rd_uts, "machine" },
	{ "kernel.build_id", KEY_INFO, rd_build_id, "/sys/kernel/notes" },
	{ "kernel.boot_id", KEY_INFO, rd_file, "/proc/sys/kernel/random/boot_id" },
	{ "kernel.cmdline", KEY_SHOULD, rd_file, "/proc/cmdline" },
	{ "kernel.tainted", KEY_INFO, rd_file, "/proc/sys/kernel/tainted" },
	{ "kernel.config_hash", KEY_SHOULD, rd_config_hash, NULL },
	/* Another compiler makes another kernel of the same source. */
	{ "kernel.compiler", KEY_SHOULD, rd_config, "CC_VERSION_TEXT" },
	{ "kernel.randomize_va_space", KEY_SHOULD, rd_file,
	  "/proc/sys/kernel/randomize_va_space" },
	{ "config.HZ", KEY_MUST, rd_config, "HZ" },
	/* preempt.mode is what counts; these are only its default. */
	{ "config.PREEMPT", KEY_SHOULD, rd_config, "PREEMPT" },
	{ "config.PREEMPT_LAZY", KEY_SHOULD, rd_config, "PREEMPT_LAZY" },
	{ "config.PREEMPT_DYNAMIC", KEY_MUST, rd_config, "PREEMPT_DYNAMIC" },
	{ "config.PREEMPT_RT", KEY_MUST, rd_config, "PREEMPT_RT" },
	{ "config.KASAN", KEY_MUST, rd_config, "KASAN" },
	{ "config.KCSAN", KEY_MUST, rd_config, "KCSAN" },
	{ "config.KMSAN", KEY_MUST, rd_config, "KMSAN" },
	{ "config.UBSAN", KEY_MUST, rd_config, "UBSAN" },
	{ "config.KFENCE", KEY_MUST, rd_config, "KFENCE" },
	{ "config.KCOV", KEY_MUST, rd_config, "KCOV" },
	{ "config.GCOV_PROFILE_ALL", KEY_MUST, rd_config, "GCOV_PROFILE_ALL" },
	{ "config.LOCKDEP", KEY_MUST, rd_config, "LOCKDEP" },
	{ "config.PROVE_LOCKING", KEY_MUST, rd_config, "PROVE_LOCKING" },
	{ "config.DEBUG_LIST", KEY_MUST, rd_config, "DEBUG_LIST" },
	{ "config.DEBUG_VM", KEY_MUST, rd_config, "DEBUG_VM" },
	{ "config.DEBUG_PAGEALLOC", KEY_MUST, rd_config, "DEBUG_PAGEALLOC" },
	{ "config.DEBUG_KMEMLEAK", KEY_MUST, rd_config, "DEBUG_KMEMLEAK" },
	/* Costs only with page_owner=on, and that shows in kernel.cmdline. */
	{ "config.PAGE_OWNER", KEY_SHOULD, rd_config, "PAGE_OWNER" },
	{ "config.SLUB_DEBUG", KEY_MUST, rd_config, "SLUB_DEBUG" },
	{ "config.SLUB_DEBUG_ON", KEY_MUST, rd_config, "SLUB_DEBUG_ON" },
	{ "config.INIT_ON_ALLOC_DEFAULT_ON", KEY_MUST, rd_config, "INIT_ON_ALLOC_DEFAULT_ON" },
	{ "config.MEMCG", KEY_MUST, rd_config, "MEMCG" },
	{ "config.TMPFS_XATTR", KEY_MUST, rd_config, "TMPFS_XATTR" },
	{ "config.TMPFS_POSIX_ACL", KEY_MUST, rd_config, "TMPFS_POSIX_ACL" },
	{ "config.EXT4_FS_POSIX_ACL", KEY_MUST, rd_config, "EXT4_FS_POSIX_ACL" },
	{ "config.XFS_POSIX_ACL", KEY_MUST, rd_config, "XFS_POSIX_ACL" },
	{ "config.BTRFS_FS_POSIX_ACL", KEY_MUST, rd_config, "BTRFS_FS_POSIX_ACL" },
	{ "config.XFS_DEBUG", KEY_MUST, rd_config, "XFS_DEBUG" },
	{ "config.BTRFS_DEBUG", KEY_MUST, rd_config, "BTRFS_DEBUG" },
	{ "config.BTRFS_ASSERT", KEY_MUST, rd_config, "BTRFS_ASSERT" },
	{ "config.SECURITY", KEY_MUST, rd_config, "SECURITY" },
	{ "config.IMA", KEY_MUST, rd_config, "IMA" },
	{ "config.EVM", KEY_MUST, rd_config, "EVM" },
	{ "config.FUNCTION_TRACER", KEY_MUST, rd_config, "FUNCTION_TRACER" },
	{ "config.HARDENED_USERCOPY", KEY_MUST, rd_config, "HARDENED_USERCOPY" },
	{ "config.RANDOMIZE_KSTACK_OFFSET", KEY_MUST, rd_config, "RANDOMIZE_KSTACK_OFFSET" },
	{ "config.RANDSTRUCT", KEY_MUST, rd_config, "RANDSTRUCT|GCC_PLUGIN_RANDSTRUCT" },
	{ "config.LTO_CLANG", KEY_MUST, rd_config, "LTO_CLANG" },
	{ "config.CFI", KEY_MUST, rd_config, "CFI|CFI_CLANG" },
	{ "config.CC_OPTIMIZE_FOR_SIZE", KEY_MUST, rd_config, "CC_OPTIMIZE_FOR_SIZE" },
	/* Without it a change moves code that it did not touch: steps of 2-3 %. */
	{ "config.DEBUG_FORCE_FUNCTION_ALIGN_64B", KEY_MUST, rd_config,
	  "DEBUG_FORCE_FUNCTION_ALIGN_64B" },
	{ "preempt.mode", KEY_MUST, rd_preempt, "/sys/kernel/debug/sched/preempt" },
	{ "preempt.realtime", KEY_MUST, rd_realtime, "/sys/kernel/realtime" },
	{ "cpu.mitigations", KEY_MUST, rd_mitigations, CPU_DIR "/vulnerabilities" },
	{ "lsm.active", KEY_MUST, rd_file, "/sys/kernel/security/lsm" },
	{ "lsm.lockdown", KEY_SHOULD, rd_choice, "/sys/kernel/security/lockdown" },
	{ "lsm.ima_policy", KEY_MUST, rd_lines, "/sys/kernel/security/ima/policy" },
	{ "lsm.evm", KEY_MUST, rd_file, "/sys/kernel/security/evm" },
	{ "lsm.seccomp", KEY_SHOULD, rd_seccomp, "Seccomp" },
	{ "cpu.model", KEY_MUST, rd_model, NULL },
	{ "cpu.microcode", KEY_SHOULD, rd_cpuinfo, "microcode" },
	{ "cpu.count", KEY_SHOULD, rd_sysconf, "count" },
	{ "cpu.allowed", KEY_INFO, rd_status, "Cpus_allowed_list" },
	{ "cpu.measured", KEY_INFO, rd_measured, "not pinned" },
	{ "cpu.capacity", KEY_MUST, rd_capacity, "cpu_capacity" },
	{ "cpu.core_type", KEY_MUST, rd_core_type, "regs/identification/midr_el1" },
	{ "cpu.smt", KEY_SHOULD, rd_file, CPU_DIR "/smt/active" },
	{ "cpu.siblings", KEY_INFO, rd_cpu, "topology/thread_siblings_list" },
	{ "cpu.driver", KEY_SHOULD, rd_cpu, "cpufreq/scaling_driver" },
	{ "cpu.governor", KEY_SHOULD, rd_cpu, "cpufreq/scaling_governor" },
	{ "cpu.epp", KEY_SHOULD, rd_cpu, "cpufreq/energy_performance_preference" },
	{ "cpu.turbo", KEY_SHOULD, rd_turbo, CPU_DIR "/intel_pstate/no_turbo" },
	{ "cpu.max_khz", KEY_SHOULD, rd_cpu, "cpufreq/cpuinfo_max_freq" },
	{ "cpu.isolated", KEY_SHOULD, rd_file, CPU_DIR "/isolated" },
	{ "cpu.nohz_full", KEY_SHOULD, rd_file, CPU_DIR "/nohz_full" },
	{ "numa.node", KEY_INFO, rd_node, "/sys/devices/system/node/online" },
	{ "clock.source", KEY_MUST, rd_file,
	  "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
	{ "clock.cost_ns", KEY_INFO, rd_clock_cost, NULL },
	{ "virt.hypervisor", KEY_SHOULD, rd_hypervisor, "/sys/hypervisor/type" },
	{ "mem.total_kb", KEY_INFO, rd_sysconf, "kb" },
	{ "mem.page_size", KEY_MUST, rd_sysconf, "page" },
	{ "mem.thp", KEY_SHOULD, rd_choice, "/sys/kernel/mm/transparent_hugepage/enabled" },
	{ "mem.thp_shmem", KEY_SHOULD, rd_choice,
	  "/sys/kernel/mm/transparent_hugepage/shmem_enabled" },
	{ "debug.lockdep", KEY_MUST, rd_exists, "/proc/lockdep" },
	/* Only root can read it, so it is no MUST; and nothing is gated if it is on. */
	{ "debug.slab", KEY_SHOULD, rd_slab, "/sys/kernel/slab" },
	{ "debug.kmemleak", KEY_SHOULD, rd_kmemleak, "kmemleak" },
	{ "debug.kfence_ms", KEY_SHOULD, rd_file, "/sys/module/kfence/parameters/sample_interval" },
	{ "debug.tracer", KEY_SHOULD, rd_file, "/sys/kernel/tracing/current_tracer" },
	{ "load.average", KEY_INFO, rd_file, "/proc/loadavg" },
	{ "suite.version", KEY_MUST, rd_string, FSBENCH_VERSION },
	{ "suite.compiler", KEY_MUST, rd_string, COMPILER },
	{ "suite.cflags", KEY_MUST, rd_string, FSBENCH_CFLAGS },
	{ "suite.binary", KEY_MUST, rd_binary, NULL },
	{ "suite.libc", KEY_SHOULD, rd_libc, NULL },
};

static_assert(ARRAY_SIZE(keys) < FP_KEYS_MAX - 16, "no room for the keys of others");

static char *read_cpuinfo(int cpu)
{
	char *end, *text = slurp_file("/proc/cpuinfo");
	const char *p;

	for (p = text; (p = field(p, "processor")); )
		if (atoi(p) == cpu)
			break;
	if (!p)
		return text;	/* any CPU, or an architecture with another form */
	end = strstr(p, "\n\n");
	if (end)
		*end = '\0';
	memmove(text, p, strlen(p) + 1);
	return text;
}

/**
 * fp_read() - read every key of this machine
 * @fp: filled in; what was in it is lost
 * @cpu: the CPU to be measured on, -1 if the task is not pinned
 *
 * Call it before the task is pinned, else cpu.allowed is that one CPU. Takes
 * some milliseconds, and starts gzip if there is a /proc/config.gz.
 */
void fp_read(struct fingerprint *fp, int cpu)
{
	struct machine m = { .cpu = cpu };
	size_t i;

	memset(fp, 0, sizeof(*fp));
	if (cpu >= 0)
		CPU_SET(cpu, &m.measured);
	else if (sched_getaffinity(0, sizeof(m.measured), &m.measured))
		CPU_ZERO(&m.measured);
	uname(&m.uts);
	m.cmdline = slurp_file("/proc/cmdline");
	m.status = slurp_file("/proc/self/status");
	m.config = read_config(m.uts.release);
	m.cpuinfo = read_cpuinfo(cpu);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *v = keys[i].read(&m, keys[i].arg);

		fp_set(fp, keys[i].name, "%s", v ? v : "");
	}
	free(m.cmdline);
	free(m.status);
	free(m.config);
	free(m.cpuinfo);
}

static struct fp_key *find(const struct fingerprint *fp, const char *name)
{
	unsigned int i;

	for (i = 0; i < fp->nr; i++)
		if (!strncmp(fp->key[i].name, name, FP_NAME_MAX - 1))
			return (struct fp_key *)&fp->key[i];
	return NULL;
}

/**
 * fp_get() - the value of a key
 *
 * Return: the value, never empty; NULL if there is no such key.
 */
const char *fp_get(const struct fingerprint *fp, const char *name)
{
	const struct fp_key *key = find(fp, name);

	return key ? key->value : NULL;
}

/**
 * fp_set() - add a key or replace its value
 *
 * Control characters and runs of blanks become one blank; nothing becomes
 * "unknown"; what is too long is cut and ends in "..." and a hash of the whole,
 * so that values which differ stay different. A new key is dropped once there
 * are FP_KEYS_MAX.
 */
void fp_set(struct fingerprint *fp, const char *name, const char *fmt, ...)
{
	struct fp_key *key = find(fp, name);
	char *text, *in, *out;
	size_t len, keep;
	va_list ap;

	if (!key) {
		if (fp->nr == FP_KEYS_MAX)
			return;
		key = &fp->key[fp->nr++];
		snprintf(key->name, sizeof(key->name), "%s", name);
	}
	memcpy(key->value, "unknown", sizeof("unknown"));
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (!text)
		return;
	for (in = out = text; *in; in++) {
		unsigned char c = *in;

		if (c > ' ' && c != 0x7f)
			*out++ = c;
		else if (out > text && out[-1] != ' ')
			*out++ = ' ';
	}
	if (out > text && out[-1] == ' ')
		out--;
	*out = '\0';
	len = out - text;
	if (len && len < sizeof(key->value)) {
		memcpy(key->value, text, len + 1);
	} else if (len) {
		keep = sizeof(key->value) - sizeof("...0123456789abcdef");
		while (keep && (text[keep] & 0xc0) == 0x80)
			keep--;			/* no half UTF-8 character */
		snprintf(key->value, sizeof(key->value), "%.*s...%016llx", (int)keep, text,
			 fnv1a(FNV_BASIS, text, len));
	}
	free(text);
}

/**
 * fp_class() - what it means when two runs differ in a key
 *
 * Return: the class; KEY_INFO for a name that is not in the table.
 */
enum key_class fp_class(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(name, keys[i].name))
			return keys[i].class;
	return KEY_INFO;
}

#define DEBUG_KERNEL	"debug kernel: "

/*
 * KFENCE, DEBUG_LIST and UBSAN are in the kernels of distributions. They make
 * two kernels incomparable, but they are no reason not to gate.
 */
static const struct reason {
	const char *key;
	bool equal;		/* poor if equal to value, else if known and different */
	const char *value;
	const char *text;
} reasons[] = {
	{ "config.KASAN", true, "y", DEBUG_KERNEL "KASAN" },
	{ "config.KCSAN", true, "y", DEBUG_KERNEL "KCSAN" },
	{ "config.KMSAN", true, "y", DEBUG_KERNEL "KMSAN" },
	{ "config.KCOV", true, "y", DEBUG_KERNEL "KCOV" },
	{ "config.GCOV_PROFILE_ALL", true, "y", DEBUG_KERNEL "GCOV_PROFILE_ALL" },
	{ "config.PROVE_LOCKING", true, "y", DEBUG_KERNEL "PROVE_LOCKING" },
	{ "config.LOCKDEP", true, "y", DEBUG_KERNEL "LOCKDEP" },
	{ "debug.lockdep", true, "yes", DEBUG_KERNEL "lockdep is active" },
	{ "config.DEBUG_VM", true, "y", DEBUG_KERNEL "DEBUG_VM" },
	{ "config.DEBUG_PAGEALLOC", true, "y", DEBUG_KERNEL "DEBUG_PAGEALLOC" },
	{ "config.SLUB_DEBUG_ON", true, "y", DEBUG_KERNEL "SLUB_DEBUG_ON" },
	{ "debug.slab", false, "none", DEBUG_KERNEL "slab debugging is on" },
	{ "debug.kmemleak", true, "on", DEBUG_KERNEL "kmemleak is on" },
	{ "config.BTRFS_DEBUG", true, "y", "btrfs has debugging checks" },
	{ "config.XFS_DEBUG", true, "y", "xfs has debugging checks" },
	{ "debug.tracer", false, "nop", "a tracer is active" },
	{ "virt.hypervisor", false, "none", "runs under a hypervisor" },
	{ "cpu.governor", false, "performance", "governor is not performance" },
	{ "cpu.turbo", true, "on", "turbo is on: the frequency is not fixed" },
	{ "cpu.smt", true, "1", "SMT siblings are online" },
	{ "cpu.measured", true, "not pinned", "not pinned to a CPU" },
	{ "cpu.core_type", true, "mixed", "may run on cores of different types" },
	{ "lsm.seccomp", false, "mode 0, filters 0", "a seccomp filter taxes every system call" },
};

static bool applies(const struct fingerprint *fp, const struct reason *r)
{
	const char *v = fp_get(fp, r->key);

	if (!v || !strcmp(v, "unknown") || !strcmp(v, absent))
		return false;
	return !strcmp(v, r->value) == r->equal;
}

/**
 * fp_warnings() - why the numbers of this machine may be poor
 * @why: filled with texts that stay valid, at most @max of them
 *
 * Return: how many were stored.
 */
unsigned int fp_warnings(const struct fingerprint *fp, const char *why[], unsigned int max)
{
	/* Only what leaves the kernel slower or less stable than it was. */
	static const struct {
		unsigned int bit;
		const char *text;
	} taints[] = {
		{ 4, "kernel tainted: a machine check happened (M)" },
		{ 5, "kernel tainted: a bad page was seen (B)" },
		{ 7, "kernel tainted: it has oopsed (D)" },
		{ 14, "kernel tainted: a soft lockup happened (L)" },
		{ 15, "kernel tainted: it is live patched (K)" },
	};
	const unsigned long slow_ns = 200;
	const char *v, *arch = fp_get(fp, "kernel.machine");
	unsigned long long tainted;
	unsigned int n = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons) && n < max; i++)
		if (applies(fp, &reasons[i]))
			why[n++] = reasons[i].text;
	v = fp_get(fp, "clock.source");
	if (v && arch && (!strcmp(arch, "x86_64") || !strcmp(arch + !!*arch, "686")) &&
	    strcmp(v, "tsc") && strcmp(v, "unknown") && n < max)
		why[n++] = "clock source is not tsc";
	v = fp_get(fp, "clock.cost_ns");
	if (v && strtoul(v, NULL, 10) > slow_ns && n < max)
		why[n++] = "the clock is slow to read";
	v = fp_get(fp, "kernel.tainted");
	tainted = v ? strtoull(v, NULL, 10) : 0;
	for (i = 0; i < ARRAY_SIZE(taints) && n < max; i++)
		if (tainted >> taints[i].bit & 1)
			why[n++] = taints[i].text;
	return n;
}

/**
 * fp_debug_kernel() - is this a kernel that must be measured, but never gated?
 *
 * Return: the first debug feature that makes it one; NULL if none is known.
 */
const char *fp_debug_kernel(const struct fingerprint *fp)
{
	const size_t len = strlen(DEBUG_KERNEL);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (!strncmp(reasons[i].text, DEBUG_KERNEL, len) && applies(fp, &reasons[i]))
			return reasons[i].text + len;
	return NULL;
}

static unsigned long cpu_number(int cpu, const char *file)
{
	char path[128], text[32];

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/%s", cpu, file);
	if (read_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return 0;
	return strtoul(text, NULL, 10);
}

/**
 * machine_pick_cpu() - the CPU to measure on
 * @allowed: the set to choose from
 *
 * The biggest core, of those the fastest, of those the last: the first one
 * takes the interrupts. On hybrid machines the last CPU is the slowest.
 *
 * Return: the CPU, -1 if none of the set is online.
 */
int machine_pick_cpu(const cpu_set_t *allowed)
{
	unsigned long capacity, khz, best_capacity = 0, best_khz = 0;
	cpu_set_t online = *allowed;
	char text[4096];
	int cpu, best = -1;

	if (read_at(AT_FDCWD, CPU_DIR "/online", text, sizeof(text)) > 0)
		parse_list(text, &online);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, allowed) || !CPU_ISSET(cpu, &online))
			continue;
		capacity = cpu_number(cpu, "cpu_capacity");
		khz = cpu_number(cpu, "cpufreq/cpuinfo_max_freq");
		if (best >= 0 && (capacity < best_capacity ||
				  (capacity == best_capacity && khz < best_khz)))
			continue;
		best = cpu;
		best_capacity = capacity;
		best_khz = khz;
	}
	return best;
}

/**
 * machine_steal_ticks() - time that the hypervisor gave to somebody else
 * @cpu: the CPU, -1 for the sum of all
 *
 * Cheap enough for once a round: the file stays open.
 *
 * Return: ticks of USER_HZ since boot; 0 if it cannot be read.
 */
unsigned long long machine_steal_ticks(int cpu)
{
	static int fd = -1;
	unsigned long long steal;
	char buf[16384], tag[24];
	char *line, *end;
	off_t pos = 0;
	ssize_t n;

	if (fd < 0)
		fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	snprintf(tag, sizeof(tag), cpu < 0 ? "cpu " : "\ncpu%d ", cpu);
	while ((n = pread(fd, buf, sizeof(buf) - 1, pos)) > 0) {
		buf[n] = '\0';
		line = strstr(buf, tag);
		if (line && strchr(line + 1, '\n')) {
			if (sscanf(line + strlen(tag), "%*u %*u %*u %*u %*u %*u %*u %llu",
				   &steal) == 1)
				return steal;
			break;
		}
		/* The next part begins with the newline before its first line. */
		end = strrchr(buf, '\n');
		if (!end || end == buf)
			break;
		pos += end - buf;
	}
	return 0;
}
