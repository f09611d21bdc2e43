#include "cli/record/segments.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <utility>
#include <vector>

#include "analyzer/words/format.h"
#include "cli/files/output_name.h"
#include "cli/record/guarded.h"
#include "store/format/trace_lock.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kSizeTick = 50 * kMillisecond;  // between two looks at a segment's size
constexpr TimeNs kRetryTime = 10 * kSecond;      // until the next attempt after a segment could not begin
// The summaries of a segment are given up when so many wait behind it: the program then writes faster than segments are
// completed. Not calibrated.
constexpr std::size_t kMaxBehind = 2;
constexpr TimeNs kMinSegmentTimeout = 60 * kSecond;  // as for a trace in one piece (finishing.cpp). Not calibrated
constexpr std::chrono::milliseconds kFinishTick{20};

void remove_segment(const std::string& path) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"}) unlink((path + suffix).c_str());
}

// The segments of `trace` that are on the disk.
std::vector<std::string> segments_on_disk(const std::string& trace) {
  const std::filesystem::path first(segment_name(trace, 1));
  const std::string name = first.filename().string();
  const std::size_t at = name.rfind("0001");
  const std::string before = name.substr(0, at), after = name.substr(at + 4);
  const std::filesystem::path folder = first.has_parent_path() ? first.parent_path() : ".";
  std::vector<std::string> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string one = entry->path().filename().string();
    if (one.size() < name.size() || !one.starts_with(before) || !one.ends_with(after)) continue;
    const std::string number = one.substr(at, one.size() - before.size() - after.size());
    if (number.find_first_not_of("0123456789") != std::string::npos) continue;
    found.push_back(first.has_parent_path() ? entry->path().string() : one);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

std::string segment_name(const std::string& trace, unsigned number) {
  return numbered(trace, fmt::format("{:04}", number));
}

Result<> clear_segments(const std::string& trace, bool overwrite) {
  for (const std::string& path : segments_on_disk(trace)) {
    if (!overwrite) {
      return bad_input(path +
                       " already exists; overwrite the segments of that recording with -f, or name another file "
                       "with -o");
    }
    if (store::TraceLock::is_held(path)) {
      return bad_input(path +
                       " is being recorded by another wic-prof; end that run first, or name another file with "
                       "-o");
    }
    std::error_code error;
    if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, error))) continue;  // refused when made
    if (unlink(path.c_str()) != 0 && errno != ENOENT) {
      return bad_input("cannot replace " + path + ": " + std::strerror(errno) + "; name another file with -o");
    }
    remove_segment(path);
  }
  return ok();
}

Segments::Segments(const SegmentPlan& plan, std::string trace, Triggers* triggers, Describe describe, Complete complete)
    : plan_(plan),
      trace_(std::move(trace)),
      triggers_(triggers),
      describe_(std::move(describe)),
      complete_(std::move(complete)),
      thread_([this] { work(); }) {}

void Segments::set_window(TimeNs from, TimeNs until) {
  begin_ = from;
  next_ = from + (triggers_ != nullptr ? 0 : plan_.length != 0 ? plan_.length : kSizeTick);
  until_ = until;
}

