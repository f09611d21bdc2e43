// wic-prof doctor: reports what this machine can and cannot do, and how to fix what is missing.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "analyzer/words/format.h"
#include "cli/checks/list.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/exe_path.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/screen.h"
#include "protocol/environment.h"
#include "protocol/session.h"
#include "reports/parts/json.h"

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

constexpr reports::Ink ink_of(CheckState state) {
  switch (state) {
    case CheckState::ok:
      return reports::Ink::good;
    case CheckState::missing:
      return reports::Ink::warn;
    case CheckState::not_applicable:
      break;
  }
  return reports::Ink::faint;
}

/// In bytes: names in other scripts count as longer than they are.
std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    longest = std::max(longest, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return longest;
}

std::string to_text(const std::vector<Check>& checks, bool able, const reports::Screen& screen) {
  constexpr std::size_t kState = 14, kGap = 2;
  std::string text;
  std::size_t name = 0;
  for (const Check& check : checks) name = std::max(name, check.name.size());
  const std::size_t beside = kState + kGap + name + kGap;
  for (const Check& check : checks) {
    const std::string state = state_name(check.state);
    const std::string cure = check.cure.empty() ? "" : "cure: " + check.cure;
    // Details stand below the name where the screen is narrow, and where only so a path stays whole and can be copied.
    const std::size_t word = std::max(longest_word(check.detail), longest_word(cure));
    const bool below = beside > screen.width / 2 || word > screen.beside(beside);
    const std::size_t indent = !below ? beside : word > screen.beside(2 * kGap) && word <= screen.width ? 0 : 2 * kGap;
    const auto detail = [&](const std::string& words) {
      return analyzer::wrap(words, indent == 0 ? screen.width : screen.beside(indent), indent) + "\n";
    };
    text += reports::inked(screen, ink_of(check.state), state) + std::string(kState - state.size() + kGap, ' ');
    text += fmt::format("{:<{}}", check.name, below ? 0 : name + kGap);
    if (below) text += "\n" + std::string(indent, ' ');
    text += detail(check.detail);
    if (!cure.empty()) text += std::string(indent, ' ') + detail(cure);
  }
  return text + "\n" +
         analyzer::wrap(
             able ? "wic-prof can do its main job here." : "wic-prof cannot do its main job here: see the cures above.",
             screen.width, 0) +
         "\n";
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
  return reports::json_document(document);
}

}  // namespace

template <>
VerbBody declare<struct DoctorVerb>(CLI::App& verb, const ProgramWords&) {
  const auto format = std::make_shared<std::string>("text");
  add_format(verb, *format);
  add_example(verb, "wic-prof doctor");
  return [format]() -> int {
    const std::optional<std::string> collector = beside_binary(std::string("../lib/") + kInjectionLibrary);
    const Machine machine{session_directory(), collector, try_patched_code(collector), probe_cuda_driver()};
    std::vector<Check> checks;
    for (const auto& run : kChecks) {
      for (Check& check : run(machine)) checks.push_back(std::move(check));
    }
    const bool able = std::none_of(checks.begin(), checks.end(),
                                   [](const Check& c) { return c.essential && c.state == CheckState::missing; });
    const int printed =
        print_answer(*format == "json" ? to_json(checks, able) : to_text(checks, able, screen_of(STDOUT_FILENO)));
    return able ? printed : kUnavailable;
  };
}

}  // namespace wicprof::cli
