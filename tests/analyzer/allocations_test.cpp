// What reading and analysing a trace allocates, per event of a trace in the manner of bench/made_trace.h. Counts do not
// depend on the machine's speed, and little on its cores: a change that makes large traces slow or large shows here.
#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <string>

#include "analyzer/analysis.h"
#include "bench/made_trace.h"

namespace {

std::atomic<std::uint64_t> allocations{0}, allocated{0};
std::atomic<std::int64_t> held{0};

void* counted(std::size_t size) {
  void* at = std::malloc(size);
  if (at == nullptr) throw std::bad_alloc();
  ++allocations;
  const std::size_t usable = malloc_usable_size(at);
  allocated += usable;
  held += static_cast<std::int64_t>(usable);
  return at;
}

void release(void* at) {
  if (at == nullptr) return;
  held -= static_cast<std::int64_t>(malloc_usable_size(at));
  std::free(at);
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* at) noexcept { release(at); }
void operator delete[](void* at) noexcept { release(at); }
void operator delete(void* at, std::size_t) noexcept { release(at); }
void operator delete[](void* at, std::size_t) noexcept { release(at); }

namespace wicprof::analyzer {
namespace {

constexpr std::int64_t kEvents = 320'000;
// About a fifth above what was counted.
constexpr double kHeldBytes = 24, kReadBytes = 370, kReadCount = 0.004, kAnalysedBytes = 640, kAnalysedCount = 0.05;

/// What was allocated since its construction, per event.
struct Since {
  std::uint64_t count = allocations, bytes = allocated;
  std::int64_t before = held;
  static double each(std::uint64_t sum) { return static_cast<double>(sum) / kEvents; }
  double count_each() const { return each(allocations - count); }
  double bytes_each() const { return each(allocated - bytes); }
  double held_each() const { return static_cast<double>(held - before) / kEvents; }
};

TEST(Allocations, PerEventAreFewAndSmall) {
  const std::string path =
      (std::filesystem::temp_directory_path() / ("allocations." + std::to_string(getpid()) + ".wicprof")).string();
  ASSERT_TRUE(bench::make_trace(path, kEvents));
  {
    const Result<store::Reader> reader = store::Reader::open(path);
    ASSERT_TRUE(reader);
    const Since reading;
    const Result<TraceModel> model = load(*reader, "trace");
    ASSERT_TRUE(model);
    EXPECT_EQ(model->waits.size(), static_cast<std::size_t>(kEvents) / 2);
    std::printf("reading: %.4f allocations, %.1f bytes, %.1f bytes held per event\n", reading.count_each(),
                reading.bytes_each(), reading.held_each());
    EXPECT_LT(reading.held_each(), kHeldBytes);
    EXPECT_LT(reading.bytes_each(), kReadBytes);
    EXPECT_LT(reading.count_each(), kReadCount);
    const Since analysing;
    const Analysis analysis = analyze(*model);
    EXPECT_FALSE(analysis.sites.empty());
    std::printf("analysing: %.4f allocations, %.1f bytes, %.1f bytes held per event\n", analysing.count_each(),
                analysing.bytes_each(), analysing.held_each());
    EXPECT_LT(analysing.bytes_each(), kAnalysedBytes);
    EXPECT_LT(analysing.count_each(), kAnalysedCount);
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace wicprof::analyzer
