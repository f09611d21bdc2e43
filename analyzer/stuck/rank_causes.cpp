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
#include "analyzer/stuck/rank_circles.h"
#include "analyzer/stuck/rank_mismatch.h"
#include "analyzer/stuck/rank_words.h"
#include "analyzer/stuck/stuck_words.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

/// The message for which the first of these waits: "; it has not sent rank 2 the message with tag 7"
std::string missing_message(const MpiJob& job, std::int32_t rank, const RankWaits& waits) {
  for (const RankWait* wait : waits) {
    for (const Receive& receive : receives_of(job, *wait)) {
      if (receive.from == rank)
        return fmt::format("; it has not sent {} the message with tag {}", ranks_text({wait->rank}), receive.tag);
    }
    const OpenMpiCall& call = *wait->call;
    const MpiKind kind = mpi_kind(call.operation);
    if (job.is_nccl() && call.peer == rank && kind != MpiKind::collective)
      return fmt::format("; it has not come to the other side of {} of {}", call_name(job, call),
                         ranks_text({wait->rank}));
    if (kind == MpiKind::sends && call.peer == rank)
      return fmt::format("; it has not received the message of {} with tag {}", ranks_text({wait->rank}), call.tag);
  }
  return {};
}

/// The causes in one job.
class JobCauses {
 public:
  JobCauses(const StuckView& view, const WaitedWords& waited, const MpiJob& job)
      : view_(view), waited_(waited), job_(job), words_(view, job) {}

  std::vector<Cause> run() && {
    add_mismatches();
    add_culprits();
    spread();
    add_circles();
    spread();
    add_missing();
    spread();
    add_others();
    return std::move(causes_);
  }

 private:
  /// Whether the rank may be one that nobody has looked at.
  bool is_missing(std::int32_t rank) const { return !view_.has_all_ranks && !job_.ranks.contains(rank); }
  bool is_explained(const RankWait& wait) const { return explained_.contains(&wait); }
  /// nullptr: it has not come.
  const SeenRank* seen(std::int32_t rank) const {
    const auto found = job_.ranks.find(rank);
    return found == job_.ranks.end() ? nullptr : &found->second;
  }

  void add(CauseKind kind, Confidence confidence, std::string text, const RankWaits& waits) {
    Cause cause;
    cause.kind = kind;
    cause.confidence = confidence;
    cause.text = std::move(text);
    cause.evidence = words_.lines_of(waits);
    cause.since = waits.front()->since;
    for (const RankWait* wait : waits) {
      cause.since = std::min(cause.since, wait->since);
      explained_.insert(wait);
    }
    causes_.push_back(std::move(cause));
  }

  void add_mismatches() {
    std::map<std::pair<CommunicatorId, std::uint32_t>, RankWaits> together;
    for (const RankWait& wait : job_.waits) {
      if (is_in_collective(&wait)) together[{wait.call->communicator, wait.call->sequence}].push_back(&wait);
    }
    for (const auto& [collective, waits] : together) {
      if (const std::optional<std::string> text = mismatch_text(job_, waits))
        add(CauseKind::mismatched_call, Confidence::likely, *text, waits);
    }
  }

