// SPDX-License-Identifier: GPL-2.0
/*
 * Results files and KTAP logs: one grammar, described in results.h.
 *
 * Records are appended with one write() each, so that a crash loses the round
 * that was being measured and nothing else.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define _FILE_OFFSET_BITS 64
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "options.h"
#include "results.h"

#define KTAP_PREFIX	"# fsbench: "
#define MACHINE_WRAP	160		/* start another machine record after this */
#define FILE_SIZE_MAX	(256 << 20)
#define CASES_MAX	10000

/* The cases of a run are measured in processes of their own. */
struct shared {
	unsigned int cases;
	bool started;
	bool failed;
};

static int out_fd = -1;
static pid_t owner;
static struct shared *shared;

__printf(4, 5)
static int fail(char *err, size_t size, const char *path, const char *fmt, ...)
{
	char why[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	snprintf(err, size, "%.200s: %s", path, why);
	return -1;
}

const struct unit_words unit_words[NR_UNITS] = {
	[UNIT_TIME] = { "ns_per_op", "ns", "ns/op" },
	[UNIT_MEMORY] = { "bytes_per_file", "bytes", "bytes/file" },
};

/* The figures of a case, in the order in which they are written. */
#define MILLI(n, member) .name = n, .offset = offsetof(struct result, member), .milli = true
#define COUNT(n, member) .name = n, .offset = offsetof(struct result, member)
#define TIMED .timed = true

static const struct field {
	const char *name;
	size_t offset;
	bool milli;			/* else a count */
	bool timed;			/* only a case that was timed has it */
} fields[] = {
	{ MILLI(NULL, value) },		/* see unit_words */
	{ MILLI("low", low) },
	{ MILLI("high", high) },
	{ MILLI("median", median) },
	{ MILLI("mean", mean) },
	{ MILLI("min", min) },
	{ MILLI("max", max) },
	/* A case has to say the above. */
	{ COUNT("rounds", rounds) },
	{ COUNT("ops", ops) },
	{ COUNT("disturbed", disturbed), TIMED },
	{ MILLI("expected_match_ratio", match_ratio) },
	{ COUNT("unexpected_results", unexpected) },
	{ MILLI("confidence", confidence) },
	{ COUNT("batches", batches), TIMED },
	{ COUNT("preempted", preempted), TIMED },
	{ COUNT("migrated", migrated), TIMED },
	{ COUNT("stolen", stolen), TIMED },
	{ MILLI("clock_overhead", clock_overhead), TIMED },
	{ MILLI("control", control), TIMED },
};

#define FIELDS_NEEDED	7

static const char *field_name(const struct field *f, enum unit unit)
{
	return f->name ? f->name : unit_words[unit].key;
}

/**
 * milli_format() - print thousandths as a decimal number
 */
const char *milli_format(char buf[24], __u64 v)
{
	snprintf(buf, 24, "%llu.%03llu", v / 1000, v % 1000);
	return buf;
}

/**
 * result_format() - the figures as words of a record, each after a blank
 */
void result_format(char *buf, size_t size, const struct result *r)
{
	const struct field *f;
	char text[24];
	size_t len = 0;
	__u64 v;

	for (f = fields; f < fields + ARRAY_SIZE(fields) && len < size; f++) {
		const char *name = field_name(f, r->unit);

		if (f->timed && r->unit != UNIT_TIME)
			continue;
		memcpy(&v, (const char *)r + f->offset, sizeof(v));
		if (f->milli && strcmp(name, "expected_match_ratio"))
			milli_format(text, v);
		else
			snprintf(text, sizeof(text), "%llu", f->milli ? v / 1000 : v);
		len += snprintf(buf + len, size - len, " %s=%s", name, text);
	}
}

/**
 * value_quote() - make any text one word of a record
 */
void value_quote(char *buf, size_t size, const char *value)
{
	bool quote = !*value || value[strcspn(value, " \"")];
	size_t n = 0;

	if (quote)
		buf[n++] = '"';
	for (; *value && n < size - 2; value++) {
		if (*value == '"')
			buf[n++] = '\'';
		else
			buf[n++] = (unsigned char)*value < ' ' ? ' ' : *value;
	}
	if (quote)
		buf[n++] = '"';
	buf[n] = '\0';
}

static void file_write(char *line)
{
	size_t len = strlen(line);
	ssize_t ret;

	/* After a cut line nothing more: the next would be glued to it. */
	if (out_fd < 0 || shared->failed)
		return;
	line[len++] = '\n';
	do {
		ret = write(out_fd, line, len);
	} while (ret < 0 && errno == EINTR);
	if (ret == (ssize_t)len)
		return;
	shared->failed = true;
	printf("# fsbench: results: %s\n", ret < 0 ? strerror(errno) : "short write");
	fflush(stdout);
}

/**
 * results_record() - a record for the KTAP output and the results file
 */
void results_record(const char *fmt, ...)
{
	char line[RECORD_MAX + 1];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, RECORD_MAX, fmt, args);
	va_end(args);
	printf(KTAP_PREFIX "%s\n", line);
	fflush(stdout);
	file_write(line);
}

