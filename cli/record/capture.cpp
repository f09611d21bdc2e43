#include "cli/record/capture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <utility>

#include "cli/record/schedule.h"
#include "protocol/environment.h"
#include "protocol/trace_words.h"

namespace wicprof::cli {

namespace {

constexpr std::uint64_t kSmallestTrace = std::uint64_t{1} << 20;
constexpr std::uint64_t kUsualRing = std::uint64_t{1} << 30;  // of --trigger, where nothing limits it. Not calibrated
constexpr TimeNs kShortestSegment = 100 * kMillisecond;       // far above what beginning one takes. Not calibrated

std::vector<std::string> split(const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    std::string word = list.substr(begin, comma - begin);
    std::erase(word, ' ');
    if (!word.empty()) words.push_back(word);
    begin = comma + 1;
  }
  return words;
}

Result<TimeNs> read_time(const char* option, const std::string& text) {
  if (text.empty()) return TimeNs{0};
  const std::optional<TimeNs> time = parse_time(text, true);
  if (!time)
    return bad_input(fmt::format("{} takes a time such as 2s or 500ms (units ms, s and m), not '{}'", option, text));
  return *time;
}

std::optional<double> parse_size(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string unit(static_cast<const char*>(end), text.data() + text.size());
  const double scale = unit == "K"   ? 1024.
                       : unit == "M" ? 1024. * 1024
                       : unit == "G" ? 1024. * 1024 * 1024
                       : unit == "T" ? 1024. * 1024 * 1024 * 1024
                                     : 0;
  if (error != std::errc() || scale == 0 || !(value > 0) || value * scale > 1e18) return std::nullopt;
  return value * scale;
}

Result<std::uint64_t> read_size(const std::string& text) {
  if (text.empty()) return std::uint64_t{0};
  const std::optional<double> size = parse_size(text);
  if (!size) {
    return bad_input(fmt::format("--max-size takes a size such as 500M or 2G (units K, M, G and T), not '{}'", text));
  }
  const auto bytes = static_cast<std::uint64_t>(*size);
  if (bytes < kSmallestTrace)
    return bad_input(fmt::format("--max-size {} is too small for any trace; the minimum is 1M", text));
  return bytes;
}

Result<SegmentPlan> read_segments(const std::string& text) {
  SegmentPlan plan;
  if (text.empty()) return plan;
  if (const std::optional<double> size = parse_size(text)) {
    plan.bytes = static_cast<std::uint64_t>(*size);
    if (plan.bytes >= kSmallestTrace) return plan;
    return bad_input(fmt::format("--segment {} is too small for any trace; the minimum is 1M", text));
  }
  const std::optional<TimeNs> time = parse_time(text, true);
  if (!time) {
    return bad_input(
        fmt::format("--segment takes a time such as 10m or 30s (units ms, s and m) or a size such as 500M "
                    "(units K, M, G and T), not '{}'",
                    text));
  }
  plan.length = *time;
  if (plan.length >= kShortestSegment) return plan;
  return bad_input(fmt::format("--segment {} is too short; the minimum is 100ms", text));
}

/// What --trigger adds to the rest, which has been read.
Result<> read_dumps(const CaptureOptions& options, CapturePlan& plan) {
  Result<std::vector<TriggerRule>> rules = read_triggers(options.triggers);
  if (!rules) return rules.error();
  if (rules->empty()) return ok();
  if (plan.segments.wanted()) {
    return bad_input("--segment writes everything, and --trigger only what a rule asks for; leave one out");
  }
  if (!options.ranges.empty()) {
    return bad_input("--trigger writes the last minutes, and --capture-range parts of the whole run; leave one out");
  }
  const Result<TimeNs> pause = read_time("--dump-pause", options.dump_pause);
  if (!pause) return pause.error();
  plan.segments.triggers = {*std::move(rules), *pause};
  plan.segments.most = options.max_dumps;
  if (plan.max_bytes == 0) plan.max_bytes = kUsualRing;
  return ok();
}

store::RangeName range_name(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos || at == 0) return {text, std::nullopt};
  return {text.substr(0, at), text.substr(at + 1)};
}

}  // namespace

std::string trace_word_list() {
  std::string list;
  for (const TraceWord& word : kTraceWords) list += fmt::format("{}{}", list.empty() ? "" : ", ", word.word);
  return list;
}

bool CapturePlan::collects(std::string_view source) const {
  const std::vector<std::string> words = split(collector);
  return std::find(words.begin(), words.end(), source) != words.end();
}

