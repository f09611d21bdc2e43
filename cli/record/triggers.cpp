#include "cli/record/triggers.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/words/format.h"
#include "cli/record/long_wait.h"
#include "protocol/events/copy.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/kernel.h"
#include "protocol/events/mpi.h"
#include "protocol/events/signal.h"
#include "protocol/events/wait.h"
#include "protocol/utc_time.h"

namespace wicprof::cli {

namespace {

using RuleKind = TriggerRule::Kind;
using analyzer::format_duration;

constexpr TimeNs kBetweenTriggers = 50 * kMillisecond;
/// From a rule's holding to the dump: collectors report what ran some hundred milliseconds later. Not calibrated.
constexpr TimeNs kReported = kSecond;
/// The usual steps are the last so many; fewer than the least have no percentile that means much. Not calibrated.
constexpr std::size_t kUsualSteps = 1000, kFewestSteps = 100;

TimeNs percentile_99(std::vector<TimeNs> lengths) {
  const auto at = lengths.begin() + static_cast<std::ptrdiff_t>((lengths.size() - 1) * 99 / 100);
  std::nth_element(lengths.begin(), at, lengths.end());
  return *at;
}

}  // namespace

Triggers::Triggers(const TriggerPlan& plan, const OpenWork& work) : plan_(plan), work_(work) {
  for (const TriggerRule& rule : plan_.rules) {
    if (rule.kind == RuleKind::wait) shortest_wait_ = std::min(shortest_wait_, rule.time);
    knows_steps_ = knows_steps_ || rule.kind == RuleKind::step;
  }
  if (knows_steps_) meter_.enable(WaitSide::host);
}

void Triggers::set_window(TimeNs from, TimeNs until) {
  const std::lock_guard lock(mutex_);
  from_ = from;
  until_ = until;
}

void Triggers::see(const store::Recorder& recorder, std::size_t ring, const EventHeader& event) {
  if (knows_steps_) meter_.see(ring, event, [&](TextId id) { return recorder.text(ring, id); });
  if (event.kind == WaitEvent::kKind) {
    progressed_ = true;
    if (const auto* wait = event_cast<WaitEvent>(event))
      see_wait(recorder, ring, wait->site, 0, static_cast<TimeNs>(wait->resumed_ns - wait->arrived_ns));
  } else if (event.kind == HostWaitEvent::kKind) {
    progressed_ = true;
    if (const auto* wait = event_cast<HostWaitEvent>(event))
      see_wait(recorder, ring, wait->site, wait->call, wait->end_ns - wait->begin_ns);
  } else if (event.kind == KernelEvent::kKind || event.kind == CopyEvent::kKind || event.kind == SignalEvent::kKind ||
             event.kind == MpiCallEvent::kKind) {
    progressed_ = true;
  }
}

void Triggers::see_wait(const store::Recorder& recorder, std::size_t ring, SiteId site, TextId call, TimeNs length) {
  if (length <= shortest_wait_ || (longest_ && length <= longest_->value)) return;
  std::string name = recorder.site_name(ring, site);
  if (name.empty()) name = recorder.text(ring, call);
  for (const TriggerRule& rule : plan_.rules) {
    if (rule.kind != RuleKind::wait || length <= rule.time || (!rule.site.empty() && rule.site != name)) continue;
    const std::string at = name.empty() ? "" : " at " + analyzer::one_line(name);
    longest_ = {rule.text, fmt::format("a wait{} took {}", at, format_duration(length)), 0, length, rule.time};
    return;
  }
}

void Triggers::look(TimeNs now) {
  if (now < next_look_) return;
  next_look_ = now + kBetweenTriggers;
  std::optional<Reason> longest = std::exchange(longest_, std::nullopt);
  if (longest) {
    longest->at = now;
    hold(*longest);
  }
  if (knows_steps_) look_at_steps(now);
  look_at_progress(now);
}

void Triggers::look_at_steps(TimeNs now) {
  const IterationMeter::Latest latest = meter_.next();
  if (latest.what != steps_of_) {
    steps_of_ = latest.what;
    last_steps_.clear();
    steps_ = 0;
  }
  if (latest.durations.empty()) return;
  const TimeNs longest = *std::max_element(latest.durations.begin(), latest.durations.end());
  const TimeNs usual = last_steps_.size() < kFewestSteps ? 0 : percentile_99(last_steps_);
  for (const TriggerRule& rule : plan_.rules) {
    if (rule.kind != RuleKind::step || (rule.time == 0 && usual == 0)) continue;
    const TimeNs limit = rule.time != 0 ? rule.time : static_cast<TimeNs>(rule.factor * static_cast<double>(usual));
    if (longest <= limit) continue;
    std::string why = fmt::format("a step ({}) took {}", analyzer::one_line(latest.what), format_duration(longest));
    if (rule.time == 0) {
      why += fmt::format(", and the 99th percentile of the last {} was {}",
                         analyzer::count_of(last_steps_.size(), "step"), format_duration(usual));
    }
    hold({rule.text, why, now, longest, limit});
    break;
  }
  for (const TimeNs length : latest.durations) {
    if (last_steps_.size() < kUsualSteps) {
      last_steps_.push_back(length);
    } else {
      last_steps_[steps_ % kUsualSteps] = length;
    }
    ++steps_;
  }
}

// A hang holds once. One that begins within the pause is still there after it.
void Triggers::look_at_progress(TimeNs now) {
  if (std::exchange(progressed_, false)) {
    progress_at_ = now;
    hang_held_ = false;
  }
  {
    const std::lock_guard lock(mutex_);
    if (hang_held_ || is_paused(now)) return;
  }
  for (const TriggerRule& rule : plan_.rules) {
    if (rule.kind != RuleKind::stuck || now - progress_at_ < rule.time) continue;
    const std::optional<std::string> waits = LongWait(work_, rule.time).longest(now);
    if (!waits) continue;
    hang_held_ = true;
    const TimeNs since = now - progress_at_;
    const std::string why =
        fmt::format("{}, and no wait, kernel, copy or call of MPI has ended for {}", *waits, format_duration(since));
    return hold({rule.text, why, now, since, rule.time});
  }
}

bool Triggers::is_paused(TimeNs now) const { return due_ || (written_ != 0 && now - written_ < plan_.pause); }

void Triggers::hold(const Reason& reason) {
  const std::lock_guard lock(mutex_);
  if (!is_recorded(reason.at)) return;
  if (!is_paused(reason.at)) {
    due_ = reason;
    return;
  }
  ++suppressed_;
  if (due_ || std::exchange(said_suppressed_, true)) return;
  news_.push_back(fmt::format("{} ({}): no dump, since the last one is {} old (--dump-pause); further ones are counted",
                              reason.why, reason.rule, format_duration(reason.at - written_)));
}

Result<> Triggers::request(const std::string& rule, const std::string& why, TimeNs now) {
  const std::lock_guard lock(mutex_);
  if (!is_recorded(now))
    return unavailable("nothing is recorded now (--delay, --duration), so there is nothing to write");
  if (!due_) due_ = {rule, why, now};
  return ok();
}

std::string Triggers::rule_of(int signal) const {
  for (const TriggerRule& rule : plan_.rules) {
    if (rule.kind == RuleKind::signal && rule.signal == signal) return rule.text;
  }
  return {};
}

void Triggers::writing_stopped(const std::string& why, TimeNs now) {
  const std::lock_guard lock(mutex_);
  if (!due_) due_ = {"stopped", why, now};
}

bool Triggers::due(TimeNs now) const {
  const std::lock_guard lock(mutex_);
  return due_ && now - due_->at >= kReported;
}

std::string Triggers::describe(store::Recorder& trace, const std::string& otherwise, TimeNs now) const {
  using store::MetaKey;
  const std::lock_guard lock(mutex_);
  const Reason reason = due_.value_or(Reason{"end", otherwise, now});
  trace.set_meta(MetaKey::dump_rule, reason.rule);
  trace.set_meta(MetaKey::dump_why, reason.why);
  trace.set_meta(MetaKey::dump_at_ns, std::to_string(reason.at));
  trace.set_meta(MetaKey::dump_at_utc, utc_time(std::time(nullptr) - (now - reason.at) / kSecond));
  if (reason.limit != 0) {
    trace.set_meta(MetaKey::dump_value_ns, std::to_string(reason.value));
    trace.set_meta(MetaKey::dump_limit_ns, std::to_string(reason.limit));
  }
  trace.set_meta(MetaKey::dump_suppressed, std::to_string(suppressed_));
  return fmt::format("{} ({})", reason.why, reason.rule);
}

void Triggers::written(TimeNs now) {
  const std::lock_guard lock(mutex_);
  due_.reset();
  written_ = now;
  suppressed_ = 0;
  said_suppressed_ = false;
}

void Triggers::tell(const std::string& text) {
  const std::lock_guard lock(mutex_);
  news_.push_back(text);
}

std::vector<std::string> Triggers::take_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(news_, {});
}

}  // namespace wicprof::cli