/**
 * results_case() - the record of a case: measured, wrong, skipped or failed
 */
void results_case(const char *fmt, ...)
{
	char line[RECORD_MAX + 1];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, RECORD_MAX, fmt, args);
	va_end(args);
	shared->cases++;
	results_record("%s", line);
}

/**
 * results_file_record() - a record for the results file alone
 */
void results_file_record(const char *fmt, ...)
{
	char line[RECORD_MAX + 1];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, RECORD_MAX, fmt, args);
	va_end(args);
	file_write(line);
}

/**
 * results_failed() - was anything not written that should have been?
 */
bool results_failed(void)
{
	return shared && shared->failed;
}

/* Root follows no link on the way: any directory may be somebody else's. */
static int open_target(const char *path)
{
	struct open_how how = {
		/* O_NONBLOCK: a FIFO is refused, not waited for. */
		.flags = O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK |
			 O_NOCTTY,
		.mode = 0644,
		.resolve = geteuid() ? 0 : RESOLVE_NO_SYMLINKS,
	};

	return syscall(__NR_openat2, AT_FDCWD, path, &how, sizeof(how));
}

/* All that is known of a file which we are to append to. */
static int check_target(int fd, const char *path, const char *magic, const char *kind,
			char *err, size_t size)
{
	size_t len = strlen(magic);
	char head[64], last;
	struct stat st;

	if (fstat(fd, &st))
		return fail(err, size, path, "%s", strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(err, size, path, "not a regular file");
	/* Root must not be led to append to somebody else's file. */
	if (st.st_uid != geteuid() || st.st_nlink != 1)
		return fail(err, size, path, "belongs to somebody else or has other names");
	if (flock(fd, LOCK_EX | LOCK_NB))
		return fail(err, size, path, "another run is writing to it");
	if (!st.st_size)
		return 0;
	if (pread(fd, head, len + 1, 0) != (ssize_t)len + 1 || memcmp(head, magic, len) ||
	    head[len] != '\n')
		return fail(err, size, path, "not a %s file, nothing written", kind);
	if (pread(fd, &last, 1, st.st_size - 1) != 1 || last != '\n')
		return fail(err, size, path, "its last line is cut, nothing written");
	return 0;
}

/**
 * append_open() - open a file of ours for reading and appending, locked
 *
 * It is created if it is not there. Anything but a regular file of the caller's
 * that begins with the given line is refused, and so is one that is in use.
 *
 * @magic: its first line, at most 63 bytes; @kind: what to call it
 * Return: the file, or -1 and a line in @err.
 */
int append_open(const char *path, const char *magic, const char *kind, char *err, size_t size)
{
	int fd = open_target(path);

	if (fd < 0)
		return fail(err, size, path, "%s%s", strerror(errno),
			    errno == ELOOP ? " (no links here)" : "");
	if (check_target(fd, path, magic, kind, err, size)) {
		close(fd);
		return -1;
	}
	return fd;
}

/**
 * results_open() - prepare for writing
 *
 * The file is created if it is not there; what is in it is kept.
 *
 * @path: file to append to, or NULL for KTAP output only
 * Return: 0, or -1 and a line in @err; then nothing was written.
 */
int results_open(const char *path, char *err, size_t size)
{
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		shared = NULL;
		return fail(err, size, "results", "%s", strerror(errno));
	}
	owner = getpid();
	if (!path)
		return 0;
	out_fd = append_open(path, RESULTS_MAGIC, "results", err, size);
	return out_fd < 0 ? -1 : 0;
}

