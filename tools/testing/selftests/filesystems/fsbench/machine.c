// SPDX-License-Identifier: GPL-2.0
/*
 * The machine's fingerprint: one table of keys, each with its class and the
 * function that reads it. Nothing here fails. What cannot be read is "unknown",
 * what this kind of machine does not have is "n/a", so that a run in a bare
 * initramfs and a run on a laptop have the same keys.
 */
#include "machine.h"		/* first, for _GNU_SOURCE */

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <link.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef FSBENCH_CFLAGS
#define FSBENCH_CFLAGS	"unknown"
#endif
#ifdef __clang__
#define COMPILER	__VERSION__
#else
#define COMPILER	"gcc " __VERSION__
#endif
#define RDONLY		(O_RDONLY | O_CLOEXEC)
#define CPU_DIR		"/sys/devices/system/cpu/"
#define FNV_BASIS	0xcbf29ce484222325ULL

/* What the readers share. A text that cannot be read is empty. */
static struct {
	int cpu;			/* -1: not pinned */
	char pinned[16];
	struct utsname uts;
	char proc[1 << 20], config[1 << 20];
	char buf[8192];			/* of the functions that look something up */
	char value[8192];		/* of add() */
} m;

static const char absent[] = "n/a";

static unsigned long long fnv1a(unsigned long long hash, const void *data, size_t len)
{
	const unsigned char *p = data;

	while (len--)
		hash = (hash ^ *p++) * 0x100000001b3ULL;
	return hash;
}

/* Append to the value of the key that is being read. */
static __printf(1, 2) const char *add(const char *fmt, ...)
{
	size_t len = strlen(m.value);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(m.value + len, sizeof(m.value) - len, fmt, ap);
	va_end(ap);
	return m.value;
}

/* A file as far as there is room; its length, -1 if it cannot be read. */
static ssize_t load(int fd, char *text, size_t size)
{
	size_t len = 0;
	ssize_t n = -1;

	while (fd >= 0 && (n = read(fd, text + len, size - 1 - len)) > 0)
		len += n;
	text[len] = '\0';
	if (fd >= 0)
		close(fd);
	return n ? n : (ssize_t)len;
}

/* ENOENT says something only where the filesystem of the file is mounted. */
static const char *missing(const char *path)
{
	static const char * const witness[] = {
		"/sys/kernel/security/lsm", "/sys/kernel/debug/sched",
		"/sys/kernel/tracing/trace", "/sys/kernel", "/proc/self",
	};
	size_t i;

	for (i = 0; errno == ENOENT && i < ARRAY_SIZE(witness); i++)
		if (!strncmp(path, witness[i], strrchr(witness[i], '/') + 1 - witness[i]))
			return access(witness[i], F_OK) ? NULL : absent;
	return NULL;
}

/* The first line. */
static const char *rd_file(const char *path)
{
	int fd = open(path, RDONLY);

	if (fd < 0)
		return missing(path);
	if (load(fd, m.buf, sizeof(m.buf)) < 0)
		return NULL;
	m.buf[strcspn(m.buf, "\n")] = '\0';
	return m.buf[0] && strcmp(m.buf, "(null)") ? m.buf : "none";
}

static const char *rd_cpu(const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), CPU_DIR "cpu%d/%s", m.cpu, file);
	return m.cpu < 0 ? NULL : rd_file(path);
}

/* The chosen one of "always [madvise] never" or "none (full) lazy". */
static const char *rd_choice(const char *path)
{
	const char *v = rd_file(path);
	char *start = v == m.buf ? strpbrk(m.buf, "[(") : NULL;

	if (!start)
		return v;
	start[strcspn(start, "])")] = '\0';
	return start + 1;
}

static const char *rd_string(const char *text)
{
	return text;
}

static const char *rd_env(const char *name)
{
	const char *v = getenv(name);

	return v ? v : "none";
}

