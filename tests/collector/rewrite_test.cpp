// Loading patched code, with a driver of this test: each step that fails leaves the program with its own image.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collector/rewrite/code_cache.h"
#include "collector/rewrite/door.h"
#include "collector/rewrite/image_bytes.h"
#include "collector/rewrite/own_modules.h"
#include "collector/rewrite/patched_code.h"
#include "collector/rewrite/patched_modules.h"
#include "collector/rewrite/ptx_beside.h"
#include "collector/rewrite/trial.h"
#include "collector/sources/list.h"
#include "protocol/events/notice.h"
#include "protocol/events/site.h"
#include "rewriter/images/device_code.h"
#include "rewriter/images/fat_binary.h"
#include "rewriter/patch/limit.h"
#include "rewriter/patch/patch.h"
#include "tests/protocol/ring_contents.h"
#include "tests/rewriter/made_fat_binary.h"

namespace wicprof::collector {
namespace {

// The driver of this test: modules are the texts that were loaded.
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
  std::uint64_t table[2] = {0, 0};       // ModuleWords::sites and records
  std::deque<std::vector<char>> memory;  // of the host, in the order of the allocations
  std::vector<CUcontext> given_memory;   // in which modules got their memory
  int loads = 0, unloads = 0, retained = 0;
  std::atomic<int> loads_with_options{0};
  std::chrono::milliseconds patched_takes{0};  // to be compiled
  std::mutex mutex;  // what a program loads is compiled on several threads; never held during callbacks
};
FakeDriver* fake = nullptr;

thread_local std::vector<CUcontext> pushed_contexts;
CUcontext current_context() { return pushed_contexts.empty() ? fake->context : pushed_contexts.back(); }

/// The texts of this test, or the bytes of a fat binary.
std::string bytes_of(const void* image) {
  const auto* const text = static_cast<const char*>(image);
  if (!rewriter::begins_as_fat_binary(std::string_view(text, 4))) return text;
  return std::string(image_at(image));
}
bool takes(const void* image) {
  return fake->takes_fat_binaries ||
         !rewriter::begins_as_fat_binary(std::string_view(static_cast<const char*>(image), 4));
}

CUlibrary keep(const std::string& text) {
  if (text.find("__wic_sites") != std::string::npos) std::this_thread::sleep_for(fake->patched_takes);
  const std::lock_guard lock(fake->mutex);
  const auto library = reinterpret_cast<CUlibrary>(static_cast<std::uintptr_t>(++fake->loads));
  fake->libraries[library] = text;
  fake->images.push_back(text);
  return library;
}
const std::string& text_of(CUlibrary library) {
  const std::lock_guard lock(fake->mutex);
  return fake->libraries[library];
}

CUresult unless(const char* name) { return fake->failing.contains(name) ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS; }

void deliver(CUpti_CallbackId id, CUpti_ApiCallbackSite site, const void* params, CUresult* result = nullptr) {
  CUpti_CallbackData data{};
  data.callbackSite = site;
  data.functionParams = params;
  data.functionReturnValue = result;
  data.context = fake->context;
  if (fake->makes_callbacks) fake->source->callback(CUPTI_CB_DOMAIN_DRIVER_API, id, data, *fake->sink);
}

/// As the driver under CUPTI: the callback at the entry sees the driver's copy of the arguments.
CUresult load_under_cupti(CUlibrary* library, const void* image) {
  cuLibraryLoadData_params params{};
  params.library = library;
  params.code = image;
  deliver(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, CUPTI_API_ENTER, &params);
  if (fake->takes_replaced_images) image = params.code;
  const std::string text = bytes_of(image);
  CUresult result = CUDA_SUCCESS;
  const bool patched = text.find("__wic_sites") != std::string::npos;
  if (!takes(image) || fake->failing.contains("load") || (patched && fake->failing.contains("load_patched"))) {
    result = CUDA_ERROR_INVALID_PTX;
  } else {
    *library = keep(text);
  }
  deliver(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, CUPTI_API_EXIT, &params, &result);
  return result;
}

RewriteDriver functions() {
  RewriteDriver api;
  api.library_load = [](CUlibrary* library, const void* image, CUjit_option*, void**, unsigned options,
                        CUlibraryOption*, void**, unsigned) {
    if (options != 0 && unless("options") != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
    fake->loads_with_options += options != 0 ? 1 : 0;
    if (fake->source != nullptr) return load_under_cupti(library, image);
    if (const CUresult result = unless("load"); result != CUDA_SUCCESS) return result;
    if (fake->door != nullptr && fake->makes_callbacks) {
      const void* const answer = fake->door->answer(image);
      if (answer != nullptr && fake->takes_replaced_images) image = answer;
    }
    if (!takes(image)) return CUDA_ERROR_NO_BINARY_FOR_GPU;
    const std::string text = bytes_of(image);
    if (text.find("__wic_sites") != std::string::npos && unless("load_patched") != CUDA_SUCCESS) {
      return CUDA_ERROR_INVALID_PTX;
    }
    *library = keep(text);
    return CUDA_SUCCESS;
  };
  api.library_unload = [](CUlibrary library) {
    const std::lock_guard lock(fake->mutex);
    ++fake->unloads;
    fake->libraries.erase(library);
    return CUDA_SUCCESS;
  };
  api.library_kernel = [](CUkernel* kernel, CUlibrary library, const char* name) {
    if (text_of(library).find(name) == std::string::npos) return CUDA_ERROR_NOT_FOUND;
    const std::lock_guard lock(fake->mutex);
    *kernel = reinterpret_cast<CUkernel>(&fake->kernels.emplace_back(library, name));
    return unless("kernel");
  };
  api.kernel_attribute = [](int* value, CUfunction_attribute which, CUkernel kernel, CUdevice) {
    const auto& [library, name] = *reinterpret_cast<const std::pair<CUlibrary, std::string>*>(kernel);
    std::string text = text_of(library);
    text = text.substr(text.find(" " + name + "("));
    text = text.substr(0, text.find(".entry"));
    const bool patched = text.find("__wic_state") != std::string::npos;
    const bool limited = fake->obeys_limits && text.find(".maxnreg 32\n") != std::string::npos;
    *value = 0;
    if (which == CU_FUNC_ATTRIBUTE_NUM_REGS) {
      *value = limited ? 32 : patched ? fake->registers_of_patched : fake->registers;
    }
    if (which == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES && limited) *value = fake->local_bytes_of_limited;
    if (which == CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES && patched && fake->local_bytes_of.contains(name)) {
      *value = fake->local_bytes_of.at(name);
    }
    if (which == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK) *value = patched ? fake->most_threads_of_patched : 1024;
    return unless("attribute");
  };
  api.library_global = [](CUdeviceptr* address, std::size_t* bytes, CUlibrary, const char*) {
    *address = reinterpret_cast<CUdeviceptr>(fake->table);
    *bytes = 128;
    return unless("global");
  };
  api.module_global = [](CUdeviceptr* address, std::size_t* bytes, CUmodule, const char*) {
    *address = reinterpret_cast<CUdeviceptr>(fake->table);
    *bytes = 128;
    return unless("global");
  };
  api.host_alloc = [](void** memory, std::size_t bytes, unsigned) {
    const std::lock_guard lock(fake->mutex);
    *memory = fake->memory.emplace_back(bytes, '\xff').data();
    return unless("alloc");
  };
  api.device_pointer = [](CUdeviceptr* address, void* memory, unsigned) {
    *address = reinterpret_cast<CUdeviceptr>(memory);
    return unless("pointer");
  };
  api.create_stream = [](CUstream* stream, unsigned) {
    *stream = nullptr;
    return unless("stream");
  };
  api.copy_to_device = [](CUdeviceptr to, const void* from, std::size_t bytes, CUstream) {
    if (unless("copy") != CUDA_SUCCESS) return CUDA_ERROR_INVALID_VALUE;
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    fake->given_memory.push_back(current_context());
    return CUDA_SUCCESS;
  };
  api.synchronize = [](CUstream) { return unless("synchronize"); };
  api.current_context = [](CUcontext* context) {
    *context = current_context();
    return CUDA_SUCCESS;
  };
  api.current_device = [](CUdevice* device) {
    *device = 0;
    return CUDA_SUCCESS;
  };
  api.device_count = [](int* count) {
    *count = 1;
    return CUDA_SUCCESS;
  };
  api.device_attribute = [](int* value, CUdevice_attribute, CUdevice) {
    *value = 9;
    return CUDA_SUCCESS;
  };
  api.retain_primary = [](CUcontext* context, CUdevice) {
    ++fake->retained;
    *context = reinterpret_cast<CUcontext>(0x20);
    return unless("retain");
  };
  api.release_primary = [](CUdevice) {
    --fake->retained;
    return CUDA_SUCCESS;
  };
  api.push_context = [](CUcontext context) {
    pushed_contexts.push_back(context);
    return CUDA_SUCCESS;
  };
  api.pop_context = [](CUcontext*) {
    pushed_contexts.pop_back();
    return CUDA_SUCCESS;
  };
  api.exchange_capture_mode = [](CUstreamCaptureMode*) { return CUDA_SUCCESS; };
  api.launch = [](CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void**,
                  void**) { return unless("launch"); };
  return api;
}

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

// Kept until the end: the thread of a door may outlive a test.
Door& new_door() {
  static std::vector<std::unique_ptr<Door>> doors;
  fake->door = doors.emplace_back(std::make_unique<Door>()).get();
  return *fake->door;
}

TEST_F(RewriteTest, TheDoorIsOpenWhereTheDriverTakesOurImage) {
  EXPECT_EQ(new_door().problem(api), "");
  EXPECT_EQ(driver.loads, 1);
  EXPECT_EQ(driver.unloads, 1);
  EXPECT_EQ(fake->door->problem(api), "");
  EXPECT_EQ(driver.loads, 1);  // asked once
}

TEST_F(RewriteTest, TheDoorAsksWithPtxWhereOurMachineCodeIsTooNew) {
  driver.takes_fat_binaries = false;
  EXPECT_EQ(new_door().problem(api), "");
  ASSERT_EQ(driver.images.size(), 1u);
  EXPECT_EQ(driver.images[0], answer_module().ptx);
}

TEST_F(RewriteTest, OurModulesAreTheSameKernelsInBothForms) {
  for (const auto& [module, kernel] :
       {std::pair{asked_module(), "__wic_asked"}, {answer_module(), "__wic_answer"}, {clock_module(), "__wic_clock"}}) {
    EXPECT_NE(std::string(module.ptx).find(std::string(".visible .entry ") + kernel + "("), std::string::npos);
    if (module.machine_code == nullptr) continue;  // built without a CUDA compiler
    const Result<rewriter::DeviceCode> code = rewriter::read_device_code(image_at(module.machine_code));
    ASSERT_TRUE(code);
    std::set<int> architectures;
    for (const rewriter::FatEntry& each : code->entries) {
      EXPECT_EQ(each.kind, rewriter::ImageKind::cubin);
      EXPECT_EQ(*rewriter::kernels_of(each), std::vector<std::string>{kernel});
      architectures.insert(static_cast<int>(each.architecture));
    }
    EXPECT_TRUE(architectures.contains(90));
    EXPECT_EQ(architectures.size(), code->entries.size());
  }
}

TEST_F(RewriteTest, TheDoorIsClosedWhereAnythingFails) {
  driver.takes_replaced_images = false;
  EXPECT_NE(new_door().problem(api).find("does not take"), std::string::npos);
  driver.makes_callbacks = false;
  EXPECT_NE(new_door().problem(api).find("no callback"), std::string::npos);
  driver.failing = {"load"};
  EXPECT_NE(new_door().problem(api).find("refused"), std::string::npos);
  RewriteDriver old = api;
  old.library_load = nullptr;
  EXPECT_NE(new_door().problem(old).find("older"), std::string::npos);
}

TEST_F(RewriteTest, AnImageIsReplacedWhereItsPtxWaits) {
  ASSERT_FALSE(replacement.text.empty());
  EXPECT_EQ(replacement.unpatched, ptx);
  ASSERT_EQ(replacement.sites.size(), 1u);
  EXPECT_EQ(replacement.sites[0].function, "waits");
  EXPECT_EQ(replacement.kernels, std::vector<std::string>{"waits"});
  using namespace rewriter::made;
  const auto why = [](const std::string& image, int architecture) {
    const rewriter::Replacement of = rewriter::replacement_of(image, architecture);
    return of.text.empty() ? "left alone: " + of.left_alone : "patched";
  };
  using rewriter::Compression;
  EXPECT_EQ(why(container(entry(2, cubin({"waits"}), Compression::zstd) + entry(1, ptx, Compression::zstd)), 90),
            "patched");
  EXPECT_NE(why(container(entry(2, cubin({"waits"}), Compression::none)), 90).find("machine code only"),
            std::string::npos);
  EXPECT_NE(why(container(entry(2, cubin({"waits"}), Compression::none) + entry(1, ptx, Compression::none, 80)), 90)
                .find("sm_80"),
            std::string::npos);
  EXPECT_NE(why(container(entry(1, ptx, Compression::none, 90, "-maxrregcount=32")), 90).find("maxrregcount"),
            std::string::npos);
  EXPECT_EQ(why(container(entry(1, ptx, Compression::none, 100)), 90), "left alone: ");
  std::string of_wic = ptx;
  of_wic.replace(of_wic.find("waits"), 5, "_ZN3wic5waitsEv");
  EXPECT_NE(why(of_wic, 90).find("through wic"), std::string::npos);
  EXPECT_NE(why(ptx + "nonsense", 90).find("not understood"), std::string::npos);
}

TEST_F(RewriteTest, TheTrialLetsAnImagePassThatNeedsNoMore) {
  EXPECT_EQ(try_replacement(api, ptx.c_str(), replacement, 0, steps), "");
  EXPECT_EQ(driver.loads, driver.unloads);
}

TEST_F(RewriteTest, ALimitForItsRegistersKeepsTheWarpsOfAKernel) {
  const std::string unlimited = replacement.text;
  driver.registers_of_patched = 44;
  EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps),
            "");  // a driver that takes no notice of the limit
  replacement.text = unlimited;
  driver.obeys_limits = true;
  EXPECT_EQ(try_replacement(api, ptx.c_str(), replacement, 0, steps), "");
  EXPECT_NE(replacement.text.find(".maxnreg 32\n"), std::string::npos);
  EXPECT_EQ(rewriter::strip(replacement.text), rewriter::strip(unlimited));
  replacement.text = unlimited;
  driver.local_bytes_of_limited = 152;  // what does not fit goes to local memory
  EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps).find("local memory"), std::string::npos);
  EXPECT_EQ(registers_for(64), 32);
  EXPECT_EQ(registers_for(51), 40);
  EXPECT_EQ(registers_for(8), 256);
}