/* One or more "machine" records for each group of keys, in order. */
static void write_machine(const struct fingerprint *fp)
{
	char word[FP_NAME_MAX + FP_VALUE_MAX + 4], quoted[FP_VALUE_MAX + 4];
	char line[RECORD_MAX];
	unsigned int i;
	size_t len = 0, group, last = 0;

	for (i = 0; i < fp->nr; i++) {
		const char *name = fp->key[i].name;

		group = strcspn(name, ".");
		value_quote(quoted, sizeof(quoted), fp->key[i].value);
		snprintf(word, sizeof(word), " %s=%s", name + group + 1, quoted);
		if (!len || group != last || strncmp(name, fp->key[i - 1].name, group + 1) ||
		    len + strlen(word) > MACHINE_WRAP) {
			if (len)
				results_record("%s", line);
			len = snprintf(line, sizeof(line), "machine %.*s", (int)group, name);
		}
		len += snprintf(line + len, sizeof(line) - len, "%s", word);
		last = group;
	}
	if (len)
		results_record("%s", line);
}

/**
 * results_start() - begin a run, once, in whichever process comes first
 *
 * The harness prints its own header first, and it runs only the cases that were
 * asked for; so this is called by every case.
 *
 * @settings: what was asked for, as words of a record
 *
 * Return: true in the case that began the run.
 */
bool results_start(const char *program, const char *settings, const struct fingerprint *fp)
{
	const char *why[16];
	unsigned int i, n;
	char now[32];
	time_t t;

	if (shared->started)
		return false;
	shared->started = true;
	if (out_fd >= 0 && !lseek(out_fd, 0, SEEK_END))
		results_file_record(RESULTS_MAGIC);
	t = time(NULL);
	strftime(now, sizeof(now), "%Y-%m-%dT%H:%M:%SZ", gmtime(&t));
	results_record("run program=%s start=%s %s", program, now, settings);
	write_machine(fp);
	n = fp_warnings(fp, why, 16);
	for (i = 0; i < n; i++)
		results_record("warning text=\"%s\"", why[i]);
	return true;
}

/**
 * results_end() - the run is complete; only in the process that opened it
 */
void results_end(void)
{
	if (shared && shared->started && getpid() == owner)
		results_record("end cases=%u", shared->cases);
}

/*
 * Reading
 */

struct parser {
	const char *path;
	unsigned int line;
	char *err;
	size_t size;
	struct results *res;
};

__printf(2, 3)
static int bad_line(struct parser *p, const char *fmt, ...)
{
	char why[200];
	va_list args;

	va_start(args, fmt);
	vsnprintf(why, sizeof(why), fmt, args);
	va_end(args);
	snprintf(p->err, p->size, "%.200s: line %u: %s", p->path, p->line, why);
	return -1;
}

/*
 * Next word of a record: "key=value", "key=\"a value\"" or a bare word.
 * Return: 1, 0 at the end of the line, -1 if the line is malformed.
 */
static int next_word(char **s, char **key, char **value)
{
	char *p = *s + strspn(*s, " ");

	if (!*p)
		return 0;
	*key = p;
	*value = NULL;
	p += strcspn(p, " =\"");
	if (*p == '"')
		return -1;
	if (*p == '=') {
		if (p == *key)
			return -1;
		*p++ = '\0';
		if (*p == '"') {
			*value = ++p;
			p = strchr(p, '"');
			if (!p || (p[1] && p[1] != ' '))
				return -1;
			*p++ = '\0';
		} else {
			*value = p;
			p += strcspn(p, " \"");
			if (*p == '"' || p == *value)
				return -1;
		}
	}
	if (*p)
		*p++ = '\0';
	*s = p;
	return 1;
}

