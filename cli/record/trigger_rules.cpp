#include "cli/record/trigger_rules.h"

#include <fmt/format.h>
#include <signal.h>

#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/record/long_wait.h"
#include "cli/record/schedule.h"

namespace wicprof::cli {

namespace {

using RuleKind = TriggerRule::Kind;

bool read_wait(std::string_view head, std::string_view limit, TriggerRule& rule) {
  if (head.starts_with("wait:")) rule.site = head.substr(5);
  if (head != "wait" && rule.site.empty()) return false;
  rule.kind = RuleKind::wait;
  rule.time = parse_time(limit, true).value_or(0);
  return rule.time > 0;
}

bool read_step(std::string_view limit, TriggerRule& rule) {
  rule.kind = RuleKind::step;
  rule.time = parse_time(limit, true).value_or(0);
  if (rule.time > 0) return true;
  const auto [end, error] = std::from_chars(limit.data(), limit.data() + limit.size(), rule.factor);
  const std::string_view rest(end, static_cast<std::size_t>(limit.data() + limit.size() - end));
  return error == std::errc() && rest == "*p99" && rule.factor > 0 && rule.factor < 1e6;
}

std::optional<TriggerRule> read_trigger(const std::string& text) {
  TriggerRule rule;
  rule.text = text;
  const std::size_t over = text.rfind('>');
  const std::string_view all = text, head = all.substr(0, over);
  const std::string_view limit = over == text.npos ? std::string_view() : all.substr(over + 1);
  bool known = false;
  if (head == "stuck") {
    rule.kind = RuleKind::stuck;
    rule.time = over == text.npos ? LongWait::kLong : parse_time(limit, true).value_or(0);
    known = rule.time > 0;
  } else if (over != text.npos) {
    known = head == "step" ? read_step(limit, rule) : read_wait(head, limit, rule);
  } else if (text == "signal:USR1" || text == "signal:USR2") {
    rule.kind = RuleKind::signal;
    rule.signal = text.ends_with('1') ? SIGUSR1 : SIGUSR2;
    known = true;
  } else {
    known = text == "dump";
  }
  return known ? std::optional(std::move(rule)) : std::nullopt;
}

}  // namespace

std::string trigger_grammar() {
  return "'wait>TIME' or 'wait:SITE>TIME', 'step>N*p99' or 'step>TIME', stuck or 'stuck>TIME', signal:USR1 or "
         "signal:USR2, dump; in quotes, since a shell takes > for itself. Example: --trigger 'wait>20ms'";
}

Result<std::vector<TriggerRule>> read_triggers(const std::vector<std::string>& texts) {
  std::vector<TriggerRule> rules;
  for (const std::string& text : texts) {
    std::optional<TriggerRule> rule = read_trigger(text);
    if (!rule)
      return bad_input(fmt::format("--trigger does not know the rule '{}'; it takes {}", text, trigger_grammar()));
    rules.push_back(*std::move(rule));
  }
  return rules;
}

}  // namespace wicprof::cli
