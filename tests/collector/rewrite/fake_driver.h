// A driver for tests of patched code: modules are the texts that were loaded. Each of its functions can be made to
// fail.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "collector/rewrite/door.h"
#include "collector/rewrite/load_steps.h"
#include "collector/rewrite/rewrite_driver.h"
#include "collector/sources/source.h"
#include "protocol/event_sink.h"
#include "rewriter/load/replacement.h"
#include "tests/protocol/ring_contents.h"
#include "tests/rewriter/made_fat_binary.h"

namespace wicprof::collector::fake_driver {

struct FakeDriver {
  std::set<std::string> failing;  // names of functions
  bool takes_replaced_images = true;
  bool takes_fat_binaries = true;  // those of CUDA compilers that are newer than the driver: no
  bool makes_callbacks = true;
  Door* door = nullptr;
  Source* source = nullptr;  // gets the callbacks of loads, as from CUPTI
  EventSink* sink = nullptr;
  bool obeys_limits = false;
  int local_bytes_of_limited = 0;
  int registers_of_patched = 20, registers = 18, most_threads_of_patched = 1024;
  std::map<std::string, int> local_bytes_of;  // of patched kernels, by name
  std::deque<std::pair<CUlibrary, std::string>> kernels;
  std::vector<std::string> images;  // all that was loaded
  std::map<CUlibrary, std::string> libraries;
  CUcontext context = reinterpret_cast<CUcontext>(0x10);
  std::uint64_t table[1024] = {};  // of a module in the device's memory: ModuleWords::sites and records come first
  std::size_t table_bytes = 128;
  bool copies_arrive = true;
  std::deque<std::vector<char>> memory;                           // of the host, in the order of the allocations
  std::vector<CUcontext> given_memory;                            // in which modules got their memory
  std::vector<std::pair<CUcontext, CUlibrary>> loaded_functions;  // one per kernel that was loaded, in order
  int loads = 0, unloads = 0, retained = 0;
  int devices = 1;
  std::set<CUdevice> used_devices;      // whose primary contexts exist
  std::set<CUdevice> retained_devices;  // at any time
  std::atomic<int> loads_with_options{0};
  std::chrono::milliseconds patched_takes{0};  // to be compiled
  std::mutex mutex;  // what a program loads is compiled on several threads; never held during callbacks
};

/// The driver of the test that runs.
extern FakeDriver* fake;
/// Of the calling thread.
extern thread_local std::vector<CUcontext> pushed_contexts;

/// The driver's functions, for the collector.
RewriteDriver functions();

/// CUPTI's callback of a call of the driver.
void deliver(CUpti_CallbackId id, CUpti_ApiCallbackSite site, const void* params, CUresult* result = nullptr);

/// As the driver under CUPTI: the callback at the entry sees the driver's copy of the arguments.
CUresult load_under_cupti(CUlibrary* library, const void* image);
/// Of a load that names a file. Returns what the driver's copy of the name is once the callbacks are over.
std::string load_file_under_cupti(CUlibrary* library, const char* file);

class RewriteTest : public ::testing::Test {
 protected:
  RewriteTest() { fake = &driver; }
  ~RewriteTest() override { fake = nullptr; }

  FakeDriver driver;
  const RewriteDriver api = functions();
  PlainRing ring_;
  EventSink sink_{ring_.ring()};
  const std::string ptx{rewriter::made::kPtx};
  LoadSteps steps;
  rewriter::Replacement replacement = rewriter::replacement_of(ptx, 90);
};

}  // namespace wicprof::collector::fake_driver