TEST_F(RewriteTest, TheTrialKeepsTheOriginalWhereAnythingFails) {
  for (const char* step : {"load", "load_patched", "kernel", "attribute"}) {
    driver.failing = {step};
    EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps), "") << step;
    EXPECT_EQ(driver.loads, driver.unloads) << step;
  }
  driver.failing.clear();
  driver.registers_of_patched = 72;
  EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps).find("registers from 18 to 72"),
            std::string::npos);
  driver.registers_of_patched = driver.registers = 40;
  driver.most_threads_of_patched = 512;
  EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps).find("threads per block"), std::string::npos);
}

TEST_F(RewriteTest, TheTrialBorrowsAContextOnlyWhereThereIsNone) {
  driver.context = nullptr;
  EXPECT_EQ(try_replacement(api, ptx.c_str(), replacement, 0, steps), "");
  EXPECT_EQ(driver.retained, 0);
  driver.failing = {"retain", "attribute"};
  driver.retained = 0;
  EXPECT_NE(try_replacement(api, ptx.c_str(), replacement, 0, steps), "");
}

TEST_F(RewriteTest, RegistersCountWhereFewerWarpsFit) {
  EXPECT_EQ(resident_warps({.registers = 16}), 64);
  EXPECT_EQ(resident_warps({.registers = 32}), 64);
  EXPECT_EQ(resident_warps({.registers = 33}), 51);
  EXPECT_EQ(worse_needs({.registers = 10, .most_threads = 1024}, {.registers = 30, .most_threads = 1024}), "");
  EXPECT_NE(worse_needs({.registers = 32, .most_threads = 1024}, {.registers = 40, .most_threads = 1024}), "");
  EXPECT_EQ(worse_needs({.local_bytes = 8}, {.local_bytes = 72}), "");
  EXPECT_NE(worse_needs({.local_bytes = 8}, {.local_bytes = 96}), "");
  // Whose looks are calls of a function, with what that keeps there.
  EXPECT_EQ(worse_needs({.local_bytes = 8}, {.local_bytes = 152}, true), "");
  EXPECT_NE(worse_needs({.local_bytes = 8}, {.local_bytes = 160}, true), "");
  EXPECT_NE(worse_needs({.shared_bytes = 0}, {.shared_bytes = 8}), "");
}

