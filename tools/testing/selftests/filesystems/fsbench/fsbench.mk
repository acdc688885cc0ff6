# SPDX-License-Identifier: GPL-2.0
# What a suite of fsbench needs: include this before lib.mk, and after it add
#	$(TEST_GEN_PROGS): $(FSBENCH_SRCS)

FSBENCH_CFLAGS := -O2 -g
# __u64 is what %llu takes, on each architecture.
CFLAGS += -Wall $(FSBENCH_CFLAGS) -D__SANE_USERSPACE_TYPES__ $(KHDR_INCLUDES)
# The results say how the program was compiled.
CFLAGS += -DFSBENCH_CFLAGS='"$(subst ",,$(FSBENCH_CFLAGS) $(USERCFLAGS))"'
# Threads and semaphores are in a library of their own before glibc 2.34.
LDLIBS += -lm -lpthread

FSBENCH_SRCS := $(addprefix ../fsbench/,activity.c bench.c gate.c judge.c \
		machine.c measure.c memory.c options.c results.c scratch.c setup.c stats.c tasks.c)
LOCAL_HDRS += $(wildcard ../fsbench/*.h)
