#include "analyzer/stuck/stuck.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

#include "analyzer/stuck/blocked_calls.h"
#include "analyzer/stuck/dependencies.h"
#include "analyzer/stuck/rank_causes.h"
#include "analyzer/stuck/waited_words.h"
#include "analyzer/stuck/word_cause.h"

namespace wicprof::analyzer {

namespace {

/// The lower, the likelier.
auto order_of(const Cause& cause) {
  const int by_kind = cause.kind == CauseKind::missing_signal ? 1 : 0;
  return std::tuple(cause.kind == CauseKind::consequence, static_cast<int>(cause.confidence) * 2 + by_kind,
                    cause.since);
}

}  // namespace

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
  std::stable_sort(answer.causes.begin(), answer.causes.end(),
                   [](const Cause& a, const Cause& b) { return order_of(a) < order_of(b); });
  answer.words = std::move(all.words);
  return answer;
}

}  // namespace wicprof::analyzer
