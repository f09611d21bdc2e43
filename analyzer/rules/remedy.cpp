#include "analyzer/rules/remedy.h"

#include <fmt/format.h>

#include "analyzer/trace/modes.h"
#include "analyzer/trace/run_command.h"
#include "analyzer/words/format.h"
#include "analyzer/words/patch_and_compare.h"
#include "protocol/shell_words.h"

namespace wicprof::analyzer {
namespace {

constexpr std::string_view kToggle = "wic-prof toggle park", kRun = "wic-prof run ", kHostSide = "--side host";
constexpr std::string_view kRewrite = "--rewrite";
constexpr std::string_view kStrategy = " --strategy ", kProgram = " -- ";

std::string strategy_option(std::optional<StrategyId> strategy) {
  return strategy ? std::string(kStrategy).append(strategy_name(*strategy)) : std::string();
}

/// The program has ended, so that only another run can change how it waits.
bool has_ended(const TraceModel& model) { return model.complete && !model.meta_value(store::MetaKey::command).empty(); }

/// Of a command, what is not the program's.
std::string_view own_words(std::string_view command) { return command.substr(0, command.find(kProgram)); }

}  // namespace

std::string park_command(std::string_view site_name, std::optional<StrategyId> strategy) {
  return fmt::format("{} --site {}{}", kToggle, shell_word(site_name), strategy_option(strategy));
}

std::string park_command(const TraceModel& model, std::string_view site_name, std::optional<StrategyId> strategy) {
  if (!has_ended(model)) return park_command(site_name, strategy);
  // As wic-prof rewrite advises: the loops are patched again, and the toggle parks them.
  const std::string_view way = is_patched(model) ? kPatchAndCompare : "--ab";
  return run_command(model, std::string(way) + strategy_option(strategy));
}

std::string host_park_command(const TraceModel& model, std::optional<StrategyId> strategy) {
  if (!has_ended(model)) return fmt::format("{} {}{}", kToggle, kHostSide, strategy_option(strategy));
  if (!model.meta_value(store::MetaKey::ab_phases).empty() &&
      model.meta_value(store::MetaKey::ab_side) != side_name(WaitSide::device))
    return "nothing more to try: this trace compares both ways of these waits";
  return run_command(model, fmt::format("--ab {}{}", kHostSide, strategy_option(strategy)));
}

bool parks_sites(std::string_view remedy) {
  const std::optional<Trial> trial = trial_of(remedy);
  return trial && trial->side != WaitSide::host;
}

std::optional<StrategyId> named_strategy(std::string_view command) {
  const std::string_view own = own_words(command);
  const std::size_t at = own.find(kStrategy);
  if (at == own.npos) return std::nullopt;
  const std::size_t begin = at + kStrategy.size();
  return strategy_from_name(own.substr(begin, own.find_first_of(" ;)", begin) - begin));
}

std::optional<Trial> trial_of(std::string_view command) {
  const std::string_view own = own_words(command);
  const auto has = [&](std::string_view option) { return own.find(option) != own.npos; };
  const bool compares = own.starts_with(kRun) && (has(" --ab") || has(" --schedule"));
  if (!own.starts_with(kToggle) && !compares) return std::nullopt;
  return Trial{has(kHostSide) ? WaitSide::host : WaitSide::device, has(kRewrite), named_strategy(command)};
}

std::string trial_options(const Trial& trial, std::string_view how) {
  return fmt::format("{}{}{}{}", trial.patched ? "--rewrite " : "", how,
                     trial.side == WaitSide::host ? " --side host" : "", strategy_option(trial.strategy));
}

bool is_python(const TraceModel& model) {
  const std::string app = model.meta_value(store::MetaKey::app);
  return app.substr(app.rfind('/') + 1).starts_with("python");
}

}  // namespace wicprof::analyzer
