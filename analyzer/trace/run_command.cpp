#include "analyzer/trace/run_command.h"

#include <fmt/format.h>

#include "protocol/shell_words.h"

namespace wicprof::analyzer {
namespace {

std::string run_of(std::string_view options, std::string_view words) {
  return fmt::format("wic-prof run{}{} -- {}", options.empty() ? "" : " ", options, words);
}

}  // namespace

std::string run_command(const TraceModel& model, std::string_view options) {
  const std::string words = safe_command(model.meta_value(store::MetaKey::command));
  return words.empty() ? words : run_of(options, words);
}

std::string run_command_or_form(const TraceModel& model, std::string_view options) {
  const std::string command = run_command(model, options);
  return command.empty() ? run_of(options, "APP") : command;
}

}  // namespace wicprof::analyzer
