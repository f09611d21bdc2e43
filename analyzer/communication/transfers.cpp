#include "analyzer/communication/transfers.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analyzer/communication/numbering.h"
#include "analyzer/measure/flat_index.h"
#include "analyzer/measure/sorting.h"

namespace wicprof::analyzer {
namespace {

/// A numbering starts again if a number is further behind the highest one than messages of one way overtake each other,
/// and is one of its first numbers.
constexpr std::uint32_t kOverlap = 2;

/// Replaces sizes by begins, and appends the end of all.
void sizes_to_begins(std::vector<std::uint32_t>& counts) {
  std::uint32_t total = 0;
  for (std::uint32_t& count : counts) total += std::exchange(count, total);
  counts.push_back(total);
}

/// Calls `take` with each run of consecutive members that have the same number in `of`.
void for_each_part(std::span<std::uint32_t> list, const std::vector<std::uint32_t>& of, const auto& take) {
  for (std::size_t begin = 0, end; begin < list.size(); begin = end) {
    for (end = begin + 1; end < list.size() && of[list[end]] == of[list[begin]]; ++end) {
    }
    take(list.subspan(begin, end - begin));
  }
}

/// Site, sender and receiver; within one party also the blocks.
using Way = std::tuple<SiteId, PartyIndex, PartyIndex, std::uint32_t, std::uint32_t>;
Way way_of(const Message& m) {
  const bool blocks = m.from == m.to;
  return {m.site, m.from, m.to, blocks ? m.sender : 0, blocks ? m.receiver : 0};
}

class Merger {
 public:
  Merger(const TraceModel& model, const Matching& matching, std::vector<Message> messages, std::vector<Origin> origins,
         const std::function<PartyIndex(const WakeEdge&)>& receiver_of)
      : model_(model),
        matching_(matching),
        messages_(std::move(messages)),
        origins_(std::move(origins)),
        receiver_of_(receiver_of) {}

  std::vector<Message> run() {
    std::vector<std::uint32_t> order = by_way();
    number_groups(order);
    way_ = {};
    count_waits();
    for_each_part(order, group_, [&](std::span<std::uint32_t> members) {
      keep_transfers(members, most_waits_.empty() ? 1 : most_waits_[group_[members.front()]]);
    });
    order = {};
    group_ = {};
    origins_ = {};
    return in_order_of_time();
  }

 private:
  /// The messages sorted by way, then by time.
  std::vector<std::uint32_t> by_way() {
    std::map<Way, std::uint32_t> ways;
    way_.resize(messages_.size());
    std::vector<std::uint32_t> count;
    std::array<std::pair<Way, std::uint32_t>, 4> recent;  // messages often alternate between a few ways
    std::size_t known = 0;
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const Way way = way_of(messages_[i]);
      std::size_t r = 0;
      while (r < known && recent[r].first != way) ++r;
      if (r == known) {
        const std::uint32_t number = ways.try_emplace(way, static_cast<std::uint32_t>(count.size())).first->second;
        if (number == count.size()) count.push_back(0);
        r = known < recent.size() ? known++ : i % recent.size();
        recent[r] = {way, number};
      }
      way_[i] = recent[r].second;
      ++count[way_[i]];
    }
    // Sort the ways, so that the result does not depend on which came first.
    std::vector<std::uint32_t> next(count.size());
    std::uint32_t total = 0;
    for (const auto& [way, number] : ways) {
      next[number] = total;
      total += count[number];
    }
    std::vector<std::uint32_t> order(messages_.size());
    for (std::uint32_t i = 0; i < messages_.size(); ++i) order[next[way_[i]]++] = i;
    for_each_part(order, way_, [&](std::span<std::uint32_t> part) {
      sort_if_needed(part, [&](std::uint32_t a, std::uint32_t b) { return messages_[a].at < messages_[b].at; });
    });
    return order;
  }

