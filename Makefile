# The front door: installs what is missing, then configures, builds and runs by the presets of CMakePresets.json.
#
#   make                  build everything into build/
#   make demo             the main job on a bundled sample, with report.html; builds and installs only what that needs
#   make test             all tests
#   make test-sanitizers  what can race under ThreadSanitizer, what handles memory by hand under AddressSanitizer; make fuzz
#   make test-analyzer    analyzer, store, import, rewriter and reports under AddressSanitizer: before a release
#   make test-window      the window under AddressSanitizer: before a release
#   make fuzz             whatever parses foreign bytes, with inputs made by libFuzzer (clang-16)
#   make package          a .deb for the recorder, one for the window, and a relocatable .tar.gz, in build/packages
#   make aarch64          compile for aarch64 (Grace) by a cross compiler; nothing is linked
#   make test-old-root    the archive on a Debian 11, in a root that debootstrap makes (as root; half a minute, later less)
#   make packages         only install what building and testing need

SHELL := /bin/bash
.DEFAULT_GOAL := build
.PHONY: aarch64 build demo test test-sanitizers test-thread test-address test-analyzer test-window test-old-root fuzz package packages clean

DEMO_PACKAGES := g++ cmake ninja-build make libcli11-dev nlohmann-json3-dev libfmt-dev libsqlite3-dev libutfcpp-dev \
                 libboost-context-dev libprotozero-dev libpugixml-dev libtomlplusplus-dev zlib1g-dev libzstd-dev liblz4-dev
PACKAGES := $(DEMO_PACKAGES) ccache libpng-dev libgtest-dev libgmock-dev libimgui-dev libglfw3-dev libgl-dev \
            libgl1-mesa-dri libegl1 xvfb xdotool fonts-dejavu-core fonts-roboto-unhinted python3 python3-jsonschema \
            python3-prometheus-client python3-yaml spin clang-format-14 dpkg-dev file mandoc openmpi-bin libopenmpi-dev
# Of the sanitizers alone: g++ has no libFuzzer.
FUZZ_PACKAGES := clang-16 libclang-rt-16-dev
# Installed where the distribution has them: the browser of the report's tests, which Ubuntu has as a snap only.
PACKAGES_IF_THERE := chromium

# A clone in another folder finds what the compiler cache knows of the first.
export CCACHE_BASEDIR := $(CURDIR)
export CCACHE_NOHASHDIR := 1
export CCACHE_SLOPPINESS := pch_defines,time_macros

JOBS := $(shell nproc)
CACHED = $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache -DCMAKE_CUDA_COMPILER_LAUNCHER=ccache)
CONFIGURE = cmake $(CACHED) --preset
BUILD = cmake --build -j $(JOBS) --preset
# Two CPUs, which is what was tried on a busy machine, in halves (tests/CMakeLists.txt).
CTEST = ctest -j 4 --preset

# ThreadSanitizer of g++ 12 and 13 does not know address spaces as widely shuffled as today's kernels make them.
UNSHUFFLED = $(shell setarch $$(uname -m) -R true 2>/dev/null && echo setarch $$(uname -m) -R)

# $(call step,NAME,COMMAND): runs the command and tells how long it took, also to the file that WIC_STEPS names.
TOOK = echo "== $(1): $$((SECONDS - began)) s" | tee -a "$${WIC_STEPS:-/dev/null}"
define step
	@echo '$(2)'; began=$$SECONDS; $(2); status=$$?; $(call TOOK,$(1)); exit $$status
endef

# $(call install,PACKAGES,PACKAGES IF THERE)
define install
	@installed() { dpkg-query -W -f '$${Status}' "$$1" 2>/dev/null | grep -q '^install ok installed$$'; }; \
	root=(); [ "$$(id -u)" = 0 ] || root=(sudo); \
	missing=(); began=$$SECONDS; \
	for package in $(1); do installed "$$package" || missing+=("$$package"); done; \
	if [ $${#missing[@]} -gt 0 ]; then "$${root[@]}" apt-get update || exit; fi; \
	for package in $(2); do \
	  installed "$$package" || ! apt-cache show "$$package" >/dev/null 2>&1 || missing+=("$$package"); \
	done; \
	if [ $${#missing[@]} -gt 0 ]; then \
	  echo "installing $${missing[*]}"; \
	  "$${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$${missing[@]}" < /dev/null && \
	  $(call TOOK,packages); \
	fi
endef

packages:
	$(call install,$(PACKAGES),$(PACKAGES_IF_THERE))

build: packages
	$(call step,configure default,$(CONFIGURE) default)
	$(call step,build default,$(BUILD) default)

demo:
	$(call install,$(DEMO_PACKAGES),)
	$(CONFIGURE) default
	$(BUILD) demo
	build/bin/wic-prof demo -f

test: build
	$(call step,tests,$(CTEST) default)

test-sanitizers: test-thread test-address fuzz

test-thread: packages
	$(call step,configure thread,$(CONFIGURE) thread)
	$(call step,build thread,$(UNSHUFFLED) $(BUILD) thread)
	$(call step,tests thread,$(UNSHUFFLED) $(CTEST) thread)

# In the folder of the fuzz targets, which has most of the libraries.
test-address: packages
	$(call install,$(FUZZ_PACKAGES),)
	$(call step,configure fuzz,$(CONFIGURE) fuzz)
	$(call step,build address,$(BUILD) address)
	$(call step,tests address,$(CTEST) address)

# Whole programs at once: a process per test would start the sanitizer two thousand times.
test-analyzer: packages
	$(CONFIGURE) address
	$(BUILD) analyzer
	cd build-asan && export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 && \
	  for test in bin/test_analyzer_* bin/test_reports_* bin/test_rewriter_* bin/store_*_test; do echo "== $$test" && timeout 600 $$test --gtest_brief=1 || exit 1; done

test-window: packages
	$(CONFIGURE) address
	$(BUILD) window
	UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 build-asan/bin/gui_view_test --gtest_brief=1
	$(CTEST) window

# Objects alone: the libraries that they would be linked with are those of this machine.
AARCH64_OBJECTS = ninja -C build-aarch64 -t targets all | \
  sed -nE 's,^((CMakeFiles|protocol|code|rewriter|wic-backend|collector|store|analyzer|reports|cli)/.*\.o): .*,\1,p'
aarch64: packages
	$(call install,g++-aarch64-linux-gnu,)
	$(CONFIGURE) aarch64
	ninja -C build-aarch64 -j $(JOBS) $$($(AARCH64_OBJECTS))

test-old-root: build
	$(call install,debootstrap,)
	python3 -B tests/package/old_root_test.py build || [ $$? = 77 ]

# A fixed number of inputs for each target, half a minute in all.
fuzz: packages
	$(call install,$(FUZZ_PACKAGES),)
	$(call step,configure fuzz,$(CONFIGURE) fuzz)
	$(call step,build fuzz,$(BUILD) fuzz)
	$(call step,fuzz,python3 tests/fuzz/run.py build-fuzz/bin)

package: packages
	$(CONFIGURE) default -DWIC_MANY_GPUS=ON
	$(BUILD) default
	cd build && cpack

clean:
	rm -rf build build-debug build-tsan build-asan build-fuzz build-aarch64
