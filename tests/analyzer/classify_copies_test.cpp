// The classification of programs without wait sites, by their copies or migrations.
#include <gtest/gtest.h>

#include <functional>

#include "analyzer/communication/classify.h"
#include "classified.h"
#include "synthetic.h"

namespace wicprof::analyzer {
namespace {

using namespace synthetic;

TraceModel copying(std::uint32_t rounds, std::uint32_t in, std::uint32_t out, bool kernels) {
  TraceModel model = empty_program();
  TimeNs now = 1'000'000;
  const auto copy = [&](CopyKind kind) {
    store::CopyRow row{};
    row.id = static_cast<store::RowId>(model.copies.size()) + 1;
    row.kind = kind;
    row.start = now;
    row.end = now += 20'000;
    row.bytes = 1 << 20;
    model.copies.push_back(row);
  };
  for (std::uint32_t i = 0; i < rounds; ++i) {
    for (std::uint32_t k = 0; k < in; ++k) copy(CopyKind::host_to_device);
    if (kernels) {
      store::KernelRow kernel{};
      kernel.start = now;
      kernel.end = now += 100'000;
      model.kernels.push_back(kernel);
    }
    for (std::uint32_t k = 0; k < out; ++k) copy(CopyKind::device_to_host);
  }
  settle(model);
  return model;
}

TEST(ClassifyCopies, CopiesBetweenKernelsAreMessages) {
  EXPECT_EQ(classified(copying(30, 1, 1, true)).model, Model::alternating);
  EXPECT_EQ(classified(copying(30, 2, 1, true)).model, Model::multiple);
  EXPECT_EQ(classified(copying(30, 1, 0, true)).model, Model::unidirectional);
  EXPECT_EQ(classified(copying(30, 1, 1, true)).pattern, Pattern::unknown);
}

// Each round the CPU writes a page that the kernel reads, and reads a page that the kernel wrote.
TraceModel migrating(const std::function<std::uint64_t(std::uint32_t, bool)>& address) {
  TraceModel model = empty_program();
  TimeNs now = 1'000'000;
  for (std::uint32_t i = 0; i < 40; ++i) {
    for (const bool back : {false, true}) {
      store::UvmRow row{};
      row.id = static_cast<store::RowId>(model.uvm.size()) + 1;
      row.kind = back ? UvmKind::device_to_host : UvmKind::host_to_device;
      row.device = back ? kHostDevice : 0;
      row.peer_device = back ? 0 : kHostDevice;
      row.address = address(i, back);
      row.bytes = 65'536;
      row.start = now;
      row.end = now += 20'000;
      model.uvm.push_back(row);
      store::KernelRow kernel{};
      kernel.start = now;
      kernel.end = now += 50'000;
      if (!back) model.kernels.push_back(kernel);
    }
  }
  settle(model);
  return model;
}

TEST(ClassifyMigrations, MigrationsHavePlaces) {
  constexpr std::uint64_t kBase = std::uint64_t{0x7f00} << 32;
  const Classification stream = classified(
      migrating([](std::uint32_t i, bool back) { return kBase + (std::uint64_t{i} + (back ? 4096 : 0)) * 65'536; }));
  EXPECT_EQ(stream.model, Model::alternating);
  EXPECT_EQ(stream.pattern, Pattern::streaming);
  EXPECT_LT(stream.model_confidence, 0.8);
  const Classification same = classified(migrating([](std::uint32_t, bool) { return kBase; }));
  EXPECT_EQ(same.model, Model::alternating);
  EXPECT_EQ(same.pattern, Pattern::unknown);
}

TEST(ClassifyCopies, CopiesWithoutKernelsBetweenAreNoMessages) {
  EXPECT_EQ(classified(copying(30, 1, 1, false)).model, Model::unknown);
  EXPECT_EQ(classified(copying(1, 20, 3, true)).model, Model::unknown);
}

}  // namespace
}  // namespace wicprof::analyzer
