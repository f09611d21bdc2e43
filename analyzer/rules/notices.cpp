// What the runtime or the collector had to say while the program ran, such as a toggle that failed.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/machine_code/polling_loops.h"
#include "analyzer/rules/rule.h"
#include "analyzer/words/format.h"
#include "protocol/rewrite_notices.h"

namespace wicprof::analyzer {
namespace {

/// Keeps a program with ever new texts from filling the report. Not calibrated.
constexpr std::size_t kMaxTexts = 20;

/// Notices with one text.
struct Group {
  const store::NoticeRow* first;  ///< the earliest
  NoticeSeverity severity;        ///< the worst
  std::uint64_t count = 1;
};

/// Notices with further texts.
struct Others {
  std::uint64_t count = 0;
  NoticeSeverity severity = NoticeSeverity::info;  ///< the worst
};

/// Kernels that run --rewrite could not patch, since there is no PTX of them.
struct MachineCode {
  std::uint64_t counted = 0, modules = 0;  ///< of the process with the most; 0: none has come to its end
  std::set<std::string> kernels;           ///< those that are named
};

std::uint64_t number_in(std::string_view text) {
  std::uint64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// Whether the notice is about such kernels.
bool read_machine_code(std::string_view text, MachineCode& into) {
  if (const std::size_t modules = text.find(kMachineCodeModules);
      text.starts_with(kMachineCodeKernels) && modules != std::string_view::npos) {
    // Ranks load the same modules.
    const std::uint64_t counted = number_in(text.substr(kMachineCodeKernels.size()));
    if (counted <= into.counted) return true;
    into.counted = counted;
    into.modules = number_in(text.substr(modules + kMachineCodeModules.size()));
    return true;
  }
  if (!text.starts_with(kKernelNotice) || !text.ends_with(kMachineCodeOnly)) return false;
  text.remove_prefix(kKernelNotice.size());
  into.kernels.emplace(text.substr(0, text.size() - kMachineCodeOnly.size()));
  return true;
}

std::string list_of(const std::set<std::string>& names) {
  std::string list;
  std::size_t listed = 0;
  for (const std::string& name : names) {
    if (listed++ == kMaxTexts) return list + fmt::format(", and {} more", names.size() - kMaxTexts);
    list += (list.empty() ? "" : ", ") + one_line(function_name(name));
  }
  return list;
}

/// One line for all of them: a program with PyTorch has hundreds.
Finding machine_code_finding(const MachineCode& found, const RuleInput& input) {
  std::set<std::string> waited;
  for (const PollingLoop& loop : input.polling_loops) {
    if (found.kernels.contains(loop.function)) waited.insert(loop.function);
  }
  Finding finding;
  finding.severity = Severity::info;
  finding.text = "not patched, since it is machine code only: " +
                 count_of(std::max<std::uint64_t>(found.counted, found.kernels.size()), "kernel");
  if (found.modules > 0) finding.text += " of " + count_of(found.modules, "module");
  finding.text += "; ";
  if (input.model.pc_totals.empty()) {
    finding.text += "without samples, nothing shows whether they waited";
  } else if (waited.empty()) {
    finding.text += "none of those named waited, by samples";
  } else {
    finding.text += fmt::format("by samples, these waited: {}", list_of(waited));
  }
  finding.evidence = found.kernels.empty() ? "none is named" : "named: " + list_of(found.kernels);
  finding.remedy =
      "where their waits matter, sample them (--trace=cuda,nvtx,pcsampling), or build them with PTX: nvcc -gencode "
      "arch=compute_XX,code=compute_XX, NVCC_APPEND_FLAGS in the environment of a build, TORCH_CUDA_ARCH_LIST=X.Y+PTX";
  return finding;
}

std::vector<Group> groups_of(const std::vector<store::NoticeRow>& notices, Others& others, MachineCode& machine_code) {
  std::vector<Group> groups;
  for (const store::NoticeRow& notice : notices) {
    if (read_machine_code(notice.text, machine_code)) continue;
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](const Group& group) { return group.first->text == notice.text; });
    if (known != groups.end()) {
      ++known->count;
      known->severity = std::max(known->severity, notice.severity);
    } else if (groups.size() < kMaxTexts) {
      groups.push_back({&notice, notice.severity});
    } else {
      ++others.count;
      others.severity = std::max(others.severity, notice.severity);
    }
  }
  return groups;
}

Severity severity_of(NoticeSeverity severity) {
  switch (severity) {
    case NoticeSeverity::info:
      return Severity::info;
    case NoticeSeverity::warning:
      return Severity::warning;
    case NoticeSeverity::error:
      break;
  }
  return Severity::critical;
}

}  // namespace

template <>
RuleOutcome apply<struct Notices>(const RuleInput& input) {
  RuleOutcome outcome;
  Others others;
  MachineCode machine_code;
  for (const Group& group : groups_of(input.model.notices, others, machine_code)) {
    const TimeNs after = group.first->at - input.model.begin;
    Finding finding;
    finding.severity = severity_of(group.severity);
    finding.text = group.first->text.empty() ? "a notice whose text was lost" : one_line(group.first->text);
    finding.evidence = fmt::format("reported {}, first {} {} the traced time began",
                                   group.count == 1 ? "once" : count_of(group.count, "time"),
                                   format_duration(after < 0 ? -after : after), after < 0 ? "before" : "after");
    // A notice of this severity reports no failure, and says itself what to do.
    finding.remedy =
        group.severity == NoticeSeverity::info
            ? "nothing, unless the notice concerns what you look for"
            : "remove the reported cause; until then, waits after this time may not follow the requested strategy";
    outcome.findings.push_back(std::move(finding));
  }
  if (machine_code.counted > 0 || !machine_code.kernels.empty()) {
    outcome.findings.push_back(machine_code_finding(machine_code, input));
  }
  if (others.count > 0) {
    Finding finding;
    finding.severity = severity_of(others.severity);
    finding.text = fmt::format("{} with further texts are not shown", count_of(others.count, "notice"));
    finding.evidence = fmt::format("only the first {} texts are shown", kMaxTexts);
    finding.remedy = "read all of them in the trace's table notice";
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

}  // namespace wicprof::analyzer
