#include "machine_code_listings.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>

#include "analyzer/machine_code/calls.h"
#include "analyzer/machine_code/loops.h"
#include "analyzer/machine_code/nvdisasm.h"
#include "synthetic.h"

namespace wicprof::analyzer::machine_code {
namespace {

constexpr std::uint64_t kModule = 0xfeed'0000'0000'0002;
constexpr std::uint64_t kSamplesPerLoop = 1000;
constexpr std::uint64_t kWarpsBehind = 31;
constexpr std::uint64_t kOtherWork = 9;  // times the case's samples

bool is_case(std::string_view name) {
  for (const char* kind : {"wait_", "work_", "stay_", "found_", "patched_"}) {
    if (name.starts_with(kind)) return true;
  }
  return false;
}

std::vector<std::string> kernels_in(std::string_view listing) {
  std::vector<std::string> names;
  constexpr std::string_view kText = ".section .text.";
  for (std::size_t at = listing.find(kText); at != listing.npos; at = listing.find(kText, at + 1)) {
    const std::string_view rest = listing.substr(at + kText.size());
    const std::string name(rest.substr(0, rest.find_first_of(",\n")));
    if (is_case(name)) names.push_back(name);
  }
  return names;
}

void add_samples(TraceModel& model, const std::string& function, std::uint64_t offset, const std::string& reason,
                 std::uint64_t samples) {
  store::PcTotalRow row{};
  row.device = 0;
  row.function = row.symbol = function;
  row.module = kModule;
  row.offset = offset;
  row.reason = reason;
  row.samples = samples;
  row.begin = 1'000'000'000;
  row.end = 2'000'000'000;
  model.pc_totals.push_back(row);
}

const char* reason_of(SassKind kind) {
  switch (kind) {
    case SassKind::load:
    case SassKind::atomic:
      return "long_scoreboard";
    case SassKind::try_wait:
      return "long_scoreboard";
    case SassKind::fence:
      return "membar";
    case SassKind::sleep:
      return "sleeping";
    case SassKind::branch:
      return "branch_resolve";
    case SassKind::barrier:
      return "barrier";
    default:
      return "wait";
  }
}

// In units of 3 cycles: a load that must see other threads' stores takes 600 cycles, since it goes to the L2
// cache; so do atomics; a fence and a short sleep take about as long; another instruction takes 5.
std::uint64_t weight_of(SassKind kind) {
  switch (kind) {
    case SassKind::load:
    case SassKind::atomic:
    case SassKind::try_wait:
    case SassKind::fence:
    case SassKind::sleep:
      return 200;
    case SassKind::branch:
      return 5;
    default:
      return 2;
  }
}

}  // namespace

std::string unpack(const std::filesystem::path& file) {
  std::string text;
  gzFile packed = gzopen(file.c_str(), "rb");
  if (packed == nullptr) return text;
  std::array<char, 1 << 16> buffer;
  for (int bytes = 0; (bytes = gzread(packed, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
  gzclose(packed);
  return text;
}

std::vector<Case> read_cases(const std::filesystem::path& folder) {
  constexpr std::string_view kEnding = ".txt.gz", kFamily = "//## Family ";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().ends_with(kEnding)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<Case> cases;
  for (const std::filesystem::path& file : files) {
    const std::string name = file.filename().string();
    const std::string text = unpack(file);
    for (std::size_t at = text.find(kFamily); at != text.npos;) {
      const std::size_t line_end = std::min(text.find('\n', at), text.size());
      const std::size_t next = text.find(kFamily, line_end);
      const std::string_view listing(text.data() + line_end, std::min(next, text.size()) - line_end);
      Case of;
      of.build = name.substr(0, name.find('.'));
      of.architecture = name.substr(of.build.size() + 1, name.size() - of.build.size() - 1 - kEnding.size());
      of.family = text.substr(at + kFamily.size(), line_end - at - kFamily.size());
      for (const std::string& kernel : kernels_in(listing)) {
        of.name = kernel;
        of.waits = !kernel.starts_with("work_");
        of.code = parse_nvdisasm(listing, kModule, {kernel});
        cases.push_back(of);
      }
      at = next;
    }
  }
  std::set<std::string> families;
  for (const Case& of : cases) families.insert(of.family);
  for (Case& of : cases) of.judged = std::distance(families.begin(), families.find(of.family)) % 2 == 0;
  return cases;
}

TraceModel made_up_program(const Case& of) {
  TraceModel model = synthetic::empty_program();
  model.sites.clear();
  model.sass = of.code;
  SassFunctions functions;
  for (const store::SassRow& row : of.code) functions[row.symbol].push_back(decode(row));
  const Routine routine = with_callees(functions, of.name);
  // Each loop takes the same time: without that, a long loop of work would hide the wait, or the other way round.
  std::map<CodePlace, std::uint64_t> samples;
  std::map<CodePlace, SassKind> kinds;
  std::set<std::size_t> looping;
  for (const SassLoop& loop : find_loops(routine.code)) {  // shortest first
    std::uint64_t weight = 0;
    std::vector<std::size_t> own;
    for (const std::size_t i : loop.body) {
      if (looping.insert(i).second) own.push_back(i);
    }
    for (const std::size_t i : own) weight += weight_of(routine.code[i].kind);
    for (const std::size_t i : own) {
      samples[routine.origins[i]] += 1 + kSamplesPerLoop * weight_of(routine.code[i].kind) / weight;
      kinds[routine.origins[i]] = routine.code[i].kind;
    }
  }
  for (std::size_t i = looping.empty() ? routine.code.size() : *looping.begin(); i < routine.code.size(); ++i) {
    if (!of.waits || routine.code[i].kind != SassKind::barrier || looping.contains(i)) continue;
    samples[routine.origins[i]] = kWarpsBehind * kSamplesPerLoop;
    kinds[routine.origins[i]] = SassKind::barrier;
    break;
  }
  std::uint64_t total = 0;
  for (const auto& [place, count] : samples) {
    add_samples(model, place.symbol, place.offset, reason_of(kinds[place]), count);
    total += count;
  }
  for (std::uint64_t i = 0; i < 64; ++i) {
    add_samples(model, "beside_computes", 64 * i, "math_pipe_throttle", 1 + total * kOtherWork / 64);
  }
  settle(model);
  return model;
}

RecordedSamples read_samples(const std::filesystem::path& folder, const std::string& build,
                             const std::string& architecture) {
  RecordedSamples recorded;
  std::istringstream lines(unpack(folder / (build + "." + architecture + ".samples.gz")));
  std::string family;
  store::PcTotalRow row{};
  while (lines >> family >> row.symbol >> std::hex >> row.offset >> row.reason >> std::dec >> row.samples) {
    row.device = 0;
    row.function = row.symbol;
    row.module = kModule;
    row.begin = 1'000'000'000;
    row.end = 2'000'000'000;
    recorded[{family, row.symbol}].push_back(row);
  }
  return recorded;
}

TraceModel recorded_program(const Case& of, const RecordedSamples& samples) {
  TraceModel model = synthetic::empty_program();
  model.sites.clear();
  model.sass = of.code;
  std::set<std::string> symbols;
  for (const store::SassRow& row : of.code) symbols.insert(row.symbol);
  for (const std::string& symbol : symbols) {
    const auto rows = samples.find({of.family, symbol});
    if (rows != samples.end()) model.pc_totals.insert(model.pc_totals.end(), rows->second.begin(), rows->second.end());
  }
  const auto beside = samples.find({"run_kernels", "beside_computes"});
  const auto kernels = static_cast<std::uint64_t>(
      std::count_if(samples.begin(), samples.end(), [](const auto& entry) { return is_case(entry.first.second); }));
  if (beside != samples.end()) {
    for (store::PcTotalRow row : beside->second) {
      row.samples = (row.samples + kernels - 1) / std::max<std::uint64_t>(kernels, 1);
      row.module = kModule + 1;
      model.pc_totals.push_back(row);
    }
  }
  settle(model);
  return model;
}

}  // namespace wicprof::analyzer::machine_code