TEST_F(RewriteTest, ModulesGetTheirMemoryAndFollowTheSession) {
  ControlBlock control{};
  PatchedModules modules(&control);
  EXPECT_FALSE(modules.unbound(driver.context));
  const auto names = modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  ASSERT_EQ(names.size(), 1u);
  EXPECT_TRUE(modules.unbound(driver.context));
  const std::uint32_t number = find_site(control, names[0].c_str());
  EXPECT_NE(number, 0u);
  driver.context = nullptr;
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.table[0], 0u);  // without a context nothing happens
  driver.context = reinterpret_cast<CUcontext>(0x10);
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_FALSE(modules.unbound(driver.context));
  ASSERT_EQ(driver.table[0], reinterpret_cast<std::uint64_t>(driver.memory.front().data()));
  auto* const words = reinterpret_cast<rewriter::SiteWords*>(driver.memory.front().data());
  EXPECT_EQ(words[0].control, 0u);

  request_wait(control, 0, {Mode::park, StrategyId::backoff});
  EXPECT_TRUE(modules.follow_session());
  EXPECT_EQ(words[0].control, rewriter::kLongestPause);
  request_wait(control, number, {Mode::poll, StrategyId::poll});
  EXPECT_TRUE(modules.follow_session());
  EXPECT_EQ(words[0].control, 0u);
  EXPECT_FALSE(modules.follow_session());

  modules.record(true);
  EXPECT_EQ(words[0].control, rewriter::kRecord);
  request_wait(control, number, {Mode::park, StrategyId::backoff});
  EXPECT_TRUE(modules.follow_session());
  EXPECT_EQ(words[0].control, rewriter::kRecord | rewriter::kLongestPause);
  const Delivered delivered = ring_.read();
  ASSERT_EQ(delivered.all<SiteEvent>().size(), 1u);
  EXPECT_EQ(delivered.text(delivered.all<SiteEvent>()[0].name), names[0]);
  EXPECT_EQ(delivered.all<SiteEvent>()[0].site, PatchedModules::kFirstSite);
}

