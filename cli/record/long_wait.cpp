#include "cli/record/long_wait.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "analyzer/words/format.h"
#include "protocol/environment.h"

namespace wicprof::cli {

namespace {

constexpr TimeNs kBetweenLooks = kSecond;

/// A name in shared memory ends with NUL, or with its array.
template <std::size_t kSize>
std::string name_in(const char (&name)[kSize]) {
  return analyzer::one_line(std::string_view(name, strnlen(name, kSize)));
}

}  // namespace

TimeNs longest_wait() {
  const char* const given = std::getenv(kLongWaitVariable);
  TimeNs ms = 0;
  const bool is_number = given != nullptr && std::from_chars(given, given + std::strlen(given), ms).ec == std::errc();
  return is_number ? std::max<TimeNs>(ms, 0) * kMillisecond : LongWait::kLong;
}

std::optional<std::string> LongWait::news(TimeNs now) {
  if (said_ || now < next_look_) return std::nullopt;
  next_look_ = now + std::min(kBetweenLooks, longest_);
  std::optional<std::string> news = longest(now);
  said_ = news.has_value();
  return news;
}

std::optional<std::string> LongWait::longest(TimeNs now) const {
  TimeNs longest = longest_;
  std::string who;
  for (const OpenEntry<OpenWait>& entry : work_.waits) {
    const std::optional<OpenWait> wait = entry.read();
    if (!wait || wait->begin == 0 || now - wait->begin < longest || process_is_gone(entry.pid())) continue;
    longest = now - wait->begin;
    who = fmt::format("a warp waits at {}", name_in(wait->site));
  }
  for (const OpenEntry<OpenCall>& entry : work_.calls) {
    const std::optional<OpenCall> call = entry.read();
    if (!call || call->begin == 0 || now - call->begin < longest || process_is_gone(entry.pid())) continue;
    longest = now - call->begin;
    who = fmt::format("thread {} waits {} {}", call->thread, call->waits_for_word != 0 ? "at" : "in",
                      name_in(call->name));
  }
  for (const OpenEntry<OpenMpiCall>& entry : work_.mpi_calls) {
    const std::optional<OpenMpiCall> call = entry.read();
    const bool within = call && call->begin != 0 && call->end == 0;
    if (!within || now - call->begin < longest || process_is_gone(entry.pid())) continue;
    longest = now - call->begin;
    who = fmt::format("thread {} waits in {}", call->thread, mpi_operation_name(call->operation));
  }
  if (who.empty()) return std::nullopt;
  return fmt::format("{} for {}", who, analyzer::format_duration(longest));
}

}  // namespace wicprof::cli
