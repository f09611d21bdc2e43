#include "analyzer/stuck/rank_causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "analyzer/stuck/dumped_ranks.h"
#include "analyzer/stuck/mpi_messages.h"
#include "analyzer/stuck/mpi_words.h"
#include "analyzer/stuck/nccl_ranks.h"
#include "analyzer/stuck/stuck_words.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

constexpr std::size_t kMostLines = 6;

/// The causes in one job.
class JobCauses {
 public:
  JobCauses(const StuckView& view, const WaitedWords& words, const MpiJob& job)
      : view_(view), words_(words), job_(job) {}

  std::vector<Cause> run() && {
    add_mismatches();
    add_culprits();
    spread();
    add_cycles();
    spread();
    add_missing();
    spread();
    add_others();
    return std::move(causes_);
  }

 private:
  /// "rank 3 (process 71)"
  std::string rank_name(std::int32_t rank) const {
    const auto found = job_.ranks.find(rank);
    if (found == job_.ranks.end()) return fmt::format("rank {} of {}", rank, job_.size);
    const SeenProcess* const process = view_.process(found->second.process);
    if (view_.by == SeenBy::dumps) return fmt::format("rank {} of {}", rank, job_.size);
    return fmt::format("rank {} of {} (process {}{})", rank, job_.size,
                       process == nullptr ? found->second.process : process->shown_pid(),
                       process == nullptr || process->host.empty() ? "" : " on " + one_line(process->host));
  }

  /// Whether the rank may be one that nobody has looked at.
  bool is_missing(std::int32_t rank) const { return !view_.has_all_ranks && !job_.ranks.contains(rank); }

