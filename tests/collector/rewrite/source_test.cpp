// The program's loads under CUPTI: each step that fails leaves the program with its own image.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "collector/rewrite/word_writers.h"
#include "collector/sources/list.h"
#include "protocol/events/notice.h"
#include "protocol/events/signal.h"
#include "rewriter/patch/limit.h"
#include "tests/collector/of_process.h"
#include "tests/collector/rewrite/fake_driver.h"

namespace wicprof::collector {
namespace {

using namespace fake_driver;

// The program loads its module while the source gets the callbacks; what the program then has.
class RewriteSource : public RewriteTest {
 protected:
  RewriteSource() {
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");  // nothing is kept
    driver.sink = &sink_;
    source_ = make_rewrite(of_process().own_calls, &control_, nullptr, &api);
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
  EXPECT_EQ(attached_processes(control_), 1u);
  source_->finish(sink_);
  EXPECT_EQ(attached_processes(control_), 0u);
}

TEST_F(RewriteSource, ALoadOfAFileNeedsNoPlaceForThePatchedCode) {
  const std::string file = ::testing::TempDir() + "a_load_of_a_file.ptx";
  std::ofstream(file) << ptx;
  CUlibrary library = nullptr;
  EXPECT_EQ(load_file_under_cupti(&library, file.c_str()), file);
  EXPECT_EQ(driver.libraries[library], patched());
  EXPECT_EQ(driver.table[0], reinterpret_cast<std::uint64_t>(driver.memory.front().data()));
  std::remove(file.c_str());
}

TEST_F(RewriteSource, CodeThatIsLoadedAgainGetsTheSameText) {
  std::vector<const void*> given;
  std::vector<int> loads;
  for (int i = 0; i < 3; ++i) {
    const std::string image = ptx;  // at another address
    CUlibrary library = nullptr;
    cuLibraryLoadData_params load{};
    load.library = &library;
    load.code = image.c_str();
    CUresult result = CUDA_ERROR_INVALID_PTX;  // the module does not stay
    deliver(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, CUPTI_API_ENTER, &load, &result);
    given.push_back(load.code);
    deliver(CUPTI_DRIVER_TRACE_CBID_cuLibraryLoadData, CUPTI_API_EXIT, &load, &result);
    loads.push_back(driver.loads);
  }
  EXPECT_EQ(static_cast<const char*>(given[0]), patched());
  EXPECT_EQ(given, (std::vector<const void*>(3, given[0])));
  EXPECT_EQ(loads, (std::vector<int>(3, loads[0]))) << "it was tried again";
  source_->finish(sink_);
}

// In the executable of the test, as a program's own modules are in its executable.
constexpr char kWithoutWaits[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry first()\n{\nret;\n}\n"
    ".visible .entry second()\n{\nret;\n}\n";

TEST_F(RewriteSource, KernelsAreLoadedBeforeOneOfThemCanWait) {
  CUlibrary without = nullptr, with = nullptr, foreign = nullptr;
  ASSERT_EQ(load_under_cupti(&without, kWithoutWaits), CUDA_SUCCESS);
  EXPECT_TRUE(driver.loaded_functions.empty());  // nothing waits in this program so far
  const std::string elsewhere = kWithoutWaits;   // as of a library
  ASSERT_EQ(load_under_cupti(&foreign, elsewhere.c_str()), CUDA_SUCCESS);
  ASSERT_EQ(load_under_cupti(&with, ptx.c_str()), CUDA_SUCCESS);
  using Loaded = std::vector<std::pair<CUcontext, CUlibrary>>;
  EXPECT_EQ(driver.loaded_functions,
            (Loaded{{driver.context, without}, {driver.context, without}, {driver.context, with}}));

  driver.loaded_functions.clear();
  CUlibrary later = nullptr;
  ASSERT_EQ(load_under_cupti(&later, kWithoutWaits), CUDA_SUCCESS);
  EXPECT_EQ(driver.loaded_functions, (Loaded{{driver.context, later}, {driver.context, later}}));
  source_->finish(sink_);
}

TEST_F(RewriteSource, KernelsThatCannotBeLoadedAreLeftToTheirLaunch) {
  for (const char* step : {"kernel_count", "kernels", "kernel_function"}) {
    driver.failing = {step};
    driver.loaded_functions.clear();
    source_ = make_rewrite(of_process().own_calls, &control_, nullptr, &api);
    driver.source = source_.get();
    EXPECT_EQ(loaded(ptx), patched()) << step;
    EXPECT_TRUE(driver.loaded_functions.empty()) << step;
    source_->finish(sink_);
  }
}

TEST_F(RewriteSource, NoDeviceIsOpenedThatTheProgramDoesNotUse) {
  driver.context = nullptr;
  driver.devices = 4;
  driver.used_devices = {2};
  EXPECT_EQ(loaded(ptx), patched());
  EXPECT_EQ(driver.retained_devices, std::set<CUdevice>{2});
  source_->finish(sink_);
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
  source_ = make_rewrite(of_process().own_calls, &control_, nullptr, &capturing);
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
    source_ = make_rewrite(of_process().own_calls, &control_, nullptr, &api);
    driver.source = source_.get();
    EXPECT_EQ(loaded(image), image) << step;
    EXPECT_EQ(driver.loads - driver.unloads, 1) << step;
    driver.loads = driver.unloads = 0;
    EXPECT_EQ(attached_processes(control_), 0u) << step;
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

}  // namespace
}  // namespace wicprof::collector
