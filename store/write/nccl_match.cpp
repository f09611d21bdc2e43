#include "store/write/nccl_match.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "protocol/mpi_operation.h"
#include "protocol/time.h"

namespace wicprof::store {

namespace {

/// NCCL reports a call right after it has launched the call's kernel. Not calibrated.
constexpr TimeNs kLaunchedBefore = 10 * kMillisecond;

struct Kernel {
  std::int64_t process;
  TimeNs begin, end;
};
using Kernels = std::unordered_multimap<std::int64_t, Kernel>;  // by correlation

struct Launch {
  TimeNs begin, end;
  const Kernel* kernel;
};
using Launches = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<Launch>>;  // by process and thread

Kernels kernels_of_nccl(Database& database, int& code) {
  Kernels kernels;
  Statement rows = database.prepare(
      "SELECT correlation, process_id, start_ns, end_ns FROM kernel WHERE graph IS NULL AND process_id IS NOT NULL AND "
      "name_id IN (SELECT id FROM string WHERE value GLOB '*nccl*Kernel*')",
      code);
  while (code == 0 && rows.next(code)) {
    kernels.emplace(rows.integer(0), Kernel{rows.integer(1), rows.integer(2), rows.integer(3)});
  }
  return kernels;
}

/// In order of begin.
Launches launches_of(const Kernels& kernels, Database& database, int& code) {
  Launches launches;
  Statement rows = database.prepare(
      "SELECT correlation, process_id, thread, start_ns, end_ns FROM call WHERE process_id IS NOT NULL", code);
  while (code == 0 && rows.next(code)) {
    const auto [begin, end] = kernels.equal_range(rows.integer(0));
    const auto found =
        std::find_if(begin, end, [&](const auto& each) { return each.second.process == rows.integer(1); });
    if (found == end) continue;
    launches[{rows.integer(1), rows.integer(2)}].push_back({rows.integer(3), rows.integer(4), &found->second});
  }
  for (auto& [thread, list] : launches) {
    std::sort(list.begin(), list.end(), [](const Launch& a, const Launch& b) { return a.begin < b.begin; });
  }
  return launches;
}

const Kernel* kernel_of(const std::vector<Launch>& launches, TimeNs begin, TimeNs end) {
  const auto next =
      std::partition_point(launches.begin(), launches.end(), [&](const Launch& each) { return each.begin <= end; });
  if (next == launches.begin()) return nullptr;
  const Launch& last = *(next - 1);
  return last.end >= begin || begin - last.end <= kLaunchedBefore ? last.kernel : nullptr;
}

}  // namespace

int match_nccl(Database& database) {
  const std::string of_nccl = "operation BETWEEN " + std::to_string(static_cast<int>(MpiOperation::nccl_all_reduce)) +
                              " AND " + std::to_string(static_cast<int>(MpiOperation::nccl_recv));
  if (database.integer("SELECT EXISTS (SELECT 1 FROM mpi_call WHERE " + of_nccl + ")") == 0) return 0;
  int code = 0;
  const Kernels kernels = kernels_of_nccl(database, code);
  if (code != 0 || kernels.empty()) return code;
  const Launches launches = launches_of(kernels, database, code);
  if (code != 0) return code;
  Statement calls = database.prepare(
      "SELECT id, process_id, thread, begin_ns, end_ns FROM mpi_call WHERE process_id IS NOT NULL AND " + of_nccl,
      code);
  Statement insert = code != 0 ? Statement()
                               : database.prepare(
                                     "INSERT INTO mpi_request (process_id, operation, completed_by, communicator, "
                                     "sequence, peer, tag, bytes, thread, posted_ns, begin_ns, end_ns) SELECT "
                                     "process_id, operation, operation, communicator, sequence, peer, tag, bytes, "
                                     "thread, begin_ns, ?2, ?3 FROM mpi_call WHERE id = ?1",
                                     code);
  while (code == 0 && calls.next(code)) {
    const auto of_thread = launches.find({calls.integer(1), calls.integer(2)});
    if (of_thread == launches.end()) continue;
    const Kernel* const kernel = kernel_of(of_thread->second, calls.integer(3), calls.integer(4));
    if (kernel == nullptr) continue;
    insert.bind(1, calls.integer(0));
    insert.bind(2, kernel->begin);
    insert.bind(3, kernel->end);
    code = insert.run();
  }
  return code;
}

}  // namespace wicprof::store
