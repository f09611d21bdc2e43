#include "simt/simt_device.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <thread>

#include "src/device/host_doorbell.h"

namespace wic::simt {

using wicprof::bad_input;
using wicprof::ok;

namespace {

struct SimtEvent final : Event {
  std::atomic<std::int64_t> at_ns{0};
  Result<double> ns_since(const Event& start) const override {
    return static_cast<double>(at_ns.load() - static_cast<const SimtEvent&>(start).at_ns.load());
  }
};

// Executes its work in order on its own host thread. Kernels run beside that thread: a dependent one starts when the
// blocks of the kernel before it allow it, all other work when the kernels before it have ended.
class SimtStream final : public Stream {
 public:
  explicit SimtStream(SimtDevice& device) : device_(device), thread_([this] { work(); }) {}
  ~SimtStream() override {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  Result<> launch(const LaunchShape& shape, const KernelRef& ref) override {
    if (shape.blocks == 0 || shape.threads == 0 || shape.threads > 1024) {
      return bad_input("a launch needs at least one block and 1 to 1,024 threads per block");
    }
    if (shape.co_resident) {
      if (Result<> fits = check_co_resident(device_, std::array{PlannedLaunch{shape, ref}}); !fits) return fits;
    }
    auto kernel = std::make_shared<LaunchedKernel>(shape, ref);
    push({[this, kernel] { start(kernel); }, shape.dependent});
    return ok();
  }
  Result<> copy(void* to, const void* from, std::size_t bytes) override {
    push({[=] { std::memcpy(to, from, bytes); }});
    return ok();
  }
  Result<> write(std::uint32_t* to, std::uint32_t value) override {
    push({[=] { std::atomic_ref(*to).store(value, std::memory_order_release); }});
    return ok();
  }
  Result<> record(Event& event) override {
    push({[&event] { static_cast<SimtEvent&>(event).at_ns = wicprof::now_ns(); }});
    return ok();
  }
  Result<> synchronize() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return work_.empty() && !busy_ && running_.empty(); });
    return ok();
  }

 private:
  struct Step {
    std::function<void()> run;
    bool dependent = false;
  };
  // A kernel that has started and not ended.
  struct Running {
    std::uint32_t unreleased, unfinished;  // blocks
    std::shared_ptr<std::atomic<bool>> ended = std::make_shared<std::atomic<bool>>(false);
  };

  void push(Step step) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(step));
    }
    changed_.notify_all();
  }
  bool may_go_on() const { return running_.empty() || (work_.front().dependent && running_.back().unreleased == 0); }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return work_.empty() ? stop_ && running_.empty() : may_go_on(); });
      if (work_.empty()) return;
      const Step step = std::move(work_.front());
      work_.pop_front();
      busy_ = true;
      lock.unlock();
      step.run();
      lock.lock();
      busy_ = false;
      changed_.notify_all();
    }
  }

  void start(const std::shared_ptr<LaunchedKernel>& kernel) {
    std::list<Running>::iterator mine;
    {
      const std::lock_guard lock(mutex_);
      std::vector<std::shared_ptr<std::atomic<bool>>> earlier;
      for (const Running& each : running_) earlier.push_back(each.ended);
      kernel->earlier_ended = [earlier = std::move(earlier)] {
        return std::all_of(earlier.begin(), earlier.end(), [](const auto& ended) { return ended->load(); });
      };
      mine = running_.insert(running_.end(), {kernel->shape.blocks, kernel->shape.blocks});
    }
    kernel->block_released = [this, mine] {
      const std::lock_guard lock(mutex_);
      if (--mine->unreleased == 0) changed_.notify_all();
    };
    // Notifies under the lock: once the stream's owner has seen the end, the stream may be gone.
    kernel->block_ended = [this, mine] {
      const std::lock_guard lock(mutex_);
      if (--mine->unfinished != 0) return;
      mine->ended->store(true);
      running_.erase(mine);
      changed_.notify_all();
    };
    device_.start(kernel);
  }

  SimtDevice& device_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Step> work_;
  std::list<Running> running_;  // in launch order
  bool busy_ = false;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace

SimtDevice::SimtDevice(int ordinal, std::uint32_t sm_count) : free_(sm_count) {
  properties_.id = wicprof::simt_device(ordinal);
  properties_.kind = wicprof::DeviceKind::simt;
  properties_.name = "CPU device (simt)";
  properties_.uuid = "CPU-" + std::to_string(getpid()) + "-" + std::to_string(ordinal);
  properties_.sm_count = sm_count;
  properties_.host_native_atomics = true;
  for (std::uint32_t i = 0; i < sm_count; ++i) {
    sms_.push_back(
        std::make_unique<Sm>(i, clock_, [this](Sm& sm, const LaunchedKernel* kernel) { block_ended(sm, kernel); }));
  }
}