  /// "5.2 s ago"; of dumps, the time of day.
  std::string when(TimeNs at) const {
    return view_.by == SeenBy::dumps ? "at " + day_time(at) : age(view_.now, at) + " ago";
  }
  std::string how_long(TimeNs since) const {
    return view_.by == SeenBy::dumps ? "since " + day_time(since) : "for " + age(view_.now, since);
  }
  static std::string day_time(TimeNs at) {
    const TimeNs ms = at / kMillisecond;
    return fmt::format("{:02}:{:02}:{:02}.{:03} UTC", ms / 3'600'000 % 24, ms / 60'000 % 60, ms / 1000 % 60, ms % 1000);
  }

  /// What a rank that does not wait in MPI or NCCL does now.
  std::string place_of(std::int32_t rank) const {
    const auto found = job_.ranks.find(rank);
    if (found == job_.ranks.end()) return "never came: no process here has called MPI_Init as that rank";
    const SeenRank& seen = found->second;
    if (view_.by == SeenBy::dumps) return place_in_dump(seen);
    std::string before;
    if (seen.last != nullptr) {
      const bool is_in_it = seen.last->end == 0;
      before = fmt::format("{} {} {}",
                           is_in_it         ? "entered"
                           : job_.is_nccl() ? "enqueued"
                                            : "left",
                           call_name(job_, *seen.last), when(is_in_it ? seen.last->begin : seen.last->end));
    }
    if (seen.has_left_mpi()) return before;
    if (seen.ended) {
      const bool came = seen.last != nullptr;
      return fmt::format("has ended{}{}{}",
                         job_.is_nccl() ? ""
                         : came         ? " without MPI_Finalize"
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
      const bool calls =
          thread.process == seen.process && thread.thread == (by_call ? seen.last->thread : seen.process);
      if (!calls) continue;
      text += fmt::format("; its thread {} {}", thread.thread, doing(thread));
    }
    return text;
  }

  std::string place_in_dump(const SeenRank& seen) const {
    if (seen.behind != nullptr)
      return fmt::format("enqueued {} {}, which others have completed and its device has not{}",
                         call_name(job_, *seen.behind), when(seen.behind->begin), from_where(*seen.behind));
    if (seen.last == nullptr) return "has nothing open in its dump";
    return fmt::format("enqueued {} {} and nothing since{}", call_name(job_, *seen.last), when(seen.last->end),
                       from_where(*seen.last));
  }
  /// ", from train.py:52 in step"
  std::string from_where(const OpenMpiCall& call) const {
    const auto dumped = job_.dumped.find(&call);
    return dumped == job_.dumped.end() || dumped->second->place.empty() ? ""
                                                                        : ", from " + one_line(dumped->second->place);
  }

  /// Lines such as "ranks 0, 2 wait in MPI_Barrier number 3 of MPI_COMM_WORLD for 4 s", one per call.
  std::vector<std::string> lines_of(const std::vector<const RankWait*>& waits) const {
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

  static std::vector<std::int32_t> ranks_of(const std::vector<const RankWait*>& waits) {
    std::set<std::int32_t> ranks;
    for (const RankWait* wait : waits) ranks.insert(wait->rank);
    return {ranks.begin(), ranks.end()};
  }

  void add(CauseKind kind, Confidence confidence, std::string text, const std::vector<const RankWait*>& waits) {
    Cause cause;
    cause.kind = kind;
    cause.confidence = confidence;
    cause.text = std::move(text);
    cause.evidence = lines_of(waits);
    cause.since = waits.front()->since;
    for (const RankWait* wait : waits) {
      cause.since = std::min(cause.since, wait->since);
      explained_.insert(wait);
    }
    causes_.push_back(std::move(cause));
  }

  /// The ranks of a collective by what they pass; several groups: they do not match.
  template <class Value>
  bool add_mismatch(const std::vector<const RankWait*>& waits, Value value, std::string_view passes) {
    std::map<std::string, std::vector<std::int32_t>> groups;
    for (const RankWait* wait : waits) {
      const std::optional<std::string> passed = value(*wait->call);
      if (!passed) return false;
      groups[*passed].push_back(wait->rank);
    }
    if (groups.size() < 2) return false;
    std::vector<std::pair<std::string, std::vector<std::int32_t>>> order(groups.begin(), groups.end());
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
    const OpenMpiCall& call = *waits.front()->call;
    const auto name = job_.communicators.find(call.communicator);
    std::string text = fmt::format("number {} of {} is not the same call in all ranks: ", call.sequence,
                                   name == job_.communicators.end() ? "a communicator" : one_line(name->second));
    for (std::size_t i = 0; i < order.size(); ++i) {
      text += fmt::format("{}{} {} {}",
                          i == 0                  ? ""
                          : i + 1 == order.size() ? " and "
                                                  : ", ",
                          ranks_text(order[i].second), passes, order[i].first);
    }
    add(CauseKind::mismatched_call, Confidence::likely, std::move(text), waits);
    return true;
  }

  void add_mismatches() {
    std::map<std::pair<CommunicatorId, std::uint32_t>, std::vector<const RankWait*>> together;
    for (const RankWait& wait : job_.waits) {
      if (wait.call->sequence != 0) together[{wait.call->communicator, wait.call->sequence}].push_back(&wait);
    }
    using Passed = std::optional<std::string>;
    const auto operation = [this](const OpenMpiCall& call) { return Passed(operation_name(job_, call)); };
    const auto root = [](const OpenMpiCall& call) { return Passed(fmt::format("rank {}", call.peer)); };
    const auto bytes = [this](const OpenMpiCall& call) {
      const auto dumped = job_.dumped.find(&call);
      if (dumped != job_.dumped.end()) {
        const std::string& sizes = dumped->second->sizes;
        return sizes.empty() ? std::nullopt : Passed(one_line(sizes));
      }
      return call.bytes < 0 ? std::nullopt : Passed(fmt::format("{} bytes", call.bytes));
    };
    for (const auto& [collective, waits] : together) {
      if (!add_mismatch(waits, operation, "in") && !add_mismatch(waits, root, "with the root")) {
        add_mismatch(waits, bytes, "with");
      }
    }
  }

  bool waits_in_mpi(std::int32_t rank) const { return job_.wait_of(rank) != nullptr; }

  /// Ranks that others wait for and that do not wait themselves.
  void add_culprits() {
    std::map<std::int32_t, std::vector<const RankWait*>> culprits;
    std::set<std::int32_t> by_guess;
    for (const RankWait& wait : job_.waits) {
      if (explained_.contains(&wait)) continue;
      std::vector<std::int32_t> elsewhere;
      for (const std::int32_t rank : wait.needs) {
        if (!waits_in_mpi(rank)) elsewhere.push_back(rank);
      }
      if (wait.any && elsewhere.size() > 1) continue;  // which of them should have come is unknown
      std::erase_if(elsewhere, [&](std::int32_t rank) { return is_missing(rank); });
      for (const std::int32_t rank : elsewhere) {
        culprits[rank].push_back(&wait);
        if (wait.any) by_guess.insert(rank);
      }
    }
    // Whose last call is the oldest comes first.
    std::vector<TimeNs> last;
    for (const auto& [rank, waits] : culprits) {
      const auto found = job_.ranks.find(rank);
      const bool known = found != job_.ranks.end() && found->second.last != nullptr;
      last.push_back(known ? std::max(found->second.last->begin, found->second.last->end) : 0);
    }
    std::vector<std::pair<std::size_t, std::int32_t>> order;
    for (const std::size_t place : places_of(last, view_.clock_error))
      order.emplace_back(place, std::next(culprits.begin(), static_cast<std::ptrdiff_t>(order.size()))->first);
    std::sort(order.begin(), order.end());
    for (const auto& [left, rank] : order) {
      const bool guess = by_guess.contains(rank) || !is_seen_since(rank, culprits[rank]);
      add_culprit(rank, culprits[rank], guess ? Confidence::possible : Confidence::likely);
    }
  }

  /// Whether what the rank does is known from when the others began to wait.
  bool is_seen_since(std::int32_t rank, const std::vector<const RankWait*>& waits) const {
    const auto found = job_.ranks.find(rank);
    const SeenProcess* const process = found == job_.ranks.end() ? nullptr : view_.process(found->second.process);
    if (process == nullptr || found->second.ended || view_.by == SeenBy::dumps) return true;
    const auto later = [&](const RankWait* wait) {
      return wait->since - view_.clock_error > view_.until(process->pid);
    };
    return process->seen && !std::all_of(waits.begin(), waits.end(), later);
  }

  /// What waits only for ranks of which there is no trace.
  void add_missing() {
    std::set<std::int32_t> ranks;
    std::vector<const RankWait*> waits;
    for (const RankWait& wait : job_.waits) {
      if (explained_.contains(&wait)) continue;
      const std::size_t before = ranks.size();
      std::copy_if(wait.needs.begin(), wait.needs.end(), std::inserter(ranks, ranks.end()),
                   [&](std::int32_t rank) { return is_missing(rank); });
      if (ranks.size() > before ||
          std::any_of(wait.needs.begin(), wait.needs.end(), [&](std::int32_t rank) { return ranks.contains(rank); }))
        waits.push_back(&wait);
    }
    if (waits.empty()) return;
    const char* const what = view_.by == SeenBy::sessions ? "no session here records"
                             : view_.by == SeenBy::traces ? "no trace was given of"
                                                          : "no dump was given of";
    const std::vector<std::int32_t> missing(ranks.begin(), ranks.end());
    add(CauseKind::absent_rank, Confidence::possible,
        fmt::format("{} of {}: {} {}; {} wait{} for {}, and whether {} come is not known", ranks_text(missing),
                    job_.size, what, missing.size() == 1 ? "it" : "them", ranks_text(ranks_of(waits)),
                    ranks_of(waits).size() == 1 ? "s" : "", missing.size() == 1 ? "it" : "them",
                    missing.size() == 1 ? "it has" : "they have"),
        waits);
  }

  void add_culprit(std::int32_t rank, const std::vector<const RankWait*>& waits, Confidence confidence) {
    std::string text =
        fmt::format("{} keeps {} waiting: it {}", rank_name(rank), ranks_text(ranks_of(waits)), place_of(rank));
    const auto collective = std::find_if(waits.begin(), waits.end(), is_in_collective);
    const OpenMpiCall& call = *(collective == waits.end() ? waits.front() : *collective)->call;
    const bool enqueues = job_.is_nccl() && view_.by != SeenBy::dumps;
    if (call.sequence != 0)
      text += fmt::format("; it has not {} {}", enqueues ? "enqueued" : "come to", collective_name(job_, call));
    text += missing_message(rank, waits);
    add(CauseKind::absent_rank, confidence, std::move(text), waits);
    add_misfits_as_evidence(rank, waits);
    const auto found = job_.ranks.find(rank);
    if (found == job_.ranks.end() || found->second.ended) return;
    Cause& cause = causes_.back();
    const std::uint32_t process = found->second.process;
    for (const WaitedWord& word : words_.words) {
      if (word.is_satisfied() || std::count(word.processes.begin(), word.processes.end(), process) == 0) continue;
      cause.kind = CauseKind::consequence;
      cause.text += fmt::format("; it waits itself, for {}", word_name(word));
      return;
    }
    for (const auto& [owner, waiting] : view_.calls) {
      if (owner != process || view_.now - waiting.begin < kLongAfter || waiting.waits_for_word != 0) continue;
      cause.evidence.push_back(fmt::format("host thread {} of that process has waited in {} for {}", waiting.thread,
                                           waiting.name, age(view_.now, waiting.begin)));
    }
  }

  /// The message for which the first of these waits.
  std::string missing_message(std::int32_t rank, const std::vector<const RankWait*>& waits) const {
    for (const RankWait* wait : waits) {
      for (const Receive& receive : receives_of(job_, *wait)) {
        if (receive.from == rank)
          return fmt::format("; it has not sent {} the message with tag {}", ranks_text({wait->rank}), receive.tag);
      }
      const OpenMpiCall& call = *wait->call;
      const MpiKind kind = mpi_kind(call.operation);
      if (job_.is_nccl() && call.peer == rank && kind != MpiKind::collective)
        return fmt::format("; it has not come to the other side of {} of {}", call_name(job_, call),
                           ranks_text({wait->rank}));
      if (kind == MpiKind::sends && call.peer == rank)
        return fmt::format("; it has not received the message of {} with tag {}", ranks_text({wait->rank}), call.tag);
    }
    return {};
  }

  /// A rank that is elsewhere may yet send what is waited for.
  void add_misfits_as_evidence(std::int32_t rank, const std::vector<const RankWait*>& waits) {
    for (const RankWait* wait : waits) {
      for (const Receive& receive : receives_of(job_, *wait)) {
        for (const WaitingMessage& message : misfits_of(view_, job_, receive)) {
          if (message.from == rank || message.tag == receive.tag)
            causes_.back().evidence.push_back(message_text(message, wait->rank));
          if (causes_.back().evidence.size() >= kMostLines) return;
        }
      }
    }
  }

  /// What waits for ranks whose waits are explained follows from those.
  void spread() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const RankWait& wait : job_.waits) {
        if (explained_.contains(&wait) || wait.needs.empty()) continue;
        const auto follows = [&](std::int32_t rank) {
          const RankWait* const other = job_.wait_of(rank);
          return other != nullptr && explained_.contains(other);
        };
        const bool all = wait.any ? std::all_of(wait.needs.begin(), wait.needs.end(), follows)
                                  : std::any_of(wait.needs.begin(), wait.needs.end(), follows);
        if (!all) continue;
        explained_.insert(&wait);
        following_.push_back(&wait);
        changed = true;
      }
    }
  }

