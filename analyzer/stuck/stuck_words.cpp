#include "analyzer/stuck/stuck_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "analyzer/words/format.h"
#include "protocol/python_frame.h"

namespace wicprof::analyzer {

Agent agent_of(const LastSignal& signal) {
  if (signal.device == kHostDevice) return {signal.process, true, 0, 0, signal.thread};
  return {signal.process, false, signal.block, signal.sm, 0};
}

std::string who(const Agent& agent) {
  if (agent.host) return fmt::format("host thread {} of process {}", agent.thread, agent.process);
  return fmt::format("block {} on SM {} of process {}", agent.block, agent.sm, agent.process);
}

namespace {

std::string state_of(const SeenThread& thread) {
  if (thread.state == 'R') return "runs on a CPU";
  if (thread.state == 'T') return "is stopped by a signal or a debugger";
  if (thread.state == 't') return "is stopped by a debugger";
  return thread.kernel_place.empty() ? "sleeps" : "sleeps in " + one_line(thread.kernel_place);
}

bool is_of_c_library(const NativeFrame& frame) {
  for (const std::string_view name : {"libc.so", "libc-", "libpthread", "librt", "ld-linux", "[vdso]"}) {
    if (frame.object.starts_with(name)) return true;
  }
  return false;
}

}  // namespace

std::string doing(const SeenThread& thread) {
  std::string text = state_of(thread);
  if (thread.python.empty()) {
    const auto at = std::ranges::find_if_not(thread.native, is_of_c_library);
    if (at != thread.native.end() && !at->function.empty())
      text += fmt::format(" at {} of {}", one_line(function_name(at->function)), one_line(at->object));
    return text;
  }
  const auto own = std::ranges::find_if(thread.python, [](const PythonLine& line) {
    return is_programs({line.file, "", line.function});
  });
  text += " at " + place_text(thread.python.front());
  if (own != thread.python.end() && own != thread.python.begin()) text += ", from " + place_text(*own);
  return text;
}

bool is_at_work(const SeenThread& thread) {
  for (const PythonLine& line : thread.python) {
    if (line.file.ends_with("multiprocessing/process.py")) return false;
    const bool of_package =
        line.file.find("-packages/") != std::string::npos && line.file.find("torch/") == std::string::npos;
    if (of_package || is_programs({line.file, "", line.function})) return true;
  }
  return false;
}

std::string place_text(const PythonLine& line) {
  return fmt::format("{}:{} in {}", one_line(line.file.substr(line.file.rfind('/') + 1)), line.line,
                     one_line(line.function));
}

std::vector<std::size_t> places_of(const std::vector<TimeNs>& times, TimeNs error) {
  std::vector<std::size_t> order(times.size()), places(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return times[a] < times[b]; });
  for (std::size_t i = 1; i < order.size(); ++i)
    places[order[i]] = places[order[i - 1]] + (times[order[i]] - times[order[i - 1]] > error ? 1 : 0);
  return places;
}

std::string age(TimeNs now, TimeNs since) { return format_duration(std::max<TimeNs>(now - since, 0)); }

