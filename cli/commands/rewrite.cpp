// wic-prof rewrite: which loops of a PTX text wait, and the text with the patch of those loops.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/words/format.h"
#include "analyzer/words/runtime_names.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/output_file.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/screen.h"
#include "reports/text/screen.h"
#include "rewriter/patch/patch.h"

namespace wicprof::cli {

namespace {

using rewriter::FunctionVerdicts;
using rewriter::LoopVerdict;
using rewriter::Verdict;

constexpr std::array kVerdicts = {Verdict::wait, Verdict::wait_not_patchable, Verdict::unknown, Verdict::not_a_wait};

struct RewriteOptions {
  std::string file;
  std::string format = "text";
  Output patched{.name = ""};
};

Result<std::string> ptx_text(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return bad_input(fmt::format("{}: no such file", path));
  if (S_ISDIR(info.st_mode)) return bad_input(fmt::format("{} is a folder; name a file of PTX text", path));
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return bad_input(fmt::format("{} cannot be read, or is empty", path));
  return std::move(text).str();
}

std::size_t count_of(const std::vector<FunctionVerdicts>& functions, Verdict verdict) {
  std::size_t count = 0;
  for (const FunctionVerdicts& function : functions) {
    for (const LoopVerdict& loop : function.loops) count += loop.verdict == verdict ? 1 : 0;
  }
  return count;
}

std::string source_of(const rewriter::Module& module, const rewriter::SourcePlace& place) {
  const auto file = module.files.find(place.file);
  if (place.line == 0 || file == module.files.end()) return {};
  return analyzer::one_line(fmt::format("{}:{}", file->second, place.line));
}

std::string verdicts_text(const std::string& path, const rewriter::Module& module,
                          const std::vector<FunctionVerdicts>& functions, const reports::Screen& screen) {
  std::string totals;
  for (const Verdict verdict : kVerdicts) {
    totals += fmt::format("{}{} {}", totals.empty() ? "" : ", ", count_of(functions, verdict), name_of(verdict));
  }
  std::string text = reports::paragraph(
      screen, fmt::format("{}: PTX for {}; loops: {}", analyzer::one_line(path), module.target, totals), 0, 2);
  for (const FunctionVerdicts& function : functions) {
    std::string loops;
    if (!function.problem.empty()) {
      loops += reports::paragraph(screen, fmt::format("not understood: {}", function.problem), 2, 4);
    }
    for (const LoopVerdict& loop : function.loops) {
      if (loop.verdict == Verdict::not_a_wait) continue;
      std::string where = source_of(module, loop.place);
      if (!where.empty()) where = ", " + where;
      std::string pause;
      if (loop.verdict == Verdict::wait) pause = fmt::format(", pause {}", name_of(loop.pause));
      loops += reports::paragraph(screen,
                                  fmt::format("{}{}: PTX lines {} to {}{}: {}", name_of(loop.verdict), pause,
                                              loop.first_line, loop.last_line, where, loop.reason),
                                  2, 4);
    }
    if (loops.empty()) continue;
    text += reports::paragraph(screen,
                               fmt::format("{} {}", function.function->is_entry ? "kernel" : "function",
                                           analyzer::one_line(analyzer::demangled(function.function->name))),
                               0, 2);
    text += loops;
  }
  return text;
}

nlohmann::ordered_json place_json(const rewriter::Module& module, const rewriter::SourcePlace& place) {
  const auto file = module.files.find(place.file);
  if (place.line == 0 || file == module.files.end()) return nullptr;
  return {{"file", file->second}, {"line", place.line}};
}

std::string verdicts_json(const std::string& path, const rewriter::Module& module,
                          const std::vector<FunctionVerdicts>& functions, const rewriter::Patch& patch) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FunctionVerdicts& function : functions) {
    nlohmann::ordered_json loops = nlohmann::ordered_json::array();
    for (const LoopVerdict& loop : function.loops) {
      nlohmann::ordered_json polls = nlohmann::ordered_json::array();
      for (const rewriter::Poll& poll : loop.polls) {
        polls.push_back({{"instruction", poll.opcode}, {"source", place_json(module, poll.place)}});
      }
      nlohmann::ordered_json site = nullptr;
      for (const rewriter::Site& each : patch.sites) {
        if (each.loop == &loop) site = each.number;
      }
      loops.push_back({{"verdict", name_of(loop.verdict)},
                       {"reason", loop.reason},
                       {"pause", name_of(loop.pause)},
                       {"site", site},
                       {"source", place_json(module, loop.place)},
                       {"ptx_lines", {loop.first_line, loop.last_line}},
                       {"polls", polls}});
    }
    list.push_back({{"name", analyzer::demangled(function.function->name)},
                    {"symbol", function.function->name},
                    {"kernel", function.function->is_entry},
                    {"problem", function.problem},
                    {"loops", loops}});
  }
  nlohmann::ordered_json totals;
  for (const Verdict verdict : kVerdicts) totals[std::string(name_of(verdict))] = count_of(functions, verdict);
  const nlohmann::ordered_json document = {{"file", path},
                                           {"target", module.target},
                                           {"totals", totals},
                                           {"table", patch.sites.empty() ? "" : patch.table},
                                           {"functions", list}};
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int rewrite(const RewriteOptions& options) {
  Output output = options.patched;
  if (!output.name.empty()) {
    Result<Output> prepared = prepare_output(output);
    if (!prepared) return fail(prepared.error());
    output = *std::move(prepared);
  }
  const Result<std::string> text = ptx_text(options.file);
  if (!text) return fail(text.error());
  const auto refuse = [&](const Error& error) {
    return fail(Error{error.kind, fmt::format("{}: {}", options.file, analyzer::one_line(error.message))});
  };
  const Result<rewriter::Module> module = rewriter::read_module(*text);
  if (!module) return refuse(module.error());
  const std::vector<FunctionVerdicts> functions = rewriter::recognize(*module);
  const Result<rewriter::Patch> patch = rewriter::patch(*module, functions);
  if (!patch) return refuse(patch.error());
  if (!output.name.empty()) {
    if (const Result<> written = write_output(output, patch->text); !written) return fail(written.error());
    if (output.name == "-") return 0;
  }
  return print_answer(options.format == "json"
                          ? verdicts_json(options.file, *module, functions, *patch)
                          : verdicts_text(options.file, *module, functions, screen_of(STDOUT_FILENO)));
}

}  // namespace

template <>
VerbBody declare<struct RewriteVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<RewriteOptions>();
  verb.add_option("FILE", options->file, "PTX text, as nvcc -ptx writes it")->required();
  add_output(verb, options->patched);
  add_format(verb, options->format);
  add_example(verb, "wic-prof rewrite kernels.ptx -o patched.ptx");
  return [options] { return rewrite(*options); };
}

}  // namespace wicprof::cli
