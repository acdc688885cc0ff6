# SPDX-License-Identifier: GPL-2.0
# What a suite of fsbench needs: include this before lib.mk, and after it add
#	$(TEST_GEN_PROGS): $(FSBENCH_SRCS)

FSBENCH_CFLAGS := -O2 -g
CFLAGS += -Wall $(FSBENCH_CFLAGS) $(KHDR_INCLUDES)
# The results say how the program was compiled.
CFLAGS += -DFSBENCH_CFLAGS='"$(subst ",,$(FSBENCH_CFLAGS) $(USERCFLAGS))"'
LDLIBS += -lm

FSBENCH_SRCS := $(addprefix ../fsbench/,activity.c bench.c judge.c machine.c \
		memory.c options.c results.c scratch.c setup.c stats.c)
LOCAL_HDRS += $(wildcard ../fsbench/*.h)
