#include "analyzer/waits/open_edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

using Word = std::pair<SiteId, std::optional<WordTag>>;

std::string reason_of(const store::PolledWordRow* word) {
  if (word == nullptr || !word->address) return "which word they wait for, the loop's code does not show";
  switch (word->memory) {
    case WordMemory::pinned_host:
      return "the word is in the host's memory, where stores of the CPU are not seen";
    case WordMemory::managed:
      return "the word is in managed memory, where stores of the CPU and of kernels are not seen";
    case WordMemory::device:
    case WordMemory::peer_device:
      return "the word is in a device's memory, where stores of kernels are not seen";
    case WordMemory::unknown:
      break;
  }
  return "what memory the word is in is not known, and stores of kernels and of the CPU are not seen";
}

/// The waiter sees a store at one of its next looks, and the times of kernels and of waits come from two clocks, which
/// differ by a few us (chosen).
constexpr TimeNs kClocks = 10 * kMicrosecond;
TimeNs seen_within(const store::WaitRow& wait) {
  return kClocks + (wait.polls == 0 ? 0 : 2 * (wait.resumed - wait.arrived) / wait.polls);
}

/// Whether a kernel of that name ran within a time.
class KernelsByName {
 public:
  explicit KernelsByName(const TraceModel& model) : model_(model) {}
  bool ran_within(const std::string& name, TimeNs from, TimeNs to) {
    const auto [known, is_new] = runs_.try_emplace(function_name(name));
    if (is_new) {
      for (const store::KernelRow& kernel : model_.kernels) {
        if (function_name(kernel.name) == known->first) known->second.emplace_back(kernel.start, kernel.end);
      }
      std::sort(known->second.begin(), known->second.end());
    }
    // Kernels of one name may overlap; those that began last are looked at.
    constexpr int kMostOverlapping = 64;
    auto after = std::upper_bound(known->second.begin(), known->second.end(), to,
                                  [](TimeNs time, const auto& run) { return time < run.first; });
    for (int looked = 0; after != known->second.begin() && looked < kMostOverlapping; ++looked) {
      if ((--after)->second >= from) return true;
    }
    return false;
  }

 private:
  const TraceModel& model_;
  std::map<std::string, std::vector<std::pair<TimeNs, TimeNs>>> runs_;
};

}  // namespace

std::vector<SiteEdges> open_edges(const TraceModel& model, const Matching& matching) {
  if (model.polled_words.empty()) return {};
  std::map<SiteId, SiteEdges> sites;
  std::map<Word, const store::PolledWordRow*> words;
  for (const store::PolledWordRow& word : model.polled_words) {
    sites[word.site].site = word.site;
    words[{word.site, word.word}] = &word;
  }
  std::map<Word, std::vector<const store::WriterCandidateRow*>> candidates;
  for (const store::WriterCandidateRow& each : model.writer_candidates) {
    candidates[{each.site, each.word}].push_back(&each);
  }
  std::vector<bool> has_end(model.waits.size());
  for (const WakeEdge& edge : matching.edges) {
    if (edge.host) continue;
    has_end[edge.wait] = true;
    const auto site = sites.find(model.waits[edge.wait].site);
    if (site == sites.end()) continue;
    switch (model.signals[edge.signal].writer) {
      case SignalWriter::copy:
      case SignalWriter::unknown_copy:
        ++site->second.copies;
        break;
      case SignalWriter::memset:
        ++site->second.memsets;
        break;
      case SignalWriter::stream_write:
        ++site->second.stream_writes;
        break;
      case SignalWriter::program:
        break;
    }
  }
  KernelsByName kernels(model);
  std::map<SiteId, std::map<std::string, std::uint64_t>> reasons;
  std::map<SiteId, std::map<std::pair<std::string, bool>, std::uint64_t>> seen;
  for (std::size_t i = 0; i < model.waits.size(); ++i) {
    const store::WaitRow& wait = model.waits[i];
    const auto site = sites.find(wait.site);
    if (site == sites.end() || has_end[i] || wait.status != WaitStatus::satisfied) continue;
    ++site->second.open;
    const auto word = words.find({wait.site, wait.word});
    ++reasons[wait.site][reason_of(word == words.end() ? nullptr : word->second)];
    const auto of_word = candidates.find({wait.site, wait.word});
    if (of_word == candidates.end()) continue;
    for (const store::WriterCandidateRow* each : of_word->second) {
      if (kernels.ran_within(each->kernel, wait.resumed - seen_within(wait), wait.resumed))
        ++seen[wait.site][{each->kernel, each->exact}];
    }
  }
  std::vector<SiteEdges> list;
  for (auto& [id, site] : sites) {
    for (const auto& [text, waits] : reasons[id]) site.reasons.push_back({text, waits});
    std::stable_sort(site.reasons.begin(), site.reasons.end(),
                     [](const auto& a, const auto& b) { return a.waits > b.waits; });
    for (const auto& [kernel, waits] : seen[id]) site.candidates.push_back({kernel.first, kernel.second, waits});
    std::stable_sort(site.candidates.begin(), site.candidates.end(), [](const auto& a, const auto& b) {
      return std::pair(a.exact, a.waits) > std::pair(b.exact, b.waits);
    });
    list.push_back(std::move(site));
  }
  return list;
}

std::string open_edges_text(const SiteEdges& edges) {
  if (edges.open == 0) return {};
  const std::uint64_t all = edges.open + edges.copies + edges.memsets + edges.stream_writes;
  std::string text = edges.open == all ? fmt::format("the writer of {} is not known", count_of(edges.open, "wait"))
                                       : fmt::format("the writer of {} of {} is not known", format_count(edges.open),
                                                     count_of(all, "wait"));
  for (const OpenReason& reason : edges.reasons) {
    text += edges.reasons.size() == 1 ? ": " + reason.text
                                      : fmt::format("; of {}: {}", format_count(reason.waits), reason.text);
  }
  constexpr std::size_t kMostNamed = 4;
  for (std::size_t i = 0; i < edges.candidates.size() && i < kMostNamed; ++i) {
    const EdgeCandidate& each = edges.candidates[i];
    text +=
        fmt::format("{}kernel {}, which {} and ran at the end of {}", i == 0 ? "; candidates, no more: " : ", ",
                    one_line(function_name(each.kernel)),
                    each.exact ? "stores to the word's address" : "stores through a pointer to the word's allocation",
                    format_count(each.waits));
  }
  return text;
}

}  // namespace wicprof::analyzer