  /// Gives the messages of one way and iteration one group number, and sorts by it. An iteration whose number occurs
  /// again later is another one.
  void number_groups(std::vector<std::uint32_t>& order) {
    std::vector<std::uint32_t> run(messages_.size());
    // Each block or thread numbers for itself: parts of one transfer may come far apart.
    std::map<std::uint32_t, Numbering> sources;
    std::uint32_t current = 0, first_run = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const Message& m = messages_[order[k]];
      if (k == 0 || way_[order[k]] != way_[order[k - 1]]) {
        sources.clear();
        first_run = ++current;
      }
      Numbering& own = sources.try_emplace(m.source, Numbering{first_run, m.iteration, m.iteration}).first->second;
      if (m.iteration + kOverlap < own.top && m.iteration <= own.first + kFirstNumbers) {
        own = {own.run + 1, m.iteration, m.iteration};
      }
      own.top = std::max(own.top, m.iteration);
      current = std::max(current, own.run);
      run[order[k]] = own.run;
    }
    for_each_part(order, way_, [&](std::span<std::uint32_t> part) {
      sort_if_needed(part, [&](std::uint32_t a, std::uint32_t b) {
        return std::pair(run[a], messages_[a].iteration) < std::pair(run[b], messages_[b].iteration);
      });
    });
    group_.resize(messages_.size());
    for (std::size_t k = 0; k < order.size(); ++k) {
      const bool same = k > 0 && run[order[k]] == run[order[k - 1]] &&
                        messages_[order[k]].iteration == messages_[order[k - 1]].iteration;
      if (!same) ++group_count_;
      group_[order[k]] = group_count_ - 1;
    }
  }

  /// Per group, the largest number of waits by one waiter.
  void count_waits() {
    std::vector<std::uint32_t> message_of(model_.signals.size(), Origin::kNone);
    std::unordered_map<std::uint64_t, std::uint32_t> others;  // of signals to several parties: signal and party
    const auto key = [](std::uint32_t signal, PartyIndex to) { return (std::uint64_t{signal} << 32) | to; };
    for (std::uint32_t i = 0; i < messages_.size(); ++i) {
      const std::uint32_t signal = origins_[i].signal;
      if (signal == Origin::kNone) continue;
      if (message_of[signal] == Origin::kNone) {
        message_of[signal] = i;
      } else {
        others.emplace(key(signal, messages_[i].to), i);
      }
    }
    const auto group_of = [&](const WakeEdge& edge) {
      std::uint32_t message = message_of[edge.signal];
      if (message == Origin::kNone) return Origin::kNone;
      const PartyIndex to = receiver_of_(edge);
      if (messages_[message].to != to) {
        const auto other = others.find(key(edge.signal, to));
        if (other == others.end()) return Origin::kNone;
        message = other->second;
      }
      return group_[message];
    };
    // All waiters, sorted by group.
    std::vector<std::uint32_t> begins(group_count_, 0);
    for (const WakeEdge& edge : matching_.edges) {
      const std::uint32_t group = group_of(edge);
      if (group != Origin::kNone) ++begins[group];
    }
    if (std::all_of(begins.begin(), begins.end(), [](std::uint32_t waits) { return waits <= 1; })) return;
    sizes_to_begins(begins);
    FlatIndex numbers;
    std::vector<std::uint32_t> waiters(begins.back());
    std::vector<std::uint32_t> next(begins.begin(), begins.end() - 1);
    for (const WakeEdge& edge : matching_.edges) {
      const std::uint32_t group = group_of(edge);
      if (group != Origin::kNone) waiters[next[group]++] = numbers.number(waiter_of(edge));
    }
    most_waits_.assign(group_count_, 1);
    for (std::size_t g = 0; g < group_count_; ++g) {
      const auto begin = waiters.begin() + begins[g], end = waiters.begin() + begins[g + 1];
      std::sort(begin, end);
      for (auto same = begin; same != end;) {
        const auto other = std::find_if(same, end, [&](std::uint32_t waiter) { return waiter != *same; });
        most_waits_[g] = std::max(most_waits_[g], static_cast<std::uint32_t>(other - same));
        same = other;
      }
    }
  }

