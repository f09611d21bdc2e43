#include "gui/view/first_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"
#include "protocol/shell_words.h"

namespace wicprof::gui {

FirstWords first_words(const analyzer::TraceModel& model, const analyzer::Analysis& analysis,
                       const analyzer::Comparison& comparison, const std::string& path) {
  FirstWords words;
  words.verdict = reports::trace_verdict(model, analysis, comparison.segments.size() > 1 ? &comparison : nullptr);
  if (words.verdict.command.empty()) words.verdict.command = "wic-prof analyze " + shell_word(path);
  for (std::size_t i = 0; i < std::min(analysis.findings.size(), FirstWords::kMostFindings); ++i)
    words.worst.push_back(i);
  return words;
}

MissingWords why_empty(const analyzer::TraceModel& model, std::size_t tracks) {
  if (tracks > 0) return {};
  if (!model.thread_samples.empty())
    return {
        "The program used no GPU, waited nowhere through wic and made no CUDA call while it was recorded: the trace "
        "holds only samples of its threads, which analyze sums up.",
        "wic-prof doctor"};
  return {"The trace holds no wait, kernel, copy, call or NVTX range: the program did nothing that the recorder sees.",
          "wic-prof doctor"};
}

MissingWords why_no_strips(const analyzer::TraceModel& model, bool large) {
  if (large || !model.waits.empty()) return {};
  if (!model.sites.empty())
    return {fmt::format("No SM has a strip: the program declared {}, but no wait inside a kernel was recorded.",
                        analyzer::count_of(model.sites.size(), "wait site")),
            "wic-prof run -- APP"};
  if (model.kernels.empty()) return {};
  return {"No SM has a strip: the kernels do not wait through wic. Sampled program counters show which loops poll.",
          "wic-prof run --trace=cuda,nvtx,pcsampling -- APP"};
}

}  // namespace wicprof::gui
