#include "cli/files/recorded.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/trace/modes.h"
#include "analyzer/words/format.h"
#include "cli/files/exe_path.h"
#include "cli/files/input_trace.h"
#include "cli/files/recorded_story.h"
#include "protocol/shell_words.h"
#include "reports/parts/table.h"
#include "reports/parts/verdict.h"
#include "reports/text/answers.h"
#include "reports/text/screen.h"
#include "reports/text/table_text.h"

namespace wicprof::cli {

namespace {

namespace fs = std::filesystem;

// From application to path.
using Traces = std::map<std::string, std::string>;

struct Bundle {
  std::string folder;
  Traces poll, park;
  Traces single;    // of programs that nobody changed
  Traces about;     // what such a program is, in a sentence
  Traces compared;  // the comparison of both modes in one longer run, where one came with the traces
};

// File names are NAME.poll.wicprof, NAME.park.wicprof and NAME.wicprof, with or without .gz, NAME.ab.json, and
// NAME.txt.
void add(Bundle& bundle, const fs::path& file) {
  const std::string whole = file.filename().string();
  std::string_view name = whole;
  const auto without = [&name](std::string_view end) {
    const bool ends = name.ends_with(end);
    if (ends) name.remove_suffix(end.size());
    return ends;
  };
  if (without(".ab.json")) {
    bundle.compared[std::string(name)] = file.string();
    return;
  }
  if (without(".txt")) {
    bundle.about[std::string(name)] = file.string();
    return;
  }
  without(".gz");
  if (!without(".wicprof")) return;
  if (without(".poll")) {
    bundle.poll[std::string(name)] = file.string();
  } else if (without(".park")) {
    bundle.park[std::string(name)] = file.string();
  } else {
    bundle.single[std::string(name)] = file.string();
  }
}

Result<Bundle> bundle() {
  const std::optional<std::string> folder = folder_beside_binary("../share/wic-prof/traces");
  const std::string cure = "; record some with bench/record_traces.sh on a machine with a GPU, or run wic-prof demo";
  if (!folder) return unavailable("no recorded traces came with this wic-prof (share/wic-prof/traces)" + cure);
  Bundle all{*folder, {}, {}, {}, {}, {}};
  std::error_code error;
  for (fs::directory_iterator it(*folder, error), end; !error && it != end; it.increment(error)) add(all, it->path());
  if (error) return unavailable("cannot read " + *folder + ": " + error.message());
  for (const Traces* mode : {&all.poll, &all.park}) {
    const Traces& other = mode == &all.poll ? all.park : all.poll;
    for (const auto& [name, file] : *mode) {
      if (!other.contains(name)) {
        return bad_input(fmt::format(
            "{} lacks the trace of the other mode; record {} again with bench/record_traces.sh", file, name));
      }
    }
  }
  if (all.poll.empty()) return unavailable("no recorded traces are in " + *folder + cure);
  return Result<Bundle>(std::move(all));
}

std::string iteration_time(const analyzer::Side& side) {
  return side.iteration_ns_p50 ? analyzer::format_duration(*side.iteration_ns_p50) : "-";
}

/// "NVIDIA H200", "NVIDIA H100 and NVIDIA H200".
template <class Names>
std::string names_of(const Names& devices) {
  return analyzer::one_line(fmt::format("{}", fmt::join(devices, " and ")));
}

/// Of a comparison as JSON; empty if it does not name them.
std::string devices_of(const nlohmann::json& comparison) {
  std::vector<std::string> names;
  for (const auto& name : comparison.value("devices", nlohmann::json::array())) {
    if (name.is_string()) names.push_back(name.get<std::string>());
  }
  return names_of(names);
}

/// From the longer run with --ab, where one came with the traces; else from the two traces.
std::optional<MeasuredEffect> effect_of(const Bundle& traces, const std::string& name,
                                        const analyzer::Comparison& comparison) {
  if (const auto file = traces.compared.find(name); file != traces.compared.end()) {
    std::ifstream in(file->second);
    const auto json = nlohmann::json::parse(in, nullptr, false);
    const auto number = [&](const char* field) {
      const auto at = nlohmann::json::json_pointer(field);
      return json.contains(at) && json.at(at).is_number() ? json.at(at).get<double>() : 0.0;
    };
    const auto verdict = json.is_object() ? json.find("verdict") : json.end();
    if (json.is_object() && verdict != json.end() && verdict->is_string() && number("/speedup/value") > 0) {
      return MeasuredEffect{number("/speedup/value"),
                            number("/speedup/low"),
                            number("/speedup/high"),
                            verdict->get<std::string>(),
                            static_cast<TimeNs>(number("/before/iteration_ns_p50")),
                            static_cast<TimeNs>(number("/after/iteration_ns_p50")),
                            true,
                            devices_of(json)};
    }
  }
  if (!comparison.speedup) return std::nullopt;
  return MeasuredEffect{comparison.speedup->value,
                        comparison.speedup->low,
                        comparison.speedup->high,
                        std::string(analyzer::verdict_name(comparison.verdict)),
                        comparison.before.iteration_ns_p50.value_or(0),
                        comparison.after.iteration_ns_p50.value_or(0),
                        false,
                        names_of(comparison.devices)};
}

/// "no change (0.994 to 1.002)", "inconclusive: one run each".
std::string verdict_text(const std::optional<MeasuredEffect>& effect, const analyzer::Comparison& comparison) {
  if (!effect) return "-";
  const std::string verdict = analyzer::one_line(effect->verdict);
  if (effect->in_turn)
    return fmt::format("{} ({} to {})", verdict, speed_up_text(effect->low), speed_up_text(effect->high));
  return comparison.why.empty() ? verdict : verdict + ": " + comparison.why;
}

/// Of a trace with both modes.
std::optional<analyzer::Comparison> comparison_of(const analyzer::TraceModel& model) {
  return analyzer::Modes(model).both() ? std::optional(analyzer::compare(model)) : std::nullopt;
}

std::string first_line_of(const std::string& file) {
  std::string line;
  std::ifstream in(file);
  std::getline(in, line);
  return analyzer::one_line(line);
}

/// What a program without modes is, what its trace says, and the command that goes on from there; each begins a line.
std::string unchanged_story(const Bundle& traces, const std::string& name, const analyzer::TraceModel& model,
                            const analyzer::Analysis& analysis, const reports::Screen& screen) {
  const auto about = traces.about.find(name);
  const std::optional<analyzer::Comparison> comparison = comparison_of(model);
  const reports::TraceVerdict verdict = reports::trace_verdict(model, analysis, comparison ? &*comparison : nullptr);
  std::string text =
      about == traces.about.end() ? std::string() : reports::paragraph(screen, first_line_of(about->second));
  text += reports::paragraph(screen, fmt::format("wic-prof's verdict: {}.", verdict.headline));
  if (!verdict.command.empty()) {
    text += fmt::format("  {}:\n{}", verdict.command_title(), reports::command_lines(screen, verdict.command));
  }
  return text;
}

/// The applications that show best what parking does, as the analyses say.
struct Examples {
  std::string matters;         ///< the largest improvement; empty: none
  std::string does_not;        ///< the most waiting without a change; empty: none
  double gain = 1, waits = 0;  ///< of these two

