# The front door: installs what is missing, configures, builds, runs. The build itself is CMake's.
#
#   make          build everything into build/
#   make demo     the main job on a bundled sample, with report.html
#   make test     all tests; those that can race under ThreadSanitizer as well, memory under AddressSanitizer
#   make test-window   the window's tests under AddressSanitizer; not part of `make test`, since nearly everything is built for it
#   make test-analyzer the analyzer's and the store's tests under AddressSanitizer; likewise
#   make packages only install what is missing

SHELL := /bin/bash
.DEFAULT_GOAL := build
.PHONY: build demo test packages configure test-thread test-address test-window test-analyzer clean

PACKAGES := g++ cmake ninja-build make ccache libcli11-dev nlohmann-json3-dev libfmt-dev libsqlite3-dev \
            libboost-context-dev libpng-dev libpugixml-dev libtomlplusplus-dev zlib1g-dev libgtest-dev libgmock-dev \
            libimgui-dev libglfw3-dev libgl-dev libgl1-mesa-dri xvfb xdotool fonts-dejavu-core fonts-roboto-unhinted \
            python3 python3-jsonschema spin
# Installed where the distribution has them: the browser of the report's tests, which Ubuntu has as a snap only.
PACKAGES_IF_THERE := chromium

# What can race or handle memory by hand; built alone in the sanitizers' folders.
RACING_TARGETS := tests/protocol/all tests/samples/all wic_runtime_test wic_record_drain_test wic_devices_test \
                  wic_hazards_test wic_faults_test wic_channel_test
RACING_TESTS := ^(Ring|Session|Control|EventSink|Runtime|RecordDrain|EveryWay/Faults.*cpu_shared_watch|BothGroups/Faults.*cpu_|CpuDevice|ChannelTest|Simt/Requests|FlagHandoff|HotFlag.IsRight|CH3dTest.CountsItsMessages|SrsPipeline.(EveryWay|AStation))

CMAKE_FLAGS = -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo $(if $(shell command -v ccache),-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
JOBS := $(shell nproc)
CTEST := ctest --output-on-failure --timeout 300

# ThreadSanitizer of g++ 12 and 13 does not know address spaces as widely shuffled as today's kernels make them.
UNSHUFFLED = $(shell setarch $$(uname -m) -R true 2>/dev/null && echo setarch $$(uname -m) -R)

packages:
	@installed() { dpkg-query -W -f '$${Status}' "$$1" 2>/dev/null | grep -q '^install ok installed$$'; }; \
	root=(); [ "$$(id -u)" = 0 ] || root=(sudo); \
	missing=(); \
	for package in $(PACKAGES); do installed "$$package" || missing+=("$$package"); done; \
	if [ $${#missing[@]} -gt 0 ]; then "$${root[@]}" apt-get update || exit; fi; \
	for package in $(PACKAGES_IF_THERE); do \
	  installed "$$package" || ! apt-cache show "$$package" >/dev/null 2>&1 || missing+=("$$package"); \
	done; \
	if [ $${#missing[@]} -gt 0 ]; then \
	  echo "installing $${missing[*]}"; \
	  "$${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$${missing[@]}" < /dev/null; \
	fi

configure: packages
	cmake -S . -B build $(CMAKE_FLAGS)

build: configure
	cmake --build build -j $(JOBS)

demo: build
	build/bin/wic-prof demo -f

# The whole suite comes last, so that its closing lines are what one sees.
test: build test-thread test-address
	cd build && $(CTEST)

test-thread: packages
	cmake -S . -B build-tsan $(CMAKE_FLAGS) -DWIC_SANITIZE=thread -DWIC_CUDA=OFF -DWIC_BENCH=OFF
	$(UNSHUFFLED) cmake --build build-tsan -j $(JOBS) --target $(RACING_TARGETS)
	cd build-tsan && TSAN_OPTIONS=halt_on_error=1 $(UNSHUFFLED) $(CTEST) -R '$(RACING_TESTS)' --no-tests=error

test-address: packages
	cmake -S . -B build-asan $(CMAKE_FLAGS) -DWIC_SANITIZE=address,undefined -DWIC_CUDA=OFF -DWIC_BENCH=OFF
	cmake --build build-asan -j $(JOBS) --target tests/protocol/all wic_message_path_test \
	  $$(cmake --build build-asan --target help | grep -o '^collector_test' | head -n 1)
	cd build-asan && UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(CTEST) -R '^(Ring|Session|Control|SegmentTree|Pages/|Availability|Pending|EventBatch|Sources|Translate|NvtxRanges|BufferPool|RunDelay)' --no-tests=error

test-window: packages
	cmake -S . -B build-asan $(CMAKE_FLAGS) -DWIC_SANITIZE=address,undefined -DWIC_CUDA=OFF -DWIC_BENCH=OFF
	cmake --build build-asan -j $(JOBS) --target wic-prof gui_make_trace traced_app gui_view_test
	cd build-asan && export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 && bin/gui_view_test --gtest_brief=1 && \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/tests/gui/leaks.supp:print_suppressions=0 $(CTEST) --timeout 900 -R '^gui\.' --no-tests=error

test-analyzer: packages
	cmake -S . -B build-asan $(CMAKE_FLAGS) -DWIC_SANITIZE=address,undefined -DWIC_CUDA=OFF -DWIC_BENCH=OFF
	cmake --build build-asan -j $(JOBS) --target tests/analyzer/all tests/store/all
	cd build-asan && export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 && \
	  for test in bin/test_analyzer_* bin/store_*_test; do echo "== $$test" && timeout 600 $$test --gtest_brief=1 || exit 1; done

clean:
	rm -rf build build-tsan build-asan
