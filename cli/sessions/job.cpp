#include "cli/sessions/job.h"

#include <algorithm>
#include <map>

#include "cli/sessions/open_entries.h"
#include "protocol/session.h"

namespace wicprof::cli {

namespace {

using Communicators = std::map<CommunicatorId, JobRanks>;

std::optional<Communicators> communicators_of(const SessionInfo& session) {
  const Result<SessionMap> map = SessionMap::attach(session.path);
  if (!map) return std::nullopt;
  Communicators communicators;
  const auto add = [&](const auto& communicator) {
    JobRanks& ranks = communicators[communicator.communicator];
    ranks.recorded.insert(communicator.rank);
    ranks.size = communicator.size;
  };
  for (const auto& [process, communicator] : entries(map->open_work().communicators, true)) {
    if (analyzer::is_world(communicator)) add(communicator);
  }
  for (const auto& [process, communicator] : entries(map->open_work().nccl, true)) add(communicator);
  return communicators;
}

}  // namespace

std::optional<JobRanks> ranks_of_job(const std::vector<SessionInfo>& sessions) {
  std::optional<Communicators> common;
  for (const SessionInfo& session : sessions) {
    std::optional<Communicators> here = communicators_of(session);
    if (!here) return std::nullopt;
    if (common) {
      std::erase_if(*here, [&](const auto& one) { return !common->contains(one.first); });
      for (auto& [communicator, ranks] : *here) ranks.recorded.merge(common->at(communicator).recorded);
    }
    common = std::move(here);
  }
  if (!common || common->empty()) return std::nullopt;
  const auto larger = [](const auto& a, const auto& b) { return a.second.size < b.second.size; };
  return std::max_element(common->begin(), common->end(), larger)->second;
}

}  // namespace wicprof::cli