SimtDevice::~SimtDevice() = default;

Result<void*> SimtDevice::allocate(std::size_t bytes, Memory) {
  const std::size_t rounded = (std::max<std::size_t>(bytes, 1) + 255) / 256 * 256;
  void* memory = std::aligned_alloc(256, rounded);
  if (memory == nullptr) return wicprof::unavailable("no memory left for " + std::to_string(rounded) + " bytes");
  std::memset(memory, 0, rounded);
  return memory;
}

void SimtDevice::release(void* memory, Memory) { std::free(memory); }

Result<std::unique_ptr<Stream>> SimtDevice::make_stream() {
  return std::unique_ptr<Stream>(std::make_unique<SimtStream>(*this));
}

Result<std::unique_ptr<Stream>> SimtDevice::use_stream(void*) {
  return bad_input("the CPU device has no CUDA streams; make one with make_stream()");
}

Result<std::unique_ptr<Event>> SimtDevice::make_event() {
  return std::unique_ptr<Event>(std::make_unique<SimtEvent>());
}

Result<std::unique_ptr<Doorbell>> SimtDevice::make_doorbell() {
  return std::unique_ptr<Doorbell>(std::make_unique<HostDoorbell>());
}

PeerAccess SimtDevice::peer_access(const Device& other) const {
  const bool is_simt = other.properties().kind == wicprof::DeviceKind::simt;
  return {is_simt, is_simt};
}

Result<std::uint32_t> SimtDevice::resident_blocks(const LaunchShape& shape, const KernelRef&) {
  const std::uint32_t blocks_per_sm = std::min(Sm::kMaxBlocks, Sm::kMaxThreads / std::max(shape.threads, 1u));
  return blocks_per_sm * static_cast<std::uint32_t>(sms_.size());
}

Result<> SimtDevice::start_live_write(Span<const LiveWord> words) {
  for (const LiveWord& word : words) std::atomic_ref(*word.to).store(word.value, std::memory_order_release);
  return ok();
}

Result<> SimtDevice::read_live(std::uint32_t* to, const std::uint32_t* from, std::size_t words) {
  for (std::size_t i = 0; i < words; ++i) {
    to[i] = std::atomic_ref(const_cast<std::uint32_t&>(from[i])).load(std::memory_order_acquire);
  }
  return ok();
}

std::optional<ClockReading> SimtDevice::take_clock_reading() {
  if (!clock_wanted_) return std::nullopt;
  clock_wanted_ = false;
  const wicprof::TimeNs now = wicprof::now_ns();  // the device clock is the host clock
  return ClockReading{static_cast<std::uint64_t>(now), now, 0};
}

void SimtDevice::start(std::shared_ptr<const LaunchedKernel> kernel) {
  const std::lock_guard lock(mutex_);
  pending_.push_back({std::move(kernel), 0});
  dispatch();
}

// Gives pending blocks, oldest launch first, to the SM with the most free threads.
void SimtDevice::dispatch() {
  while (!pending_.empty()) {
    Pending& next = pending_.front();
    const std::uint32_t threads = next.kernel->shape.threads;
    const auto emptiest = std::max_element(
        free_.begin(), free_.end(), [](const FreeSpace& a, const FreeSpace& b) { return a.threads < b.threads; });
    if (emptiest->threads < threads || emptiest->blocks == 0) return;
    emptiest->threads -= threads;
    --emptiest->blocks;
    sms_[static_cast<std::size_t>(emptiest - free_.begin())]->place(next.kernel, next.next_block);
    if (++next.next_block == next.kernel->shape.blocks) pending_.pop_front();
  }
}

void SimtDevice::block_ended(Sm& sm, const LaunchedKernel* kernel) {
  {
    const std::lock_guard lock(mutex_);
    const auto at = std::find_if(sms_.begin(), sms_.end(), [&](const auto& each) { return each.get() == &sm; });
    FreeSpace& space = free_[static_cast<std::size_t>(at - sms_.begin())];
    space.threads += kernel->shape.threads;
    ++space.blocks;
    dispatch();
  }
  if (kernel->block_ended) kernel->block_ended();
}

}  // namespace wic::simt
