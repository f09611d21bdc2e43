#include "analyzer/ranks/digest_totals.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "analyzer/measure/statistics.h"

namespace wicprof::analyzer {

std::string_view sum_of_name(store::SumOf of) {
  using store::SumOf;
  switch (of) {
    case SumOf::mpi_call:
      return "MPI call";
    case SumOf::wait:
      return "wait at a site";
    case SumOf::signal:
      return "signal";
    case SumOf::host_wait:
      return "host wait";
    case SumOf::kernel:
      return "kernel";
    case SumOf::copy:
      return "copy";
    case SumOf::call:
      return "call of CUDA";
    case SumOf::nvtx:
      return "NVTX range";
    case SumOf::thread_sample:
      return "sampled thread";
    case SumOf::work:
    case SumOf::work_of_nccl:
      return "work of a rank";
    case SumOf::turns:
    case SumOf::turn_parts:
      return "turn on a device";
    case SumOf::iteration:
      break;
  }
  return "iteration";
}

std::vector<DigestTotal> digest_totals(const TraceModel& model) {
  using store::SumOf;
  struct Sum {
    DigestTotal total;
    std::map<store::ProcessId, TimeNs> by_process;
  };
  std::map<std::pair<SumOf, std::string>, Sum> sums;
  std::set<store::ProcessId> processes;
  for (const store::DigestSumRow& row : model.digest_sums) {
    processes.insert(row.process);
    if (row.of == SumOf::mpi_call || row.of == SumOf::signal || row.of >= SumOf::thread_sample) continue;
    Sum& sum = sums[{row.of, row.name}];
    sum.total.of = row.of;
    sum.total.name = row.name;
    sum.total.rows += row.rows;
    sum.total.total_ns += row.total;
    sum.by_process[row.process] += row.total;
  }
  std::vector<DigestTotal> all;
  for (auto& [key, sum] : sums) {
    std::vector<TimeNs> totals(processes.size());
    auto at = totals.begin();
    for (const auto& [process, total] : sum.by_process) {
      *at++ = total;
      if (total > sum.total.max_ns) std::tie(sum.total.max_ns, sum.total.most) = std::pair(total, process);
    }
    sum.total.p50_ns = percentile(totals, 50);
    all.push_back(std::move(sum.total));
  }
  std::stable_sort(all.begin(), all.end(), [](const DigestTotal& a, const DigestTotal& b) {
    return std::pair(a.of, b.total_ns) < std::pair(b.of, a.total_ns);
  });
  return all;
}

}  // namespace wicprof::analyzer
