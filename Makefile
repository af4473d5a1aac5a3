# dovetail - the whole build, one readable file. `make help` prints the targets.
#
# Sources are found by name: a new x.c is built, a new x_test.c is run, a new x_fuzz.c is fuzzed,
# and nobody edits a list. Variables that matter:
#   CC=gcc (default) or clang     MODE=release (default), debug, san, cover
#   DEFS=-DNAME=1 TAG=name        a variant with extra definitions in a build folder of its own
#   DOVETAIL_DATA=DIR             larger data for the tests that want it

MAKEFLAGS += --no-builtin-rules --no-print-directory
SHELL := /bin/sh
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all

ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(origin AR),default)
AR := ar
endif
MODE ?= release
PREFIX ?= /usr/local
CROSS ?= aarch64-linux-gnu-
QEMU ?= qemu-aarch64
PYTHON ?= python3
PKG_CONFIG ?= pkg-config
CLANG_FORMAT ?= clang-format
CLANG_TIDY ?= clang-tidy
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
VERSION := $(shell cat VERSION)

B := build/$(notdir $(CC))-$(MODE)$(if $(TAG),-$(TAG))

# ---- sources ------------------------------------------------------------------------------------

FOLDERS := $(wildcard core edge cmd tests)
FILES := $(if $(FOLDERS),$(shell find $(FOLDERS) -name '*.[ch]' | LC_ALL=C sort))
SISTERS := %_test.c %_fuzz.c %_bench.c
PLAIN := $(filter-out $(SISTERS),$(filter %.c,$(FILES)))

CORE_SRC := $(filter core/%,$(PLAIN))
EDGE_SRC := $(filter edge/%,$(PLAIN))
CMD_SRC := $(filter cmd/dovetail/%,$(PLAIN))
TEST_SRC := $(filter %_test.c,$(FILES))
FUZZ_SRC := $(filter %_fuzz.c,$(FILES))
BENCH_SRC := $(filter %_bench.c,$(FILES))

# tests/NAME/main.c makes a program of all files in that folder; every other file below tests/ is
# shared by the tests (the kit).
PROGRAMS := $(patsubst tests/%/main.c,%,$(filter tests/%/main.c,$(PLAIN)))
KIT_SRC := $(filter-out $(foreach p,$(PROGRAMS),$(filter tests/$(p)/%,$(PLAIN))),$(filter tests/%,$(PLAIN)))

# MODE=bare has the core and nothing else: tests and kit that do not speak of an edge or a command.
strangers = $(if $(1),$(shell grep -lE '^.include "(edge|cmd)/' $(1) /dev/null))
ifeq ($(MODE),bare)
TEST_SRC := $(filter-out $(call strangers,$(TEST_SRC)),$(filter core/%,$(TEST_SRC)))
KIT_SRC := $(filter-out $(call strangers,$(KIT_SRC)),$(KIT_SRC))
endif

# ---- flags --------------------------------------------------------------------------------------

WARN := -Wall -Wextra -Wpedantic -Werror -Wshadow -Wconversion -Wstrict-prototypes \
	-Wmissing-prototypes -Wvla -Wundef -Wcast-qual -Wwrite-strings -Wformat=2 -Wswitch-enum \
	-Wimplicit-fallthrough -Wdouble-promotion
IS_CLANG := $(findstring clang,$(notdir $(CC)))
ifeq ($(IS_CLANG),)
WARN += -Wlogical-op -Wduplicated-cond
endif

CFLAGS_ALL := -std=c17 $(WARN) -fno-common -fsigned-char -fno-omit-frame-pointer
CPPFLAGS_ALL := -I. -DDOVETAIL_VERSION='"$(VERSION)"' $(DEFS)

# Freestanding keeps the C library out of the core. GCC may still open-code memcpy and its kin,
# which row images of a fixed size need; tools/symbols.sh proves that nothing else came in.
CORE_FLAGS := -ffreestanding $(if $(IS_CLANG),,-fbuiltin)
EDGE_FLAGS := -D_GNU_SOURCE