  std::uint64_t waiter_of(const WakeEdge& edge) const {
    const WaitView wait = view_of(model_, edge);
    return wait.host ? wait.who : (std::uint64_t{wait.who} << 16) | (wait.warp & 0xffffu);
  }

  struct Kept {
    std::uint32_t message = 0, parts = 1;
  };

  void keep_transfers(std::span<std::uint32_t> members, std::uint32_t waits) {
    if (members.size() == 1) {
      kept_.push_back({members.front(), 1});
      return;
    }
    const auto value_of = [&](std::uint32_t i) { return origins_[i].value; };
    sort_if_needed(members, [&](std::uint32_t a, std::uint32_t b) {
      return std::pair(value_of(a).value_or(0), messages_[a].at) < std::pair(value_of(b).value_or(0), messages_[b].at);
    });
    chosen_.clear();
    for (std::size_t i = 0; i < members.size(); ++i) {
      const bool known = value_of(members[i]).has_value();
      if (!known && !chosen_.empty()) continue;
      if (i == 0 || value_of(members[i]) != value_of(members[i - 1])) chosen_.push_back(members[i]);
    }
    // A host thread's wait has no value, so it is not a separate message beside one that has.
    if (chosen_.size() > 1 && !value_of(chosen_.front())) chosen_.erase(chosen_.begin());
    const std::size_t count = std::min(std::max<std::size_t>(chosen_.size(), waits), members.size());
    if (count > chosen_.size()) {
      sort_if_needed(members, [&](std::uint32_t a, std::uint32_t b) { return messages_[a].at < messages_[b].at; });
      chosen_.clear();
      for (std::size_t k = 0; k < count; ++k) chosen_.push_back(members[k * members.size() / count]);
    }
    const auto parts = static_cast<std::uint32_t>(members.size() / chosen_.size());
    for (const std::uint32_t i : chosen_) kept_.push_back({i, parts});
  }

  std::vector<Message> in_order_of_time() {
    const auto earlier = [&](const Kept& a, const Kept& b) {
      return messages_[a.message].at < messages_[b.message].at;
    };
    sort_if_needed(kept_, earlier);
    const auto place = [](const Kept& a, const Kept& b) { return a.message < b.message; };
    if (std::is_sorted(kept_.begin(), kept_.end(), place)) {  // most programs: no second list of very many messages
      for (std::size_t k = 0; k < kept_.size(); ++k) {
        messages_[k] = messages_[kept_[k].message];
        messages_[k].parts = kept_[k].parts;
      }
      messages_.resize(kept_.size());
      return std::move(messages_);
    }
    std::vector<Message> transfers;
    transfers.reserve(kept_.size());
    for (const Kept& kept : kept_) {
      transfers.push_back(messages_[kept.message]);
      transfers.back().parts = kept.parts;
    }
    return transfers;
  }

  const TraceModel& model_;
  const Matching& matching_;
  std::vector<Message> messages_;
  std::vector<Origin> origins_;
  const std::function<PartyIndex(const WakeEdge&)>& receiver_of_;
  std::vector<std::uint32_t> way_, group_;  // per message
  std::uint32_t group_count_ = 0;
  std::vector<std::uint32_t> most_waits_;  // per group; empty if no waiter waits twice
  std::vector<std::uint32_t> chosen_;
  std::vector<Kept> kept_;
};

}  // namespace

std::vector<Message> merge_parts(const TraceModel& model, const Matching& matching, std::vector<Message> messages,
                                 std::vector<Origin> origins,
                                 const std::function<PartyIndex(const WakeEdge&)>& receiver_of) {
  return Merger(model, matching, std::move(messages), std::move(origins), receiver_of).run();
}

}  // namespace wicprof::analyzer
