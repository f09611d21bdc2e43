#include "analyzer/stuck/rank_circles.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "analyzer/stuck/mpi_messages.h"
#include "analyzer/stuck/mpi_words.h"

namespace wicprof::analyzer {

namespace {

/// The waits that are reached from one, itself among them if it is in a circle. `back`: those that reach it.
std::set<const RankWait*> reached(const MpiJob& job, const RankWait& from, bool back,
                                  const std::set<const RankWait*>& explained) {
  const auto leads = [](const RankWait& wait, const RankWait& to) {
    return std::binary_search(wait.needs.begin(), wait.needs.end(), to.rank);
  };
  std::set<const RankWait*> found;
  RankWaits open{&from};
  while (!open.empty()) {
    const RankWait& at = *open.back();
    open.pop_back();
    for (const RankWait& next : job.waits) {
      if (explained.contains(&next) || !(back ? leads(next, at) : leads(at, next))) continue;
      if (found.insert(&next).second) open.push_back(&next);
    }
  }
  return found;
}

/// Of a circle of messages alone.
std::string deadlock_text(const RankWaits& circle) {
  const auto all = [&](MpiKind kind) {
    return circle.size() > 1 && std::all_of(circle.begin(), circle.end(), [kind](const RankWait* wait) {
             return mpi_kind(wait->call->operation) == kind && wait->call->requests == 0;
           });
  };
  if (all(MpiKind::sends)) return "; a deadlock: each sends before it receives, and these sends end with the receive";
  if (all(MpiKind::receives)) return "; a deadlock: each receives before it sends";
  return "; a deadlock";
}

}  // namespace

RankWaits circle_of(const MpiJob& job, const RankWait& wait, const std::set<const RankWait*>& explained) {
  RankWaits circle;
  const std::set<const RankWait*> ahead = reached(job, wait, false, explained);
  if (!ahead.contains(&wait)) return circle;
  const std::set<const RankWait*> behind = reached(job, wait, true, explained);
  for (const RankWait& each : job.waits) {
    if (ahead.contains(&each) && behind.contains(&each)) circle.push_back(&each);
  }
  return circle;
}

std::string circle_text(const RankWords& words, const RankWaits& circle) {
  struct Group {
    std::vector<std::int32_t> ranks;
    std::set<std::int32_t> needs;
  };
  const std::vector<std::int32_t> all = ranks_of(circle);
  std::map<std::string, Group> by_call;
  std::set<CommunicatorId> communicators;
  for (const RankWait* wait : circle) {
    Group& group = by_call[call_name(words.job(), *wait->call)];
    group.ranks.push_back(wait->rank);
    std::set_intersection(wait->needs.begin(), wait->needs.end(), all.begin(), all.end(),
                          std::inserter(group.needs, group.needs.end()));
    communicators.insert(wait->call->communicator);
  }
  // The fewest first: they do otherwise than the others.
  std::vector<std::pair<std::string, Group>> groups(by_call.begin(), by_call.end());
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return std::pair(a.second.ranks.size(), a.second.ranks) < std::pair(b.second.ranks.size(), b.second.ranks);
  });
  std::string text =
      all.size() == 1 ? words.rank_name(all.front()) + " waits for itself" : ranks_text(all) + " wait for each other";
  for (std::size_t i = 0; i < groups.size() && i < RankWords::kMostLines; ++i) {
    const auto& [call, group] = groups[i];
    text += fmt::format("{} {} in {} for {}",
                        i == 0                   ? ":"
                        : i + 1 == groups.size() ? ", and"
                                                 : ",",
                        ranks_text(group.ranks), call, ranks_text({group.needs.begin(), group.needs.end()}));
  }
  if (communicators.size() > 1 && std::all_of(circle.begin(), circle.end(), is_in_collective))
    text += "; they enter collectives of different communicators in different orders, or some leave one out";
  if (std::none_of(circle.begin(), circle.end(), is_in_collective)) text += deadlock_text(circle);
  return text;
}

std::optional<std::string> misfits_text(const RankWords& words, const RankWaits& circle) {
  for (const RankWait* wait : circle) {
    for (const Receive& receive : receives_of(words.job(), *wait)) {
      std::vector<WaitingMessage> misfits = misfits_of(words.view(), words.job(), receive);
      // In the circle, nothing else comes from that rank. What others have sent is a hint if the tag is right.
      std::erase_if(misfits, [&](const WaitingMessage& message) {
        return message.from != receive.from && message.tag != receive.tag;
      });
      if (misfits.empty()) continue;
      std::string text = fmt::format("{} waits for a message from rank {} with tag {} that has not been sent",
                                     words.rank_name(wait->rank), receive.from, receive.tag);
      for (std::size_t i = 0; i < std::min(misfits.size(), RankWords::kMostLines); ++i)
        text += (i == 0 ? ", but " : ", and ") + message_text(misfits[i], wait->rank);
      return text + fmt::format("; {} wait for each other", ranks_text(ranks_of(circle)));
    }
  }
  return std::nullopt;
}

}  // namespace wicprof::analyzer