/* "135.754" is 135754; at most three decimals, no sign, no exponent. */
static int parse_milli(const char *s, __u64 *val)
{
	__u64 v = 0;
	int decimals = -1;

	if (!isdigit(*s))
		return -1;
	for (; *s; s++) {
		if (*s == '.' && decimals < 0) {
			decimals = 0;
		} else if (isdigit(*s) && v < 1000000000000000ull) {
			v = v * 10 + (*s - '0');
			if (decimals >= 0 && ++decimals > 3)
				return -1;
		} else {
			return -1;
		}
	}
	if (!decimals)
		return -1;
	for (; decimals < 3; decimals++) {
		v *= 10;
		if (decimals < 0)
			decimals = 0;
	}
	*val = v;
	return 0;
}

static int parse_count(const char *s, __u64 *val)
{
	char *end;

	if (!isdigit(*s))
		return -1;
	errno = 0;
	*val = strtoull(s, &end, 10);
	return errno || *end ? -1 : 0;
}

static void *grow(void *array, unsigned int nr, size_t item)
{
	/* Doubles at each power of two. */
	if (nr & (nr - 1))
		return array;
	array = realloc(array, (nr ? 2 * (size_t)nr : 1) * item);
	if (!array) {
		fprintf(stderr, "out of memory\n");
		exit(2);
	}
	return array;
}

static int parse_machine(struct parser *p, struct run *run, char *rest)
{
	char *group, *key, *value;
	int ret;

	if (next_word(&rest, &group, &value) != 1 || value)
		return bad_line(p, "machine record without a group");
	while ((ret = next_word(&rest, &key, &value)) > 0) {
		char name[FP_NAME_MAX];

		if (!value)
			return bad_line(p, "\"%s\" is not key=value", key);
		if (snprintf(name, sizeof(name), "%s.%s", group, key) >= (int)sizeof(name))
			return bad_line(p, "key \"%s\" is too long", key);
		if (fp_get(&run->fp, name))
			return bad_line(p, "key \"%s\" is there twice", name);
		if (run->fp.nr == FP_KEYS_MAX)
			return bad_line(p, "more than %d keys", FP_KEYS_MAX);
		fp_set(&run->fp, name, "%s", value);
	}
	return ret ? bad_line(p, "not a sequence of key=value") : 0;
}

static struct rcase *add_case(struct parser *p, struct run *run, const char *name)
{
	struct rcase *c = run_find(run, name);

	/* The rounds come before the line of their case. */
	if (c)
		return c;
	if (strlen(name) >= CASE_NAME_MAX) {
		bad_line(p, "the name of the case is too long");
		return NULL;
	}
	if (run->nr_cases == CASES_MAX) {
		bad_line(p, "more than %d cases in a run", CASES_MAX);
		return NULL;
	}
	run->cases = grow(run->cases, run->nr_cases, sizeof(*run->cases));
	c = &run->cases[run->nr_cases++];
	memset(c, 0, sizeof(*c));
	snprintf(c->name, sizeof(c->name), "%s", name);
	return c;
}

/* Does it have its record already? Before that there are only rounds of it. */
static bool case_is_done(const struct rcase *c)
{
	return c->timed || c->skipped || c->failed || c->r.unexpected;
}

/* Is this the word of a headline, and of which unit? */
static bool parse_unit(const char *key, enum unit *unit)
{
	unsigned int i;

	for (i = 0; i < NR_UNITS; i++) {
		if (strcmp(key, unit_words[i].key))
			continue;
		*unit = i;
		return true;
	}
	return false;
}