/* "name : value" of this CPU in /proc/cpuinfo, or in /proc/self/status. */
static const char *rd_proc(const char *name)
{
	const char *v = m.proc;
	bool start;

	while ((v = strstr(v, name))) {
		start = v == m.proc || v[-1] == '\n';
		v += strlen(name);
		v += strspn(v, " \t");
		if (!start || *v != ':')
			continue;
		v += 1 + strspn(v + 1, " \t");
		snprintf(m.buf, sizeof(m.buf), "%.*s", (int)strcspn(v, "\n"), v);
		return m.buf;
	}
	return m.proc[0] ? absent : NULL;
}

static const char *rd_config(const char *symbol)
{
	char pattern[64];
	const char *v;

	snprintf(pattern, sizeof(pattern), "\nCONFIG_%s=", symbol);
	v = strstr(m.config, pattern);
	if (!v)
		return m.config[0] ? "n" : "";
	v += strlen(pattern);
	v += *v == '"';
	snprintf(m.buf, sizeof(m.buf), "%.*s", (int)strcspn(v, "\"\n"), v);
	return m.buf;
}

/* The last "name=value" on the command line. */
static const char *param(const char *name)
{
	char *p, *found = NULL;

	if (rd_file("/proc/cmdline") != m.buf)
		return NULL;
	for (p = m.buf; (p = strstr(p, name)); p++)
		if (p == m.buf || p[-1] == ' ')
			found = p;
	if (found)
		found[strcspn(found, " ")] = '\0';
	return found;
}

/* What the wildcard stands for in the name of the list, as "0-3,8", with this CPU. */
static const char *rd_which(const char *pattern)
{
	size_t i, len = strcspn(pattern, "[*");
	int from, to;
	glob_t g;
	char *p;

	if (glob(pattern, 0, NULL, &g))
		return rd_file(pattern);	/* which is not there */
	for (i = 0; i < g.gl_pathc; i++) {
		p = rd_file(g.gl_pathv[i]) == m.buf ? strtok(m.buf, ",") : NULL;
		for (; p; p = strtok(NULL, ",")) {
			if (sscanf(p, "%d-%d", &from, &to) == 1)
				to = from;
			if (m.cpu >= from && m.cpu <= to)
				add("%.*s", (int)strcspn(g.gl_pathv[i] + len, "/"),
				    g.gl_pathv[i] + len);
		}
	}
	globfree(&g);
	return *m.value ? m.value : absent;
}

/* Not every release has it on x86. Without it all CPUs are alike: that is 1024. */
static const char *rd_capacity(const char *file)
{
	const char *v = rd_cpu(file);

	return v == absent ? "1024" : v;
}

static const char *rd_turbo(const char *no_turbo)
{
	const char *v = rd_file(no_turbo);

	if (v == m.buf)
		return *v == '0' ? "on" : "off";
	v = rd_file(CPU_DIR "cpufreq/boost");
	return v != m.buf ? v : *v == '1' ? "on" : "off";
}

static const char *rd_model(const char *fields)
{
	char names[128], *name;

	snprintf(names, sizeof(names), "%s", fields);
	for (name = strtok(names, ","); name; name = strtok(NULL, ","))
		if (rd_proc(name) == m.buf)
			add("%s%s", *m.value ? "/" : "", m.buf);
	return m.value;
}

/*
 * "name: value" of all files that match, once each, but for what costs nothing:
 * every release adds files that say so. The flags of slabs are for root.
 */
static const char *rd_costs(const char *patterns)
{
	char list[256], entry[512], *p;
	const char *v = NULL;
	glob_t g = { 0 };
	size_t i;

	snprintf(list, sizeof(list), "%s", patterns);
	for (p = strtok(list, ","); p; p = strtok(NULL, ","))
		if (glob(p, GLOB_APPEND, NULL, &g))
			v = rd_file(p);		/* which is not there */
	for (i = 0; i < g.gl_pathc; i++) {
		v = rd_file(g.gl_pathv[i]);
		if (!v)
			break;
		if (v == absent || !strcmp(v, "0") || !strncmp(v, "Not affected", 12))
			continue;
		snprintf(entry, sizeof(entry), "%s: %s; ", strrchr(g.gl_pathv[i], '/') + 1, v);
		if (!strstr(m.value, entry))
			add("%s", entry);
	}
	globfree(&g);
	return !v ? NULL : *m.value ? m.value : i ? "none" : v;
}

