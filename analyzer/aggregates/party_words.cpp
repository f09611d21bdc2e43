#include "analyzer/aggregates/party_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/trace/imported.h"
#include "analyzer/trace/run_command.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// "1.2 s in 120 waits, the longest 30 ms".
std::string amount(const WaitFigures& figures) {
  if (figures.waits == 1) return fmt::format("{} in 1 wait", format_duration(figures.waiting_ns));
  return fmt::format("{} in {}, the longest {}", format_duration(figures.waiting_ns), count_of(figures.waits, "wait"),
                     format_duration(figures.max_ns));
}

}  // namespace

std::string_view party_by_title(PartyBy by) {
  switch (by) {
    case PartyBy::kernel:
      return "kernel or host thread";
    case PartyBy::site:
      return "wait site or call";
    case PartyBy::sm:
      return "SM or host thread";
    case PartyBy::thread:
      return "block or host thread";
    case PartyBy::device:
      break;
  }
  return "device";
}

std::string party_label(const WaitParty& party) {
  return one_line(party.is_kernel ? function_name(party.name) : party.name);
}

std::string party_sentence(const PartyMatrix& matrix) {
  const auto largest = std::max_element(
      matrix.cells.begin(), matrix.cells.end(),
      [](const PartyCell& a, const PartyCell& b) { return a.figures.waiting_ns < b.figures.waiting_ns; });
  if (largest == matrix.cells.end()) return {};
  const std::string waiter = party_label(matrix.waiters[largest->waiter]);
  const WaitParty& releaser = matrix.releasers[largest->releaser];
  if (releaser.name == kUnknownParty)
    return fmt::format("{} waited longest, {}; the trace does not show for whom.", waiter, amount(largest->figures));
  return fmt::format("{} waited longest for {}: {}.", waiter, party_label(releaser), amount(largest->figures));
}

std::string cell_sentence(const PartyMatrix& matrix, const PartyCell& cell) {
  const WaitParty& releaser = matrix.releasers[cell.releaser];
  const bool known = releaser.name != kUnknownParty;
  std::string text =
      fmt::format("{} waited for {}: {}", party_label(matrix.waiters[cell.waiter]),
                  known ? party_label(releaser) : "someone whom the trace does not show", amount(cell.figures));
  if (cell.figures.wake_p50_ns)
    text += fmt::format("; the median wait ended {} after its signal", format_duration(*cell.figures.wake_p50_ns));
  return text + ".";
}

std::array<std::string, kFigureColumns.size()> figure_cells(const WaitFigures& figures) {
  const auto time = [](const std::optional<TimeNs>& ns) { return ns ? format_duration(*ns) : std::string("-"); };
  const std::optional<double> polls = figures.polls_per_wait();
  return {format_count(figures.waits),     format_duration(figures.waiting_ns), format_duration(figures.p50_ns),
          format_duration(figures.p99_ns), format_duration(figures.max_ns),     time(figures.wake_p50_ns),
          time(figures.wake_p99_ns),       polls ? format_number(*polls) : "-"};
}

NothingToShow why_no_waits(const TraceModel& model) {
  if (!model.sites.empty())
    return {fmt::format("The program declared {}, but no wait at any of them was recorded.",
                        count_of(model.sites.size(), "wait site")),
            run_command_or_form(model, "")};
  if (model.kernels.empty())
    return {"The trace has neither a wait nor a kernel: the program used no GPU while it was recorded.",
            "wic-prof doctor"};
  if (const std::string unseen = unseen_kernel_waits(model); !unseen.empty())
    return {fmt::format("No wait was imported: no host thread waited in a CUDA call, and {}.", unseen),
            run_command_or_form(model, kRecordsKernelWaits)};
  return {
      "No wait was recorded: no host thread waited in a CUDA call, and no kernel waits through wic. Sampled program "
      "counters show kernels that poll in their own code.",
      run_command_or_form(model, "--trace=cuda,nvtx,pcsampling")};
}

}  // namespace wicprof::analyzer