Segments::~Segments() {
  {
    const std::lock_guard lock(mutex_);
    give_up_ = stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

unsigned Segments::count() const {
  const std::lock_guard lock(mutex_);
  return count_;
}

unsigned Segments::completed() const {
  const std::lock_guard lock(mutex_);
  return completed_;
}

std::string Segments::why_not_begun() const {
  const std::lock_guard lock(mutex_);
  return why_not_begun_;
}

bool Segments::due(const store::Recorder& recorder, TimeNs now) {
  if (triggers_ != nullptr) {
    // Once there is room again, the next trace goes on.
    if (const std::string stopped = recorder.progress().stopped; !stopped.empty())
      triggers_->writing_stopped(stopped, now);
    return now >= next_ && triggers_->due(now);
  }
  if (now < next_ || now >= until_) return false;
  if (plan_.length != 0) {
    next_ += (now - next_) / plan_.length * plan_.length + plan_.length;
    return true;
  }
  next_ = now + kSizeTick;
  return recorder.file_bytes() >= plan_.bytes;
}

void Segments::follow(store::Recorder& recorder, TimeNs now) noexcept {
  guarded("beginning the next segment", [&] {
    if (due(recorder, now)) begin_next(recorder, now);
  });
}

void Segments::begin_next(store::Recorder& recorder, TimeNs now) {
  const unsigned number = count();
  const std::string why = describe_(recorder);
  Result<store::Recorder> ended = recorder.next_segment(segment_name(trace_, number + 1));
  if (!ended) return not_begun(ended.error().message, now);
  if (triggers_ != nullptr) triggers_->written(now);
  recorder.set_meta(store::MetaKey::segment, std::to_string(number + 1));
  const TimeNs began = std::exchange(begin_, now);
  {
    const std::lock_guard lock(mutex_);
    count_ = number + 1;
    why_not_begun_.clear();
    ended_.push_back({*std::move(ended), number, now, now - began, why});
  }
  changed_.notify_all();
}

void Segments::not_begun(const std::string& why, TimeNs now) {
  next_ = std::max(next_, now + kRetryTime);
  const std::lock_guard lock(mutex_);
  if (std::exchange(why_not_begun_, why).empty()) {
    warn(fmt::format("the next {} cannot begin: {}; {} grows on", triggers_ != nullptr ? "trace" : "segment", why,
                     segment_name(trace_, count_)));
  }
}

void Segments::work() {
  pthread_setname_np(pthread_self(), "wicprof-segment");
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !ended_.empty(); });
    if (ended_.empty()) return;
    Ended& first = ended_.front();  // others are added behind it only
    lock.unlock();
    guarded("completing a segment", [&] { complete(first); });
    lock.lock();
    kept_.push_back({first.number, first.at});
    ended_.pop_front();
    ++completed_;
    const TimeNs newest = kept_.back().ended;
    lock.unlock();
    remove_old(newest);
    changed_.notify_all();
    lock.lock();
  }
}

void Segments::complete(Ended& ended) {
  const TimeNs deadline = now_ns() + std::max(ended.length, kMinSegmentTimeout);
  const store::FinishWatch watch = [&](store::FinishStep, std::optional<double>) {
    const std::lock_guard lock(mutex_);
    return !give_up_ && ended_.size() <= kMaxBehind && now_ns() < deadline;
  };
  const Result<> completed = complete_(ended.recorder, watch);
  if (triggers_ != nullptr) triggers_->tell(fmt::format("{} has been written: {}", ended.recorder.path(), ended.why));
  const std::lock_guard lock(mutex_);
  if (!completed && !failure_) failure_ = completed.error();
}

void Segments::remove_old(TimeNs now) {
  const auto is_old = [&] {
    return !kept_.empty() && ((plan_.keep_last != 0 && kept_.front().ended < now - plan_.keep_last) ||
                              (plan_.most != 0 && kept_.size() > plan_.most));
  };
  std::vector<std::string> old;
  {
    const std::lock_guard lock(mutex_);
    for (; is_old(); kept_.pop_front()) old.push_back(segment_name(trace_, kept_.front().number));
  }
  for (const std::string& path : old) {
    remove_segment(path);
    if (triggers_ != nullptr) {
      triggers_->tell(fmt::format("removed {}, the oldest of more than {} (--max-dumps)", path,
                                  analyzer::count_of(plan_.most, "dump")));
    }
  }
}

Result<> Segments::finish(TimeNs end, const std::function<bool()>& goes_on) {
  {
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kFinishTick, [&] { return ended_.empty(); })) {
      lock.unlock();
      const bool goes = goes_on();
      lock.lock();
      give_up_ = give_up_ || !goes;
    }
    stop_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
  remove_old(end);
  if (failure_) return *failure_;
  return ok();
}

}  // namespace wicprof::cli
