#include "analyzer/stuck/mpi_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace wicprof::analyzer {

namespace {

/// By sender and tag.
using Waiting = std::map<std::pair<std::int32_t, std::int32_t>, WaitingMessage>;

/// Of sends that have ended. Messages of one sender and tag come in order, so the counts tell.
void add_sent(const StuckView& view, const MpiJob& job, const Receive& receive, Waiting& waiting) {
  std::map<std::uint32_t, std::int32_t> rank_of;
  for (const auto& [rank, seen] : job.ranks) rank_of[seen.process] = rank;
  std::map<std::pair<std::int32_t, std::int32_t>, std::uint32_t> received;
  for (const SeenMessages& messages : view.messages) {
    const auto rank = rank_of.find(messages.process);
    if (rank == rank_of.end() || messages.communicator != receive.communicator) continue;
    if (messages.received && rank->second == receive.by) received[{messages.peer, messages.tag}] = messages.count;
    if (!messages.received && messages.peer == receive.by) {
      WaitingMessage& message = waiting[{rank->second, messages.tag}];
      message = {rank->second, messages.tag, messages.count, false};
    }
  }
  for (const auto& [key, count] : received) {
    const auto found = waiting.find(key);
    if (found == waiting.end()) continue;
    found->second.count -= std::min(found->second.count, count);
  }
  std::erase_if(waiting, [](const auto& each) { return each.second.count == 0; });
}

/// Of sends that wait.
void add_open(const MpiJob& job, const Receive& receive, Waiting& waiting) {
  const auto add = [&](std::int32_t from, std::int32_t tag) {
    WaitingMessage& message = waiting[{from, tag}];
    message.from = from;
    message.tag = tag;
    message.send_is_open = true;
  };
  for (const RankWait& wait : job.waits) {
    const OpenMpiCall& call = *wait.call;
    if (mpi_kind(call.operation) == MpiKind::sends && call.communicator == receive.communicator &&
        call.peer == receive.by)
      add(wait.rank, call.tag);
    const std::size_t known = std::min<std::size_t>(call.requests, call.awaited.size());
    for (std::size_t i = 0; i < known; ++i) {
      const OpenMpiRequest& request = call.awaited[i];
      if (mpi_kind(request.operation) == MpiKind::sends && request.communicator == receive.communicator &&
          request.peer == receive.by)
        add(wait.rank, request.tag);
    }
  }
}

}  // namespace

std::vector<Receive> receives_of(const MpiJob& job, const RankWait& wait) {
  std::vector<Receive> all;
  const auto add = [&](MpiOperation operation, CommunicatorId communicator, std::int32_t peer, std::int32_t tag) {
    if (mpi_kind(operation) == MpiKind::receives && peer >= 0 && tag >= 0 && !job.is_nccl())
      all.push_back({wait.rank, peer, tag, communicator});
  };
  const OpenMpiCall& call = *wait.call;
  add(call.operation, call.communicator, call.peer, call.tag);
  const std::size_t known = std::min<std::size_t>(call.requests, call.awaited.size());
  for (std::size_t i = 0; i < known; ++i)
    add(call.awaited[i].operation, call.awaited[i].communicator, call.awaited[i].peer, call.awaited[i].tag);
  return all;
}

std::vector<WaitingMessage> misfits_of(const StuckView& view, const MpiJob& job, const Receive& receive) {
  Waiting waiting;
  add_sent(view, job, receive, waiting);
  add_open(job, receive, waiting);
  if (waiting.contains({receive.from, receive.tag})) return {};
  std::vector<WaitingMessage> all;
  for (const auto& [key, message] : waiting) all.push_back(message);
  std::stable_sort(all.begin(), all.end(), [&](const WaitingMessage& a, const WaitingMessage& b) {
    return std::tuple(a.from != receive.from, a.tag != receive.tag) <
           std::tuple(b.from != receive.from, b.tag != receive.tag);
  });
  return all;
}

std::string message_text(const WaitingMessage& message, std::int32_t to) {
  if (message.send_is_open && message.count == 0)
    return fmt::format("rank {} sends rank {} one with tag {}, which no call receives", message.from, to, message.tag);
  const std::string what = message.count == 1 ? "a message" : fmt::format("{} messages", message.count);
  return fmt::format("rank {} has sent rank {} {} with tag {} that no call has received", message.from, to, what,
                     message.tag);
}

}  // namespace wicprof::analyzer
