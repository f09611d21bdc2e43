#include "analyzer/stuck/stuck.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>
#include <utility>

#include "analyzer/stuck/blocked_calls.h"
#include "analyzer/stuck/dependencies.h"
#include "analyzer/stuck/rank_causes.h"
#include "analyzer/stuck/stuck_words.h"
#include "analyzer/stuck/waited_words.h"
#include "analyzer/stuck/word_cause.h"

namespace wicprof::analyzer {

namespace {

/// The likeliest first. Which of two causes came first is not known where clocks do not tell.
void sort_causes(std::vector<Cause>& causes, TimeNs clock_error) {
  std::vector<TimeNs> since;
  for (const Cause& cause : causes) since.push_back(cause.since);
  const std::vector<std::size_t> places = places_of(since, clock_error);
  std::vector<std::size_t> order(causes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto rank = [&](std::size_t i) {
    const int by_kind = causes[i].kind == CauseKind::missing_signal ? 1 : 0;
    return std::tuple(causes[i].kind == CauseKind::consequence, static_cast<int>(causes[i].confidence) * 2 + by_kind,
                      places[i]);
  };
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rank(a) < rank(b); });
  std::vector<Cause> sorted;
  for (const std::size_t i : order) sorted.push_back(std::move(causes[i]));
  causes = std::move(sorted);
}

}  // namespace

const SeenProcess* StuckView::process(std::uint32_t pid) const {
  const auto found =
      std::find_if(processes.begin(), processes.end(), [&](const auto& each) { return each.pid == pid; });
  return found == processes.end() ? nullptr : &*found;
}

TimeNs StuckView::until(std::uint32_t pid) const {
  const SeenProcess* const found = process(pid);
  return found == nullptr || found->until == 0 ? now : found->until;
}

StuckAnswer diagnose(const StuckView& view) {
  WaitedWords all = waited_words(view);
  StuckAnswer answer;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all.words[i].is_satisfied()) answer.causes.push_back(cause_of(view, all, i));
  }
  relate_causes(all, answer.causes);
  RanksAnswer ranks = explain_ranks(view, all);
  for (std::vector<Cause> more : {explain_calls(view, all, ranks.wait_in_nccl), std::move(ranks.causes)}) {
    std::move(more.begin(), more.end(), std::back_inserter(answer.causes));
  }
  answer.ranks = std::move(ranks.ranks);
  sort_causes(answer.causes, view.clock_error);
  answer.words = std::move(all.words);
  return answer;
}

}  // namespace wicprof::analyzer
