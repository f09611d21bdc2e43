#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <span>
#include <utility>

#include "common/transfer.h"
#include "field/apps.h"
#include "field/cpu_limit.h"
#include "field/storage/file_ring.h"
#include "field/storage/gather.h"
#include "wic/launch.h"

namespace sample {
namespace storage {
namespace {

using wic::Result;

constexpr std::uint32_t kPageBytes = kPageWords * sizeof(std::uint32_t);
constexpr std::uint32_t kHeldMib = 256;  // a computation that reads more reads its data several times

class Storage final : public App {
 public:
  static Result<std::unique_ptr<App>> make(wic::Runtime& runtime, const AppOptions& options) {
    std::unique_ptr<Storage> app(new Storage(runtime, options));
    if (Result<> opened = app->open(options); !opened) return opened.error();
    return Result<std::unique_ptr<App>>(std::unique_ptr<App>(std::move(app)));
  }

  Result<> step(std::uint32_t) override;
  Result<> check() override;
  Traffic traffic() const override {
    const double reads = static_cast<double>(shape_.blocks) * reads_;
    return {2 * reads, reads * kPageWords * sizeof(std::uint32_t)};
  }
  Felt take_felt() override {
    Felt felt;
    felt.unit = "pages";
    felt.work = static_cast<double>(read_ns_.size());
    felt.latency_ns = std::exchange(read_ns_, {});
    return felt;
  }
  std::vector<wic::SiteId> host_sites() const override { return {submitted_site_, idle_site_}; }
  std::string shape() const override {
    return std::to_string(shape_.blocks) + " blocks that read " + std::to_string(reads_) + " pages each, " +
           std::to_string(mib_) + " MiB of computation, " +
           (folder_.empty() ? "a disk of " + std::to_string(service_ns_ / 1'000) + " us" : "a file");
  }

 private:
  struct Pending {
    std::uint32_t page, block;
    wic::TimeNs due;
  };

  Storage(wic::Runtime& runtime, const AppOptions& options) : runtime_(runtime), timeout_ns_(options.timeout_ns) {}
  Result<> open(const AppOptions& options);
  Result<> add_sites(const AppOptions& options);
  Result<> open_memory(wic::Device& device);
  Result<> play_disk();
  bool take_commands(std::deque<Pending>& pending);
  Result<std::size_t> finish_reads(std::deque<Pending>& pending);
  void finish(std::uint32_t block);

  wic::Runtime& runtime_;
  const std::uint64_t timeout_ns_;
  std::uint32_t reads_ = 0, pages_ = 0, mib_ = 0, passes_ = 1, stride_ = 0, cpus_ = 0, entries_ = 0, steps_ = 0;
  wic::TimeNs service_ns_ = 0, gap_ns_ = 0, last_due_ = 0;
  std::string folder_;
  wic::LaunchShape shape_;
  wic::SiteId submitted_site_ = 0, idle_site_ = 0, done_site_ = 0;
  std::uint32_t taken_ = 0;  // commands
  std::vector<double> read_ns_;
  std::vector<std::uint32_t> flash_;                  // the played disk's pages
  std::vector<std::uint32_t> done_counts_, page_of_;  // per block
  wic::Array<Command> commands_;
  wic::Array<std::uint32_t> counters_, seen_, done_, arrivals_;
  wic::Array<Quad> data_;
  wic::Array<Times> times_, host_times_;
  std::unique_ptr<FileRing> file_;    // in place of the played disk; after the memory that it reads into
  std::unique_ptr<RankQueue> queue_;  // last: destroyed first, so its work ends before the memory is freed
};

enum Counter : std::size_t {
  kTail = 0,
  kEnded = kLineWords,
  kWrong = 2 * kLineWords,
  kSink,
  kCounters = 3 * kLineWords
};

Result<> Storage::open(const AppOptions& options) {
  wic::Device& device = runtime_.device(0);
  reads_ = options.number("reads");
  pages_ = options.size != 0 ? options.size : options.on_gpu ? 1u << 15 : 64;
  mib_ = options.number("data") != 0 ? options.number("data") : options.on_gpu ? 64 * kHeldMib : 1;
  passes_ = std::max(1u, mib_ / kHeldMib);
  service_ns_ = options.number("service") * wic::kMicrosecond;
  gap_ns_ = options.number("gap");
  cpus_ = options.number("cpus");
  stride_ = options.number("stride");
  folder_ = options.more.at("folder");
  const auto threads = choose_threads(options, 256, 256);
  if (!threads) return threads.error();
  const std::uint32_t sms = device.properties().sm_count;
  shape_ = {options.blocks != 0 ? options.blocks : options.on_gpu ? 4 * sms : 4, *threads, 0, true};
  entries_ = shape_.blocks + 1;
  if (auto r = add_sites(options); !r) return r;
  return open_memory(device);
}

Result<> Storage::add_sites(const AppOptions& options) {
  wic::SiteSpec spec;
  spec.name = options.prefix + "storage.submitted";
  spec.word_memory = wic::WordMemory::pinned_host;
  spec.releasing = wic::kFirstDeviceEnd;
  spec.waiting = wic::kHostEnd;
  const auto submitted = runtime_.add_site(spec);
  if (!submitted) return submitted.error();
  spec.name = options.prefix + "storage.idle";
  const auto idle = runtime_.add_site(spec);
  if (!idle) return idle.error();
  idle_site_ = *idle;
  spec.name = options.prefix + "storage.done";
  spec.releasing = wic::kHostEnd;
  spec.waiting = wic::kFirstDeviceEnd;
  spec.group_warps = shape_.threads / wic::kWarpSize;
  const auto done = runtime_.add_site(spec);
  if (!done) return done.error();
  submitted_site_ = *submitted;
  done_site_ = *done;
  return wic::ok();
}

Result<> Storage::open_memory(wic::Device& device) {
  const auto host = wic::Memory::pinned_host, own = wic::Memory::device;
  const std::size_t blocks = shape_.blocks;
  auto commands = wic::Array<Command>::make(device, entries_, host);
  if (!commands) return commands.error();
  auto counters = wic::Array<std::uint32_t>::make(device, kCounters, own);
  auto seen = wic::Array<std::uint32_t>::make(device, kCounters, host);
  auto done = wic::Array<std::uint32_t>::make(device, blocks * stride_, host);
  auto arrivals = wic::Array<std::uint32_t>::make(device, blocks * kPageWords, host);
  for (const auto* array : {&counters, &seen, &done, &arrivals}) {
    if (!*array) return array->error();
  }
  auto data = wic::Array<Quad>::make(device, (std::size_t{std::min(mib_, kHeldMib)} << 20) / sizeof(Quad), own);
  if (!data) return data.error();
  auto times = wic::Array<Times>::make(device, blocks * reads_, own);
  if (!times) return times.error();
  auto host_times = wic::Array<Times>::make(device, blocks * reads_, host);
  if (!host_times) return host_times.error();
  auto queue = RankQueue::make(device);
  if (!queue) return queue.error();
  commands_ = *std::move(commands);
  counters_ = *std::move(counters);
  seen_ = *std::move(seen);
  done_ = *std::move(done);
  arrivals_ = *std::move(arrivals);
  data_ = *std::move(data);
  times_ = *std::move(times);
  host_times_ = *std::move(host_times);
  queue_ = std::make_unique<RankQueue>(*std::move(queue));
  done_counts_.assign(blocks, 0);
  page_of_.assign(blocks, 0);
  const std::uint64_t words = std::uint64_t{pages_} * kPageWords;
  const auto word = [](std::uint64_t i) {
    return word_of(static_cast<std::uint32_t>(i / kPageWords), static_cast<std::uint32_t>(i % kPageWords));
  };
  if (!folder_.empty()) {
    auto file = FileRing::make(folder_, words, word, entries_);
    if (!file) return file.error();
    file_ = *std::move(file);
    return wic::ok();
  }
  flash_.resize(words);
  for (std::uint64_t i = 0; i < words; ++i) flash_[i] = word(i);
  return wic::ok();
}

Result<> Storage::step(std::uint32_t) {
  Gather kernel{};
  kernel.queues = {runtime_.site(submitted_site_, timeout_ns_),
                   runtime_.site(done_site_, timeout_ns_),
                   idle_site_,
                   shape_.blocks * reads_ + 1,
                   commands_.data(),
                   entries_,
                   counters_.data() + kTail,
                   done_.data(),
                   stride_,
                   arrivals_.data()};
  kernel.step = ++steps_;
  kernel.reads = reads_;
  kernel.pages = pages_;
  kernel.data = data_.data();
  kernel.count = static_cast<std::uint32_t>(data_.size());
  kernel.passes = passes_;
  kernel.times = times_.data();
  kernel.ended = counters_.data() + kEnded;
  kernel.wrong = counters_.data() + kWrong;
  kernel.sink = counters_.data() + kSink;
  kernel.failure = queue_->failure();
  if (auto r = wic::launch(queue_->stream(), shape_, kernel); !r) return r;
  const Result<> played = play_disk();
  if (auto r = queue_->stream().copy(host_times_.data(), times_.data(), times_.bytes()); !r) return r;
  if (auto r = queue_->close(); !r) return r;
  const auto failure = queue_->finish();
  if (!failure) return failure.error();
  if (failure->missed != 0) {
    return wic::failed("a deadline passed: block " + std::to_string(failure->tag) + " waited at storage.done in step " +
                       std::to_string(failure->failed_at));
  }
  if (!played) return played;
  for (const Times& read : std::span(host_times_.data(), host_times_.size())) {
    read_ns_.push_back(static_cast<double>(read.end_ns - read.begin_ns));
  }
  return wic::ok();
}

// Until the last block has ended. While reads are under way, the thread looks for their end and for new commands in
// turn; it waits while none are.
Result<> Storage::play_disk() {
  const CpuLimit limit(cpus_);
  std::deque<Pending> pending;  // in order of their due times; with a file, in any order
  for (bool first = true;; first = false) {
    if (pending.empty()) {
      // The first wait of a step is as long as the blocks compute, the others are short: two sites.
      const std::uint32_t number = taken_ + 1;
      const wic::WaitResult wait =
          runtime_.wait_until(first ? idle_site_ : submitted_site_, number, &commands_[taken_ % entries_].number,
                              wic::AtLeast{number}, static_cast<wic::TimeNs>(timeout_ns_));
      if (!wait) return wic::failed("a deadline passed: the disk waited at storage.submitted");
    }
    if (!take_commands(pending)) return wic::ok();
    if (file_ != nullptr) {
      if (auto r = file_->start(); !r) return r;
    }
    const auto finished = finish_reads(pending);
    if (!finished) return finished.error();
    pending.erase(pending.begin(), pending.begin() + static_cast<std::ptrdiff_t>(*finished));
  }
}

// False: there will be no more.
bool Storage::take_commands(std::deque<Pending>& pending) {
  for (;;) {
    Command& command = commands_[taken_ % entries_];
    if (!wic::AtLeast{taken_ + 1}(std::atomic_ref(command.number).load(std::memory_order_acquire))) return true;
    ++taken_;
    if (command.block == kStop) return false;
    last_due_ = std::max(wic::now_ns() + service_ns_, last_due_ + gap_ns_);
    pending.push_back({command.page, command.block, last_due_});
    page_of_[command.block] = command.page;
    if (file_ == nullptr) continue;
    file_->read(&arrivals_[std::size_t{command.block} * kPageWords], kPageBytes,
                command.page * std::uint64_t{kPageBytes}, command.block);
  }
}

// The played disk begins a read at once, finishes it after its service time, and finishes no two reads within less than
// its gap. Returns how many have ended.
Result<std::size_t> Storage::finish_reads(std::deque<Pending>& pending) {
  std::size_t count = 0;
  if (file_ != nullptr) {
    std::uint32_t block = 0;
    for (;;) {
      const auto ended = file_->ended(block);
      if (!ended) return ended.error();
      if (!*ended) return count;
      finish(block);
      ++count;
    }
  }
  for (; count < pending.size() && wic::now_ns() >= pending[count].due; ++count) {
    const Pending& read = pending[count];
    std::memcpy(&arrivals_[std::size_t{read.block} * kPageWords], &flash_[std::size_t{read.page} * kPageWords],
                kPageBytes);
    finish(read.block);
  }
  return count;
}

void Storage::finish(std::uint32_t block) {
  const std::uint32_t number = ++done_counts_[block];
  runtime_.signal(done_site_, number, &done_[std::size_t{block} * stride_], number,
                  wic::Payload::contiguous(page_of_[block] * std::uint64_t{kPageBytes}, kPageBytes));
}

Result<> Storage::check() {
  if (auto r = queue_->stream().copy(seen_.data(), counters_.data(), counters_.bytes()); !r) return r;
  if (auto r = queue_->stream().synchronize(); !r) return r;
  if (seen_[kWrong] == 0) return wic::ok();
  return wic::failed(std::to_string(seen_[kWrong]) + " words of the pages that blocks read differ from the disk's");
}

}  // namespace
}  // namespace storage

const AppInfo& storage_info() {
  static const AppInfo info{
      "field_storage",
      "blocks read pages by themselves through queues in host memory; a thread of the CPU plays the disk",
      "pages on the disk, 4 KiB each (default: 64, on a GPU 32768)",
      "simt:1",
      1,
      {{"reads", "pages that each block reads in a step, one after the other", "4", 1, 1'024},
       {"data", "MiB that the blocks read from their own memory before; 0 = 1, on a GPU 16384", "0", 0, 1u << 20},
       {"service", "microseconds that the disk takes for a page", "80", 1, 1'000'000},
       {"folder", "read by io_uring, from a file that the program makes in this folder, in place of the played disk",
        ""},
       {"stride", "words from one block's completion to the next; 4: 16 bytes, as in NVMe's queues", "4", 1, 1'024},
       {"gap", "least nanoseconds between two pages", "1000", 0, 1'000'000},
       {"cpus", "CPUs that the disk's thread may use; 0 = all", "0", 0, 1'024}},
      &storage::Storage::make,
      {},
      nullptr,
      "completions lie as --stride says, and the rest is as with --wait poll; host threads poll in one way",
      kFieldNoRival};
  return info;
}

}  // namespace sample