TEST_F(RewriteTest, AModuleWithoutItsMemoryGoesOnPolling) {
  for (const char* step : {"alloc", "pointer", "stream", "global", "copy", "synchronize"}) {
    driver.failing = {step};
    driver.table[0] = 0;
    PatchedModules modules(nullptr);
    modules.add(replacement, nullptr, reinterpret_cast<CUmodule>(1), sink_);
    EXPECT_NE(modules.bind(api, sink_), "") << step;
    const bool written = std::string(step) == "synchronize";  // the last step
    EXPECT_EQ(driver.table[0] != 0, written) << step;
    EXPECT_EQ(modules.bind(api, sink_), "") << step;  // a failure is named once
  }
}

TEST_F(RewriteTest, AContextThatComesAgainGetsMemoryOfItsOwn) {
  PatchedModules modules(nullptr);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  modules.context_ends(driver.context, sink_);
  driver.table[0] = 0;
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_NE(driver.table[0], 0u);
}

TEST_F(RewriteTest, AllContextsGetTheirMemoryBeforeOneLaunches) {
  auto* const first = driver.context;
  auto* const second = reinterpret_cast<CUcontext>(0x11);
  auto* const third = reinterpret_cast<CUcontext>(0x12);
  PatchedModules modules(nullptr);
  for (CUcontext context : {first, second}) modules.context_begins(context);
  modules.add(replacement, reinterpret_cast<CUlibrary>(1), nullptr, sink_);
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.given_memory, (std::vector{first, second}));
  EXPECT_FALSE(modules.unbound(first));
  EXPECT_TRUE(pushed_contexts.empty());
  // A module is in one context only.
  modules.add(replacement, nullptr, reinterpret_cast<CUmodule>(1), sink_, second);
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.given_memory, (std::vector{first, second, second}));
  modules.context_ends(second, sink_);
  modules.context_begins(third);
  EXPECT_TRUE(modules.unbound(first));
  EXPECT_EQ(modules.bind(api, sink_), "");
  EXPECT_EQ(driver.given_memory, (std::vector{first, second, second, third}));
}

// Rounds of the thread that reads the waits and takes readings of the clock.
std::atomic<int> rounds{0};

TEST_F(RewriteTest, ReadingGoesOnWhileTheDriverMakesAModuleWait) {
  // The driver may wait for the clock's kernel, which waits for its reading.
  RewriteDriver waiting = api;
  waiting.synchronize = [](CUstream) {
    const TimeNs until = now_ns() + 20'000 * kMillisecond;
    const int before = rounds;
    while (rounds < before + 3) {
      if (now_ns() > until) return CUDA_ERROR_LAUNCH_TIMEOUT;
      std::this_thread::yield();
    }
    return CUDA_SUCCESS;
  };
  ControlBlock control{};
  PatchedModules modules(&control);
  std::atomic<bool> ends{false};
  std::thread thread([&] {
    while (!ends) {
      modules.take_clocks(sink_);
      modules.request_clocks(waiting);
      modules.follow_session();
      modules.read_waits(sink_);
      modules.look_at_words(&waiting, sink_);
      ++rounds;
    }
  });
  for (const std::uintptr_t library : {1, 2}) {
    modules.add(replacement, reinterpret_cast<CUlibrary>(library), nullptr, sink_);
    EXPECT_EQ(modules.bind(waiting, sink_), "");
    EXPECT_FALSE(modules.unbound(driver.context));
  }
  // Nor does it meet what is being taken away.
  modules.unloaded(reinterpret_cast<CUlibrary>(1), nullptr);
  modules.context_ends(driver.context, sink_);
  EXPECT_EQ(modules.bind(waiting, sink_), "");
  ends = true;
  thread.join();
}