  /// Ranks that others wait for and that do not wait themselves.
  void add_culprits() {
    std::map<std::int32_t, RankWaits> culprits;
    std::set<std::int32_t> by_guess;
    for (const RankWait& wait : job_.waits) {
      if (is_explained(wait)) continue;
      std::vector<std::int32_t> elsewhere;
      for (const std::int32_t rank : wait.needs) {
        if (job_.wait_of(rank) == nullptr) elsewhere.push_back(rank);
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
      const SeenRank* const found = seen(rank);
      const bool known = found != nullptr && found->last != nullptr;
      last.push_back(known ? std::max(found->last->begin, found->last->end) : 0);
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
  bool is_seen_since(std::int32_t rank, const RankWaits& waits) const {
    const SeenRank* const found = seen(rank);
    const SeenProcess* const process = found == nullptr ? nullptr : view_.process(found->process);
    if (process == nullptr || found->ended || view_.by == SeenBy::dumps) return true;
    const auto later = [&](const RankWait* wait) {
      return wait->since - view_.clock_error > view_.until(process->pid);
    };
    return process->seen && !std::all_of(waits.begin(), waits.end(), later);
  }

  void add_culprit(std::int32_t rank, const RankWaits& waits, Confidence confidence) {
    std::string text = fmt::format("{} keeps {} waiting: it {}", words_.rank_name(rank), ranks_text(ranks_of(waits)),
                                   words_.place_of(rank));
    const auto collective = std::find_if(waits.begin(), waits.end(), is_in_collective);
    if (collective != waits.end()) text += "; it " + words_.not_come_to(*(*collective)->call);
    text += missing_message(job_, rank, waits);
    add(CauseKind::absent_rank, confidence, std::move(text), waits);
    add_misfits_as_evidence(rank, waits);
    const SeenRank* const found = seen(rank);
    if (found == nullptr || found->ended) return;
    Cause& cause = causes_.back();
    for (const WaitedWord& word : waited_.words) {
      if (word.is_satisfied() || std::count(word.processes.begin(), word.processes.end(), found->process) == 0)
        continue;
      cause.kind = CauseKind::consequence;
      cause.text += fmt::format("; it waits itself, for {}", word_name(word));
      return;
    }
    for (const auto& [owner, waiting] : view_.calls) {
      if (owner != found->process || view_.now - waiting.begin < kLongAfter || waiting.waits_for_word != 0) continue;
      cause.evidence.push_back(fmt::format("host thread {} of that process has waited in {} for {}", waiting.thread,
                                           waiting.name, age(view_.now, waiting.begin)));
    }
    add_children_as_evidence(found->process);
  }

  /// The rank may wait for a process that it has started, such as a data loader's.
  void add_children_as_evidence(std::uint32_t rank) {
    std::size_t lines = 0;
    for (const SeenThread& thread : view_.threads) {
      const SeenProcess* const process = thread.process == thread.thread ? view_.process(thread.process) : nullptr;
      if (process == nullptr || process->parent != rank || !is_at_work(thread)) continue;
      if (++lines > RankWords::kMostLines) return;
      causes_.back().evidence.push_back(
          fmt::format("its child process {} ({}) {}", process->shown_pid(), one_line(thread.name), doing(thread)));
    }
  }

  /// A rank that is elsewhere may yet send what is waited for.
  void add_misfits_as_evidence(std::int32_t rank, const RankWaits& waits) {
    for (const RankWait* wait : waits) {
      for (const Receive& receive : receives_of(job_, *wait)) {
        for (const WaitingMessage& message : misfits_of(view_, job_, receive)) {
          if (message.from == rank || message.tag == receive.tag)
            causes_.back().evidence.push_back(message_text(message, wait->rank));
          if (causes_.back().evidence.size() >= RankWords::kMostLines) return;
        }
      }
    }
  }

  /// What waits only for ranks of which there is no trace.
  void add_missing() {
    std::set<std::int32_t> missing;
    RankWaits waits;
    for (const RankWait& wait : job_.waits) {
      if (is_explained(wait)) continue;
      const std::size_t before = missing.size();
      std::copy_if(wait.needs.begin(), wait.needs.end(), std::inserter(missing, missing.end()),
                   [&](std::int32_t rank) { return is_missing(rank); });
      if (missing.size() > before ||
          std::any_of(wait.needs.begin(), wait.needs.end(), [&](std::int32_t rank) { return missing.contains(rank); }))
        waits.push_back(&wait);
    }
    if (waits.empty()) return;
    const std::vector<std::int32_t> waiting = ranks_of(waits);
    const bool is_one = missing.size() == 1;
    const char* const them = is_one ? "it" : "them";
    add(CauseKind::absent_rank, Confidence::possible,
        fmt::format("{} of {}: {} {}; {} wait{} for {}, and whether {} come is not known",
                    ranks_text({missing.begin(), missing.end()}), job_.size, words_.not_seen(), them,
                    ranks_text(waiting), waiting.size() == 1 ? "s" : "", them, is_one ? "it has" : "they have"),
        waits);
  }

  /// What waits for ranks whose waits are explained follows from those.
  void spread() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const RankWait& wait : job_.waits) {
        if (is_explained(wait) || wait.needs.empty()) continue;
        const auto follows = [&](std::int32_t rank) {
          const RankWait* const other = job_.wait_of(rank);
          return other != nullptr && is_explained(*other);
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

  void add_circles() {
    for (const RankWait& wait : job_.waits) {
      const RankWaits circle = is_explained(wait) ? RankWaits() : circle_of(job_, wait, explained_);
      if (circle.empty()) continue;
      if (const std::optional<std::string> text = misfits_text(words_, circle)) {
        add(CauseKind::mismatched_call, Confidence::likely, *text, circle);
        continue;
      }
      const bool guess = std::any_of(circle.begin(), circle.end(), [](const RankWait* each) { return each->any; });
      add(CauseKind::mutual_wait, guess ? Confidence::possible : Confidence::likely, circle_text(words_, circle),
          circle);
    }
  }

  void add_others() {
    RankWaits unknown;
    for (const RankWait& wait : job_.waits) {
      if (!is_explained(wait)) unknown.push_back(&wait);
    }
    const auto add_waiting = [&](CauseKind kind, const RankWaits& waits, std::string_view whom) {
      if (waits.empty()) return;
      const std::vector<std::int32_t> ranks = ranks_of(waits);
      add(kind, Confidence::unknown,
          fmt::format("{} wait{} in {}{}", ranks_text(ranks), ranks.size() == 1 ? "s" : "", job_.library, whom), waits);
    };
    add_waiting(CauseKind::consequence, following_, " for ranks that wait themselves");
    add_waiting(CauseKind::waiting_call, unknown, fmt::format(", and for whom is unknown{}", words_.all_have_come()));
  }

  const StuckView& view_;
  const WaitedWords& waited_;
  const MpiJob& job_;
  const RankWords words_;
  std::vector<Cause> causes_;
  std::set<const RankWait*> explained_;
  RankWaits following_;
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