  /// The waits that are reached from one, itself among them if it is in a circle. `back`: those that reach it.
  std::set<const RankWait*> reached(const RankWait& from, bool back) const {
    const auto leads = [](const RankWait& wait, const RankWait& to) {
      return std::binary_search(wait.needs.begin(), wait.needs.end(), to.rank);
    };
    std::set<const RankWait*> found;
    std::vector<const RankWait*> open{&from};
    while (!open.empty()) {
      const RankWait& at = *open.back();
      open.pop_back();
      for (const RankWait& next : job_.waits) {
        if (explained_.contains(&next) || !(back ? leads(next, at) : leads(at, next))) continue;
        if (found.insert(&next).second) open.push_back(&next);
      }
    }
    return found;
  }

  /// Ranks that wait for each other in a circle.
  void add_cycles() {
    for (const RankWait& wait : job_.waits) {
      if (explained_.contains(&wait)) continue;
      const std::set<const RankWait*> ahead = reached(wait, false);
      if (!ahead.contains(&wait)) continue;
      const std::set<const RankWait*> behind = reached(wait, true);
      std::vector<const RankWait*> circle;
      for (const RankWait& each : job_.waits) {
        if (ahead.contains(&each) && behind.contains(&each)) circle.push_back(&each);
      }
      if (!add_misfits(circle)) add_cycle(circle);
    }
  }