// The program loads its module while the source gets the callbacks; what the program then has.
class RewriteSource : public RewriteTest {
 protected:
  RewriteSource() {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");  // nothing is kept
    driver.sink = &sink_;
    source_ = make_rewrite(&control_, api);
    driver.source = source_.get();
  }
  ~RewriteSource() override {
    if (!home_.empty()) setenv("HOME", home_.c_str(), 1);
  }
  std::string loaded(const std::string& image) {
    CUlibrary library = nullptr;
    if (load_under_cupti(&library, image.c_str()) != CUDA_SUCCESS) return "refused";
    return driver.libraries[library];
  }

  /// With the limit that a kernel with few values is likely to need.
  std::string patched() const { return *rewriter::limit_registers(replacement.text, {{"waits", 32}}); }

  const std::string home_ = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  ControlBlock control_{};
  std::unique_ptr<Source> source_;
};

TEST_F(RewriteSource, TheProgramGetsThePatchedImage) {
  EXPECT_EQ(loaded(ptx), patched());
  EXPECT_EQ(driver.table[0], reinterpret_cast<std::uint64_t>(driver.memory.front().data()));
  EXPECT_EQ(driver.loads - driver.unloads, 2);  // the program's own, and the clock's
  EXPECT_EQ(attached_runtimes(control_), 1u);
  source_->finish(sink_);
  EXPECT_EQ(attached_runtimes(control_), 0u);
}

TEST_F(RewriteSource, WithoutAContextTheMemoryComesBeforeTheFirstLaunch) {
  driver.context = nullptr;
  EXPECT_EQ(loaded(ptx), patched());
  EXPECT_EQ(driver.table[0], 0u);
  driver.context = reinterpret_cast<CUcontext>(0x10);
  const cuLaunchKernel_params launch{};
  deliver(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, CUPTI_API_ENTER, &launch);
  EXPECT_NE(driver.table[0], 0u);
  source_->finish(sink_);
}

TEST_F(RewriteSource, CopiesThatGoIntoAGraphAreNoWrites) {
  // Of the program's copies, those that run now are kept for the words of patched loops.
  RewriteDriver capturing = api;
  capturing.is_capturing = [](CUstream stream, CUstreamCaptureStatus* status) {
    *status = stream == reinterpret_cast<CUstream>(2) ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  };
  source_ = make_rewrite(&control_, capturing);
  driver.source = source_.get();
  EXPECT_EQ(loaded(ptx), patched());
  std::uint32_t word = 0, value = 5;
  CUresult result = CUDA_SUCCESS;
  for (const std::uintptr_t stream : {1, 2}) {
    cuMemcpyHtoDAsync_v2_params copy{};
    copy.dstDevice = reinterpret_cast<CUdeviceptr>(&word);
    copy.srcHost = &value;
    copy.ByteCount = sizeof word;
    copy.hStream = reinterpret_cast<CUstream>(stream);
    deliver(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, CUPTI_API_ENTER, &copy, &result);
    deliver(CUPTI_DRIVER_TRACE_CBID_cuMemcpyHtoDAsync_v2, CUPTI_API_EXIT, &copy, &result);
  }
  WordWriters::of_process().polled({reinterpret_cast<std::uint64_t>(&word), 4096, 77, false});
  {
    EventBatch batch(sink_);
    WordWriters::of_process().write_signals(batch, now_ns(), 0);
  }
  EXPECT_EQ(ring_.read().all<SignalEvent>().size(), 1u);
  source_->finish(sink_);
}

TEST_F(RewriteSource, TheProgramGetsItsOwnImageWhereAnyStepFails) {
  const auto gets_its_own = [&](const char* step, const std::string& image) {
    source_ = make_rewrite(&control_, api);
    driver.source = source_.get();
    EXPECT_EQ(loaded(image), image) << step;
    EXPECT_EQ(driver.loads - driver.unloads, 1) << step;
    driver.loads = driver.unloads = 0;
    EXPECT_EQ(attached_runtimes(control_), 0u) << step;
    source_->finish(sink_);
  };
  for (const char* step : {"load_patched", "kernel", "attribute"}) {
    driver.failing = {step};
    gets_its_own(step, ptx);
  }
  driver.failing.clear();
  driver.registers_of_patched = 200;
  gets_its_own("registers", ptx);
  driver.registers_of_patched = 20;
  driver.takes_replaced_images = false;
  gets_its_own("door", ptx);
  driver.takes_replaced_images = true;
  gets_its_own("syntax", ptx + "nonsense");
  // Each step has its reason in the trace.
  const Delivered delivered = ring_.read();
  std::string reasons;
  for (const NoticeEvent& notice : delivered.all<NoticeEvent>()) reasons += delivered.text(notice.text) + "\n";
  for (const char* reason :
       {"refused the patched PTX", "could not be compared", "from 18 to 200", "does not take", "not understood"}) {
    EXPECT_NE(reasons.find(reason), std::string::npos) << reason << " in\n" << reasons;
  }
}

// What the driver compiled of the program's module: the texts that it loaded, in their order, with the program's own.
std::vector<std::string> compilations() {
  std::vector<std::string> texts;
  for (const std::string& image : fake->images) {
    if (image.find("waits") != std::string::npos && image.starts_with(".version")) texts.push_back(image);
  }
  return texts;
}