ifeq ($(MODE),release)
CFLAGS_ALL += -O2 -g
ifeq ($(IS_CLANG),)
CFLAGS_ALL += -Wnull-dereference
endif
EDGE_FLAGS += -D_FORTIFY_SOURCE=2 -fstack-protector-strong
else ifeq ($(MODE),debug)
CFLAGS_ALL += -O0 -g
else ifeq ($(MODE),o3)
CFLAGS_ALL += -O3
else ifeq ($(MODE),san)
CFLAGS_ALL += -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all
LDFLAGS_ALL := -fsanitize=address,undefined
else ifeq ($(MODE),cover)
CFLAGS_ALL += -O0 -g --coverage
LDFLAGS_ALL := --coverage
else ifeq ($(MODE),fuzz)
CFLAGS_ALL += -O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
LDFLAGS_ALL := -fsanitize=address,undefined
else ifeq ($(MODE),bare)
CFLAGS_ALL += -O2 -g
CPPFLAGS_ALL += -Itests/bare
LDFLAGS_ALL := -static
else
$(error MODE=$(MODE) is unknown: release, debug, o3, san, cover, fuzz or bare)
endif
# Instrumentation makes compilers see conversions that the source does not have: warnings are judged
# in the plain modes.
ifneq ($(filter san cover fuzz,$(MODE)),)
CFLAGS_ALL += -w
endif
CFLAGS_ALL += $(CFLAGS)
LDFLAGS_ALL += $(LDFLAGS)

LIBRARIES := yajl yaml-0.1 zlib libcrypto expat
CPPFLAGS_LIB = $(shell $(PKG_CONFIG) --cflags $(LIBRARIES))
LDLIBS = $(shell $(PKG_CONFIG) --libs $(LIBRARIES)) -lm -pthread
LDLIBS_TEST = $(shell $(PKG_CONFIG) --libs cmocka)

# ---- objects, archives, programs ----------------------------------------------------------------

obj = $(patsubst %.c,$(B)/%.o,$(1))
OBJECTS := $(call obj,$(filter %.c,$(FILES)))
ARCHIVES := $(B)/libcmd.a $(B)/libkit.a $(B)/libedge.a $(B)/libcore.a
TESTS := $(patsubst %.c,$(B)/%,$(TEST_SRC))
BENCHES := $(patsubst %.c,$(B)/%,$(BENCH_SRC))
FUZZERS := $(patsubst %.c,$(B)/%,$(FUZZ_SRC))
TOOLS := $(PROGRAMS:%=$(B)/tests/%/main)

.PHONY: all
all: build/dovetail ## build ./build/dovetail (CC=gcc|clang MODE=release|debug|san|cover)

build/dovetail: $(B)/dovetail FORCE
	@cmp -s $< $@ || cp -f $< $@

.PHONY: FORCE
FORCE:

# Objects of the core and their tests differ in flags: the tests use the C library.
$(call obj,$(CORE_SRC)): FLAGS := $(CORE_FLAGS)
$(filter-out $(call obj,$(CORE_SRC)),$(OBJECTS)): FLAGS := $(EDGE_FLAGS)
# A test that follows a null pointer shows it by itself; gcc guesses too much here.
$(filter $(B)/tests/% %_test.o,$(OBJECTS)): FLAGS := $(EDGE_FLAGS) -Wno-null-dereference

$(B)/%.o: %.c Makefile VERSION
	@mkdir -p $(@D)
	@echo "  CC $<"
	@$(CC) $(CPPFLAGS_ALL) $(CFLAGS_ALL) $(FLAGS) -MMD -MP -c $< -o $@

$(B)/libcore.a: $(call obj,$(CORE_SRC))
$(B)/libedge.a: $(call obj,$(EDGE_SRC))
$(B)/libkit.a: $(call obj,$(KIT_SRC))
$(B)/libcmd.a: $(call obj,$(filter-out %/main.c,$(CMD_SRC)))
$(ARCHIVES): Makefile
	@mkdir -p $(@D)
	@rm -f $@ && $(AR) rcsD $@ $(filter %.o,$^)

LINK = $(CC) $(CFLAGS_ALL) -o $@ $(filter %.o,$^) -Wl,--start-group $(filter %.a,$^) \
	-Wl,--end-group $(LDFLAGS_ALL)

$(B)/dovetail: $(call obj,$(CMD_SRC)) $(B)/libedge.a $(B)/libcore.a
	@echo "  LD $@"
	@$(LINK) $(LDLIBS)

ifeq ($(MODE),bare)
$(TESTS): $(B)/%: $(B)/%.o $(B)/libkit.a $(B)/libcore.a
	@echo "  LD $@"
	@$(LINK)
else
$(TESTS): $(B)/%: $(B)/%.o $(ARCHIVES)
	@echo "  LD $@"
	@$(LINK) $(LDLIBS) $(LDLIBS_TEST)
endif
# Programs that speak of no edge need none: storm, small and digest build for arm64 too.
PURE := $(foreach p,$(PROGRAMS),$(if $(call strangers,$(filter tests/$(p)/%,$(PLAIN))),,$(p)))
$(PURE:%=$(B)/tests/%/main): $(B)/libkit.a $(B)/libcore.a
	@echo "  LD $@"
	@$(LINK)
