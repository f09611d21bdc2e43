#include "cli/record/host_sampler.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <string_view>

#include "cli/record/guarded.h"
#include "protocol/events/process.h"
#include "protocol/events/thread_sample.h"
#include "protocol/process.h"

namespace wicprof::cli {

namespace {

constexpr std::chrono::milliseconds kSampleInterval{100};
// A pause is at least this many times as long as the sample before it took of a CPU: sampling takes at most 2 % of one
// CPU, however many threads there are. Not calibrated.
constexpr int kPausePerCost = 50;
constexpr unsigned kSamplesPerSearch = 5;  // how often descendants are looked for
constexpr std::size_t kRingBytes = std::size_t{1} << 20;

// CPU time of the calling thread.
std::chrono::nanoseconds own_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

constexpr std::chrono::nanoseconds pause_after(std::chrono::nanoseconds cost) {
  return std::max<std::chrono::nanoseconds>(kSampleInterval, cost * kPausePerCost);
}
static_assert(pause_after(std::chrono::milliseconds(1)) == kSampleInterval);
static_assert(pause_after(std::chrono::milliseconds(50)) == std::chrono::milliseconds(2500));

// Content of a file below `folder`; nothing when it does not exist, for instance because the thread ended.
std::optional<std::string> read_file(int folder, const char* name) {
  const int fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  // Read to the end: a truncated list of children ends in the pid of an unrelated process.
  std::array<char, 4096> bytes;
  std::string text;
  ssize_t n = 0;
  while ((n = read(fd, bytes.data(), bytes.size())) > 0) text.append(bytes.data(), static_cast<std::size_t>(n));
  close(fd);
  if (n < 0) return std::nullopt;
  return text;
}

// The numeric names in a folder.
std::vector<pid_t> numbers_in(const std::string& path) {
  std::vector<pid_t> numbers;
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return numbers;
  while (const dirent* entry = readdir(folder)) {
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9') numbers.push_back(std::atoi(entry->d_name));
  }
  closedir(folder);
  return numbers;
}

std::uint64_t number_after(const std::string& text, std::string_view key) {
  const std::size_t at = text.find(key);
  return at == std::string::npos ? 0 : std::strtoull(text.c_str() + at + key.size(), nullptr, 10);
}

// A thread's user and system time in clock-tick resolution, for kernels without schedstat.
TimeNs cpu_from_stat(int folder) {
  const std::optional<std::string> stat = read_file(folder, "stat");
  if (!stat) return 0;
  const std::size_t name_end = stat->rfind(')');
  if (name_end == std::string::npos) return 0;
  unsigned long long user = 0, system = 0;
  std::sscanf(stat->c_str() + name_end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system);
  return static_cast<TimeNs>(user + system) * (kSecond / sysconf(_SC_CLK_TCK));
}

// Reads the times alone; add_switches() reads the rest, and only for threads whose times changed.
std::optional<ThreadCounts> times_of(int folder) {
  ThreadCounts counts;
  if (const std::optional<std::string> text = read_file(folder, "schedstat")) {
    long long cpu = 0, delay = 0;
    if (std::sscanf(text->c_str(), "%lld %lld", &cpu, &delay) == 2) {
      counts.cpu_ns = cpu;
      counts.run_delay_ns = delay;
      return counts;
    }
  }
  if (faccessat(folder, "stat", R_OK, 0) != 0) return std::nullopt;
  counts.cpu_ns = cpu_from_stat(folder);
  return counts;
}

void add_switches(int folder, ThreadCounts& counts, std::string* name = nullptr) {
  if (const std::optional<std::string> status = read_file(folder, "status")) {
    if (name != nullptr && status->starts_with("Name:\t")) *name = status->substr(6, status->find('\n') - 6);
    counts.voluntary_switches = number_after(*status, "\nvoluntary_ctxt_switches:");
    counts.involuntary_switches = number_after(*status, "nonvoluntary_ctxt_switches:");
  }
}

}  // namespace

std::optional<TimeNs> stolen_ns() {
  std::FILE* file = std::fopen("/proc/stat", "re");
  if (file == nullptr) return std::nullopt;
  unsigned long long steal = 0;
  const int fields = std::fscanf(file, "cpu %*u %*u %*u %*u %*u %*u %*u %llu", &steal);
  std::fclose(file);
  if (fields != 1) return std::nullopt;
  return static_cast<TimeNs>(steal) * (kSecond / sysconf(_SC_CLK_TCK));
}

OwnRing::OwnRing() : memory_(static_cast<std::byte*>(std::aligned_alloc(64, ring_bytes(kRingBytes))), &std::free) {
  if (memory_ == nullptr) throw std::bad_alloc();
  ring_ = make_ring(memory_.get(), kRingBytes);
  ring_->owner.claim(ring_);
  sink_ = std::make_unique<EventSink>(ring_);
}

HostSampler::HostSampler(const SessionMap& session, pid_t app, EventSink& sink, std::function<void(pid_t)> look)
    : session_(session), app_(app), sink_(sink), look_(std::move(look)) {
  // Subtract what the scheduler counted for this process before the run.
  last_sample_ = now_ns();
  Process& own = processes_[getpid()];
  own.seen = last_sample_;
  for (const pid_t id : numbers_in("/proc/self/task")) {
    const int folder = open(("/proc/self/task/" + std::to_string(id)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) continue;
    if (std::optional<ThreadCounts> counts = times_of(folder)) {
      add_switches(folder, *counts);
      own.threads[id].counts = *counts;
    }
    close(folder);
  }
  wicprof::write_process_event(sink_);
  thread_ = std::thread([this] { work(); });
}

HostSampler::~HostSampler() { finish(); }

void HostSampler::finish() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopping_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void HostSampler::work() {
  pthread_setname_np(pthread_self(), "wicprof-host");
  std::unique_lock lock(mutex_);
  std::chrono::nanoseconds pause = kSampleInterval;
  while (!stopping_.wait_for(lock, pause, [this] { return stop_; })) {
    lock.unlock();
    const std::chrono::nanoseconds before = own_cpu_time();
    guarded("sampling threads", [this] { sample(); });
    pause = pause_after(own_cpu_time() - before);
    lock.lock();
  }
  lock.unlock();
  guarded("sampling threads", [this] { sample(); });
}

// Ring owners, the program, this process, and the descendants of all of these.
void HostSampler::find_processes() {
  std::set<pid_t> found{app_, getpid()};
  for (std::size_t i = 0; i < session_.rings_used(); ++i) {
    const std::uint32_t owner = session_.ring(i)->owner.load(std::memory_order_acquire);
    if (owner != 0 && owner < 0x80000000u) found.insert(static_cast<pid_t>(owner));
  }
  if (samples_++ % kSamplesPerSearch == 0) {
    for (const auto& [pid, process] : processes_) found.insert(pid);
    std::vector<pid_t> open(found.begin(), found.end());
    while (!open.empty()) {
      const std::string tasks = "/proc/" + std::to_string(open.back()) + "/task";
      open.pop_back();
      for (const pid_t task : numbers_in(tasks)) {
        const std::optional<std::string> children =
            read_file(AT_FDCWD, (tasks + "/" + std::to_string(task) + "/children").c_str());
        if (!children) continue;
        for (const char* at = children->c_str(); *at != '\0';) {
          char* end = nullptr;
          const auto child = static_cast<pid_t>(std::strtol(at, &end, 10));
          if (end == at) break;
          at = end;
          while (*at == ' ') ++at;
          if (child > 0 && found.insert(child).second) open.push_back(child);
        }
      }
    }
  }
  for (const pid_t pid : found) processes_.try_emplace(pid);
}

void HostSampler::sample() {
  find_processes();
  const TimeNs begin = last_sample_;
  last_sample_ = now_ns();
  for (auto at = processes_.begin(); at != processes_.end();) {
    sample_process(at->first, at->second, begin);
    at = at->second.threads.empty() ? processes_.erase(at) : std::next(at);
  }
}

// Writes the process event of a process without a ring; ring owners write their own.
void HostSampler::write_process(pid_t pid) {
  for (std::size_t i = 0; i < session_.rings_used(); ++i) {
    if (session_.ring(i)->owner.load(std::memory_order_acquire) == static_cast<std::uint32_t>(pid)) return;
  }
  auto event = make_event<ProcessEvent>();
  event.pid = static_cast<std::uint32_t>(pid);
  const std::optional<std::string> status = read_file(AT_FDCWD, ("/proc/" + std::to_string(pid) + "/status").c_str());
  if (!status) return;
  event.parent = static_cast<std::uint32_t>(number_after(*status, "PPid:"));
  event.name = sink_.text(executable_name_of(event.pid));
  event.command = sink_.text(command_line_of(event.pid));
  const std::string environment = "/proc/" + std::to_string(pid) + "/environ";
  set_launch(event, read_launch(read_file(AT_FDCWD, environment.c_str()).value_or(std::string())), sink_);
  event.seen_ns = last_sample_;
  sink_.write(event);
  look_(pid);
}

void HostSampler::sample_process(pid_t pid, Process& process, TimeNs begin) {
  const std::string tasks = "/proc/" + std::to_string(pid) + "/task/";
  std::unordered_map<pid_t, Thread> threads;
  for (const pid_t id : numbers_in(tasks)) {
    const int folder = open((tasks + std::to_string(id)).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) continue;
    const auto known = process.threads.find(id);
    std::optional<ThreadCounts> counts = times_of(folder);
    // Counts only grow: a smaller one means that a new thread has reused the id since the last sample.
    const bool is_new = known == process.threads.end() || (counts && counts->cpu_ns < known->second.counts.cpu_ns);
    Thread thread = is_new ? Thread{} : std::move(known->second);
    if (counts &&
        (is_new || counts->cpu_ns != thread.counts.cpu_ns || counts->run_delay_ns != thread.counts.run_delay_ns)) {
      const TimeNs now = now_ns();
      add_switches(folder, *counts, &thread.name);
      auto event = make_event<ThreadSampleEvent>();
      event.pid = static_cast<std::uint32_t>(pid);
      event.thread = static_cast<std::uint32_t>(id);
      event.begin_ns = begin;
      event.end_ns = now;
      event.cpu_ns = counts->cpu_ns - thread.counts.cpu_ns;
      event.run_delay_ns =
          counts->run_delay_ns < 0 ? -1 : counts->run_delay_ns - std::max<TimeNs>(thread.counts.run_delay_ns, 0);
      event.voluntary_switches = counts->voluntary_switches - thread.counts.voluntary_switches;
      event.involuntary_switches = counts->involuntary_switches - thread.counts.involuntary_switches;
      // More CPU time than the interval is long: the thread began before sampling did, so skip its first sample.
      const bool older = is_new && event.cpu_ns > now - begin;
      if (!older && (event.cpu_ns > 0 || event.run_delay_ns > 0)) {
        const bool another_program = id == pid && thread.name != process.name;
        if (process.seen == 0 || another_program) {
          if (process.seen == 0) process.seen = now;
          if (another_program) process.name = thread.name;
          write_process(pid);
        }
        event.name = sink_.text(thread.name);
        sink_.write(event);
      }
      thread.counts = *counts;
    }
    close(folder);
    threads.emplace(id, std::move(thread));
  }
  process.threads = std::move(threads);
}

}  // namespace wicprof::cli