class RewriteCache : public RewriteTest {
 protected:
  RewriteCache() : folder(std::filesystem::path(testing::TempDir()) / ("rewrite_cache." + std::to_string(getpid()))) {}
  ~RewriteCache() override { std::filesystem::remove_all(folder); }
  const std::filesystem::path folder;
};

TEST_F(RewriteCache, CodeIsCompiledOnceAndFoundByItsContent) {
  const CodeCache cache(folder);
  const CodeTarget target{0, 90};
  const std::string key = cache_key(api, ptx, target);
  const auto made = patched_code_of(api, cache, key, ptx.c_str(), ptx, target, steps);
  ASSERT_EQ(made.sites.size(), 1u);
  EXPECT_EQ(compilations().size(), 1u);
  const auto again = patched_code_of(api, cache, key, ptx.c_str(), ptx, target, steps);
  EXPECT_EQ(again.sites.at(0).wanted, made.sites.at(0).wanted);
  EXPECT_EQ(again.sites.at(0).knows_word, made.sites.at(0).knows_word);
  ASSERT_EQ(again.stores.size(), made.stores.size());
  for (std::size_t i = 0; i < made.stores.size(); ++i) EXPECT_EQ(again.stores[i].targets, made.stores[i].targets);
  EXPECT_EQ(compilations().size(), 1u);
  EXPECT_EQ(again.text, made.text);
  EXPECT_EQ(again.table, made.table);
  ASSERT_EQ(again.sites.size(), 1u);
  EXPECT_EQ(again.sites[0].function, made.sites[0].function);
  EXPECT_NE(cache_key(api, ptx + " ", target), key);
  EXPECT_NE(cache_key(api, ptx, CodeTarget{0, 80}), key);
}

TEST_F(RewriteCache, AKernelWithFewValuesIsCompiledOnceWithTheLimitThatItNeeds) {
  driver.registers_of_patched = 44;
  driver.obeys_limits = true;
  EXPECT_EQ(replacement.small_kernels, std::set<std::string>{"waits"});
  const auto made = patched_code_of(api, CodeCache(folder), "few", ptx.c_str(), ptx, {0, 90}, steps);
  EXPECT_FALSE(made.text.empty()) << made.left_alone;
  EXPECT_EQ(compilations().size(), 1u);
  // One with many is compiled again, when the original's registers are known.
  std::string many = ptx;
  many.insert(many.find("{") + 1, "\n.reg .b32 %many<100>;\n");
  EXPECT_TRUE(rewriter::replacement_of(many, 90).small_kernels.empty());
  const auto again = patched_code_of(api, CodeCache(folder), "many", many.c_str(), many, {0, 90}, steps);
  EXPECT_FALSE(again.text.empty()) << again.left_alone;
  EXPECT_EQ(compilations().size(), 4u);  // with the original
}

TEST_F(RewriteCache, TheOriginalIsNotCompiledWhereItsNeedsDoNotCount) {
  driver.registers_of_patched = 32;
  const auto fits = patched_code_of(api, CodeCache(folder), "fits", ptx.c_str(), ptx, {0, 90}, steps);
  EXPECT_FALSE(fits.text.empty()) << fits.left_alone;
  EXPECT_EQ(compilations().size(), 1u);
  // A kernel that takes more than any kernel may is compared: here the original takes as much.
  driver.registers_of_patched = driver.registers = 40;
  const auto compared = patched_code_of(api, CodeCache(folder), "compared", ptx.c_str(), ptx, {0, 90}, steps);
  EXPECT_FALSE(compared.text.empty()) << compared.left_alone;
  EXPECT_EQ(compilations().size(), 3u);
  EXPECT_EQ(driver.loads, driver.unloads);
}

TEST_F(RewriteCache, MachineCodeOfTheProgramIsComparedWithoutACompilation) {
  const std::string image = rewriter::made::container(
      rewriter::made::entry(2, rewriter::made::cubin({" waits("}), rewriter::Compression::none) +
      rewriter::made::entry(1, ptx, rewriter::Compression::none));
  driver.registers_of_patched = 44;  // the original's 18 leave room for 64 warps
  driver.obeys_limits = true;
  const auto made = patched_code_of(api, CodeCache(folder), "code", image.data(), image, {0, 90}, steps);
  EXPECT_FALSE(made.text.empty()) << made.left_alone;
  ASSERT_EQ(compilations().size(), 1u);
  EXPECT_NE(compilations()[0].find(".maxnreg 32\n"), std::string::npos);
}

// Two kernels that wait, in one module.
struct TwoKernels {
  explicit TwoKernels(const std::string& one) : text(one) {
    std::string other = one.substr(one.find(".visible"));
    other.replace(other.find("waits"), 5, "waits_too");
    text += other;
  }
  std::string text;
};

TEST_F(RewriteCache, AKernelThatNeedsMoreIsLeftAloneAndTheOthersArePatched) {
  const std::string two = TwoKernels(ptx).text;
  driver.local_bytes_of["waits_too"] = 200;
  const CodeCache cache(folder);
  const auto made = patched_code_of(api, cache, "two", two.c_str(), two, {0, 90}, steps);
  ASSERT_FALSE(made.text.empty()) << made.left_alone;
  EXPECT_EQ(made.patched_kernels, std::set<std::string>{"waits"});
  ASSERT_EQ(made.sites.size(), 1u);
  EXPECT_EQ(made.sites[0].function, "waits");
  ASSERT_EQ(made.kernels_left_alone.size(), 1u);
  EXPECT_NE(made.kernels_left_alone.at("waits_too").find("local memory from 0 to 200"), std::string::npos);
  EXPECT_EQ(compilations().size(), 3u);  // with the limits that are likely, the original, and without the kernel
  const std::string of_other = made.text.substr(made.text.find(".entry waits_too("));
  EXPECT_EQ(of_other.find("__wic"), std::string::npos) << of_other;
  EXPECT_EQ(of_other.find(".maxnreg"), std::string::npos) << of_other;
  // The cache knows it, too.
  const auto again = patched_code_of(api, cache, "two", two.c_str(), two, {0, 90}, steps);
  EXPECT_EQ(again.kernels_left_alone, made.kernels_left_alone);
  EXPECT_EQ(compilations().size(), 3u);
  // Where all need more, nothing is patched, and nothing is compiled for it.
  driver.local_bytes_of["waits"] = 200;
  const auto none = patched_code_of(api, cache, "none", two.c_str(), two, {0, 90}, steps);
  EXPECT_TRUE(none.text.empty());
  EXPECT_NE(none.left_alone.find("local memory"), std::string::npos);
  EXPECT_EQ(compilations().size(), 5u);
  EXPECT_EQ(driver.loads, driver.unloads);
}