static const char *rd_hypervisor(const char *flag)
{
	const char *v = rd_proc("flags");

	if (v != m.buf)
		return NULL;
	if (!strstr(v, flag))
		return "none";
	if (rd_file("/sys/class/dmi/id/sys_vendor") == m.buf)
		add("%s ", m.buf);
	if (rd_file("/sys/class/dmi/id/product_name") == m.buf)
		add("%s", m.buf);
	return *m.value ? m.value : "yes";
}

/* /sys/kernel/realtime says the same, but not every release has it. */
static const char *rd_version(const char *word)
{
	return strstr(m.uts.version, word) ? "1" : "0";
}

static const char *rd_sysconf(const char *what)
{
	return add("%ld", sysconf(*what == 'c' ? _SC_NPROCESSORS_ONLN : _SC_PAGESIZE));
}

/* ns for one read: the best of short batches, since noise only adds. */
static const char *rd_clock_cost(const char *arg)
{
	long long ns, best = -1;
	struct timespec a, b;
	int i, j;

	(void)arg;
	for (i = 0; i < 16; i++) {
		clock_gettime(CLOCK_MONOTONIC_RAW, &a);
		for (j = 0; j < 256; j++)
			clock_gettime(CLOCK_MONOTONIC_RAW, &b);
		ns = (b.tv_sec - a.tv_sec) * 1000000000LL + b.tv_nsec - a.tv_nsec;
		best = i && best < ns ? best : ns;
	}
	return add("%lld", (best + 128) / 256);
}

static const char *rd_build_id(const char *path)
{
	unsigned int note[2048];	/* length of name and ID, type, name, ID */
	ssize_t len = load(open(path, RDONLY), (char *)note, sizeof(note));
	size_t i, j, nr = len > 0 ? len / sizeof(*note) : 0;

	for (i = 0; i + 4 < nr && !*m.value; i++)
		if (note[i] == 4 && note[i + 1] <= 4 * (nr - i - 4) &&
		    note[i + 2] == NT_GNU_BUILD_ID && !memcmp(&note[i + 3], "GNU", 4))
			for (j = 0; j < note[i + 1]; j++)
				add("%02x", ((unsigned char *)&note[i + 4])[j]);
	return m.value;
}

static const char *rd_config_hash(const char *arg)
{
	unsigned long long hash = FNV_BASIS;
	const char *p;
	size_t n;

	(void)arg;
	for (p = m.config; *p; p += n) {
		n = strcspn(p, "\n");
		n += !!p[n];
		if (!memmem(p, n, "LOCALVERSION", 12) && !memmem(p, n, "BUILD_SALT", 10))
			hash = fnv1a(hash, p, n);
	}
	return *m.config ? add("%016llx", hash) : NULL;
}

/* debugfs is for root; the rest tells everybody the same, if nobody wrote there. */
static const char *rd_preempt(const char *path)
{
	static const char * const models[][2] = {
		{ "PREEMPT_NONE", "none" }, { "PREEMPT_VOLUNTARY", "voluntary" },
		{ "PREEMPT_LAZY", "lazy" }, { "PREEMPT", "full" }, { "PREEMPT_RT", "full" },
	};
	bool dynamic = strstr(m.uts.version, "PREEMPT_DYNAMIC");
	const char *v = rd_choice(path);
	size_t i;

	if (v && v != absent)
		return v;
	v = dynamic ? param("preempt=") : NULL;
	for (i = 0; i < ARRAY_SIZE(models); i++)
		if (v ? !strcmp(v + 8, models[i][1]) : *rd_config(models[i][0]) == 'y')
			return models[i][1];
	if (dynamic || !strstr(m.uts.version, "PREEMPT"))
		return NULL;
	return strstr(m.uts.version, "PREEMPT_LAZY") ? "lazy" : "full";
}

/* Without securityfs: what was built in and what the boot asked for. */
static const char *rd_lsm(const char *path)
{
	const char *v = rd_file(path);

	if (v || !*m.config)
		return v;
	add("config: %s ", rd_config("LSM"));
	v = param("lsm=");
	return add("%s", v ? v : "");
}

