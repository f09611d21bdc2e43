#include "analyzer/stuck/mpi_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

std::string peer_text(bool sends, std::int32_t peer, std::int32_t tag) {
  return fmt::format(" {} {}{}", sends ? "to" : "from", peer < 0 ? "any rank" : fmt::format("rank {}", peer),
                     tag < 0 ? "" : fmt::format(" with tag {}", tag));
}

}  // namespace

std::string ranks_text(const std::vector<std::int32_t>& ranks) {
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", ranges_of({ranks.begin(), ranks.end()}));
}

std::string operation_name(const MpiJob& job, const OpenMpiCall& call) {
  const auto dumped = job.dumped.find(&call);
  if (dumped != job.dumped.end()) return one_line(dumped->second->name);
  return std::string(call.operation == MpiOperation::none ? "collective" : mpi_operation_name(call.operation));
}

std::string collective_name(const MpiJob& job, const OpenMpiCall& call) {
  std::string text = operation_name(job, call);
  const auto name = job.communicators.find(call.communicator);
  if (call.sequence == 0 || name == job.communicators.end()) return text;
  return text + fmt::format(" number {} of {}", call.sequence, one_line(name->second));
}

std::string call_name(const MpiJob& job, const OpenMpiCall& call) {
  std::string text = collective_name(job, call);
  const MpiKind kind = mpi_kind(call.operation);
  if (kind == MpiKind::sends || kind == MpiKind::receives) {
    text += peer_text(kind == MpiKind::sends, call.peer, call.tag);
  }
  const std::size_t known = std::min<std::size_t>(call.requests, call.awaited.size());
  for (std::size_t i = 0; i < known; ++i) {
    const OpenMpiRequest& request = call.awaited[i];
    const MpiKind of = mpi_kind(request.operation);
    text += i > 0 ? ", " : kind == MpiKind::local ? " for " : " and ";
    text += mpi_operation_name(request.operation);
    if (of != MpiKind::collective) text += peer_text(of == MpiKind::sends, request.peer, request.tag);
  }
  if (call.requests > known) text += fmt::format(" and {} more", call.requests - known);
  return text;
}

}  // namespace wicprof::analyzer
