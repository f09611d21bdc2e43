// wic-prof rewrite: which loops of the PTX in a file wait, and the text with the patch of those loops.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <istream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/stuck/stuck.h"
#include "analyzer/words/format.h"
#include "analyzer/words/patch_and_compare.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/exe_path.h"
#include "cli/files/named_file.h"
#include "cli/files/output_file.h"
#include "cli/terminal/exit_status.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/screen.h"
#include "protocol/environment.h"
#include "protocol/shell_words.h"
#include "protocol/symbol_name.h"
#include "reports/parts/json.h"
#include "reports/text/screen.h"
#include "rewriter/images/device_code.h"
#include "rewriter/load/compile_options.h"
#include "rewriter/load/replacement.h"
#include "rewriter/patch/patch.h"
#include "rewriter/waits/site_names.h"

namespace wicprof::cli {

namespace {

using rewriter::FunctionVerdicts;
using rewriter::LoopVerdict;
using rewriter::Verdict;

constexpr std::array kVerdicts = {Verdict::wait, Verdict::wait_not_patchable, Verdict::unknown, Verdict::not_a_wait};

// A program can hold gigabytes of device code, of which PTX is a small part; a larger file is more likely a mistake.
constexpr std::uintmax_t kLargestFile = std::uintmax_t{8} << 30;  // bytes

constexpr std::array<std::string_view, 4> kSources = {".cu", ".cuh", ".cpp", ".cc"};
constexpr std::size_t kLongestSource = 1'000'000;  // lines
// Of a loop, with --source; chosen: more than a screen helps nobody.
constexpr std::size_t kMostLines = 60;

struct RewriteOptions {
  std::string file;
  std::string format = "text";
  std::optional<std::size_t> module;
  Output patched{.name = ""};
  bool prewarm = false;
  bool source = false;
  std::vector<std::string> fail_on;  ///< names of verdicts
};

/// One PTX text of the file, with its verdicts. Its address is kept: the parts refer to each other.
struct PtxModule {
  std::size_t number = 0;
  int architecture = 0;         ///< of a fat binary's entry; 0: the file is PTX text
  bool relocatable = false;     ///< linked with other modules before it runs
  std::string changing_option;  ///< of its compilation, which the driver would not see
  std::string left_alone;       ///< why run --rewrite leaves it as it is; empty: it does not
  std::set<int> later_code;     ///< architectures for which the file has machine code that is later than the PTX
  std::string text;
  std::optional<Error> problem;  ///< why the text stays as it is
  rewriter::Module module;
  std::vector<FunctionVerdicts> functions;
  rewriter::Patch patch;
};

/// A kernel whose PTX the file does not hold.
struct MachineCodeKernel {
  std::string symbol;
  std::set<int> architectures;
};

struct Contents {
  bool is_text = false;
  std::vector<std::unique_ptr<PtxModule>> modules;
  std::vector<MachineCodeKernel> machine_code_only;
  std::set<std::string> kernels_with_ptx;
  std::vector<std::string> unread;  ///< entries of the fat binary that could not be read
};

bool is_source(const std::string& path) {
  return std::any_of(kSources.begin(), kSources.end(), [&](std::string_view end) { return path.ends_with(end); });
}

std::vector<std::string> lines_of(std::istream&& file) {
  std::vector<std::string> lines;
  for (std::string line; lines.size() < kLongestSource && std::getline(file, line);) lines.push_back(std::move(line));
  return lines;
}

Result<std::string> bytes_of(const std::string& path) {
  if (const std::string why = why_no_file(path); !why.empty()) {
    return bad_input(why + "; name a file of PTX text, a program or a library");
  }
  struct stat info {};
  if (stat(path.c_str(), &info) == 0 && static_cast<std::uintmax_t>(info.st_size) > kLargestFile) {
    return bad_input(fmt::format("{} has more than {} bytes", path, kLargestFile));
  }
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return bad_input(fmt::format("{} cannot be read, or is empty", path));
  return std::move(text).str();
}

void judge(PtxModule& ptx) {
  Result<rewriter::Module> module = rewriter::read_module(ptx.text);
  if (!module) {
    ptx.problem = module.error();
    return;
  }
  ptx.module = *std::move(module);
  ptx.functions = rewriter::recognize(ptx.module);
  Result<rewriter::Patch> patch = rewriter::patch(ptx.module, ptx.functions);
  if (patch) {
    ptx.patch = *std::move(patch);
  } else {
    ptx.problem = patch.error();
  }
}

bool is_patched_at_load(const PtxModule& ptx) { return !ptx.problem && ptx.left_alone.empty(); }

/// As run --rewrite names the waits, where it loads the modules of one architecture in this order.
void name_sites(Contents& contents) {
  std::map<int, rewriter::SiteNames> names;
  for (const auto& ptx : contents.modules) {
    for (FunctionVerdicts& function : ptx->functions) {
      for (LoopVerdict& loop : function.loops) {
        if (loop.name.empty()) continue;
        const std::string owner = ptx->patch.table + loop.name;
        loop.name = is_patched_at_load(*ptx) ? names[ptx->architecture].of(loop.name, owner) : "";
      }
    }
  }
}

Contents contents_of(const rewriter::DeviceCode& code) {
  Contents contents;
  contents.is_text = code.is_text;
  std::map<std::string, std::set<int>> machine_code;
  for (const rewriter::FatEntry& entry : code.entries) {
    if (entry.kind == rewriter::ImageKind::cubin) {
      const Result<rewriter::CubinContents> cubin = rewriter::contents_of_cubin(entry);
      if (!cubin) {
        contents.unread.push_back(fmt::format("machine code for sm_{}: {}", entry.architecture, cubin.error().message));
        continue;
      }
      for (const std::string& kernel : cubin->kernels) machine_code[kernel].insert(entry.architecture);
    } else if (entry.kind == rewriter::ImageKind::ptx) {
      Result<std::string> text = rewriter::ptx_of(entry);
      if (!text) {
        contents.unread.push_back(fmt::format("PTX for sm_{}: {}", entry.architecture, text.error().message));
        continue;
      }
      auto ptx = std::make_unique<PtxModule>();
      ptx->number = contents.modules.size();
      ptx->architecture = entry.architecture;
      ptx->relocatable = entry.relocatable;
      ptx->changing_option = rewriter::changing_option(entry.options);
      ptx->text = *std::move(text);
      ptx->left_alone = ptx->relocatable               ? "it is linked with others (-rdc)"
                        : ptx->changing_option.empty() ? rewriter::why_untouched(ptx->text)
                                                       : "it was compiled with " + ptx->changing_option;
      judge(*ptx);
      for (const rewriter::Function& function : ptx->module.functions) {
        if (function.is_entry && function.has_body) contents.kernels_with_ptx.emplace(function.name);
      }
      contents.modules.push_back(std::move(ptx));
    }
  }
  name_sites(contents);
  for (const auto& ptx : contents.modules) {
    for (const rewriter::Function& function : ptx->module.functions) {
      const auto known = machine_code.find(std::string(function.name));
      if (!function.is_entry || known == machine_code.end()) continue;
      ptx->later_code.insert(known->second.upper_bound(ptx->architecture), known->second.end());
    }
  }
  for (auto& [symbol, architectures] : machine_code) {
    if (!contents.kernels_with_ptx.contains(symbol)) contents.machine_code_only.push_back({symbol, architectures});
  }
  return contents;
}

std::size_t count_of(const PtxModule& ptx, Verdict verdict) {
  std::size_t count = 0;
  for (const FunctionVerdicts& function : ptx.functions) {
    for (const LoopVerdict& loop : function.loops) count += loop.verdict == verdict ? 1 : 0;
  }
  return count;
}

std::size_t count_of(const Contents& contents, Verdict verdict) {
  std::size_t count = 0;
  for (const auto& ptx : contents.modules) count += count_of(*ptx, verdict);
  return count;
}

template <class Counted>
std::string totals_text(const Counted& counted) {
  std::string totals;
  for (const Verdict verdict : kVerdicts) {
    totals += fmt::format("{}{} {}", totals.empty() ? "" : ", ", count_of(counted, verdict), name_of(verdict));
  }
  return totals;
}

template <class Counted>
nlohmann::ordered_json totals_json(const Counted& counted) {
  nlohmann::ordered_json totals;
  for (const Verdict verdict : kVerdicts) totals[std::string(name_of(verdict))] = count_of(counted, verdict);
  return totals;
}

std::string architectures_text(const std::set<int>& architectures) {
  std::string text;
  for (const int each : architectures) text += fmt::format("{}sm_{}", text.empty() ? "" : ", ", each);
  return text;
}

// Stands for a space of a path, at which no line may end.
constexpr char kSpaceInPath = '\x1f';

std::string path_text(std::string_view path) {
  std::string text = analyzer::one_line(path);
  std::replace(text.begin(), text.end(), ' ', kSpaceInPath);
  return text;
}

std::string source_of(const rewriter::Module& module, const rewriter::SourcePlace& place) {
  const auto file = module.files.find(place.file);
  if (place.line == 0 || file == module.files.end()) return {};
  return path_text(fmt::format("{}:{}", file->second, place.line));
}

/// The line of the program's source, where it can be read here, and the loop's PTX.
std::string source_text(const PtxModule& ptx, const LoopVerdict& loop, std::map<int, std::vector<std::string>>& files) {
  std::string text;
  const auto add = [&](std::size_t number, std::string_view line) {
    text += fmt::format("    {:>6}  {}\n", number, analyzer::one_line(line));
  };
  const auto file = ptx.module.files.find(loop.place.file);
  if (loop.place.line > 0 && file != ptx.module.files.end()) {
    const auto [known, is_new] = files.try_emplace(loop.place.file);
    if (is_new && why_no_file(file->second).empty()) known->second = lines_of(std::ifstream(file->second));
    const auto place = static_cast<std::size_t>(loop.place.line);
    if (place <= known->second.size()) {
      text += "    " + source_of(ptx.module, loop.place) + "\n";
      add(place, known->second[place - 1]);
    }
  }
  text += "    PTX\n";
  std::istringstream lines(ptx.text);
  std::string line;
  for (std::size_t number = 1; number <= loop.last_line && std::getline(lines, line); ++number) {
    if (number < loop.first_line) continue;
    if (number - loop.first_line == kMostLines) return text + "            ...\n";
    add(number, line);
  }
  return text;
}

/// Why and where run --rewrite leaves the module as it is.
std::string left_alone_text(const PtxModule& ptx, const reports::Screen& screen) {
  const std::string leaves = "run --rewrite leaves it as it is";
  if (!ptx.left_alone.empty()) {
    return reports::paragraph(screen, fmt::format("{}: {}", leaves, analyzer::one_line(ptx.left_alone)), 2, 4);
  }
  if (ptx.later_code.empty()) return {};
  return reports::paragraph(
      screen,
      fmt::format("{} on {}, for which there is later machine code", leaves, architectures_text(ptx.later_code)), 2, 4);
}

std::string functions_text(const PtxModule& ptx, const reports::Screen& screen, bool source) {
  std::map<int, std::vector<std::string>> files;
  std::string text;
  for (const FunctionVerdicts& function : ptx.functions) {
    std::string loops;
    if (!function.problem.empty()) {
      loops += reports::paragraph(screen, fmt::format("not understood: {}", function.problem), 2, 4);
    }
    for (const LoopVerdict& loop : function.loops) {
      if (loop.verdict == Verdict::not_a_wait) continue;
      std::string where = source_of(ptx.module, loop.place);
      if (!where.empty()) where = ", " + where;
      if (loop.called_at != loop.place) where += ", called at " + source_of(ptx.module, loop.called_at);
      std::string pause;
      if (loop.waited_for > WaitedFor::word) pause = fmt::format(", {}", name_of(loop.waited_for));
      if (!loop.name.empty()) pause += ", site " + loop.name;
      if (loop.verdict == Verdict::wait) pause += fmt::format(", pause {}", name_of(loop.pause));
      if (const std::string wants = analyzer::wanted_text(loop.wanted); !wants.empty()) pause += ", wants " + wants;
      loops += reports::paragraph(screen,
                                  fmt::format("{}{}: PTX lines {} to {}{}: {}", name_of(loop.verdict), pause,
                                              loop.first_line, loop.last_line, where, loop.reason),
                                  2, 4);
      if (source) loops += source_text(ptx, loop, files);
    }
    if (loops.empty()) continue;
    text += reports::paragraph(screen,
                               fmt::format("{} {}", function.function->is_entry ? "kernel" : "function",
                                           analyzer::one_line(demangled(function.function->name))),
                               0, 2);
    text += loops;
  }
  return text;
}

/// What makes the compiler keep PTX, for kernels of which a file has machine code only.
std::string cure_of(const Contents& contents) {
  int architecture = 0;
  for (const MachineCodeKernel& kernel : contents.machine_code_only) {
    if (!kernel.architectures.empty()) architecture = std::max(architecture, *kernel.architectures.rbegin());
  }
  if (contents.machine_code_only.empty()) return {};
  const std::string flag =
      architecture == 0 ? "-arch=native" : fmt::format("-gencode arch=compute_{0},code=compute_{0}", architecture);
  return fmt::format(
      "build with PTX: give nvcc {0}, or set NVCC_APPEND_FLAGS='{0}' for the build; Triton keeps the PTX beside its "
      ".cubin files (TRITON_CACHE_DIR, by default ~/.triton/cache)",
      flag);
}

/// What to run next, where the file is a program with waits that `run --rewrite` patches.
std::string next_text(const std::string& path, const Contents& contents, const reports::Screen& screen) {
  const bool patches = std::any_of(contents.modules.begin(), contents.modules.end(), [](const auto& ptx) {
    return is_patched_at_load(*ptx) && count_of(*ptx, Verdict::wait) > 0;
  });
  struct stat info {};
  if (!patches || stat(path.c_str(), &info) != 0 || (info.st_mode & S_IXUSR) == 0 ||
      path.find(".so", path.rfind('/') + 1) != std::string::npos) {
    return {};
  }
  const std::string program = path.find('/') == std::string::npos ? "./" + path : path;
  return "Next, with these waits patched, recorded and switched:\n" +
         reports::command_lines(
             screen, fmt::format("wic-prof run {} -- {}", analyzer::kPatchAndCompare, shell_word(program)), 2);
}

std::string contents_text(const RewriteOptions& options, const Contents& contents, const reports::Screen& screen) {
  const std::string& path = options.file;
  const std::string file = path_text(path);
  if (contents.is_text) {
    const PtxModule& ptx = *contents.modules.front();
    return reports::paragraph(
               screen, fmt::format("{}: PTX for {}; loops: {}", file, ptx.module.target, totals_text(ptx)), 0, 2) +
           left_alone_text(ptx, screen) + functions_text(ptx, screen, options.source);
  }
  const std::size_t with_ptx = contents.kernels_with_ptx.size();
  std::string text =
      reports::paragraph(screen,
                         fmt::format("{}: {} of {} kernels have PTX, in {} module{}; loops: {}", file, with_ptx,
                                     with_ptx + contents.machine_code_only.size(), contents.modules.size(),
                                     contents.modules.size() == 1 ? "" : "s", totals_text(contents)),
                         0, 2);
  for (const auto& ptx : contents.modules) {
    const std::string functions = functions_text(*ptx, screen, options.source);
    if (functions.empty() && !ptx->problem) continue;  // a module without a wait needs no lines
    text += reports::paragraph(
        screen, fmt::format("module {}: PTX for sm_{}; loops: {}", ptx->number, ptx->architecture, totals_text(*ptx)),
        0, 2);
    if (ptx->problem) {
      text += reports::paragraph(screen, "not patched: " + analyzer::one_line(ptx->problem->message), 2, 4);
    }
    text += left_alone_text(*ptx, screen);
    text += functions;
  }
  for (const std::string& problem : contents.unread) {
    text += reports::paragraph(screen, "not read: " + analyzer::one_line(problem), 0, 2);
  }
  if (!contents.machine_code_only.empty()) {
    text += reports::paragraph(screen, "Machine code only, so that samples alone show how these kernels wait:", 0, 2);
    for (const MachineCodeKernel& kernel : contents.machine_code_only) {
      text += reports::paragraph(screen,
                                 fmt::format("kernel {} ({})", analyzer::one_line(demangled(kernel.symbol)),
                                             architectures_text(kernel.architectures)),
                                 2, 4);
    }
    text += reports::paragraph(screen, "To patch them: " + cure_of(contents), 0, 2);
  }
  return text + next_text(path, contents, screen);
}

nlohmann::ordered_json place_json(const rewriter::Module& module, const rewriter::SourcePlace& place) {
  const auto file = module.files.find(place.file);
  if (place.line == 0 || file == module.files.end()) return nullptr;
  return {{"file", file->second}, {"line", place.line}};
}

nlohmann::ordered_json module_json(const PtxModule& ptx) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const FunctionVerdicts& function : ptx.functions) {
    nlohmann::ordered_json loops = nlohmann::ordered_json::array();
    for (const LoopVerdict& loop : function.loops) {
      nlohmann::ordered_json polls = nlohmann::ordered_json::array();
      for (const rewriter::Poll& poll : loop.polls) {
        polls.push_back({{"instruction", poll.opcode}, {"source", place_json(ptx.module, poll.place)}});
      }
      nlohmann::ordered_json site = nullptr;
      for (const rewriter::Site& each : ptx.patch.sites) {
        if (each.loop == &loop) site = each.number;
      }
      const std::string wants = analyzer::wanted_text(loop.wanted);
      loops.push_back(
          {{"verdict", name_of(loop.verdict)},
           {"reason", loop.reason},
           {"waits_for", loop.waited_for == WaitedFor::unknown ? nlohmann::ordered_json(nullptr)
                                                               : nlohmann::ordered_json(name_of(loop.waited_for))},
           {"pause", name_of(loop.pause)},
           {"wants", wants.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(wants)},
           {"site", site},
           {"name", loop.name.empty() ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(loop.name)},
           {"source", place_json(ptx.module, loop.place)},
           {"called_at", place_json(ptx.module, loop.called_at)},
           {"ptx_lines", {loop.first_line, loop.last_line}},
           {"polls", polls}});
    }
    list.push_back({{"name", demangled(function.function->name)},
                    {"symbol", function.function->name},
                    {"kernel", function.function->is_entry},
                    {"problem", function.problem},
                    {"loops", loops}});
  }
  return {{"number", ptx.number},
          {"target", ptx.module.target},
          {"relocatable", ptx.relocatable},
          {"problem", ptx.problem ? ptx.problem->message : ""},
          {"changing_option", ptx.changing_option},
          {"left_alone", ptx.left_alone},
          {"later_machine_code", ptx.later_code},
          {"totals", totals_json(ptx)},
          {"table", ptx.patch.sites.empty() ? "" : ptx.patch.table},
          {"functions", list}};
}