static const char *rd_lines(const char *path)
{
	FILE *f = fopen(path, "re");
	int c, lines = 0;

	if (!f)
		return missing(path);
	while ((c = getc(f)) != EOF)
		lines += c == '\n';
	c = ferror(f);
	fclose(f);
	return c ? NULL : add("%d", lines);
}

static const char *rd_exists(const char *path)
{
	return !access(path, F_OK) ? "yes" : missing(path) ? "no" : NULL;
}

static const char *rd_kmemleak(const char *name)
{
	const char *v = param(name);
	bool off = v ? !strcmp(v, "kmemleak=off") : *rd_config("DEBUG_KMEMLEAK_DEFAULT_OFF") == 'y';

	if (!*m.config)
		return NULL;
	return *rd_config("DEBUG_KMEMLEAK") == 'y' && !off ? "on" : "off";
}

/* The file header and the build ID change with the debug information: not them. */
static int hash_code(struct dl_phdr_info *info, size_t size, void *data)
{
	__typeof__(info->dlpi_phdr) p, q, end = info->dlpi_phdr + info->dlpi_phnum;
	unsigned long long *hash = data;
	unsigned long from, to;

	(void)size;
	for (p = info->dlpi_phdr; p < end; p++) {
		if (p->p_type != PT_LOAD || (~p->p_flags & (PF_X | PF_R)))
			continue;
		from = p->p_vaddr + (p->p_offset ? 0 : 64);
		to = p->p_vaddr + p->p_filesz;
		for (q = info->dlpi_phdr; q < end; q++)
			if (q->p_type == PT_NOTE && q->p_vaddr >= from && q->p_vaddr < to)
				from = q->p_vaddr + q->p_filesz;
		*hash = fnv1a(*hash, (void *)(info->dlpi_addr + from), to - from);
	}
	return 1;	/* the first object is the program */
}

static const char *rd_binary(const char *arg)
{
	unsigned long long hash = FNV_BASIS;

	(void)arg;
	dl_iterate_phdr(hash_code, &hash);
	return hash == FNV_BASIS ? NULL : add("%016llx", hash);
}

#define CPU_NAMES	"model name,cpu family,model,stepping," /* x86 */		\
			"CPU implementer,CPU variant,CPU part,CPU revision"	/* arm64 */
#define SLAB		"/sys/kernel/slab/*/"
#define SLAB_FLAGS	SLAB "sanity_checks," SLAB "red_zone," SLAB "poison," SLAB "store_user"
#define CONFIG(symbol)	{ "config." #symbol, KEY_MUST, rd_config, #symbol }

/*
 * MUST is what changes the cost of a call: the same code would not do the same
 * work. Every name has a dot: the results file groups the keys by what is before.
 */
