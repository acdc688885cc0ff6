// SPDX-License-Identifier: GPL-2.0
/*
 * Damages a good file in hundreds of ways that follow from a seed, and lets the
 * tool, built with sanitizers into this program, read each. It stops at the first
 * answer that is not one of the tool's; the file "fuzzed" holds what did it.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define main fsbench_main
#include "fsbench.c"
#undef main

#define FILES		300
#define FUZZED_MAX	65536

static const char * const words[] = {
	"=", "\"", " ", "\n", ".", "-1", "1e9", "0", "18446744073709551616", "none", "round ",
	"end cases=0\n", "run program=x\n", "skip a.b\n", "machine a b=c\n", "# fsbench: ",
	"ns_per_op=", "unexpected_results=1", "batches=0", "%s%n", "\r\n", "\xff\xfe",
	"bytes_per_file=",
};

/* The tool's last words. They are kept from the terminal. */
static char *said;
static size_t said_len;

static size_t any(size_t n)
{
	return n ? random() % n : 0;
}

/* Replace @len bytes at @at by @new_len others. */
static size_t splice(char *buf, size_t size, size_t at, size_t len, const char *new,
		     size_t new_len)
{
	if (at + len > size || size - len + new_len > FUZZED_MAX)
		return size;
	memmove(buf + at + new_len, buf + at + len, size - at - len);
	memcpy(buf + at, new, new_len);
	return size - len + new_len;
}

static size_t damage(char *buf, size_t size)
{
	char piece[400], byte = any(256);
	size_t at = any(size), len = any(sizeof(piece));
	const char *word = words[any(ARRAY_SIZE(words))];

	switch (any(6)) {
	case 0:					/* another byte */
		return splice(buf, size, at, 1, &byte, 1);
	case 1:					/* one bit */
		if (size)
			buf[at] ^= 1 << any(8);
		return size;
	case 2:					/* a word put in, or over another */
		return splice(buf, size, at, any(2) * any(8), word, strlen(word));
	case 3:					/* a piece lost */
		return splice(buf, size, at, len, "", 0);
	case 4:					/* a piece twice, elsewhere */
		if (at + len > size)
			return size;
		memcpy(piece, buf + at, len);
		return splice(buf, size, any(size), 0, piece, len);
	default:				/* cut, most often near the end */
		return any(3) ? size - any(size < 40 ? size : 40) : at;
	}
}

static int answer(int argc, char **argv)
{
	FILE *terminal = stderr;
	int ret;

	free(said);
	stderr = open_memstream(&said, &said_len);
	ret = fsbench_main(argc, argv);
	fclose(stderr);
	stderr = terminal;
	return ret;
}

/* Nothing said, or one line with exit status 2. */
static int acceptable(int ret)
{
	const char *nl = memchr(said, '\n', said_len);

	if (ret == 2)
		return nl && nl == said + said_len - 1 && nl > said;
	return ret >= 0 && ret <= 4 && !said_len;
}

int main(int argc, char **argv)
{
	static char good[FUZZED_MAX], buf[FUZZED_MAX];
	char *calls[][5] = {
		{ "fsbench", "check", "fuzzed" },
		{ "fsbench", "show", "fuzzed" },
		{ "fsbench", "compare", argv[1], "fuzzed" },
		{ "fsbench", "compare", "fuzzed", argv[1] },
		{ "fsbench", "sandwich", "fuzzed", argv[1], argv[1] },
		{ "fsbench", "sandwich", argv[1], "fuzzed", argv[1] },
	};
	static const int nr_words[] = { 3, 3, 4, 4, 5, 5 };
	unsigned int i, n, c, counts[5] = { 0 };
	size_t good_len, size;
	int ret;
	FILE *f;

	if (argc != 3)
		return 2;
	f = fopen(argv[1], "r");
	if (!f)
		return 2;
	good_len = fread(good, 1, sizeof(good), f);
	fclose(f);
	srandom(atoi(argv[2]));
	for (i = 0; i < FILES; i++) {
		memcpy(buf, good, good_len);
		size = good_len;
		for (n = any(3) + 1; n--; )
			size = damage(buf, size);
		f = fopen("fuzzed", "w");
		if (!f || fwrite(buf, 1, size, f) != size || fclose(f))
			return 2;
		for (c = 0; c < ARRAY_SIZE(calls); c++) {
			ret = answer(nr_words[c], calls[c]);
			if (!acceptable(ret)) {
				fprintf(stderr, "file %u: %s: exit status %d, said: %s\n", i,
					calls[c][1], ret, said);
				return 1;
			}
			counts[ret]++;
		}
	}
	fprintf(stderr, "exit status 0 to 4: %u %u %u %u %u times\n", counts[0], counts[1],
		counts[2], counts[3], counts[4]);
	/* If nothing is refused, or nothing else, it is not the tool that ran. */
	return !counts[0] || !counts[2];
}
