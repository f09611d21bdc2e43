// wic-prof doctor: reports what this machine can and cannot do, and how to fix what is missing.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/checks/list.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/exe_path.h"
#include "cli/terminal/exit_status.h"
#include "protocol/environment.h"
#include "protocol/session.h"

namespace wicprof::cli {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* state_name(CheckState state) {
  switch (state) {
    case CheckState::ok:
      return "ok";
    case CheckState::missing:
      return "missing";
    case CheckState::not_applicable:
      return "not applicable";
  }
  return "unknown";
}

std::string to_text(const std::vector<Check>& checks, bool able) {
  std::string text;
  std::size_t width = 0;
  for (const Check& check : checks) width = std::max(width, check.name.size());
  for (const Check& check : checks) {
    text += fmt::format("{:<14}  {:<{}}  {}\n", state_name(check.state), check.name, width, check.detail);
    if (!check.cure.empty()) text += fmt::format("{:<14}  {:<{}}  cure: {}\n", "", "", width, check.cure);
  }
  return text + (able ? "\nwic-prof can do its main job here.\n"
                      : "\nwic-prof cannot do its main job here: see the cures above.\n");
}

std::string to_json(const std::vector<Check>& checks, bool able) {
  Json list = Json::array();
  for (const Check& check : checks) {
    list.push_back({{"name", check.name},
                    {"state", state_name(check.state)},
                    {"detail", check.detail},
                    {"cure", check.cure.empty() ? Json(nullptr) : Json(check.cure)},
                    {"essential", check.essential}});
  }
  const Json document = {{"version", WICPROF_VERSION}, {"able", able}, {"checks", list}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

template <>
VerbBody declare<struct DoctorVerb>(CLI::App& verb, const ProgramWords&) {
  const auto format = std::make_shared<std::string>("text");
  add_format(verb, *format);
  add_example(verb, "wic-prof doctor");
  return [format]() -> int {
    const Machine machine{session_directory(), probe_cuda_driver(),
                          beside_binary(std::string("../lib/") + kInjectionLibrary)};
    std::vector<Check> checks;
    for (const auto& run : kChecks) {
      for (Check& check : run(machine)) checks.push_back(std::move(check));
    }
    const bool able = std::none_of(checks.begin(), checks.end(),
                                   [](const Check& c) { return c.essential && c.state == CheckState::missing; });
    const int printed = print_answer(*format == "json" ? to_json(checks, able) : to_text(checks, able));
    return able ? printed : kUnavailable;
  };
}

}  // namespace wicprof::cli
