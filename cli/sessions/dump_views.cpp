#include "cli/sessions/dump_views.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "import/kind.h"

namespace wicprof::cli {

namespace {

using analyzer::DumpedCall, analyzer::DumpedGroup, analyzer::DumpedRank, analyzer::StuckView;
using imports::FlightDump, imports::FlightEntry, imports::FlightGroup;

/// Those to which all ranks pass the same number of elements.
constexpr std::array<std::string_view, 8> kEqualSizes{
    "all_reduce",     "_all_gather_base", "all_gather", "_reduce_scatter_base",
    "reduce_scatter", "broadcast",        "reduce",     "barrier"};

bool has_equal_sizes(std::string_view name) {
  name.remove_prefix(std::min(name.size(), name.find(':') + 1));
  return std::find(kEqualSizes.begin(), kEqualSizes.end(), name) != kEqualSizes.end();
}

/// The last number of "nccl:send 0->3" or "nccl:recv 0<-3": a rank in the group.
std::optional<std::int32_t> peer_of(std::string_view name) {
  const std::size_t arrow = std::min(name.find("->"), name.find("<-"));
  if (arrow == std::string_view::npos) return std::nullopt;
  std::int32_t peer = 0;
  const auto [at, error] = std::from_chars(name.data() + arrow + 2, name.data() + name.size(), peer);
  return error == std::errc() ? std::optional(peer) : std::nullopt;
}

class OneDump {
 public:
  /// `messages`: groups in which some rank has a message; PyTorch counts messages and collectives there together.
  OneDump(const FlightDump& dump, const std::set<std::string, std::less<>>& messages) {
    rank_.rank = *dump.rank;
    std::map<std::string_view, std::uint32_t> last;
    for (const FlightEntry& entry : dump.entries) {
      rank_.knows_starts = rank_.knows_starts || (entry.started && !entry.is_complete());
      if (entry.is_message || entry.number <= 0) continue;
      std::uint32_t& number = last[entry.group];
      number = std::max(number, static_cast<std::uint32_t>(entry.number));
    }
    for (const FlightGroup& group : dump.groups) {
      groups_[group.name] = rank_.groups.size();
      DumpedGroup& to = rank_.groups.emplace_back();
      to.name = group.description.empty() ? group.name : group.description;
      to.members = group.ranks;
      to.communicator = std::hash<std::string>()(fmt::format("{} of {}", group.name, fmt::join(group.ranks, ",")));
      if (const auto found = last.find(group.name); found != last.end()) to.enqueued = found->second;
      if (group.enqueued && !messages.contains(group.name))
        to.enqueued = std::max(to.enqueued.value_or(0), static_cast<std::uint32_t>(*group.enqueued));
      if (!to.enqueued && dump.is_whole) to.enqueued = 0;
    }
    for (const FlightEntry& entry : dump.entries) add(entry);
  }

  DumpedRank take() && { return std::move(rank_); }

 private:
  void add(const FlightEntry& entry) {
    const DumpedGroup& group = rank_.groups[groups_.at(entry.group)];
    DumpedCall call;
    call.communicator = group.communicator;
    call.started = entry.started;
    call.completed = entry.is_complete();
    call.at = entry.begin;
    call.name = entry.name;
    call.place = entry.place;
    if (entry.is_message) {
      const std::optional<std::int32_t> peer = peer_of(entry.name);
      if (!peer || *peer < 0) return;
      const auto place = static_cast<std::size_t>(*peer);
      call.peer = place < group.members.size() ? group.members[place] : *peer;
      call.sends = entry.name.find("->") != std::string::npos;
      call.name.resize(std::min(call.name.size(), call.name.find(' ')));
    } else {
      call.number = static_cast<std::uint32_t>(std::clamp<std::int64_t>(entry.number, 0, std::int64_t{1} << 31));
      if (call.number == 0) return;
      if (has_equal_sizes(entry.name)) call.sizes = entry.sizes;
    }
    rank_.calls.push_back(std::move(call));
  }

  DumpedRank rank_;
  std::map<std::string, std::size_t, std::less<>> groups_;
};

std::optional<Error> why_not_one_job(const std::vector<FlightDump>& dumps) {
  std::map<std::int32_t, const FlightDump*> by_rank;
  for (const FlightDump& dump : dumps) {
    if (!dump.rank)
      return bad_input(
          fmt::format("{} does not tell its rank, which is the number at the end of a dump's name; give it "
                      "the name that PyTorch gave it, such as nccl_trace_rank_3",
                      dump.file));
    const auto [other, is_new] = by_rank.try_emplace(*dump.rank, &dump);
    if (!is_new)
      return bad_input(fmt::format("{} and {} are both of rank {}; name the dumps of one job, each once",
                                   other->second->file, dump.file, *dump.rank));
  }
  const FlightDump* first = nullptr;
  const FlightGroup* whole = nullptr;  // all ranks, of the first dump
  for (const FlightDump& dump : dumps) {
    for (const FlightGroup& group : dump.groups) {
      if (group.description != "default_pg" || group.ranks.empty()) continue;
      if (whole == nullptr) first = &dump, whole = &group;
      if (group.ranks != whole->ranks)
        return bad_input(fmt::format("{} and {} are not of one job: one has {} ranks and the other {}", first->file,
                                     dump.file, whole->ranks.size(), group.ranks.size()));
    }
  }
  return std::nullopt;
}

}  // namespace

Result<StuckView> view_of_dumps(const std::vector<FlightDump>& dumps) {
  if (const std::optional<Error> error = why_not_one_job(dumps)) return *error;
  std::set<std::string, std::less<>> messages;
  for (const FlightDump& dump : dumps) {
    for (const FlightEntry& entry : dump.entries) {
      if (entry.is_message) messages.insert(entry.group);
    }
  }
  StuckView view;
  view.by = analyzer::SeenBy::dumps;
  view.has_all_ranks = false;
  for (const FlightDump& dump : dumps) {
    const auto process = static_cast<std::uint32_t>(*dump.rank) + 1;  // as import numbers them
    view.processes.push_back({process, fmt::format("rank {}", *dump.rank), dump.rank, {}});
    view.dumps.push_back({process, OneDump(dump, messages).take()});
    for (const FlightEntry& entry : dump.entries) view.now = std::max({view.now, entry.begin, entry.end.value_or(0)});
  }
  return view;
}

bool may_be_dump(const std::string& file) {
  const Result<imports::FileKind> kind = imports::kind_of(file);
  return kind && *kind == imports::FileKind::flight_recorder;
}

Result<StuckView> look_at_dumps(const std::vector<std::string>& files) {
  std::vector<FlightDump> dumps;
  for (const std::string& file : files) {
    Result<FlightDump> dump = imports::read_dump(file);
    if (!dump) return dump.error();
    dumps.push_back(*std::move(dump));
  }
  return view_of_dumps(dumps);
}

}  // namespace wicprof::cli