static int parse_round(struct parser *p, struct run *run, char *rest)
{
	char *name, *key, *value;
	struct rcase *c;
	bool has_value = false;
	__u64 v = 0, nr = 0;
	enum unit unit;
	int ret;

	if (next_word(&rest, &name, &value) != 1 || value)
		return bad_line(p, "round record without a case");
	c = add_case(p, run, name);
	if (!c)
		return -1;
	if (case_is_done(c))
		return bad_line(p, "a round of %s after the case", name);
	while ((ret = next_word(&rest, &key, &value)) > 0) {
		if (!value)
			return bad_line(p, "\"%s\" is not key=value", key);
		if (!strcmp(key, "round") && parse_count(value, &nr))
			return bad_line(p, "round=%s is not a count", value);
		if (parse_unit(key, &unit)) {
			/* A round of which nothing could be used has none. */
			if (!strcmp(value, "none"))
				v = 0;
			else if (parse_milli(value, &v) || !v)
				return bad_line(p, "%s=%s is not above 0", key, value);
			if (c->nr_rounds + has_value && unit != c->r.unit)
				return bad_line(p, "%s of %s in another unit before", key, name);
			c->r.unit = unit;
			has_value = true;
		}
	}
	if (ret)
		return bad_line(p, "not a sequence of key=value");
	if (!has_value)
		return bad_line(p, "round record without ns_per_op or bytes_per_file");
	if (nr != c->nr_rounds + 1)
		return bad_line(p, "round %llu of %s follows round %u", nr, name, c->nr_rounds);
	c->round = grow(c->round, c->nr_rounds, sizeof(*c->round));
	c->round[c->nr_rounds++] = v;
	return 0;
}

static int parse_case(struct parser *p, struct run *run, const char *name, char *rest)
{
	unsigned int seen = 0, i;
	bool has_count = false;
	char *key, *value;
	struct rcase *c;
	enum unit unit;
	__u64 v;
	int ret;

	c = add_case(p, run, name);
	if (!c)
		return -1;
	if (case_is_done(c))
		return bad_line(p, "case %s is there twice", name);
	while ((ret = next_word(&rest, &key, &value)) > 0) {
		if (!value)
			return bad_line(p, "\"%s\" is not key=value", key);
		if (parse_unit(key, &unit)) {
			if ((c->nr_rounds || seen & 1) && unit != c->r.unit)
				return bad_line(p, "%s of %s in another unit before", key, name);
			c->r.unit = unit;
			i = 0;
		} else {
			for (i = 1; i < ARRAY_SIZE(fields) && strcmp(key, fields[i].name); i++)
				;
		}
		if (i < ARRAY_SIZE(fields)) {
			if (seen & 1u << i)
				return bad_line(p, "%s is there twice", key);
			if (fields[i].milli ? parse_milli(value, &v) : parse_count(value, &v))
				return bad_line(p, "%s=%s is not a number", key, value);
			memcpy((char *)&c->r + fields[i].offset, &v, sizeof(v));
			seen |= 1u << i;
			has_count |= !strcmp(key, "unexpected_results");
		} else {
			if (rcase_word(c, key))
				return bad_line(p, "%s is there twice", key);
			if (!strcmp(key, "tasks") &&
			    (parse_count(value, &v) || !v || v > TASKS_MAX))
				return bad_line(p, "tasks=%s is not a number of tasks", value);
			c->extra = grow(c->extra, c->nr_extra, sizeof(*c->extra));
			snprintf(c->extra[c->nr_extra].name, FP_NAME_MAX, "%.*s",
				 FP_NAME_MAX - 1, key);
			snprintf(c->extra[c->nr_extra].value, FP_VALUE_MAX, "%.*s",
				 FP_VALUE_MAX - 1, value);
			c->nr_extra++;
		}
	}
	if (ret)
		return bad_line(p, "not a sequence of key=value");
	if (!has_count)
		return bad_line(p, "case %s does not say unexpected_results", name);
	if (c->r.unexpected) {
		if (seen & 1)
			return bad_line(p, "case %s has wrong answers and a time", name);
		return 0;
	}
	for (i = 0; i < FIELDS_NEEDED; i++)
		if (!(seen & 1u << i))
			return bad_line(p, "case %s does not say %s", name,
					field_name(&fields[i], c->r.unit));
	if (!c->r.value || c->r.min > c->r.value || c->r.value > c->r.median ||
	    c->r.median > c->r.max || c->r.min > c->r.mean || c->r.mean > c->r.max ||
	    c->r.low > c->r.value || c->r.value > c->r.high ||
	    c->r.disturbed > c->r.batches || c->r.match_ratio != 100000 ||
	    c->r.confidence > 100000)
		return bad_line(p, "case %s: its figures contradict each other", name);
	if (c->nr_rounds && c->nr_rounds != c->r.rounds)
		return bad_line(p, "case %s says %llu rounds and has %u", name, c->r.rounds,
				c->nr_rounds);
	c->timed = true;
	return 0;
}