std::string contents_json(const std::string& path, const Contents& contents) {
  nlohmann::ordered_json modules = nlohmann::ordered_json::array(), machine_code = modules;
  for (const auto& ptx : contents.modules) modules.push_back(module_json(*ptx));
  for (const MachineCodeKernel& kernel : contents.machine_code_only) {
    machine_code.push_back(
        {{"name", demangled(kernel.symbol)}, {"symbol", kernel.symbol}, {"architectures", kernel.architectures}});
  }
  const nlohmann::ordered_json document = {
      {"file", path},
      {"totals", totals_json(contents)},
      {"kernels", {{"with_ptx", contents.kernels_with_ptx.size()}, {"machine_code_only", machine_code.size()}}},
      {"modules", modules},
      {"machine_code_only", machine_code},
      {"cure", cure_of(contents)},
      {"unread", contents.unread}};
  return reports::json_document(document);
}

/// Exit status: a loop has a verdict that --fail-on names.
int status_of(const Contents& contents, const std::vector<std::string>& fail_on) {
  const bool fails = std::any_of(kVerdicts.begin(), kVerdicts.end(), [&](Verdict verdict) {
    return std::find(fail_on.begin(), fail_on.end(), name_of(verdict)) != fail_on.end() &&
           count_of(contents, verdict) > 0;
  });
  return fails ? kCheckFailed : 0;
}

