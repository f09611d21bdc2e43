#include "cli/record/ab_run.h"

#include <fmt/format.h>

#include "cli/record/cgroup.h"
#include "cli/record/wait_options.h"

namespace wicprof::cli {

namespace {
constexpr TimeNs kTimeout = 2 * kSecond;  // a program takes well under 1 ms; as for a scheduled change
}

Result<> AbRun::begin(AbPlan plan) {
  const std::lock_guard lock(mutex_);
  if (schedule_) {
    return unavailable(schedule_->over()
                           ? "this run has compared both modes already, and its trace holds one comparison"
                           : "this run compares both modes already");
  }
  if (const std::optional<CpuLimit> limit = cgroup_cpu_limit(program_)) plan.quota_period = limit->period;
  schedule_.emplace(plan);
  side_ = plan.side;
  meter_.enable(plan.patched ? WaitSide::host : side_.value_or(WaitSide::host));
  return ok();
}

std::optional<std::string> AbRun::follow(TimeNs now, TimeNs attached) {
  const std::lock_guard lock(mutex_);
  if (!schedule_ || schedule_->over() || attached == 0) return std::nullopt;
  if (sequence_) {
    if (switchboard_.applied(*sequence_)) {
      sequence_.reset();
      late_ = false;
      (void)meter_.take();
      schedule_->switched(requested_, switchboard_.effective());
    } else if (!late_ && now - requested_ >= kTimeout) {
      late_ = true;
      return "the program did not take up the change of mode within 2 s; the comparison waits for it";
    }
    return std::nullopt;
  }
  const std::optional<WantedWait> next = schedule_->look(now, attached, meter_.peek());
  if (!next) return std::nullopt;
  std::optional<std::string> news;
  if (!side_) {
    side_ = meter_.sees_sites() ? WaitSide::device : switchboard_.side_with_waits();
    if (!schedule_->plan().patched) meter_.enable(*side_);
    news = chosen_side(*side_, switchboard_.has_host_waits());
  }
  requested_ = now;
  const std::uint32_t sequence = switchboard_.request(*next, *side_);
  if (!schedule_->over()) {
    sequence_ = sequence;
    return news;
  }
  return fmt::format(
      "both modes are compared: {}, {}", schedule_->doing(),
      schedule_->end() == AbEnd::precision ? "and the interval is as narrow as asked for" : "and the time is over");
}

void AbRun::program_ended(TimeNs now) {
  const std::lock_guard lock(mutex_);
  if (schedule_) schedule_->program_ended(now);
}

bool AbRun::running() const {
  const std::lock_guard lock(mutex_);
  return schedule_ && !schedule_->over();
}

std::string AbRun::doing() const {
  const std::lock_guard lock(mutex_);
  if (!schedule_) return {};
  return schedule_->over() ? "done: " + schedule_->doing() : schedule_->doing();
}

bool AbRun::ends_program() const {
  const std::lock_guard lock(mutex_);
  return schedule_ && schedule_->over() && schedule_->plan().end_program;
}

std::map<store::MetaKey, std::string> AbRun::meta() const {
  const std::lock_guard lock(mutex_);
  if (!schedule_) return {};
  std::map<store::MetaKey, std::string> meta = schedule_->meta();
  if (side_) meta[store::MetaKey::ab_side] = side_name(*side_);
  return meta;
}

}  // namespace wicprof::cli
