#include <algorithm>
#include <utility>

#include "common/transfer.h"
#include "field/apps.h"
#include "field/locks/contend.h"
#include "wic/launch.h"

namespace sample {
namespace locks {
namespace {

using wic::Result;

class Locks final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<Locks> app(new Locks(runtime, options));
    if (Result<> opened = app->open(options); !opened) return opened.error();
    return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
  }

  Result<> step(std::uint32_t) override;
  Result<> check() override;
  Traffic traffic() const override {
    const double rounds = static_cast<double>(shape_.blocks) * kernel_.rounds;
    return {rounds, rounds * sizeof(std::uint32_t)};
  }
  Felt take_felt() override {
    return {kernel_.kind == Kind::queue ? "puts and takes" : "acquisitions",
            std::exchange(done_, 0),
            {},
            neighbour_->unit(),
            neighbour_->take_work()};
  }
  std::string shape() const override {
    return name_ + ", " + std::to_string(shape_.blocks) + " blocks of " + std::to_string(shape_.threads) +
           " threads, held for " + std::to_string(kernel_.hold_ns) + " ns";
  }

 private:
  Locks(wic::Runtime& runtime, const AppOptions& options) : runtime_(runtime), timeout_ns_(options.timeout_ns) {}
  Result<> open(const AppOptions& options);
  Result<> open_shape(const AppOptions& options);
  Result<> open_words();
  Result<wic::SiteId> add_site(const AppOptions& options, const char* name, bool shared);
  Result<> check_words(const std::vector<std::uint32_t>& words) const;

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  std::string name_;
  bool naive_ = false;
  wic::LaunchShape shape_;
  wic::SiteId far_ = 0, near_ = 0;
  Contend kernel_{};
  std::uint32_t steps_ = 0;
  double done_ = 0;
  wic::Array<std::uint32_t> words_;
  std::unique_ptr<Neighbour> neighbour_;
  std::unique_ptr<RankQueue> queue_;  // last: destroyed first, so its work ends before the memory is freed
};

Result<Kind> kind_of(const std::string& word) {
  if (word == "test-and-set") return Kind::test_and_set;
  if (word == "ticket") return Kind::ticket;
  if (word == "read-write") return Kind::read_write;
  if (word == "queue") return Kind::queue;
  return wic::bad_input("--lock " + word + ": choose test-and-set, ticket, read-write or queue");
}

Result<> Locks::open(const AppOptions& options) {
  name_ = options.more.at("lock");
  const auto kind = kind_of(name_);
  if (!kind) return kind.error();
  naive_ = options.way == Way::naive;
  kernel_.kind = *kind;
  kernel_.rounds = options.number("rounds") != 0 ? options.number("rounds") : options.on_gpu ? 50 : 4;
  kernel_.hold_ns = options.number("hold");
  kernel_.think_ns = options.number("think");
  if (auto r = open_shape(options); !r) return r;
  // The queue's tickets wait for slots of their own, all other waits are for words that all blocks look at.
  const auto far = add_site(options, "locks.far", true);
  if (!far) return far.error();
  const auto near = add_site(options, "locks.near", *kind != Kind::queue);
  if (!near) return near.error();
  far_ = *far;
  near_ = *near;
  return open_words();
}

Result<> Locks::open_shape(const AppOptions& options) {
  wic::Device& device = runtime_.device(0);
  const auto threads = choose_threads(options, 64, 64);
  if (!threads) return threads.error();
  // As many as fit beside a neighbour.
  const std::uint32_t most = options.on_gpu ? 6 * device.properties().sm_count : 8;
  const std::uint32_t blocks = options.blocks != 0 ? options.blocks : options.size != 0 ? options.size : most;
  shape_ = {(blocks + 1) / 2 * 2, *threads, sizeof(std::uint32_t)};
  const auto kind = Neighbour::kind_of(options.more.at("neighbour"));
  if (!kind) return kind.error();
  auto neighbour = Neighbour::make(device, *kind, 1, timeout_ns_);
  if (!neighbour) return neighbour.error();
  neighbour_ = *std::move(neighbour);
  const std::vector<wic::PlannedLaunch> together{{shape_, wic::kernel_ref(kernel_)}, neighbour_->planned()};
  return wic::check_co_resident(device, together);
}

Result<wic::SiteId> Locks::add_site(const AppOptions& options, const char* name, bool shared) {
  wic::SiteSpec spec;
  spec.name = options.prefix + name;
  spec.word_memory = wic::WordMemory::device;
  spec.shared_word = shared;
  spec.own = naive_ ? wic::StrategyId::naive : wic::StrategyId::poll;
  spec.releasing = spec.waiting = wic::kFirstDeviceEnd;
  spec.group_warps = shape_.threads / wic::kWarpSize;
  return runtime_.add_site(spec);
}

Result<> Locks::open_words() {
  wic::Device& device = runtime_.device(0);
  auto words = wic::Array<std::uint32_t>::make(device, Words::kLines * kLineWords, wic::Memory::device);
  if (!words) return words.error();
  auto queue = RankQueue::make(device);
  if (!queue) return queue.error();
  words_ = *std::move(words);
  queue_ = std::make_unique<RankQueue>(*std::move(queue));
  kernel_.words = {words_.data()};
  kernel_.failure = queue_->failure();
  std::vector<std::uint32_t> first(words_.size(), 0);
  for (std::uint32_t i = 0; i < kSlots; ++i) first[(8 + i) * kLineWords] = i;
  return upload<std::uint32_t>(device, queue_->stream(), words_, first);
}

Result<> Locks::step(std::uint32_t) {
  kernel_.far_site = runtime_.site(far_, timeout_ns_);
  kernel_.near_site = runtime_.site(near_, timeout_ns_);
  kernel_.backs_off = !naive_ && runtime_.mode(far_) == wic::Mode::poll;
  kernel_.neighbour = neighbour_->next_run();
  if (auto r = wic::launch(queue_->stream(), shape_, kernel_); !r) return r;
  if (auto r = neighbour_->start(); !r) return r;
  if (auto r = queue_->close(); !r) return r;
  const auto failure = queue_->finish();
  if (!failure) return failure.error();
  const Result<> beside = neighbour_->finish();
  if (failure->missed != 0) {
    return wic::failed("a deadline passed: block " + std::to_string(failure->tag) +
                       " waited at locks.near or locks.far");
  }
  ++steps_;
  done_ += static_cast<double>(shape_.blocks) * kernel_.rounds;
  return beside;
}

Result<> Locks::check() {
  const auto words = download(runtime_.device(0), queue_->stream(), words_, 0, words_.size());
  if (!words) return words.error();
  return check_words(*words);
}

Result<> Locks::check_words(const std::vector<std::uint32_t>& words) const {
  std::uint32_t expected = 0;
  for (std::uint32_t block = 0; block < shape_.blocks; ++block) {
    for (std::uint32_t round = 0; round < kernel_.rounds; ++round) {
      if (kernel_.kind == Kind::queue) {
        expected += block % 2 == 0 ? value_put(block, round) : 0;
      } else {
        expected += kernel_.kind == Kind::read_write && is_reader(block, round) ? 0 : 1;
      }
    }
  }
  expected *= steps_;
  const std::uint32_t first = words[5 * kLineWords], second = words[5 * kLineWords + 1], torn = words[6 * kLineWords];
  if (first != expected || (kernel_.kind != Kind::queue && second != expected)) {
    return wic::failed("the guarded words are " + std::to_string(first) + " and " + std::to_string(second) +
                       ", should be " + std::to_string(expected));
  }
  if (torn != 0) return wic::failed(std::to_string(torn) + " readers were inside beside a writer");
  return wic::ok();
}

}  // namespace
}  // namespace locks

const AppInfo& locks_info() {
  static const AppInfo info{
      "field_locks",
      "blocks contend for a lock, a ticket lock, a reader-writer lock or the slots of a bounded queue",
      "blocks (default: 8, on a GPU 6 per SM)",
      "simt:1",
      1,
      {{"lock", "test-and-set, ticket, read-write or queue", "ticket"},
       {"hold", "nanoseconds that a block holds the lock", "500", 0, 9'000},
       {"think", "mean nanoseconds between two acquisitions of a block", "5000", 0, 1'000'000},
       {"rounds", "acquisitions of a block per step; 0 = 4, on a GPU 50", "0", 0, 1u << 20},
       {"neighbour", Neighbour::kHelp, "memory"}},
      &locks::Locks::make,
      {},
      "one thread of a block polls by atomic additions",
      nullptr,
      kFieldNoRival};
  return info;
}

}  // namespace sample