$(filter-out $(PURE:%=$(B)/tests/%/main),$(TOOLS)): $(ARCHIVES)
	@echo "  LD $@"
	@$(LINK) $(LDLIBS)
$(foreach p,$(PROGRAMS),$(eval $(B)/tests/$(p)/main: $(call obj,$(filter tests/$(p)/%,$(PLAIN)))))

$(BENCHES): $(B)/%: $(B)/%.o $(ARCHIVES)
	@echo "  LD $@"
	@$(LINK) $(LDLIBS)

$(FUZZERS): $(B)/%: $(B)/%.o $(ARCHIVES)
	@echo "  LD $@"
	@$(LINK) -fsanitize=fuzzer $(LDLIBS)

-include $(OBJECTS:.o=.d)

# ---- tests --------------------------------------------------------------------------------------

# tests/NAME.sh, x_test.py, and the selftest.py of a tool.
SCRIPTS := $(filter-out tests/run.sh,$(wildcard tests/*.sh)) \
	$(wildcard tests/*_test.py tests/*/*_test.py tests/*/selftest.py)

.PHONY: tests unit test
tests: $(TESTS) $(TOOLS)

PICKED := $(if $(T),$(foreach t,$(TESTS),$(if $(findstring $(T),$(t)),$(t))),$(TESTS))
unit: $(PICKED) ## build and run the unit tests (T=part of a path runs some of them)
	@JOBS=$(JOBS) RUNNER="$(RUNNER)" tests/run.sh $(PICKED)

test: build/dovetail $(TESTS) $(TOOLS) ## build and run every test: units, scenarios, checks
	@JOBS=$(JOBS) BUILD=$(B) DOVETAIL=$(B)/dovetail PYTHON=$(PYTHON) \
		tests/run.sh $(TESTS) $(SCRIPTS)

# Both are against a search by brute force: all tiny worlds up to symmetry, and seeded small ones.
WORLDS ?= 100000
.PHONY: small
small: $(B)/tests/small/main ## the core against brute force on small worlds (WORLDS=100000)
	@$< --exhaustive
	@$< --first 1 --seeds $(WORLDS)

.PHONY: plants
plants: ## plants bugs into a copy of the tree and sees whether storm or small finds them (minutes)
	@tests/plant/run.sh

.PHONY: storm
storm: $(B)/tests/storm/main ## random worlds and faults (SECONDS=n | SEEDS=a-b | SEED=n)
	@$< $(if $(SEED),--seed $(SEED),$(if $(SEEDS),--seeds $(SEEDS),--seconds $(or $(SECONDS),20)))

.PHONY: fuzzers fuzz
fuzzers: $(FUZZERS)

fuzz: ## every fuzzer, FUZZ_SECONDS each (60), clang with ASan and UBSan
	@$(MAKE) CC=clang MODE=fuzz fuzzers
	@JOBS=$(JOBS) tools/fuzz.sh $(FUZZ_SECONDS) $(patsubst %.c,build/clang-fuzz/%,$(FUZZ_SRC))

# The C library of the cross compiler is there, cmocka and the edges' libraries are not: the tests
# of the core are linked with the stand-in of tests/bare.
.PHONY: arm64
arm64: ## the core and its tests for arm64, run under qemu
	@$(MAKE) CC=$(CROSS)gcc AR=$(CROSS)ar MODE=bare RUNNER="$(QEMU)" unit

# tests/digest runs fixed histories through the core and prints a digest for each.
.PHONY: digests digest
digest: $(B)/tests/digest/main
digests: ## the same digests from gcc -O0, -O2, -O3, clang and arm64
	@$(MAKE) CC=gcc MODE=debug digest
	@$(MAKE) CC=gcc MODE=release digest
	@$(MAKE) CC=gcc MODE=o3 digest
	@$(MAKE) CC=clang MODE=release digest
	@$(MAKE) CC=$(CROSS)gcc AR=$(CROSS)ar MODE=bare digest
	@build/gcc-debug/tests/digest/main >build/digest.want
	@for b in gcc-release gcc-o3 clang-release; do \
		build/$$b/tests/digest/main >build/digest.is; cmp build/digest.want build/digest.is && \
		echo "equal: $$b" || exit 1; done
	@$(QEMU) build/$(CROSS)gcc-bare/tests/digest/main >build/digest.is
	@cmp build/digest.want build/digest.is
	@echo "equal: arm64; $$(wc -l <build/digest.want) digests each"

.PHONY: cover
cover: ## run the unit tests with coverage; fails under 90 % of the core's lines
	@find build/gcc-cover -name '*.gcda' -delete 2>/dev/null || true
	@$(MAKE) CC=gcc MODE=cover unit
	@gcovr --root . --object-directory build/gcc-cover --filter 'core/' \
		--exclude '.*_(test|fuzz|bench)\.c' --exclude-unreachable-branches --sort-uncovered \
		--txt build/gcc-cover/cover.txt --html-details build/gcc-cover/cover.html \
		--print-summary --fail-under-line 90

# ---- figures ------------------------------------------------------------------------------------

.PHONY: bench quality gang-quality
bench: $(BENCHES) ## speed, beside a plain scan and the machine's floor; never a test
	@set -e; for b in $^; do echo "== $$b"; $$b; done

# QUALITY='--quick' is short; tools/quality.py --help has the rest.
quality: build/dovetail ## allocation by list and policy, beside published figures and bounds
	@$(PYTHON) tools/quality.py --jobs $(JOBS) $(QUALITY)

# GANGS='--quick' is short; tools/gang_quality.py --help has the rest.
gang-quality: build/dovetail ## waits, topology hits and goodput of gang workloads by policy and order
	@$(PYTHON) tools/gang_quality.py --jobs $(JOBS) $(GANGS)

# ---- lint ---------------------------------------------------------------------------------------

.PHONY: lint format lint-format lint-shape lint-symbols lint-analyzer lint-tidy lint-docs core tidy objects
lint: lint-format lint-shape lint-symbols lint-analyzer lint-tidy lint-docs ## form, floors, symbols, analyzers, docs

format: ## rewrite all sources with clang-format
	@$(CLANG_FORMAT) -i $(FILES)

lint-format:
	@echo "  LINT format"
	@$(CLANG_FORMAT) --dry-run -Werror $(FILES)

lint-shape:
	@echo "  LINT floors, shape"
	@awk -f tools/floors.awk $(FILES); floors=$$?; awk -f tools/tidy.awk $(FILES) && exit $$floors

core: $(B)/libcore.a
lint-symbols: $(B)/libcore.a
	@echo "  LINT symbols"
	@$(MAKE) CC=gcc MODE=release core
	@$(MAKE) CC=gcc MODE=debug core
	@$(MAKE) CC=clang MODE=release core
	@$(MAKE) CC=$(CROSS)gcc AR=$(CROSS)ar MODE=bare core
	@tools/symbols.sh build/gcc-release/libcore.a build/gcc-debug/libcore.a \
		build/clang-release/libcore.a build/$(CROSS)gcc-bare/libcore.a

# gcc 12's analyzer guesses too much about the out parameters of edges; the core passes it.
objects: $(call obj,$(CORE_SRC))
lint-analyzer:
	@echo "  LINT analyzer"
	@$(MAKE) CC=gcc MODE=release TAG=analyzer CFLAGS=-fanalyzer objects

# The product's files; tests have the compilers. A stamp per file leans on the object, which is rebuilt
# when any header of the file changes.
lint-tidy:
	@$(MAKE) CC=clang MODE=debug tidy
tidy: $(patsubst %.c,$(B)/%.tidy,$(CORE_SRC) $(EDGE_SRC) $(CMD_SRC))
$(B)/%.tidy: %.c $(B)/%.o .clang-tidy
	@echo "  TIDY $<"
	@$(CLANG_TIDY) --quiet $< -- -std=c17 $(CPPFLAGS_ALL) $(EDGE_FLAGS) >$@.txt 2>&1 \
		|| { cat $@.txt; exit 1; }
	@touch $@

lint-docs: build/dovetail
	@echo "  LINT docs"
	@tools/links.sh
	@rm -rf build/reference && mkdir -p build/reference
	@build/dovetail docs build/reference
	@for page in build/reference/*.md; do cmp -s $$page docs/reference/$${page##*/} || \
		{ echo "docs/reference/$${page##*/} is out of date: run make docs"; exit 1; }; done

.PHONY: docs
docs: build/dovetail ## write docs/reference/ from the tables in the code
	@mkdir -p docs/reference
	@build/dovetail docs docs/reference

# ---- the rest -----------------------------------------------------------------------------------

.PHONY: install dist clean help
install: build/dovetail ## into $(DESTDIR)$(PREFIX)
	install -D -m 755 build/dovetail $(DESTDIR)$(PREFIX)/bin/dovetail
	install -D -m 644 LICENSE $(DESTDIR)$(PREFIX)/share/doc/dovetail/LICENSE

dist: ## a source archive of the last commit: build/dovetail-VERSION.tar.gz
	@mkdir -p build
	git archive --format=tar.gz --prefix=dovetail-$(VERSION)/ -o build/dovetail-$(VERSION).tar.gz HEAD

clean: ## remove build/
	rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  %-9s %s\n", $$1, $$2 }' Makefile