/// The module whose patched text is asked for.
Result<const PtxModule*> chosen_module(const Contents& contents, const RewriteOptions& options) {
  if (contents.modules.empty()) return bad_input(fmt::format("{} holds no PTX", options.file));
  if (!options.module && contents.modules.size() > 1) {
    return bad_input(fmt::format("{} holds {} PTX modules, and -o writes one: name it with --module, from 0 to {}",
                                 options.file, contents.modules.size(), contents.modules.size() - 1));
  }
  const std::size_t number = options.module.value_or(0);
  if (number >= contents.modules.size()) {
    return bad_input(fmt::format("{} has no PTX module {}; its modules have the numbers 0 to {}", options.file, number,
                                 contents.modules.size() - 1));
  }
  const PtxModule* const chosen = contents.modules[number].get();
  if (chosen->problem) {
    return Error{chosen->problem->kind,
                 fmt::format("{}: {}", options.file, analyzer::one_line(chosen->problem->message))};
  }
  return chosen;
}

/// Compiles the patched code into the cache.
int prewarm(const std::string& path, const std::string& bytes) {
  using Prewarm = int (*)(const char*, std::size_t, char*, std::size_t);
  const std::optional<std::string> collector = beside_binary(std::string("../lib/") + kInjectionLibrary);
  void* const loaded = collector ? dlopen(collector->c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
  const auto compile = loaded == nullptr ? nullptr : reinterpret_cast<Prewarm>(dlsym(loaded, "wicprof_prewarm"));
  if (compile == nullptr) {
    return fail(
        bad_input(fmt::format("--prewarm needs the CUDA collector, ../lib/{} beside wic-prof", kInjectionLibrary)));
  }
  std::string notes(1 << 16, '\0');
  const int patched = compile(bytes.data(), bytes.size(), notes.data(), notes.size());
  notes.resize(std::strlen(notes.c_str()));
  if (patched < 0) return fail(bad_input(fmt::format("{}: nothing was compiled: {}", path, notes)));
  std::istringstream lines(notes);
  for (std::string line; std::getline(lines, line);) {
    warn(fmt::format("{}: a module stays as it is: {}", path, analyzer::one_line(line)));
  }
  return print_answer(fmt::format("{}: {} in the cache; run --rewrite takes {} from there\n", path,
                                  patched == 1 ? "1 patched module is" : fmt::format("{} patched modules are", patched),
                                  patched == 1 ? "it" : "them"));
}

int rewrite(const RewriteOptions& options) {
  Output output = options.patched;
  if (!output.name.empty()) {
    Result<Output> prepared = prepare_output(output);
    if (!prepared) return fail(prepared.error());
    output = *std::move(prepared);
  }
  if (is_source(options.file)) {
    return fail(
        bad_input(fmt::format("{0} is source: name the program that is built of it, or compile it to PTX first: "
                              "nvcc -arch=native -lineinfo -ptx {1} -o {1}.ptx",
                              analyzer::one_line(options.file), shell_word(options.file))));
  }
  const Result<std::string> bytes = bytes_of(options.file);
  if (!bytes) return fail(bytes.error());
  if (options.prewarm) return prewarm(options.file, *bytes);
  const auto refuse = [&](const Error& error) {
    return fail(Error{error.kind, fmt::format("{}: {}", options.file, analyzer::one_line(error.message))});
  };
  const Result<rewriter::DeviceCode> code = rewriter::read_device_code(*bytes);
  if (!code) return refuse(code.error());
  const Contents contents = contents_of(*code);
  if (contents.is_text && contents.modules.front()->problem) return refuse(*contents.modules.front()->problem);
  if (!output.name.empty()) {
    const Result<const PtxModule*> chosen = chosen_module(contents, options);
    if (!chosen) return fail(chosen.error());
    if (const Result<> written = write_bytes_to(output, (*chosen)->patch.text); !written) return fail(written.error());
    if (output.name == "-") return status_of(contents, options.fail_on);
  }
  std::string answer = options.format == "json" ? contents_json(options.file, contents)
                                                : contents_text(options, contents, screen_of(STDOUT_FILENO));
  std::replace(answer.begin(), answer.end(), kSpaceInPath, ' ');
  const int printed = print_answer(answer);
  return printed != 0 ? printed : status_of(contents, options.fail_on);
}

}  // namespace

template <>
VerbBody declare<struct RewriteVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<RewriteOptions>();
  verb.add_option("FILE", options->file, "PTX text, as nvcc -ptx writes it; a program or a library; .fatbin, .cubin")
      ->required();
  add_output(verb, options->patched);
  verb.add_option("--module", options->module, "the PTX module that -o writes, where the file holds several")
      ->type_name("N");
  verb.add_flag("--prewarm", options->prewarm,
                "compile the patched code for this machine's GPUs: run --rewrite finds it in "
                "$XDG_CACHE_HOME/wic-prof and the driver's cache");
  verb.add_flag("--source", options->source, "show each loop beside its verdict: the program's line and the PTX");
  verb.add_option("--fail-on", options->fail_on,
                  "end with status 1 if a loop has this verdict, or one of several with commas between")
      ->delimiter(',')
      ->allow_extra_args(false)  // the file may stand behind it
      ->type_name("VERDICT")
      ->check(CLI::IsMember({"wait", "wait_not_patchable", "unknown", "not_a_wait"}));
  add_format(verb, options->format);
  add_example(verb, "wic-prof rewrite kernels.ptx -o patched.ptx");
  return [options] { return rewrite(*options); };
}

}  // namespace wicprof::cli
