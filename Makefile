# SPDX-License-Identifier: GPL-2.0
#
# The front door: "make" lists the targets. Whatever is made is under build/.

ifneq ($(words $(CURDIR)),1)
$(error the kernel's Makefiles do not work below a directory with white space in its name: $(CURDIR))
endif

# Paths given by the user are relative to where make was typed, also with -C.
# PWD tells that place, but is believed only if -C may have been used: who
# starts make from a program in another directory often leaves it stale.
# (-C sets -w unless one of the other two flags is there.)
flags := $(filter-out -j% --jobserver% %=%,-$(MAKEFLAGS))
export CALLER_DIR := $(or $(if $(findstring w,$(flags))$(findstring s,$(flags)),$(PWD)),$(CURDIR))

# The kernel's Makefiles would build there instead.
unexport KBUILD_OUTPUT

# Not named in the recipes, because those run even with -n.
export MAKE

.NOTPARALLEL:
.PHONY: help run_tests build tree vm sandwich check check-kernels benchmark simulate patches clean

help:
	@echo 'make run_tests  build both suites with the kernel'"'"'s selftest Makefile and run them here'
	@echo 'make build      only build: the suites in build/linux, the tool build/fsbench'
	@echo 'make tree       only prepare the kernel tree build/linux'
	@echo 'make vm         both suites in a virtual machine, on KERNEL= or the newest of Debian'
	@echo 'make sandwich   CONTROL=bzImage PATCHED=bzImage, or PATCH=fix.patch [KSRC=DIR]: boots'
	@echo '                control, patched, control and judges; N=2 twice, ICOUNT=1 exactly'
	@echo 'make check      the tests of the project itself; TESTS="tests/a.t ..." for some of them'
	@echo 'make check-kernels  the tests for which kernels are built: half an hour'
	@echo 'make benchmark  how well it measures, next to the plainest loop'
	@echo 'make simulate   how often the judge of "fsbench sandwich" is right: some minutes'
	@echo 'make patches    the series to post, in build/patches'
	@echo 'make clean      remove build/'
	@echo 'KSRC=DIR uses that kernel tree; LLVM=1, USERCFLAGS= and FSBENCH_*= are passed on'

run_tests: build
	@scripts/run_tests.sh

build: tree
	@scripts/build.sh build/linux >&2

tree:
	@scripts/deps.sh run
	@scripts/ktree.sh build/linux "$$KSRC"

vm: build
	@scripts/deps.sh vm
	@scripts/vm.sh run

sandwich: build
	@scripts/deps.sh vm
	@scripts/vm.sh sandwich

check:
	@scripts/check.sh $(TESTS)

check-kernels: build
	@scripts/deps.sh vm build-kernel
	@FSBENCH_TOP=$(CURDIR) FSBENCH_BUILD=$(CURDIR)/build KTREE=$(CURDIR)/build/linux prove -v tests/kernels.sh

benchmark: build
	@FSBENCH_TOP=$(CURDIR) FSBENCH_BUILD=$(CURDIR)/build KTREE=$(CURDIR)/build/linux tests/benchmark.sh

simulate: tree
	@FSBENCH_TOP=$(CURDIR) FSBENCH_BUILD=$(CURDIR)/build tests/simulate.sh

patches: tree
	@scripts/patches.sh

clean:
	rm -rf build