std::string day_time(TimeNs at) {
  const TimeNs ms = at / kMillisecond;
  return fmt::format("{:02}:{:02}:{:02}.{:03} UTC", ms / 3'600'000 % 24, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
}

std::string word_name(const WaitedWord& word) {
  if (word.address == 0) return fmt::format("a word of site {}", one_line(word.site));  // which one is not known
  return fmt::format("word 0x{:x} of site {}", word.address, one_line(word.site));
}

std::string waiting_for(const WaitedWord& word) {
  if (word.source == WaitSource::patched) {
    if (word.address == 0) return "which word that is, and what it holds, the loop's code does not show";
    const std::string wants = wanted_text(word.wants);
    return fmt::format("wants {}, has {}",
                       wants.empty() ? "a value that is unknown, since the code has it in a register" : wants,
                       word.wide_value ? std::to_string(*word.wide_value) : "an unknown value");
  }
  std::string text;
  if (word.wanted) text += fmt::format("wants {}", *word.wanted);
  if (word.value) text += fmt::format("{}has {}", text.empty() ? "" : ", ", *word.value);
  return text.empty() ? "value and goal unknown" : text;
}

std::string waiters_wait(const WaitedWord& word) {
  const bool host = word.device == kHostDevice;
  const std::vector<std::uint32_t>& all = host ? word.threads : word.blocks;
  const bool one = all.size() == 1;
  return fmt::format("{}{} {}{} {}", host ? "host thread" : "block", one ? "" : "s", ranges_of(all),
                     host || word.grid == 0 ? "" : fmt::format(" of {}", word.grid), one ? "waits" : "wait");
}

std::string wanted_text(const WantedValue& wanted) {
  const std::uint64_t all = wanted.is_64_bit ? ~std::uint64_t{0} : 0xffff'ffffu;
  const bool masked = (wanted.mask & all) != all;
  const std::string value = masked ? fmt::format("0x{:x}", wanted.value) : std::to_string(wanted.value);
  const std::string bits = masked ? fmt::format(" in the bits 0x{:x}", wanted.mask & all) : "";
  const std::int64_t as_signed = wanted.is_64_bit ? static_cast<std::int64_t>(wanted.value)
                                                  : static_cast<std::int32_t>(static_cast<std::uint32_t>(wanted.value));
  switch (wanted.relation) {
    case WantedRelation::equal:
      return value + bits;
    case WantedRelation::not_equal:
      return "other than " + value + bits;
    case WantedRelation::at_least:
      return "at least " + value;
    case WantedRelation::at_most:
      return "at most " + value;
    case WantedRelation::signed_at_least:
      return fmt::format("at least {} (signed)", as_signed);
    case WantedRelation::signed_at_most:
      return fmt::format("at most {} (signed)", as_signed);
    case WantedRelation::unknown:
      break;
  }
  return {};
}

std::optional<std::uint64_t> WaitedWord::value_held() const {
  if (source == WaitSource::patched) return wide_value;
  return value ? std::optional<std::uint64_t>(*value) : std::nullopt;
}

std::string WaitedWord::wants_in_words() const {
  if (source == WaitSource::patched) return wanted_text(wants);
  return wanted ? std::to_string(*wanted) : "";
}

std::string_view source_name(WaitSource source) {
  return source == WaitSource::wic ? "wic" : source == WaitSource::patched ? "patched" : "host";
}

std::string_view awaited_name(Awaited awaited) {
  switch (awaited) {
    case Awaited::stream:
      return "stream";
    case Awaited::event:
      return "event";
    case Awaited::device:
      return "device";
    case Awaited::copy:
      return "copy";
    case Awaited::unknown:
      break;
  }
  return "unknown";
}

const char* confidence_name(Confidence confidence) {
  switch (confidence) {
    case Confidence::likely:
      return "likely";
    case Confidence::possible:
      return "possible";
    case Confidence::unknown:
      break;
  }
  return "unknown";
}

const char* cause_name(CauseKind kind) {
  switch (kind) {
    case CauseKind::missing_signal:
      return "missing_signal";
    case CauseKind::late_writer:
      return "late_writer";
    case CauseKind::wrong_count:
      return "wrong_count";
    case CauseKind::grid_too_large:
      return "grid_too_large";
    case CauseKind::absent_blocks:
      return "absent_blocks";
    case CauseKind::absent_rank:
      return "absent_rank";
    case CauseKind::mismatched_call:
      return "mismatched_call";
    case CauseKind::mutual_wait:
      return "mutual_wait";
    case CauseKind::running_kernel:
      return "running_kernel";
    case CauseKind::waiting_call:
      return "waiting_call";
    case CauseKind::consequence:
      break;
  }
  return "consequence";
}

std::string ranges_of(const std::vector<std::uint32_t>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(numbers[i]);
    if (last > i) text += (last == i + 1 ? ", " : " to ") + std::to_string(numbers[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace wicprof::analyzer
