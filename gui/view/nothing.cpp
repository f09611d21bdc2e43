#include "gui/view/nothing.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/machine_code/kernel_polling.h"
#include "analyzer/trace/imported.h"
#include "analyzer/trace/run_command.h"
#include "analyzer/words/format.h"
#include "protocol/shell_words.h"

namespace wicprof::gui {

namespace {

using analyzer::run_command_or_form;

constexpr const char* kSampled = "--trace=cuda,nvtx,pcsampling";
constexpr const char* kNoKernels = "The program neither waits through wic nor ran a kernel while it was recorded.";

std::string analyze(const std::string& path) { return "wic-prof analyze " + shell_word(path); }

}  // namespace

NothingToShow no_tracks() {
  return {
      "The trace holds no wait, kernel, copy, call, NVTX range or thread sample: the program did nothing that the "
      "recorder sees.",
      "wic-prof doctor"};
}

std::optional<NothingToShow> no_strips(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                                       bool large) {
  if (large || !model.waits.empty()) return std::nullopt;
  const auto declared =
      std::ranges::count_if(model.sites, [](const store::SiteRow& site) { return site.side != SiteSide::host; });
  if (declared > 0)
    return NothingToShow{
        fmt::format("No SM has a strip: the program declared {}, but no wait inside a kernel was recorded.",
                    analyzer::count_of(static_cast<std::uint64_t>(declared), "wait site")),
        run_command_or_form(model, "")};
  if (model.kernels.empty()) return std::nullopt;
  if (const std::string unseen = analyzer::unseen_kernel_waits(model); !unseen.empty())
    return NothingToShow{fmt::format("No SM has a strip: {}.", unseen),
                         run_command_or_form(model, analyzer::kRecordsKernelWaits)};
  const std::string reason = "No SM has a strip: the kernels do not wait through wic.";
  for (const analyzer::PollingLoop& loop : analysis.polling_loops) {  // most samples first
    if (const auto polling = analyzer::polling_of_kernel({loop}, loop.device, loop.symbol))
      return NothingToShow{fmt::format("{} Hatched: {} polls in {}. Where the program has the kernel's PTX, --rewrite "
                                       "records each wait.",
                                       reason, analyzer::function_name(loop.function), polling_text(*polling)),
                           run_command_or_form(model, "--rewrite")};
  }
  if (!analysis.stalls.functions.empty()) return std::nullopt;  // by the samples, no kernel polls
  return NothingToShow{reason + " Sampled program counters show which loops poll.",
                       run_command_or_form(model, kSampled)};
}

NothingToShow no_sites(const analyzer::TraceModel& model, const analyzer::Analysis& analysis, const std::string& path) {
  if (!model.sites.empty())
    return {fmt::format("The program declared {}, but no wait at any of them was recorded.",
                        analyzer::count_of(model.sites.size(), "wait site")),
            run_command_or_form(model, "")};
  if (const std::string unseen = analyzer::unseen_kernel_waits(model); !unseen.empty())
    return {fmt::format("No call of CUDA that waits was imported, and {}.", unseen),
            run_command_or_form(model, analyzer::kRecordsKernelWaits)};
  if (!analysis.polling_loops.empty())
    return {"The program does not wait through wic. The loops in which its kernels poll are under Stalls.",
            "wic-prof doctor"};
  if (model.kernels.empty()) return {kNoKernels + std::string(" Its threads are on the timeline."), analyze(path)};
  if (!analysis.stalls.functions.empty())
    return {
        "The program does not wait through wic, and by the samples of program counters no kernel polls. Who waits has "
        "the waits of host threads in CUDA calls.",
        analyze(path)};
  return {
      "The program does not wait through wic. Sampled program counters show where its kernels poll; Who waits has "
      "the waits of host threads in CUDA calls.",
      run_command_or_form(model, kSampled)};
}

NothingToShow no_samples(const analyzer::TraceModel& model, const std::string& path) {
  if (model.kernels.empty()) return {kNoKernels + std::string(" So no program counter was sampled."), analyze(path)};
  return {"Stall reasons and polling loops come from sampled program counters, and this trace has none.",
          run_command_or_form(model, kSampled)};
}

NothingToShow no_pairs(const analyzer::TraceModel& model, const analyzer::Analysis& analysis, const std::string& path) {
  if (model.kernels.empty() && analysis.kernels.empty())
    return {kNoKernels + std::string(" So no kernel waited for another one."), analyze(path)};
  return {"No kernel started right behind another one of its stream: none could gain by starting earlier.",
          analyze(path)};
}

NothingToShow no_ranks(const analyzer::Analysis& analysis, bool large, const std::string& path) {
  if (large) return {"The calls of MPI of this trace are not in memory, since it is large.", analyze(path)};
  if (analysis.mpi.ranks.empty())
    return {"The trace has no calls of MPI. A trace for each rank of a job can be opened together with the others.",
            "wic-prof run -o job.wicprof -- mpirun -n 4 ./your_app"};
  if (analysis.mpi.ranks.size() == 1)
    return {"The trace has one rank of the job. Open the traces of all ranks together.",
            "wic-prof gui trace.*.wicprof"};
  return {"No rank waited for another one in a call of MPI.", analyze(path)};
}

NothingToShow no_findings(const analyzer::Analysis& analysis, const std::string& path) {
  return {analysis.refusals.empty()
              ? std::string("Every rule checked this trace, and none found a problem.")
              : fmt::format("No rule found a problem; {} could not check this trace, for the reasons on the right.",
                            analyzer::count_of(analysis.refusals.size(), "rule")),
          analyze(path)};
}

NothingToShow no_toggle(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                        const BeforeAfter& values, const std::string& path) {
  if (model.sites.empty()) {
    if (!analysis.polling_loops.empty())
      return {fmt::format("The program waited in its own way all the time. The samples show that {} polls: where the "
                          "program has the kernel's PTX, --rewrite makes its loop a wait site, which --ab toggles.",
                          analyzer::function_name(analysis.polling_loops.front().function)),
              run_command_or_form(model, "--rewrite --ab")};
    if (!model.host_waits.empty() || !analysis.host_waits.empty())
      return {
          "The program waited in its own way all the time. How its host threads wait in calls of CUDA can change while "
          "it runs: --side host.",
          run_command_or_form(model, "--ab --side host")};
    if (model.kernels.empty() && analysis.kernels.empty())
      return {kNoKernels + std::string(" So nothing can change how it waits."), analyze(path)};
    if (analysis.stalls.functions.empty())
      return {
          "No wait was recorded that could change: the program does not wait through wic, and no host thread waited in "
          "a "
          "call of CUDA. Sampled program counters show whether its kernels poll.",
          run_command_or_form(model, kSampled)};
    return {
        "No wait was recorded that could change: the program does not wait through wic, no host thread waited in a "
        "call "
        "of CUDA, and by the samples no kernel polls.",
        analyze(path)};
  }
  const std::string mode =
      values.segments.empty() ? model.meta_value(store::MetaKey::mode) : values.segments.front().way;
  const std::string way = mode.empty() ? mode : fmt::format(" ({})", mode);
  return {fmt::format("The program waited in one way{} during the whole trace, so there is no before and after.", way),
          run_command_or_form(model, "--ab")};
}

NothingToShow no_iterations(const std::string& path) {
  return {"No wait site, NVTX range or kernel comes again and again, so the trace has no iterations.", analyze(path)};
}

NothingToShow no_program(const analyzer::TraceModel* model) {
  return {"This is a recorded trace: no program runs that could be watched or toggled.",
          run_command_or_form(model != nullptr ? *model : analyzer::TraceModel{}, "--gui")};
}

}  // namespace wicprof::gui
