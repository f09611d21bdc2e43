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

std::string waiting(const OpenWait& wait) { return "a warp waits at " + name_in(wait.site); }
std::string waiting(const OpenCall& call) {
  return fmt::format("thread {} waits {} {}", call.thread, call.waits_for_word != 0 ? "at" : "in", name_in(call.name));
}
std::string waiting(const OpenMpiCall& call) {
  return fmt::format("thread {} waits in {}", call.thread, mpi_operation_name(call.operation));
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
  TimeNs since = now - longest_;
  std::string who;
  for_each_long_wait(work_, now - longest_, [&](const auto& entry, const auto& open) {
    if (open.begin > since || process_is_gone(entry.pid())) return;
    since = open.begin;
    who = waiting(open);
  });
  if (who.empty()) return std::nullopt;
  return fmt::format("{} for {}", who, analyzer::format_duration(now - since));
}

}  // namespace wicprof::cli