static const struct key {
	const char *name;
	enum key_class class;
	const char *(*read)(const char *arg);
	const char *arg;
} keys[] = {
	{ "kernel.release", KEY_INFO, rd_string, m.uts.release },
	{ "kernel.version", KEY_INFO, rd_string, m.uts.version },
	{ "kernel.machine", KEY_MUST, rd_string, m.uts.machine },
	{ "kernel.build_id", KEY_INFO, rd_build_id, "/sys/kernel/notes" },
	{ "kernel.boot_id", KEY_INFO, rd_file, "/proc/sys/kernel/random/boot_id" },
	{ "kernel.cmdline", KEY_SHOULD, rd_file, "/proc/cmdline" },
	{ "kernel.tainted", KEY_INFO, rd_file, "/proc/sys/kernel/tainted" },
	{ "kernel.config_hash", KEY_SHOULD, rd_config_hash, NULL },
	{ "kernel.compiler", KEY_SHOULD, rd_config, "CC_VERSION_TEXT" },
	{ "kernel.randomize_va_space", KEY_SHOULD, rd_file, "/proc/sys/kernel/randomize_va_space" },
	CONFIG(HZ), CONFIG(PREEMPT_DYNAMIC),
	CONFIG(KASAN), CONFIG(KCSAN), CONFIG(KMSAN), CONFIG(UBSAN), CONFIG(KFENCE),
	CONFIG(KCOV), CONFIG(GCOV_PROFILE_ALL), CONFIG(PROVE_LOCKING), CONFIG(DEBUG_LIST),
	CONFIG(DEBUG_VM), CONFIG(DEBUG_PAGEALLOC), CONFIG(DEBUG_KMEMLEAK),
	CONFIG(SLUB_DEBUG), CONFIG(SLUB_DEBUG_ON), CONFIG(INIT_ON_ALLOC_DEFAULT_ON),
	{ "config.PAGE_OWNER", KEY_SHOULD, rd_config, "PAGE_OWNER" },	/* costs if page_owner=on */
	CONFIG(MEMCG), CONFIG(TMPFS_XATTR), CONFIG(TMPFS_POSIX_ACL), CONFIG(EXT4_FS_POSIX_ACL),
	CONFIG(XFS_POSIX_ACL), CONFIG(BTRFS_FS_POSIX_ACL), CONFIG(XFS_DEBUG),
	CONFIG(BTRFS_DEBUG), CONFIG(BTRFS_ASSERT), CONFIG(SECURITY), CONFIG(IMA), CONFIG(EVM),
	CONFIG(FUNCTION_TRACER), CONFIG(HARDENED_USERCOPY), CONFIG(RANDOMIZE_KSTACK_OFFSET),
	CONFIG(LTO_CLANG), CONFIG(CC_OPTIMIZE_FOR_SIZE),
	CONFIG(DEBUG_FORCE_FUNCTION_ALIGN_64B),	/* without it a change moves other code too */
	CONFIG(RANDSTRUCT), CONFIG(CFI), CONFIG(CFI_CLANG),
	{ "preempt.mode", KEY_MUST, rd_preempt, "/sys/kernel/debug/sched/preempt" },
	{ "preempt.realtime", KEY_MUST, rd_version, "PREEMPT_RT" },
	{ "lsm.active", KEY_MUST, rd_lsm, "/sys/kernel/security/lsm" },
	{ "lsm.lockdown", KEY_SHOULD, rd_choice, "/sys/kernel/security/lockdown" },
	{ "lsm.ima_policy", KEY_MUST, rd_lines, "/sys/kernel/security/ima/policy" },
	{ "lsm.evm", KEY_MUST, rd_file, "/sys/kernel/security/evm" },
	{ "lsm.seccomp_filters", KEY_SHOULD, rd_proc, "Seccomp_filters" },
	{ "debug.tracer_pid", KEY_MUST, rd_proc, "TracerPid" },
	{ "cpu.model", KEY_MUST, rd_model, CPU_NAMES },
	{ "cpu.microcode", KEY_SHOULD, rd_proc, "microcode" },
	{ "cpu.mitigations", KEY_MUST, rd_costs, CPU_DIR "vulnerabilities/*" },
	{ "cpu.count", KEY_SHOULD, rd_sysconf, "count" },
	{ "cpu.allowed", KEY_INFO, rd_proc, "Cpus_allowed_list" },
	{ "cpu.measured", KEY_INFO, rd_string, m.pinned },
	{ "cpu.capacity", KEY_MUST, rd_capacity, "cpu_capacity" },
	{ "cpu.core_type", KEY_MUST, rd_which, "/sys/devices/[c]pu_*/cpus" },
	{ "cpu.smt", KEY_SHOULD, rd_file, CPU_DIR "smt/active" },
	{ "cpu.driver", KEY_SHOULD, rd_cpu, "cpufreq/scaling_driver" },
	{ "cpu.governor", KEY_SHOULD, rd_cpu, "cpufreq/scaling_governor" },
	{ "cpu.epp", KEY_SHOULD, rd_cpu, "cpufreq/energy_performance_preference" },
	{ "cpu.turbo", KEY_SHOULD, rd_turbo, CPU_DIR "intel_pstate/no_turbo" },
	{ "cpu.max_khz", KEY_SHOULD, rd_cpu, "cpufreq/cpuinfo_max_freq" },
	{ "cpu.isolated", KEY_SHOULD, rd_file, CPU_DIR "isolated" },
	{ "cpu.nohz_full", KEY_SHOULD, rd_file, CPU_DIR "nohz_full" },
	{ "numa.node", KEY_INFO, rd_which, "/sys/devices/system/node/node*/cpulist" },
	{ "clock.source", KEY_MUST, rd_file,
	  "/sys/devices/system/clocksource/clocksource0/current_clocksource" },
	{ "clock.cost_ns", KEY_INFO, rd_clock_cost, NULL },
	{ "virt.hypervisor", KEY_SHOULD, rd_hypervisor, " hypervisor" },
	{ "mem.page_size", KEY_MUST, rd_sysconf, "page" },
	{ "mem.thp", KEY_SHOULD, rd_choice, "/sys/kernel/mm/transparent_hugepage/enabled" },
	{ "mem.thp_shmem", KEY_SHOULD, rd_choice,
	  "/sys/kernel/mm/transparent_hugepage/shmem_enabled" },
	{ "debug.lockdep", KEY_MUST, rd_exists, "/proc/lockdep" },
	/* Only root can read it, so it is no MUST; and nothing is gated if it is on. */
	{ "debug.slab", KEY_SHOULD, rd_costs, SLAB_FLAGS },
	{ "debug.kmemleak", KEY_SHOULD, rd_kmemleak, "kmemleak=" },
	{ "debug.kfence_ms", KEY_SHOULD, rd_file, "/sys/module/kfence/parameters/sample_interval" },
	{ "debug.tracer", KEY_SHOULD, rd_file, "/sys/kernel/tracing/current_tracer" },
	{ "load.average", KEY_INFO, rd_file, "/proc/loadavg" },
	{ "suite.version", KEY_MUST, rd_string, "1" },
	{ "suite.compiler", KEY_MUST, rd_string, COMPILER },
	{ "suite.cflags", KEY_MUST, rd_string, FSBENCH_CFLAGS },
	{ "suite.binary", KEY_MUST, rd_binary, NULL },
	{ "suite.preload", KEY_SHOULD, rd_env, "LD_PRELOAD" },
	/* bench.c says it if they are given */
	{ "clock.unit", KEY_MUST, rd_string, "nanoseconds" },
	{ "suite.ops", KEY_MUST, rd_string, "calibrated" },
};

