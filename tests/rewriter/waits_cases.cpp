#include "waits_cases.h"

#include <algorithm>
#include <map>
#include <set>

#include "machine_code_listings.h"
#include "reached_from.h"

namespace wicprof::rewriter::waits_cases {

namespace {

constexpr std::string_view kEnding = ".txt.gz", kFamily = "//## Family ";

Truth truth_of(std::string_view kernel) {
  return kernel.starts_with("wait_")     ? Truth::wait
         : kernel.starts_with("either_") ? Truth::either
         : kernel.starts_with("stay_")   ? Truth::stay
                                         : Truth::work;
}

}  // namespace

std::vector<Unit> read_units(const std::filesystem::path& folder) {
  std::vector<Unit> units;
  std::set<std::string> families;
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().ends_with(kEnding)) files.insert(entry.path());
  }
  for (const std::filesystem::path& file : files) {
    const std::string name = file.filename().string();
    const std::size_t dot = name.find('.');
    const std::string text = analyzer::machine_code::unpack(file);
    for (std::size_t at = text.find(kFamily); at != text.npos;) {
      const std::size_t line_end = std::min(text.find('\n', at), text.size());
      const std::size_t next = std::min(text.find(kFamily, line_end), text.size());
      Unit& unit = units.emplace_back();
      unit.family = text.substr(at + kFamily.size(), line_end - at - kFamily.size());
      unit.build = name.substr(0, dot);
      unit.architecture = name.substr(dot + 1, name.size() - dot - 1 - kEnding.size());
      unit.ptx = text.substr(line_end, next - line_end);
      families.insert(unit.family);
      at = next == text.size() ? text.npos : next;
    }
  }
  // In alphabetical order, the 1st, 3rd, 5th ... family only judges.
  for (Unit& unit : units) unit.judged = std::distance(families.begin(), families.find(unit.family)) % 2 == 0;
  return units;
}

std::vector<Answer> answers_of(const Unit& unit) {
  std::vector<Answer> answers;
  const Result<Module> module = read_module(unit.ptx);
  if (!module) return answers;
  const std::vector<FunctionVerdicts> verdicts = recognize(*module);
  for (const Function& function : module->functions) {
    if (!function.is_entry || !function.has_body) continue;
    Answer& answer = answers.emplace_back();
    answer.kernel = std::string(function.name);
    answer.truth = truth_of(answer.kernel);
    const std::set<std::string> reached = reached_from(*module, answer.kernel);
    for (const FunctionVerdicts& of : verdicts) {
      if (!reached.contains(std::string(of.function->name))) continue;
      if (!of.problem.empty()) answer.reasons.push_back("not understood: " + of.problem);
      for (const LoopVerdict& loop : of.loops) {
        answer.patched += loop.verdict == Verdict::wait ? 1 : 0;
        answer.reasons.push_back("lines " + std::to_string(loop.first_line) + " to " + std::to_string(loop.last_line) +
                                 ": " + std::string(name_of(loop.verdict)) + ", " + loop.reason);
      }
    }
  }
  return answers;
}

void Tally::add(const Answer& answer) {
  const bool patched = answer.patched > 0;
  switch (answer.truth) {
    case Truth::wait:
      ++waits;
      found += patched;
      break;
    case Truth::either:
      ++either;
      either_found += patched;
      break;
    case Truth::stay:
    case Truth::work:
      ++others;
      wrongly_patched += patched;
      break;
  }
}

}  // namespace wicprof::rewriter::waits_cases