static bool has_control(const char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 0x7f)
			return true;
	return false;
}

static int parse_record(struct parser *p, char *line)
{
	struct results *res = p->res;
	struct run *run = res->nr_runs ? &res->runs[res->nr_runs - 1] : NULL;
	char *rest = line, *word, *key, *value;
	struct rcase *c;
	__u64 v;
	int ret;

	if (has_control(line))
		return bad_line(p, "a control character");
	if (next_word(&rest, &word, &value) != 1 || value)
		return bad_line(p, "not a record");
	if (!strcmp(word, "run")) {
		res->runs = grow(res->runs, res->nr_runs, sizeof(*res->runs));
		run = &res->runs[res->nr_runs++];
		memset(run, 0, sizeof(*run));
		run->line = p->line;
		while ((ret = next_word(&rest, &key, &value)) > 0) {
			if (!value)
				return bad_line(p, "\"%s\" is not key=value", key);
			if (!strcmp(key, "program"))
				snprintf(run->program, sizeof(run->program), "%s", value);
			else if (!strcmp(key, "start"))
				snprintf(run->start, sizeof(run->start), "%s", value);
		}
		return ret || !*run->program ? bad_line(p, "run record without a program") : 0;
	}
	if (!run)
		return bad_line(p, "\"%s\" before the first run", word);
	if (run->finished)
		return bad_line(p, "\"%s\" after the end of the run", word);
	if (!strcmp(word, "machine"))
		return parse_machine(p, run, rest);
	if (!strcmp(word, "round"))
		return parse_round(p, run, rest);
	if (!strcmp(word, "warning") || !strcmp(word, "gate"))
		return 0;
	if (!strcmp(word, "skip") || !strcmp(word, "fail")) {
		bool skip = *word == 's';

		if (next_word(&rest, &word, &value) != 1 || value)
			return bad_line(p, "the record names no case");
		c = add_case(p, run, word);
		if (!c)
			return -1;
		if (case_is_done(c))
			return bad_line(p, "case %s is there twice", word);
		c->skipped = skip;
		c->failed = !skip;
		return 0;
	}
	if (!strcmp(word, "end")) {
		if (next_word(&rest, &key, &value) != 1 || !value || strcmp(key, "cases") ||
		    parse_count(value, &v))
			return bad_line(p, "end record without the number of cases");
		/* A case that crashed has rounds and no line: it does not count. */
		for (ret = 0; ret < (int)run->nr_cases; ret++) {
			c = &run->cases[ret];
			v -= case_is_done(c);
		}
		if (v)
			return bad_line(p, "the run says that it has another number of cases");
		run->finished = true;
		return 0;
	}
	if (strchr(word, '.'))
		return parse_case(p, run, word, rest);
	return bad_line(p, "unknown record \"%.40s\"", word);
}

/* A log has lines of other programs; the runner puts "# " before each of ours. */
static char *ktap_record(char *line)
{
	char *s = strstr(line, "fsbench: ");

	if (!s || strspn(line, "# ") != (size_t)(s - line))
		return NULL;
	s += strlen("fsbench: ");
	/* A first word that ends in a colon makes it a remark. */
	return s[strcspn(s, " :")] == ':' ? NULL : s;
}