static_assert(ARRAY_SIZE(keys) < FP_KEYS_MAX - 16, "no room for the keys of others");

/* From gzip, which is run by its path, or from a file. */
static void read_config(void)
{
	static const char * const places[] = {
		"/boot/config-%s", "/lib/modules/%s/config", "/lib/modules/%s/build/.config",
	};
	char *const argv[] = { "gzip", "-dc", "/proc/config.gz", NULL };
	char *const envp[] = { NULL };
	char path[128];
	pid_t pid;
	int fd[2];
	size_t i;

	m.config[0] = '\0';
	if (!access(argv[2], R_OK) && !pipe(fd)) {
		pid = fork();
		if (!pid) {
			close(fd[0]);
			dup2(fd[1], STDOUT_FILENO);
			execve("/bin/gzip", argv, envp);
			_exit(127);
		}
		close(fd[1]);
		load(fd[0], m.config, sizeof(m.config));
		if (pid > 0)
			waitpid(pid, NULL, 0);
	}
	for (i = 0; !*m.config && i < ARRAY_SIZE(places); i++) {
		snprintf(path, sizeof(path), places[i], m.uts.release);
		load(open(path, RDONLY), m.config, sizeof(m.config));
	}
}

/* @cpu: -1 if not pinned. Call it before the task is, else cpu.allowed is that CPU. */
void fp_read(struct fingerprint *fp, int cpu)
{
	char *cpuinfo, line[32];
	const char *v;
	size_t i;

	memset(fp, 0, sizeof(*fp));
	m.cpu = cpu;
	snprintf(m.pinned, sizeof(m.pinned), cpu < 0 ? "not pinned" : "%d", cpu);
	uname(&m.uts);
	read_config();
	load(open("/proc/self/status", RDONLY), m.proc, sizeof(m.proc));
	cpuinfo = m.proc + strlen(m.proc);
	load(open("/proc/cpuinfo", RDONLY), cpuinfo, m.proc + sizeof(m.proc) - cpuinfo);
	snprintf(line, sizeof(line), "processor\t: %d\n", cpu);
	v = strstr(cpuinfo, line);
	if (v)
		memmove(cpuinfo, v, strlen(v) + 1);
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		m.value[0] = '\0';
		v = keys[i].read(keys[i].arg);
		fp_set(fp, keys[i].name, "%s", v ? v : "");
	}
}

