// Which kernels begin late with nothing of their process in front of them.
#include "analyzer/waits/late_starts.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace wicprof::analyzer {
namespace {

constexpr TimeNs kMilli = kMillisecond;

/// Calls that return after 10 us, and kernels of 1 ms.
class Made {
 public:
  store::KernelRow& launch(TimeNs called, TimeNs start, std::uint32_t stream = 7) {
    call("cudaLaunchKernel", called);
    store::KernelRow kernel{};
    kernel.process = 1;
    kernel.context = 1;
    kernel.stream = stream;
    kernel.correlation = number_;
    kernel.name = "step";
    kernel.start = start;
    kernel.end = start + kMilli;
    kernels_.push_back(kernel);
    return kernels_.back();
  }
  void call(const std::string& name, TimeNs start) {
    store::CallRow row{};
    row.process = 1;
    row.name = name;
    row.correlation = ++number_;
    row.start = start;
    row.end = start + 10'000;
    model_.calls.push_back(row);
  }
  void copy(TimeNs start, TimeNs end) {
    store::CopyRow row{};
    row.process = 1;
    row.context = 1;
    row.stream = 8;
    row.start = start;
    row.end = end;
    model_.copies.push_back(row);
  }
  std::vector<LateStart> late() {
    for (const store::KernelRow& kernel : kernels_) model_.kernels.push_back(kernel);
    settle(model_);
    return late_starts(model_, DeviceWork(model_));
  }

 private:
  TraceModel model_;
  std::vector<store::KernelRow> kernels_;
  std::uint32_t number_ = 0;
};

/// One kernel that ends at 11 ms, and one that is called at 12 ms and begins at 14 ms.
Made made() {
  Made made;
  made.copy(9 * kMilli, 10 * kMilli);
  made.launch(9 * kMilli, 10 * kMilli);
  made.launch(12 * kMilli, 14 * kMilli);
  return made;
}

TEST(LateStarts, CountFromTheCallsReturn) {
  const std::vector<LateStart> late = made().late();
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].kernel, 1u);
  EXPECT_EQ(late[0].begin, 12 * kMilli + 10'000);
  EXPECT_EQ(late[0].end, 14 * kMilli);
}

TEST(LateStarts, CountFromTheEndOfWorkInFront) {
  Made program = made();
  program.copy(11 * kMilli, 13 * kMilli);  // on another stream
  const std::vector<LateStart> late = program.late();
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].begin, 13 * kMilli);
  Made until = made();
  until.launch(11 * kMilli, 12'900'000, 9).device = 1;  // on another device, which ends at 13.9 ms
  for (const LateStart& start : until.late()) EXPECT_NE(start.end, 14 * kMilli);
}

TEST(LateStarts, AreNotThoseOfGraphsBehindTheFirstNode) {
  Made program;
  program.copy(9 * kMilli, 10 * kMilli);
  program.launch(9 * kMilli, 10 * kMilli);
  program.launch(12 * kMilli, 12'050'000).graph = 5;
  const std::uint32_t of_graph = program.launch(12 * kMilli, 20 * kMilli).correlation;
  program.launch(12 * kMilli, 30 * kMilli).graph = 5;
  const std::vector<LateStart> late = program.late();
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].end, 20 * kMilli) << of_graph;
}

TEST(LateStarts, AreNotThoseOnADeviceThatHadNothingToDoForLong) {
  Made program;
  program.copy(9 * kMilli, 10 * kMilli);
  program.launch(9 * kMilli, 10 * kMilli);
  program.launch(112 * kMilli, 114 * kMilli);
  EXPECT_TRUE(program.late().empty());
}

TEST(LateStarts, AreNotThoseOfStreamsThatMayWaitForWhatTheTraceDoesNotShow) {
  for (const char* name : {"cudaLaunchHostFunc_v10000", "cuStreamWaitValue32_v2", "cudaMemPrefetchAsync"}) {
    Made program = made();
    program.call(name, 11 * kMilli);
    EXPECT_TRUE(program.late().empty()) << name;
  }
  Made copies = made();
  copies.call("cudaMemcpyAsync", 11 * kMilli);
  EXPECT_EQ(copies.late().size(), 1u) << "copies are recorded";
  Made without;
  without.launch(9 * kMilli, 10 * kMilli);
  without.call("cudaMemcpyAsync", 11 * kMilli);
  without.launch(12 * kMilli, 14 * kMilli);
  EXPECT_TRUE(without.late().empty()) << "copies are not recorded";
}

}  // namespace
}  // namespace wicprof::analyzer