static int read_fd(struct parser *p, int fd)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	FILE *f;
	int ret = 0;

	f = fdopen(fd, "r");
	if (!f) {
		close(fd);
		return fail(p->err, p->size, p->path, "%s", strerror(errno));
	}
	while (!ret && (len = getline(&line, &cap, f)) > 0) {
		char *record = line;

		p->line++;
		if (p->line == 1)
			p->res->ktap = strncmp(line, RESULTS_MAGIC "\n", sizeof(RESULTS_MAGIC));
		if (p->line == 1 && !strncmp(line, "fsbench-results ", 16)) {
			if (p->res->ktap)
				ret = bad_line(p, "another version of the format");
			continue;
		}
		if (memchr(line, 0, len)) {
			ret = bad_line(p, "binary data");
		} else if (p->res->ktap) {
			line[strcspn(line, "\r\n")] = '\0';
			record = ktap_record(line);
			if (record)
				ret = parse_record(p, record);
		} else if (line[len - 1] != '\n') {
			ret = bad_line(p, "the line is cut");
		} else if (len > RECORD_MAX) {
			ret = bad_line(p, "the line is too long");
		} else {
			line[len - 1] = '\0';
			ret = parse_record(p, record);
		}
	}
	if (!ret && ferror(f))
		ret = fail(p->err, p->size, p->path, "%s", strerror(errno));
	else if (!ret && !p->line)
		ret = fail(p->err, p->size, p->path, "the file is empty");
	else if (!ret && !p->res->nr_runs)
		ret = fail(p->err, p->size, p->path,
			   p->res->ktap ? "no results in it" : "no run in it");
	free(line);
	fclose(f);
	return ret;
}

/**
 * results_read() - read a results file or a KTAP log
 *
 * @res: to be freed with results_free(), also after an error
 * @err: receives a line that names the file and, for a bad line, its number
 * Return: 0 or -1.
 */
int results_read(const char *path, struct results *res, char *err, size_t size)
{
	struct parser p = { .path = path, .err = err, .size = size, .res = res };
	struct stat st;
	int fd;

	memset(res, 0, sizeof(*res));
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return fail(err, size, path, "%s", strerror(errno));
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > FILE_SIZE_MAX) {
		close(fd);
		return fail(err, size, path, "not a regular file of at most 256 MiB");
	}
	return read_fd(&p, fd);
}

/**
 * results_complete() - refuse runs that were not finished
 *
 * Return: 0, or -1 and a line in @err.
 */
int results_complete(const struct results *res, char *err, size_t size)
{
	unsigned int i;

	for (i = 0; i < res->nr_runs; i++) {
		if (res->runs[i].finished)
			continue;
		snprintf(err, size,
			 "line %u: the run of %s that begins here has no end, take it out",
			 res->runs[i].line, res->runs[i].program);
		return -1;
	}
	return 0;
}

void results_free(struct results *res)
{
	unsigned int i, j;

	for (i = 0; i < res->nr_runs; i++) {
		for (j = 0; j < res->runs[i].nr_cases; j++) {
			free(res->runs[i].cases[j].round);
			free(res->runs[i].cases[j].extra);
		}
		free(res->runs[i].cases);
	}
	free(res->runs);
	memset(res, 0, sizeof(*res));
}

/**
 * run_find() - the case of that name, or NULL
 */
struct rcase *run_find(const struct run *run, const char *name)
{
	unsigned int i;

	/* The line of a case follows its rounds: look at the newest first. */
	for (i = run->nr_cases; i--; )
		if (!strcmp(run->cases[i].name, name))
			return &run->cases[i];
	return NULL;
}

/**
 * rcase_word() - the value of what else the line of a case says, or NULL
 */
const char *rcase_word(const struct rcase *c, const char *name)
{
	unsigned int i;

	for (i = 0; i < c->nr_extra; i++)
		if (!strcmp(c->extra[i].name, name))
			return c->extra[i].value;
	return NULL;
}
