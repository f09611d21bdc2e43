#include "analyzer/stuck/rank_mismatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/stuck/mpi_words.h"
#include "analyzer/words/format.h"

namespace wicprof::analyzer {

namespace {

using Passed = std::optional<std::string>;

Passed size_passed(const MpiJob& job, const OpenMpiCall& call) {
  const auto dumped = job.dumped.find(&call);
  if (dumped == job.dumped.end()) return call.bytes < 0 ? std::nullopt : Passed(fmt::format("{} bytes", call.bytes));
  const std::string& sizes = dumped->second->sizes;
  return sizes.empty() ? std::nullopt : Passed(one_line(sizes));
}

/// The ranks by what they pass; several groups: they do not match.
template <class Value>
Passed differing(const MpiJob& job, const RankWaits& waits, Value value, std::string_view passes) {
  std::map<std::string, std::vector<std::int32_t>> groups;
  for (const RankWait* wait : waits) {
    const Passed passed = value(*wait->call);
    if (!passed) return std::nullopt;
    groups[*passed].push_back(wait->rank);
  }
  if (groups.size() < 2) return std::nullopt;
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> order(groups.begin(), groups.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const OpenMpiCall& call = *waits.front()->call;
  const auto name = job.communicators.find(call.communicator);
  std::string text = fmt::format("number {} of {} is not the same call in all ranks: ", call.sequence,
                                 name == job.communicators.end() ? "a communicator" : one_line(name->second));
  for (std::size_t i = 0; i < order.size(); ++i) {
    text += fmt::format("{}{} {} {}",
                        i == 0                  ? ""
                        : i + 1 == order.size() ? " and "
                                                : ", ",
                        ranks_text(order[i].second), passes, order[i].first);
  }
  return text;
}

}  // namespace

std::optional<std::string> mismatch_text(const MpiJob& job, const RankWaits& waits) {
  const auto operation = [&](const OpenMpiCall& call) { return Passed(operation_name(job, call)); };
  const auto root = [](const OpenMpiCall& call) { return Passed(fmt::format("rank {}", call.peer)); };
  const auto size = [&](const OpenMpiCall& call) { return size_passed(job, call); };
  Passed text = differing(job, waits, operation, "in");
  if (!text) text = differing(job, waits, root, "with the root");
  return text ? text : differing(job, waits, size, "with");
}

}  // namespace wicprof::analyzer
