// A program on the second GPU does not touch the first. Needs its own process: other tests may have set up the first
// GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <thread>

#include "wic/runtime.h"

namespace wic {
namespace {

// Asks the driver, without linking to it.
class Driver {
 public:
  Driver() {
    void* const library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library == nullptr) return;
    const auto init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
    const auto count = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDeviceGetCount"));
    state_ = reinterpret_cast<int (*)(int, unsigned*, int*)>(dlsym(library, "cuDevicePrimaryCtxGetState"));
    if (init == nullptr || count == nullptr || state_ == nullptr || init(0) != 0 || count(&devices_) != 0) devices_ = 0;
  }
  int devices() const { return devices_; }
  bool is_set_up(int device) const {
    unsigned flags = 0;
    int active = 0;
    return state_(device, &flags, &active) == 0 && active != 0;
  }

 private:
  int devices_ = 0;
  int (*state_)(int, unsigned*, int*) = nullptr;
};

// Setting up the first GPU takes at least half a second; all CUDA calls wait meanwhile, and so does the toggle.
TEST(SecondGpu, AToggleSetsUpNothingOnTheFirst) {
  const Driver driver;
  if (driver.devices() < 2) GTEST_SKIP() << "needs two GPUs, there are " << driver.devices();
  RuntimeOptions options;
  options.devices = "cuda:1";
  auto made = Runtime::create(options);
  ASSERT_TRUE(made) << made.error().message;
  Runtime& runtime = **made;
  const auto site = runtime.add_site({"second.word", wicprof::WordMemory::pinned_host, wicprof::Pollers::leader, true});
  ASSERT_TRUE(site) << site.error().message;
  ASSERT_TRUE(driver.is_set_up(1));
  ASSERT_FALSE(driver.is_set_up(0));
  // Like the runtime's own thread: a thread that has not called CUDA before.
  std::thread([&] {
    const Result<> set = runtime.set_wait(*site, {wicprof::Mode::park, wicprof::StrategyId::shared_watch});
    EXPECT_TRUE(set) << set.error().message;
  }).join();
  EXPECT_FALSE(driver.is_set_up(0));
}

}  // namespace
}  // namespace wic
