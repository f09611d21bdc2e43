#include "analyzer/stuck/rank_words.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <utility>

#include "analyzer/stuck/mpi_words.h"
#include "analyzer/stuck/stuck_words.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

/// What a source's words differ in.
struct SourceWords {
  std::string_view not_seen;       ///< of ranks
  std::string_view nccl_reached;   ///< how a rank reaches a collective of NCCL
  std::string_view all_have_come;  ///< of what waits for nobody
  bool is_dump;                    ///< times are those of the day, and nothing is known of processes
};

namespace {

const SourceWords& words_of_source(SeenBy by) {
  static constexpr SourceWords kSessions{"no session here records", "enqueued", "", false};
  static constexpr SourceWords kTraces{"no trace was given of", "enqueued", "", false};
  static constexpr SourceWords kDumps{"no dump was given of", "come to", ": all ranks have come to that", true};
  return by == SeenBy::sessions ? kSessions : by == SeenBy::traces ? kTraces : kDumps;
}

}  // namespace

std::vector<std::int32_t> ranks_of(const RankWaits& waits) {
  std::set<std::int32_t> ranks;
  for (const RankWait* wait : waits) ranks.insert(wait->rank);
  return {ranks.begin(), ranks.end()};
}

bool is_in_collective(const RankWait* wait) { return wait->call->sequence != 0; }

RankWords::RankWords(const StuckView& view, const MpiJob& job)
    : view_(view), job_(job), words_(words_of_source(view.by)) {}

std::string_view RankWords::not_seen() const { return words_.not_seen; }
std::string_view RankWords::all_have_come() const { return words_.all_have_come; }

std::string RankWords::not_come_to(const OpenMpiCall& collective) const {
  return fmt::format("has not {} {}", job_.is_nccl() ? words_.nccl_reached : "come to",
                     collective_name(job_, collective));
}

std::string RankWords::rank_name(std::int32_t rank) const {
  const std::string name = fmt::format("rank {} of {}", rank, job_.size);
  const auto found = job_.ranks.find(rank);
  if (found == job_.ranks.end() || words_.is_dump) return name;
  const SeenProcess* const process = view_.process(found->second.process);
  return fmt::format("{} (process {}{})", name, process == nullptr ? found->second.process : process->shown_pid(),
                     process == nullptr || process->host.empty() ? "" : " on " + one_line(process->host));
}

/// "5.2 s ago"
std::string RankWords::when(TimeNs at) const {
  return words_.is_dump ? "at " + day_time(at) : age(view_.now, at) + " ago";
}

std::string RankWords::how_long(TimeNs since) const {
  return words_.is_dump ? "since " + day_time(since) : "for " + age(view_.now, since);
}

/// "left MPI_Barrier 5.2 s ago"; empty: there is none.
std::string RankWords::last_call(const SeenRank& seen) const {
  if (seen.last == nullptr) return {};
  const bool is_in_it = seen.last->end == 0;
  return fmt::format("{} {} {}",
                     is_in_it         ? "entered"
                     : job_.is_nccl() ? "enqueued"
                                      : "left",
                     call_name(job_, *seen.last), when(is_in_it ? seen.last->begin : seen.last->end));
}

std::string RankWords::place_of(std::int32_t rank) const {
  const auto found = job_.ranks.find(rank);
  if (found == job_.ranks.end()) return "never came: no process here has called MPI_Init as that rank";
  const SeenRank& seen = found->second;
  if (words_.is_dump) return place_in_dump(seen);
  const std::string before = last_call(seen);
  if (seen.has_left_mpi()) return before;
  if (seen.ended) {
    return fmt::format("has ended{}{}{}",
                       job_.is_nccl()    ? ""
                       : !before.empty() ? " without MPI_Finalize"
                                         : " without MPI_Init",
                       before.empty() ? "" : "; it ", before);
  }
  if (const SeenProcess* const process = view_.process(seen.process); process != nullptr && !process->seen)
    return "may be anywhere: its trace does not keep what it was in";
  std::string text = job_.is_nccl() && before.empty() ? "has enqueued nothing"
                     : job_.is_nccl()                 ? before + " and nothing since"
                     : before.empty()                 ? "has not come to MPI"
                                                      : before + " and is outside of MPI since";
  if (seen.last != nullptr && seen.last->end == 0) text = before;
  // Which thread enqueues for NCCL says little: it may be one that waits for work.
  const bool by_call = seen.last != nullptr && !job_.is_nccl();
  for (const SeenThread& thread : view_.threads) {
    if (thread.process == seen.process && thread.thread == (by_call ? seen.last->thread : seen.process))
      text += fmt::format("; its thread {} {}", thread.thread, doing(thread));
  }
  return text;
}

std::string RankWords::place_in_dump(const SeenRank& seen) const {
  if (seen.behind != nullptr)
    return fmt::format("enqueued {} {}, which others have completed and its device has not{}",
                       call_name(job_, *seen.behind), when(seen.behind->begin), from_where(*seen.behind));
  if (seen.last == nullptr) return "has nothing open in its dump";
  return fmt::format("enqueued {} {} and nothing since{}", call_name(job_, *seen.last), when(seen.last->end),
                     from_where(*seen.last));
}

/// ", from train.py:52 in step"
std::string RankWords::from_where(const OpenMpiCall& call) const {
  const auto dumped = job_.dumped.find(&call);
  return dumped == job_.dumped.end() || dumped->second->place.empty() ? ""
                                                                      : ", from " + one_line(dumped->second->place);
}

std::vector<std::string> RankWords::lines_of(const RankWaits& waits) const {
  std::map<std::string, std::pair<std::vector<std::int32_t>, TimeNs>> by_call;
  for (const RankWait* wait : waits) {
    auto& [ranks, since] = by_call[call_name(job_, *wait->call) + from_where(*wait->call)];
    if (ranks.empty() || wait->since < since) since = wait->since;
    if (ranks.empty() || ranks.back() != wait->rank) ranks.push_back(wait->rank);
  }
  std::vector<std::string> lines;
  for (const auto& [call, of] : by_call) {
    if (lines.size() == kMostLines) {
      lines.push_back(fmt::format("and in {} more calls", by_call.size() - kMostLines));
      break;
    }
    lines.push_back(fmt::format("{} wait{} in {} {}", ranks_text(of.first), of.first.size() == 1 ? "s" : "", call,
                                how_long(of.second)));
  }
  return lines;
}

}  // namespace wicprof::analyzer
