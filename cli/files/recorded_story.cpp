#include "cli/files/recorded_story.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analyzer/words/format.h"

namespace wicprof::cli {

namespace {

using analyzer::format_duration;
using analyzer::one_line;

const analyzer::Finding* no_gain_at(const analyzer::Analysis& polled, const analyzer::SiteStats& site) {
  const auto found = std::find_if(polled.findings.begin(), polled.findings.end(), [&](const analyzer::Finding& f) {
    return f.rule == "no_gain" && f.site == site.site;
  });
  return found == polled.findings.end() ? nullptr : &*found;
}

std::string layout_of(const analyzer::SiteStats& site) {
  const std::string memory = site.declared ? fmt::format(" in {}", analyzer::memory_name(site.word_memory)) : "";
  if (!site.words_seen) return "for a word" + memory;
  if (*site.words_seen == 1) return "all for one word" + memory;
  if (site.waiters_per_word && *site.waiters_per_word > 1)
    return fmt::format("up to {} of them for the same word{}", *site.waiters_per_word, memory);
  return "each for a word of its own" + memory;
}

std::string who_waits(const analyzer::TraceModel& model, const analyzer::SiteStats& site) {
  std::string text = fmt::format(
      "Up to {} wait at {} at the same time on {}, {}, and a waiter spends {} of its time there",
      analyzer::count_of(site.max_waiting, "waiter"), one_line(site.name),
      one_line(model.device_name(model.waits.front().device)), layout_of(site), analyzer::format_percent(site.share));
  if (site.polls_per_wait)
    text += fmt::format(", looking at the word {} times per wait", analyzer::format_number(*site.polls_per_wait));
  return text + ".";
}

std::optional<TimeNs> wake_at(const analyzer::Analysis& analysis, SiteId site) {
  for (const analyzer::WakeStats& wake : analysis.wakes) {
    if (wake.site == site && wake.matched > 0) return wake.p50_ns;
  }
  return std::nullopt;
}

std::string what_it_does(const analyzer::Analysis& polled, const analyzer::Analysis& parked,
                         const analyzer::SiteStats& site) {
  std::string text;
  if (const analyzer::Finding* finding = no_gain_at(polled, site)) {
    text = fmt::format("The analysis of the polled run expects that {}", one_line(finding->text));
  } else {
    const auto worst = std::find_if(polled.findings.begin(), polled.findings.end(),
                                    [&](const analyzer::Finding& f) { return f.site == site.site; });
    if (worst != polled.findings.end())
      text = fmt::format("The analysis of the polled run finds ({}): {}", worst->rule, one_line(worst->text));
  }
  const std::optional<TimeNs> before = wake_at(polled, site.site), after = wake_at(parked, site.site);
  if (before && after) {
    text += fmt::format("{} signal reaches its waiter after {} while polled and after {} while parked (median)",
                        text.empty() ? "A" : "; a", format_duration(*before), format_duration(*after));
  }
  return text.empty() ? text : text + ".";
}

std::string what_parking_changes(const MeasuredEffect& effect) {
  const bool matters = effect.verdict == analyzer::verdict_name(analyzer::Verdict::improvement);
  return fmt::format("So parking {} here: {}", matters ? "matters" : "does not matter", effect_text(effect));
}

}  // namespace

std::string effect_text(const MeasuredEffect& effect) {
  return fmt::format("{}{}, an iteration takes {} polled and {} parked, a speed-up of {} (interval {} to {}): {}.",
                     effect.in_turn ? "with both modes in turn in one run" : "in one run of each mode",
                     effect.devices.empty() ? "" : " on " + effect.devices, format_duration(effect.poll_ns),
                     format_duration(effect.park_ns), speed_up_text(effect.value), speed_up_text(effect.low),
                     speed_up_text(effect.high), one_line(effect.verdict));
}

std::string speed_up_text(double ratio) {
  constexpr double kLarge = 10;
  return ratio < kLarge ? fmt::format("{:.3f}", ratio) : fmt::format("{:.3g}", ratio);
}

const analyzer::SiteStats* main_site(const analyzer::Analysis& analysis) {
  const auto found = std::find_if(analysis.sites.begin(), analysis.sites.end(),
                                  [](const analyzer::SiteStats& site) { return site.max_waiting > 0; });
  return found == analysis.sites.end() ? nullptr : &*found;
}

bool expects_no_gain(const analyzer::Analysis& polled) {
  const analyzer::SiteStats* site = main_site(polled);
  return site != nullptr && no_gain_at(polled, *site) != nullptr;
}

std::string parking_story(const analyzer::TraceModel& model, const analyzer::Analysis& polled,
                          const analyzer::Analysis& parked, const MeasuredEffect& effect,
                          const reports::Screen& screen) {
  const analyzer::SiteStats* site = main_site(polled);
  if (site == nullptr || model.waits.empty()) return {};
  std::string text;
  for (const std::string& sentence :
       {who_waits(model, *site), what_it_does(polled, parked, *site), what_parking_changes(effect)}) {
    if (!sentence.empty()) text += reports::paragraph(screen, sentence);
  }
  return text;
}

}  // namespace wicprof::cli