TEST_F(RewriteCache, OfSeveralLargeKernelsTheOriginalsComeFirst) {
  std::string two = TwoKernels(ptx).text;
  for (std::size_t at = 0; (at = two.find("{\n", at)) != std::string::npos; ++at) {
    two.insert(at + 2, ".reg .b32 %many<100>;\n");
  }
  driver.registers = driver.registers_of_patched = 70;
  for (const char* way : {"split", "whole"}) {
    driver.images.clear();
    driver.loads_with_options = 0;
    if (std::string_view(way) == "whole") driver.failing = {"options"};  // before CUDA 12.4
    const auto made = patched_code_of(api, CodeCache(folder), way, two.c_str(), two, {0, 90}, steps);
    EXPECT_FALSE(made.text.empty()) << made.left_alone;
    EXPECT_EQ(compilations(), (std::vector<std::string>{two, made.text})) << way;
    EXPECT_NE(made.text.find(".maxnreg 72\n"), std::string::npos) << way;
    EXPECT_EQ(driver.loads_with_options, driver.failing.empty() ? 1 : 0) << way;
  }
}

TEST_F(RewriteCache, ImagesWithoutPtxAreNeitherHashedNorKept) {
  using namespace rewriter::made;
  const std::string image = container(entry(2, cubin({"waits"}), rewriter::Compression::none));
  EXPECT_EQ(cache_key(api, image, {0, 90}), "");
  EXPECT_NE(cache_key(api, container(entry(1, ptx, rewriter::Compression::none)), {0, 90}), "");
  EXPECT_NE(cache_key(api, cubin({"waits"}), {0, 90}), "");  // its PTX may be beside it
  const CodeCache cache(folder);
  cache.store("", {});
  EXPECT_FALSE(cache.find(""));
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(RewriteCache, ManyWritersLeaveOneWholeEntry) {
  // Processes and threads that compile the same module at the same time, whose code may differ.
  const CodeCache cache(folder);
  const auto work = [&](char letter) {
    rewriter::Replacement made = replacement;
    made.text = std::string(100'000, letter);
    bool whole = true;
    for (int i = 0; i < 20; ++i) {
      cache.store("key", made);
      const auto found = cache.find("key");
      whole &= !found || found->text.find_first_not_of(found->text[0]) == std::string::npos;
    }
    return whole;
  };
  std::vector<pid_t> children;
  for (const char letter : {'a', 'b', 'c'}) {
    children.push_back(fork());
    if (children.back() == 0) _exit(work(letter) ? 0 : 1);
  }
  std::thread thread([&] { EXPECT_TRUE(work('d')); });
  EXPECT_TRUE(work('e'));
  thread.join();
  for (const pid_t child : children) {
    int status = 1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  cache.store("key", replacement);
  ASSERT_TRUE(cache.find("key"));
  EXPECT_EQ(cache.find("key")->text, replacement.text);
  int files = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder)) files += each.exists() ? 1 : 0;
  EXPECT_EQ(files, 2);  // no half files are left
}

// Of a process that loads what an earlier one has tried.
TEST_F(RewriteCache, ALoadFromTheCacheIsTheOnlyOneOfTheModule) {
  setenv("XDG_CACHE_HOME", folder.c_str(), 1);
  ControlBlock control{};
  driver.sink = &sink_;
  driver.patched_takes = std::chrono::milliseconds(120);
  std::string reasons;
  const auto load = [&] {
    const std::unique_ptr<Source> source = make_rewrite(&control, api);
    driver.source = source.get();
    driver.images.clear();
    CUlibrary library = nullptr;
    EXPECT_EQ(load_under_cupti(&library, ptx.c_str()), CUDA_SUCCESS);
    source->finish(sink_);
    driver.source = nullptr;
    reasons.clear();
    const Delivered delivered = ring_.read();
    for (const NoticeEvent& notice : delivered.all<NoticeEvent>()) reasons += delivered.text(notice.text) + "\n";
    return driver.libraries[library];
  };
  const std::string first = load();
  EXPECT_NE(reasons.find("rewrite: compiling patched code took 0.1 s; the next run finds it in the cache"),
            std::string::npos)
      << reasons;
  EXPECT_NE(first.find("__wic_state"), std::string::npos);
  EXPECT_EQ(compilations(), (std::vector<std::string>{first, first}));  // the trial, and the program's load
  EXPECT_NE(reasons.find(" compiler "), std::string::npos) << reasons;
  EXPECT_EQ(load(), first);
  EXPECT_EQ(compilations(), std::vector<std::string>{first});
  EXPECT_NE(reasons.find("the load took "), std::string::npos) << reasons;
  EXPECT_EQ(reasons.find(" compiler "), std::string::npos) << reasons;
  EXPECT_EQ(reasons.find(" analysis "), std::string::npos) << reasons;
  EXPECT_EQ(reasons.find("--prewarm"), std::string::npos) << reasons;
  // Nor is anything of ours compiled.
  if (asked_module().machine_code != nullptr) {
    for (const std::string& image : driver.images) EXPECT_TRUE(image == first || !image.starts_with(".")) << image;
  }
  unsetenv("XDG_CACHE_HOME");
}

TEST_F(RewriteTest, TheStepsOfALoadAddUp) {
  LoadSteps none;
  EXPECT_EQ(none.text(), "0.000 ms");
  LoadSteps some;
  const TimeNs begin = now_ns();
  while (now_ns() < begin + 2 * kMicrosecond) {
  }
  some.done("first");
  some.meanwhile("other", 1'500'000);
  const std::string text = some.text();
  EXPECT_NE(text.find(" ms: first 0.0"), std::string::npos) << text;
  EXPECT_NE(text.find(", other 1.500 meanwhile"), std::string::npos) << text;
}

TEST_F(RewriteCache, CodeThatIsNotWhatWasStoredIsNotFound) {
  const CodeCache cache(folder);
  const CodeTarget target{0, 90};
  const std::string key = cache_key(api, ptx, target);
  const std::filesystem::path code = cache.code_file(key), entry = folder / (key + ".json");
  const auto made = [&] { return patched_code_of(api, cache, key, ptx.c_str(), ptx, target, steps); };
  const rewriter::Replacement first = made();
  const auto is_made_again = [&](const char* damage) {
    EXPECT_FALSE(cache.find(key)) << damage;
    const std::size_t before = compilations().size();
    EXPECT_EQ(made().text, first.text) << damage;
    EXPECT_EQ(compilations().size(), before + 1) << damage;
    EXPECT_TRUE(cache.find(key)) << damage;
  };
  std::filesystem::resize_file(code, 3);
  is_made_again("cut");
  std::ofstream(code) << std::string(first.text.size(), 'x');
  is_made_again("replaced by bytes of the same size");
  std::filesystem::remove(code);
  is_made_again("gone");
  std::filesystem::resize_file(entry, std::filesystem::file_size(entry) / 2);
  is_made_again("half an entry");
  std::ofstream(entry) << R"({"left_alone": 7, "bytes": "many"})";
  is_made_again("an entry of other types");
  std::ofstream(entry) << std::string(100, '\0');
  is_made_again("an entry of zeros");
}

TEST_F(RewriteCache, WhereNothingCanBeKeptTheCodeIsMadeEachTime) {
  const CodeTarget target{0, 90};
  const std::string key = cache_key(api, ptx, target);
  const auto is_made = [&](const CodeCache& cache, const char* why) {
    EXPECT_FALSE(patched_code_of(api, cache, key, ptx.c_str(), ptx, target, steps).text.empty()) << why;
    EXPECT_FALSE(cache.find(key)) << why;
  };
  is_made(CodeCache({}), "no folder");
  std::ofstream(folder.string()) << "a file";
  is_made(CodeCache(folder), "a file in the place of the folder");
  std::filesystem::remove(folder);
  std::filesystem::create_directories(folder / (key + ".json"));
  is_made(CodeCache(folder), "a folder in the place of the entry");
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / (key + ".ptx"));
  is_made(CodeCache(folder), "a folder in the place of the code");
  std::filesystem::remove_all(folder);
  // A full disk, as far as this process can tell.
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{10, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  is_made(CodeCache(folder), "no space");
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  signal(SIGXFSZ, handler);
  EXPECT_TRUE(std::filesystem::is_empty(folder));  // no half file
}

TEST_F(RewriteCache, WhatTheDriverRefusesIsLeftAlone) {
  for (const char* step : {"load", "load_patched", "kernel", "attribute"}) {
    driver.failing = {step};
    const auto made = patched_code_of(api, CodeCache(folder), step, ptx.c_str(), ptx, {0, 90}, steps);
    EXPECT_EQ(made.text, "") << step;
    EXPECT_NE(made.left_alone, "") << step;
    EXPECT_EQ(driver.loads, driver.unloads) << step;
    driver.failing.clear();
    EXPECT_FALSE(patched_code_of(api, CodeCache(folder), step, ptx.c_str(), ptx, {0, 90}, steps).text.empty()) << step;
  }
}

TEST_F(RewriteCache, MachineCodeHasItsPtxInTritonsCache) {
  std::filesystem::create_directories(folder / "HASH");
  std::ofstream(folder / "HASH" / "kernel.cubin") << "some code";
  std::ofstream(folder / "HASH" / "kernel.ptx") << ptx;
  setenv("TRITON_CACHE_DIR", folder.c_str(), 1);
  EXPECT_EQ(ptx_beside("some code"), ptx);
  EXPECT_EQ(ptx_beside("same size"), "");
  unsetenv("TRITON_CACHE_DIR");
}

TEST(RewriteImages, TheBytesOfAnImageAreKnownFromItsHeader) {
  using namespace rewriter::made;
  const std::string ptx(kPtx), code = container(entry(1, ptx, rewriter::Compression::lz4)), elf = cubin({"k"});
  EXPECT_EQ(image_at(ptx.c_str()), ptx);
  EXPECT_EQ(image_at((code + "more").data()), code);
  EXPECT_EQ(image_at((elf + "more").data()), elf);
  EXPECT_EQ(image_at(nullptr), "");
  struct {
    std::uint32_t magic = 0x466243B1, version = 1;
    const void* data;
    const void* more = nullptr;
  } wrapper{.data = code.data()};
  EXPECT_EQ(image_at(&wrapper), code);
  wrapper.version = 2;
  EXPECT_EQ(image_at(&wrapper), "");
}

}  // namespace
}  // namespace wicprof::collector