  void consider(const std::string& name, const analyzer::Analysis& polled, const MeasuredEffect& effect) {
    const analyzer::SiteStats* site = main_site(polled);
    if (site == nullptr) return;
    if (effect.verdict == analyzer::verdict_name(analyzer::Verdict::improvement) && effect.value > gain) {
      matters = name;
      gain = effect.value;
    }
    if (effect.verdict == analyzer::verdict_name(analyzer::Verdict::no_change) && expects_no_gain(polled) &&
        site->share > waits) {
      does_not = name;
      waits = site->share;
    }
  }
};

/// The story of an application, and how to see more of it.
Result<std::string> story_of(const Bundle& traces, const std::string& name, const reports::Screen& screen) {
  const std::string& file = traces.poll.at(name);
  const Result<analyzer::TraceModel> poll = load_trace(file);
  if (!poll) return poll.error();
  const Result<analyzer::TraceModel> park = load_trace(traces.park.at(name));
  if (!park) return park.error();
  const std::optional<MeasuredEffect> effect = effect_of(traces, name, analyzer::compare(*poll, *park));
  if (!effect) return std::string();
  return parking_story(*poll, analyzer::analyze(*poll, analyzer::Parties::left_out),
                       analyzer::analyze(*park, analyzer::Parties::left_out), *effect, screen) +
         fmt::format("  all about it: wic-prof demo --recorded {}\n  in the window:\n{}\n", shell_word(name),
                     reports::command_lines(screen, fmt::format("wic-prof gui {} {}", shell_word(file),
                                                                shell_word(traces.park.at(name)))));
}

}  // namespace

Result<std::string> recorded_table(const reports::Screen& screen) {
  const Result<Bundle> traces = bundle();
  if (!traces) return traces.error();
  struct Row {
    std::string name;
    analyzer::Classification communication;
    std::string polled, parked, speed_up, verdict;
  };
  std::vector<Row> rows;
  std::set<std::string> devices;
  std::map<std::string, std::vector<std::string>> elsewhere;  // programs by the devices of their comparison
  Examples examples;
  for (const auto& [name, file] : traces->poll) {
    const Result<analyzer::TraceModel> poll = load_trace(file);
    if (!poll) return poll.error();
    const Result<analyzer::TraceModel> park = load_trace(traces->park.at(name));
    if (!park) return park.error();
    const analyzer::Analysis analysis = analyzer::analyze(*poll, analyzer::Parties::left_out);
    const analyzer::Comparison comparison = analyzer::compare(*poll, *park);
    const std::optional<MeasuredEffect> effect = effect_of(*traces, name, comparison);
    if (effect) examples.consider(name, analysis, *effect);
    devices.merge(poll->device_names());
    if (effect && !effect->devices.empty() && effect->devices != names_of(comparison.devices))
      elsewhere[effect->devices].push_back(name);
    rows.push_back({name, analysis.classification,
                    effect ? analyzer::format_duration(effect->poll_ns) : iteration_time(comparison.before),
                    effect ? analyzer::format_duration(effect->park_ns) : iteration_time(comparison.after),
                    effect ? speed_up_text(effect->value) : "-", verdict_text(effect, comparison)});
  }
  std::string unchanged;
  for (const auto& [name, file] : traces->single) {
    const Result<analyzer::TraceModel> model = load_trace(file);
    if (!model) return model.error();
    const analyzer::Analysis analysis = analyzer::analyze(*model, analyzer::Parties::left_out);
    devices.merge(model->device_names());
    unchanged += fmt::format("Unchanged: {}\n{}  all about it: wic-prof demo --recorded {}\n\n", name,
                             unchanged_story(*traces, name, *model, analysis, screen), shell_word(name));
    rows.push_back({name, analysis.classification, "-", "-", "-", "-"});
  }
  const reports::Table table = reports::table_of<Row>(
      "program", rows, rows.size(),
      {{"program", 'l', [](const Row& r) { return r.name; }},
       {"model", 'l', [](const Row& r) { return analyzer::model_name(r.communication.model); }},
       {"pattern", 'l', [](const Row& r) { return analyzer::pattern_name(r.communication.pattern); }},
       {"poll", 'r', [](const Row& r) { return r.polled; }},
       {"park", 'r', [](const Row& r) { return r.parked; }},
       {"speed-up", 'r', [](const Row& r) { return r.speed_up; }},
       {"verdict", 'w', [](const Row& r) { return r.verdict; }}});
  std::string text;
  for (const auto& [title, name] :
       {std::pair{"Parking matters", examples.matters}, std::pair{"Parking does not matter", examples.does_not}}) {
    if (name.empty()) continue;
    const Result<std::string> story = story_of(*traces, name, screen);
    if (!story) return story.error();
    text += fmt::format("{}: {}\n{}", title, name, *story);
  }
  std::string heading = fmt::format(
      "Traces recorded on {}. The columns poll and park show the median time of an iteration, from the longer "
      "run with both modes where the program had one.",
      names_of(devices));
  for (const auto& [where, names] : elsewhere)
    heading += fmt::format(" The longer {} of {} {} on {}.", names.size() == 1 ? "run" : "runs", fmt::join(names, ", "),
                           names.size() == 1 ? "was" : "were", where);
  return text + unchanged + reports::paragraph(screen, heading, 0) +
         fmt::format(
             "\n{}\nwic-prof demo --recorded NAME shows one with its findings;\nevery verb takes the traces in {}\n",
             reports::table_text(table, screen), traces->folder);
}

Result<std::string> recorded_application(const std::string& name, const reports::Screen& screen) {
  const Result<Bundle> traces = bundle();
  if (!traces) return traces.error();
  if (const auto file = traces->single.find(name); file != traces->single.end()) {
    const Result<analyzer::TraceModel> model = load_trace(file->second);
    if (!model) return model.error();
    const std::optional<analyzer::Comparison> comparison = comparison_of(*model);
    return reports::analysis_text(*model, analyzer::analyze(*model, analyzer::Parties::left_out),
                                  {screen, false, comparison ? &*comparison : nullptr, file->second});
  }
  if (!traces->poll.contains(name)) {
    std::vector<std::string> names;
    for (const Traces* some : {&traces->poll, &traces->single}) {
      for (const auto& entry : *some) names.push_back(entry.first);
    }
    return bad_input(
        fmt::format("unknown recorded application '{}'; the applications are {}", name, fmt::join(names, ", ")));
  }
  const Result<analyzer::TraceModel> poll = load_trace(traces->poll.at(name));
  if (!poll) return poll.error();
  const Result<analyzer::TraceModel> park = load_trace(traces->park.at(name));
  if (!park) return park.error();
  const analyzer::Comparison comparison = analyzer::compare(*poll, *park);
  const std::optional<MeasuredEffect> effect = effect_of(*traces, name, comparison);
  const std::string longer =
      effect && effect->in_turn
          ? "\n" + reports::paragraph(screen, "A longer run than these two: " + effect_text(*effect), 0)
          : "";
  return fmt::format("{}\n{}\n{}{}",
                     reports::analysis_text(*poll, analyzer::analyze(*poll, analyzer::Parties::left_out),
                                            {screen, false, nullptr, traces->poll.at(name)}),
                     reports::summary_text(*park, analyzer::analyze(*park, analyzer::Parties::left_out), screen),
                     reports::comparison_text(comparison, screen), longer);
}

}  // namespace wicprof::cli