  void add_cycle(const std::vector<const RankWait*>& circle) {
    struct Group {
      std::vector<std::int32_t> ranks;
      std::set<std::int32_t> needs;
    };
    const std::vector<std::int32_t> all = ranks_of(circle);
    std::map<std::string, Group> by_call;
    std::set<CommunicatorId> communicators;
    bool all_collective = true, guess = false;
    for (const RankWait* wait : circle) {
      Group& group = by_call[call_name(job_, *wait->call)];
      group.ranks.push_back(wait->rank);
      std::set_intersection(wait->needs.begin(), wait->needs.end(), all.begin(), all.end(),
                            std::inserter(group.needs, group.needs.end()));
      communicators.insert(wait->call->communicator);
      all_collective = all_collective && wait->call->sequence != 0;
      guess = guess || wait->any;
    }
    // The fewest first: they do otherwise than the others.
    std::vector<std::pair<std::string, Group>> groups(by_call.begin(), by_call.end());
    std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
      return std::pair(a.second.ranks.size(), a.second.ranks) < std::pair(b.second.ranks.size(), b.second.ranks);
    });
    std::string text = all.size() == 1 ? fmt::format("{} waits for itself", rank_name(all.front()))
                                       : fmt::format("{} wait for each other", ranks_text(all));
    for (std::size_t i = 0; i < groups.size() && i < kMostLines; ++i) {
      const auto& [call, group] = groups[i];
      text += fmt::format("{} {} in {} for {}",
                          i == 0                   ? ":"
                          : i + 1 == groups.size() ? ", and"
                                                   : ",",
                          ranks_text(group.ranks), call, ranks_text({group.needs.begin(), group.needs.end()}));
    }
    if (all_collective && communicators.size() > 1) {
      text += "; they enter collectives of different communicators in different orders, or some leave one out";
    }
    if (std::none_of(circle.begin(), circle.end(), is_in_collective)) text += deadlock_text(circle);
    add(CauseKind::mutual_wait, guess ? Confidence::possible : Confidence::likely, std::move(text), circle);
  }

  static bool is_in_collective(const RankWait* wait) { return wait->call->sequence != 0; }

  /// Of a circle of messages alone.
  static std::string deadlock_text(const std::vector<const RankWait*>& circle) {
    const auto all = [&](MpiKind kind) {
      return circle.size() > 1 && std::all_of(circle.begin(), circle.end(), [kind](const RankWait* wait) {
               return mpi_kind(wait->call->operation) == kind && wait->call->requests == 0;
             });
    };
    if (all(MpiKind::sends)) return "; a deadlock: each sends before it receives, and these sends end with the receive";
    if (all(MpiKind::receives)) return "; a deadlock: each receives before it sends";
    return "; a deadlock";
  }

  /// Receives in a circle, for which messages have come that do not fit. False: there are none.
  bool add_misfits(const std::vector<const RankWait*>& circle) {
    for (const RankWait* wait : circle) {
      for (const Receive& receive : receives_of(job_, *wait)) {
        std::vector<WaitingMessage> misfits = misfits_of(view_, job_, receive);
        // In the circle, nothing else comes from that rank. What others have sent is a hint if the tag is right.
        std::erase_if(misfits, [&](const WaitingMessage& message) {
          return message.from != receive.from && message.tag != receive.tag;
        });
        if (misfits.empty()) continue;
        std::string text = fmt::format("{} waits for a message from rank {} with tag {} that has not been sent",
                                       rank_name(wait->rank), receive.from, receive.tag);
        for (std::size_t i = 0; i < std::min(misfits.size(), kMostLines); ++i)
          text += (i == 0 ? ", but " : ", and ") + message_text(misfits[i], wait->rank);
        const std::vector<std::int32_t> all = ranks_of(circle);
        text += fmt::format("; {} wait for each other", ranks_text(all));
        add(CauseKind::mismatched_call, Confidence::likely, std::move(text), circle);
        return true;
      }
    }
    return false;
  }

  void add_others() {
    if (!following_.empty()) {
      add(CauseKind::consequence, Confidence::unknown,
          fmt::format("{} wait{} in {} for ranks that wait themselves", ranks_text(ranks_of(following_)),
                      following_.size() == 1 ? "s" : "", job_.library),
          following_);
    }
    std::vector<const RankWait*> unknown;
    for (const RankWait& wait : job_.waits) {
      if (!explained_.contains(&wait)) unknown.push_back(&wait);
    }
    if (unknown.empty()) return;
    add(CauseKind::waiting_call, Confidence::unknown,
        fmt::format("{} wait{} in {}, and for whom is unknown{}", ranks_text(ranks_of(unknown)),
                    ranks_of(unknown).size() == 1 ? "s" : "", job_.library,
                    view_.by == SeenBy::dumps ? ": all ranks have come to that" : ""),
        unknown);
  }

  const StuckView& view_;
  const WaitedWords& words_;
  const MpiJob& job_;
  std::vector<Cause> causes_;
  std::set<const RankWait*> explained_;
  std::vector<const RankWait*> following_;
};

}  // namespace

RanksAnswer explain_ranks(const StuckView& view, const WaitedWords& all) {
  RanksAnswer answer;
  std::vector<MpiJob> jobs = mpi_jobs(view);
  for (MpiJob& job : nccl_jobs(view)) jobs.push_back(std::move(job));
  if (!view.dumps.empty()) jobs.push_back(dumped_job(view));
  for (const MpiJob& job : jobs) {
    if (job.is_nccl()) {
      for (const RankWait& wait : job.waits) answer.wait_in_nccl.insert(job.ranks.at(wait.rank).process);
    }
    for (Cause& cause : JobCauses(view, all, job).run()) answer.causes.push_back(std::move(cause));
    for (const auto& [rank, seen] : job.ranks) {
      const OpenMpiCall none, &last = seen.last == nullptr ? none : *seen.last;
      const RankWait* const wait = job.wait_of(rank);
      answer.ranks.push_back({seen.process, rank, job.size, job.library, seen.ended,
                              seen.last == nullptr ? "" : call_name(job, last), last.begin, last.end,
                              wait == nullptr ? std::vector<std::int32_t>{} : wait->needs});
    }
  }
  return answer;
}

}  // namespace wicprof::analyzer