Result<CapturePlan> read_capture(const CaptureOptions& options) {
  CapturePlan plan;
  const char* environment = std::getenv(kTraceVariable);
  plan.trace = !options.trace.empty()                           ? options.trace
               : environment != nullptr && *environment != '\0' ? std::string(environment)
                                                                : std::string(kDefaultTrace);
  std::vector<std::string> words = split(plan.trace);
  if (words.empty()) return bad_input(fmt::format("--trace names nothing; it takes a list of {}", trace_word_list()));
  for (const std::string& word : words) {
    if (options.trace.empty() || is_trace_word(word)) continue;
    return bad_input(fmt::format("--trace does not know '{}'; it takes a list of {}", word, trace_word_list()));
  }
  plan.host = std::erase(words, std::string(kHostWord)) != 0;
  plan.energy = std::erase(words, std::string(kEnergyWord)) != 0 || options.energy;
  const auto ranks = [&](std::string_view word) {
    if (std::erase(words, word) != 0) return RankCapture::asked;
    return plan.trace == kDefaultTrace ? RankCapture::if_there : RankCapture::none;
  };
  plan.mpi = ranks(kMpiWord);
  plan.nccl = ranks(kNcclWord);
  plan.rewrite = options.rewrite;
  if (plan.rewrite) {
    std::erase(words, std::string(kNoneWord));
    words.emplace_back(kRewriteWord);
  }
  plan.collector = words.empty() ? std::string(kNoneWord) : fmt::format("{}", fmt::join(words, ","));

  const Result<TimeNs> delay = read_time("--delay", options.delay);
  if (!delay) return delay.error();
  const Result<TimeNs> duration = read_time("--duration", options.duration);
  if (!duration) return duration.error();
  const Result<TimeNs> keep_last = read_time("--keep-last", options.keep_last);
  if (!keep_last) return keep_last.error();
  const Result<std::uint64_t> max_bytes = read_size(options.max_size);
  if (!max_bytes) return max_bytes.error();
  Result<SegmentPlan> segments = read_segments(options.segment);
  if (!segments) return segments.error();
  plan.segments = *segments;
  if (plan.segments.wanted() && !options.ranges.empty()) {
    return bad_input("--segment cuts the recording by time or size, and --capture-range by NVTX ranges; leave one out");
  }
  plan.delay = *delay;
  plan.duration = *duration;
  plan.keep_last = *keep_last;
  // In segments, whole segments are removed instead of rows.
  if (plan.segments.wanted()) plan.segments.keep_last = std::exchange(plan.keep_last, 0);
  plan.max_bytes = *max_bytes;
  if (const Result<> read = read_dumps(options, plan); !read) return read.error();
  for (const std::string& range : options.ranges) {
    if (range.empty()) return bad_input("--capture-range takes the name of an NVTX range, or NAME@DOMAIN");
    plan.ranges.push_back(range_name(range));
  }
  if (!plan.ranges.empty() && std::find(words.begin(), words.end(), "nvtx") == words.end()) {
    return bad_input(fmt::format(
        "--capture-range needs NVTX ranges, but '{}' does not record them; add nvtx to --trace", plan.trace));
  }
  return plan;
}

std::map<store::MetaKey, std::string> capture_meta(const CapturePlan& plan) {
  std::map<store::MetaKey, std::string> meta{{store::MetaKey::trace, plan.trace}};
  if (plan.rewrite) meta[store::MetaKey::rewrite] = "1";
  if (plan.delay != 0) meta[store::MetaKey::capture_delay_ns] = std::to_string(plan.delay);
  if (plan.duration != 0) meta[store::MetaKey::capture_duration_ns] = std::to_string(plan.duration);
  if (const TimeNs keep = std::max(plan.keep_last, plan.segments.keep_last); keep != 0) {
    meta[store::MetaKey::capture_keep_last_ns] = std::to_string(keep);
  }
  if (plan.segments.length != 0) meta[store::MetaKey::capture_segment_ns] = std::to_string(plan.segments.length);
  if (plan.segments.bytes != 0) meta[store::MetaKey::capture_segment_bytes] = std::to_string(plan.segments.bytes);
  if (plan.segments.wanted()) meta[store::MetaKey::segment] = "1";
  std::string rules;
  for (const TriggerRule& rule : plan.segments.triggers.rules) rules += (rules.empty() ? "" : ", ") + rule.text;
  if (!rules.empty()) meta[store::MetaKey::capture_triggers] = rules;
  std::string ranges;
  for (const store::RangeName& range : plan.ranges) {
    ranges += (ranges.empty() ? "" : ", ") + range.name + (range.domain ? "@" + *range.domain : "");
  }
  if (!ranges.empty()) meta[store::MetaKey::capture_ranges] = ranges;
  return meta;
}

CaptureWindow::CaptureWindow(ControlBlock& control, const CapturePlan& plan)
    : control_(control), delay_(plan.delay), duration_(plan.duration) {
  if (delay_ != 0 || duration_ != 0) control_.capture_changes.store(1, std::memory_order_relaxed);
  if (delay_ != 0) control_.capturing.store(0, std::memory_order_release);
}

void CaptureWindow::start(TimeNs now) {
  from_ = now + delay_;
  until_ = duration_ == 0 ? std::numeric_limits<TimeNs>::max() : from_ + duration_;
  if (delay_ == 0) state_ = State::within;
}

std::optional<std::string> CaptureWindow::follow(TimeNs now) {
  const std::optional<TimeNs> due = next();
  if (!due || now < *due) return std::nullopt;
  if (state_ == State::before) {
    state_ = State::within;
    set(1);
    return "recording begins";
  }
  state_ = State::after;
  set(0);
  return "recording ends; the program continues";
}

void CaptureWindow::close() {
  state_ = State::after;
  set(0);
}

std::optional<TimeNs> CaptureWindow::next() const {
  if (state_ == State::before && delay_ != 0) return from_;
  if (state_ == State::within && duration_ != 0) return until_;
  return std::nullopt;
}

void CaptureWindow::set(std::uint32_t capturing) {
  control_.capturing.store(capturing, std::memory_order_release);
  futex_wake_all(control_.capturing);
}

}  // namespace wicprof::cli