static unsigned int find(const struct fingerprint *fp, const char *name)
{
	unsigned int i = 0;

	while (i < fp->nr && strncmp(fp->key[i].name, name, FP_NAME_MAX - 1))
		i++;
	return i;
}

const char *fp_get(const struct fingerprint *fp, const char *name)
{
	unsigned int i = find(fp, name);

	return i < fp->nr ? fp->key[i].value : NULL;
}

/*
 * Control characters and runs of blanks become one blank, nothing "unknown". What
 * is too long ends in a hash of the whole: values that differ stay different.
 */
void fp_set(struct fingerprint *fp, const char *name, const char *fmt, ...)
{
	size_t keep = FP_VALUE_MAX - sizeof("...0123456789abcdef");
	struct fp_key *key = &fp->key[find(fp, name)];
	char text[8192], *in, *out = text;
	va_list ap;

	if (key == fp->key + FP_KEYS_MAX)
		return;
	if (key == fp->key + fp->nr)
		snprintf(fp->key[fp->nr++].name, FP_NAME_MAX, "%s", name);
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (in = text; *in; in++) {
		if ((unsigned char)*in > ' ' && *in != 0x7f)
			*out++ = *in;
		else if (out > text && out[-1] != ' ')
			*out++ = ' ';
	}
	out -= out > text && out[-1] == ' ';
	*out = '\0';
	if (out - text >= FP_VALUE_MAX) {
		while (keep && (text[keep] & 0xc0) == 0x80)
			keep--;			/* no half UTF-8 character */
		snprintf(text + keep, sizeof(text) - keep, "...%016llx",
			 fnv1a(FNV_BASIS, text, out - text));
	}
	snprintf(key->value, FP_VALUE_MAX, "%.*s", FP_VALUE_MAX - 1, *text ? text : "unknown");
}

enum key_class fp_class(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(name, keys[i].name))
			return keys[i].class;
	return KEY_INFO;
}

#define DEBUG_KERNEL		"debug kernel: "
#define DEBUG_CONFIG(symbol)	{ "config." #symbol, "y", DEBUG_KERNEL #symbol }

/*
 * KFENCE, DEBUG_LIST and UBSAN are in the kernels of distributions. They make
 * two kernels incomparable, but they are no reason not to gate.
 */
static const struct {
	const char *key;
	const char *value;	/* which is poor; "!x": every known one but x */
	const char *text;
} reasons[] = {
	DEBUG_CONFIG(KASAN), DEBUG_CONFIG(KCSAN), DEBUG_CONFIG(KMSAN), DEBUG_CONFIG(KCOV),
	DEBUG_CONFIG(GCOV_PROFILE_ALL), DEBUG_CONFIG(PROVE_LOCKING), DEBUG_CONFIG(DEBUG_VM),
	DEBUG_CONFIG(DEBUG_PAGEALLOC), DEBUG_CONFIG(SLUB_DEBUG_ON),
	{ "debug.lockdep", "yes", DEBUG_KERNEL "lockdep is active" },
	{ "debug.slab", "!none", DEBUG_KERNEL "slab debugging is on" },
	{ "debug.kmemleak", "on", DEBUG_KERNEL "kmemleak is on" },
	{ "config.BTRFS_DEBUG", "y", "btrfs has debugging checks" },
	{ "config.XFS_DEBUG", "y", "xfs has debugging checks" },
	{ "debug.tracer", "!nop", "a tracer is active" },
	{ "virt.hypervisor", "!none", "runs under a hypervisor" },
	{ "cpu.governor", "!performance", "governor is not performance" },
	{ "cpu.turbo", "on", "turbo is on: the frequency is not fixed" },
	{ "cpu.smt", "1", "SMT siblings are online" },
	{ "cpu.measured", "not pinned", "not pinned to a CPU" },
	{ "lsm.seccomp_filters", "!0", "a seccomp filter taxes every system call" },
	{ "debug.tracer_pid", "!0", "the program is being traced" },
	{ "suite.preload", "!none", "LD_PRELOAD may stand between the program and the kernel" },
	{ "clock.source", "hpet", "clock source is not tsc" },
	{ "clock.source", "acpi_pm", "clock source is not tsc" },
};

