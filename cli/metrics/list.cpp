#include "cli/metrics/list.h"

#include <fmt/format.h>

#include <array>
#include <initializer_list>
#include <string_view>
#include <utility>

namespace wicprof::cli {

namespace {

using Labels = std::initializer_list<std::pair<std::string_view, std::string_view>>;

/// In label values and help texts.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

/// Takes the samples of one metric.
class Samples {
 public:
  Samples(std::string& out, std::string name) : out_(out), name_(std::move(name)) {}

  void count(std::uint64_t value, Labels labels = {}) { add(std::to_string(value), labels); }
  void seconds(std::uint64_t ns, Labels labels = {}) {
    add(fmt::format("{}.{:09}", ns / kSecond, ns % kSecond), labels);
  }

 private:
  void add(const std::string& value, Labels labels) {
    out_ += name_;
    char before = '{';
    for (const auto& [label, text] : labels) {
      out_ += fmt::format("{}{}=\"{}\"", before, label, escaped(text));
      before = ',';
    }
    if (labels.size() > 0) out_ += '}';
    out_ += fmt::format(" {}\n", value);
  }

  std::string& out_;
  std::string name_;
};

enum class Type { counter, gauge, info };

struct Metric {
  Type type;
  std::string_view name;  ///< ends with the unit
  std::string_view unit;  ///< empty: none
  std::string_view help;
  /// A fact that is not known has no sample.
  void (*get)(const MetricFacts& facts, Samples& samples);
};

void by_way(const MetricFacts& facts, const auto& sample) {
  for (const store::WaitSumOfSite& wait : facts.waits) {
    const Labels labels{
        {"site", wait.site}, {"side", side_name(wait.side)}, {"strategy", strategy_name(wait.strategy)}};
    sample(wait.sum, labels);
  }
}

// Names and units follow OpenTelemetry and OpenMetrics. Labels name no arguments and no environment, and have few
// values.
constexpr std::array kMetrics{
    Metric{Type::info, "wicprof_session", "", "The recording.",
           [](const MetricFacts& facts, Samples& samples) {
             samples.count(1, {{"session", facts.session}, {"app", facts.app}, {"version", WICPROF_VERSION}});
           }},
    Metric{Type::counter, "wicprof_waits", "", "Waits that have ended, by site, side and the strategy at their end.",
           [](const MetricFacts& facts, Samples& samples) {
             by_way(facts, [&](const store::WaitSum& sum, Labels labels) { samples.count(sum.waits, labels); });
           }},
    Metric{Type::counter, "wicprof_wait_seconds", "seconds",
           "How long these waits took, summed over the groups of warps and the host threads that waited.",
           [](const MetricFacts& facts, Samples& samples) {
             by_way(facts, [&](const store::WaitSum& sum, Labels labels) { samples.seconds(sum.waiting_ns, labels); });
           }},
    Metric{Type::counter, "wicprof_wait_cpu_seconds", "seconds", "Time on a CPU during waits of host threads.",
           [](const MetricFacts& facts, Samples& samples) {
             by_way(facts, [&](const store::WaitSum& sum, Labels labels) {
               if (sum.cpu_ns) samples.seconds(*sum.cpu_ns, labels);
             });
           }},
    Metric{Type::gauge, "wicprof_parked", "", "1 while waits are wanted to park, 0 while they poll, by side.",
           [](const MetricFacts& facts, Samples& samples) {
             samples.count(facts.device_mode == Mode::park, {{"side", "device"}});
             samples.count(facts.host_mode == Mode::park, {{"side", "host"}});
           }},
    Metric{Type::counter, "wicprof_interventions", "",
           "Changes of how the program waits that took effect, by new mode.",
           [](const MetricFacts& facts, Samples& samples) {
             for (const Mode mode : {Mode::poll, Mode::park})
               samples.count(facts.changes[static_cast<std::size_t>(mode)], {{"mode", mode_name(mode)}});
           }},
    Metric{Type::counter, "wicprof_cpu_throttled_seconds", "seconds",
           "Time for which CPU quotas of the program's control groups stopped its threads, summed over the CPUs.",
           [](const MetricFacts& facts, Samples& samples) {
             if (facts.throttled_ns) samples.seconds(*facts.throttled_ns);
           }},
    Metric{Type::counter, "wicprof_cpu_throttled_periods", "", "Periods in which such a quota was used up.",
           [](const MetricFacts& facts, Samples& samples) {
             if (facts.throttled_periods) samples.count(*facts.throttled_periods);
           }},
    Metric{Type::counter, "wicprof_events", "", "Events written to the trace.",
           [](const MetricFacts& facts, Samples& samples) { samples.count(facts.progress.events); }},
    Metric{Type::counter, "wicprof_lost_events", "", "Events lost on the way to the trace, by what lost them.",
           [](const MetricFacts& facts, Samples& samples) {
             for (const auto& [stat, lost] : facts.losses)
               samples.count(lost, {{"reason", store::stat_info(stat).name}});
           }},
    Metric{Type::gauge, "wicprof_recording", "", "1 while the trace grows, 0 once writing has stopped.",
           [](const MetricFacts& facts, Samples& samples) { samples.count(facts.progress.stopped.empty()); }},
    Metric{Type::gauge, "wicprof_trace_size_bytes", "bytes", "Size of the trace, or of its latest segment.",
           [](const MetricFacts& facts, Samples& samples) { samples.count(facts.trace_bytes); }},
    Metric{Type::counter, "wicprof_own_cpu_seconds", "seconds",
           "CPU time of wic-prof: of wic-prof run (recorder), and of its threads in the program (collector).",
           [](const MetricFacts& facts, Samples& samples) {
             samples.seconds(static_cast<std::uint64_t>(facts.recorder_cpu), {{"part", "recorder"}});
             if (facts.collector_cpu_ns) samples.seconds(*facts.collector_cpu_ns, {{"part", "collector"}});
           }},
};

struct TypeWords {
  std::string_view name, suffix;  ///< of samples
};
constexpr TypeWords words_of(Type type) {
  switch (type) {
    case Type::counter:
      return {"counter", "_total"};
    case Type::gauge:
      return {"gauge", ""};
    case Type::info:
      break;
  }
  return {"info", "_info"};
}

}  // namespace

std::string metrics_text(const MetricFacts& facts) {
  std::string text;
  for (const Metric& metric : kMetrics) {
    const TypeWords words = words_of(metric.type);
    text += fmt::format("# TYPE {} {}\n", metric.name, words.name);
    if (!metric.unit.empty()) text += fmt::format("# UNIT {} {}\n", metric.name, metric.unit);
    text += fmt::format("# HELP {} {}\n", metric.name, escaped(metric.help));
    Samples samples(text, fmt::format("{}{}", metric.name, words.suffix));
    metric.get(facts, samples);
  }
  return text + "# EOF\n";
}

}  // namespace wicprof::cli