static unsigned long long number(const char *v)
{
	return v ? strtoull(v, NULL, 10) : 0;
}

/* Why the numbers may be poor: texts that stay valid, of a debug kernel first. */
unsigned int fp_warnings(const struct fingerprint *fp, const char *why[], unsigned int max)
{
	const unsigned int bad = 0xc0b0;	/* M, B, D, L, K: it may be slower now */
	const char *config = fp_get(fp, "kernel.config_hash");
	unsigned int i, n = 0;

	for (i = 0; i < ARRAY_SIZE(reasons) && n < max; i++) {
		const char *v = fp_get(fp, reasons[i].key);
		bool other = *reasons[i].value == '!';

		if (v && strcmp(v, "unknown") && strcmp(v, absent) &&
		    !strcmp(v, reasons[i].value + other) != other)
			why[n++] = reasons[i].text;
	}
	/* What was read from a file may lack any key. */
	if (config && !strcmp(config, "unknown") && n < max)
		why[n++] = "the kernel's configuration is not readable, it may be a debug kernel";
	if (number(fp_get(fp, "load.average")) >= number(fp_get(fp, "cpu.count")) && n < max)
		why[n++] = "the machine is busy";
	if (number(fp_get(fp, "clock.cost_ns")) > 200 && n < max)
		why[n++] = "the clock is slow to read";
	if ((number(fp_get(fp, "kernel.tainted")) & bad) && n < max)
		why[n++] = "kernel tainted: it had an error, or it is live patched";
	return n;
}

/* Why this kernel is measured, but never gated; or NULL. */
const char *fp_debug_kernel(const struct fingerprint *fp)
{
	const size_t len = strlen(DEBUG_KERNEL);
	const char *why;

	if (fp_warnings(fp, &why, 1) && !strncmp(why, DEBUG_KERNEL, len))
		return why + len;
	return NULL;
}

/*
 * The CPU to measure on, -1 if the set is empty: the biggest core, of those the
 * fastest, of those the last, since the first one takes the interrupts.
 */
int machine_pick_cpu(const cpu_set_t *allowed)
{
	unsigned long long score, best_score = 0;
	int best = -1;

	for (m.cpu = 0; m.cpu < CPU_SETSIZE; m.cpu++) {
		if (!CPU_ISSET(m.cpu, allowed))
			continue;
		score = number(rd_cpu("cpu_capacity")) << 32;
		score += number(rd_cpu("cpufreq/cpuinfo_max_freq"));
		if (score >= best_score) {
			best_score = score;
			best = m.cpu;
		}
	}
	return best;
}

/* Ticks of USER_HZ since boot, of all CPUs if @cpu is -1. The file stays open. */
unsigned long long machine_steal_ticks(int cpu)
{
	static char buf[1 << 18];	/* the lines of 2000 CPUs */
	static int fd = -1;
	unsigned long long steal = 0;
	char tag[24], *line;
	ssize_t n;

	if (fd < 0)
		fd = open("/proc/stat", RDONLY);
	n = pread(fd, buf, sizeof(buf) - 1, 0);
	buf[n > 0 ? n : 0] = '\0';
	snprintf(tag, sizeof(tag), cpu < 0 ? "cpu " : "\ncpu%d ", cpu);
	line = strstr(buf, tag);
	if (line)
		sscanf(line + strlen(tag), "%*u %*u %*u %*u %*u %*u %*u %llu", &steal);
	return steal;
}
