#include "analyzer/ranks/work_sums.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace wicprof::analyzer {

namespace {

using store::DigestSumRow;
using store::SumOf;

/// The details of rows, which stay as they are: files have them. In kKnown, `rows` has a bit for `known` and one for
/// `on_device`; from kFields on, a field each; from kPlaces on, places of each kind. Of kKernels and kCopies, what a
/// rank's device does as others do, `longest` is the median.
enum : std::uint32_t { kKnown = 0, kFields = 1, kBytes = 31, kPlaces = 32, kKernels = 40, kCopies = 41 };
constexpr std::uint64_t kKnownBit = 1, kOnDeviceBit = 2;
constexpr std::array kTimes = {&RankWork::outside,       &RankWork::cpu,      &RankWork::run_delay,
                               &RankWork::slept,         &RankWork::kernels,  &RankWork::copies,
                               &RankWork::idle,          &RankWork::children, &RankWork::device_waits,
                               &RankWork::other_threads, &RankWork::run};
static_assert(kFields + kTimes.size() <= kBytes);
/// Of each kind, for each rank.
constexpr std::size_t kMostPlaces = 32;
/// A step in PyTorch launches a hundred kinds and more.
constexpr std::size_t kMostSame = 128;

/// The last one, without a name, is the sum of those that are left out. It has no median, so that nothing is compared
/// with it.
std::vector<std::pair<std::string, SameRuns>> longest_first(const SameWork& work) {
  std::vector<std::pair<std::string, SameRuns>> all(work.begin(), work.end());
  std::ranges::stable_sort(all, [](const auto& a, const auto& b) { return a.second.total > b.second.total; });
  if (all.size() <= kMostSame) return all;
  SameRuns left_out;
  for (std::size_t i = kMostSame; i < all.size(); ++i) {
    left_out.runs += all[i].second.runs;
    left_out.total += all[i].second.total;
  }
  all.resize(kMostSame);
  all.emplace_back(std::string(), left_out);
  return all;
}

void add_sums(const RankWork& work, SumOf of, std::vector<DigestSumRow>& sums) {
  const auto add = [&](std::uint32_t detail, TimeNs total, std::uint64_t rows, const std::string& name,
                       TimeNs longest = 0) {
    DigestSumRow& sum = sums.emplace_back();
    sum.of = of;
    sum.detail = detail;
    sum.name = name;
    sum.rows = rows;
    sum.total = total;
    sum.longest = longest;
    sum.process = work.process;
  };
  add(kKnown, 0, (work.known ? kKnownBit : 0) | (work.on_device ? kOnDeviceBit : 0), {});
  for (std::size_t i = 0; i < kTimes.size(); ++i) {
    if (work.*kTimes[i] > 0) add(kFields + static_cast<std::uint32_t>(i), work.*kTimes[i], 1, {});
  }
  if (work.bytes > 0) add(kBytes, static_cast<TimeNs>(work.bytes), 1, {});
  std::vector<std::pair<const RankPlace*, TimeNs>> places;
  for (const auto& [place, time] : work.places) places.emplace_back(&place, time);
  std::stable_sort(places.begin(), places.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::array<std::size_t, 3> kept{};
  for (const auto& [place, time] : places) {
    const auto kind = static_cast<std::uint32_t>(place->kind);
    if (kept.at(kind)++ < kMostPlaces) add(kPlaces + kind, time, 1, place->name);
  }
  for (const auto& [detail, same] :
       {std::pair(kKernels, &work.common.kernels), std::pair(kCopies, &work.common.copies)}) {
    for (const auto& [kind, runs] : longest_first(*same)) add(detail, runs.total, runs.runs, kind, runs.median);
  }
}

}  // namespace

std::vector<DigestSumRow> work_sums(const TraceModel& model) {
  std::vector<DigestSumRow> sums;
  if (model.mpi_communicators.empty()) return sums;
  for (const RankWork& work : rank_work(model)) add_sums(work, SumOf::work, sums);
  const std::map<store::ProcessId, RankDevices> devices = rank_devices(model);
  if (devices.empty()) return sums;
  for (const RankWork& work : rank_work(model, &devices)) {
    if (work.on_device) add_sums(work, SumOf::work_of_nccl, sums);
  }
  return sums;
}

double least_kept_kinds(const TraceModel& model) {
  struct Sum {
    double kept = 0, all = 0;
  };
  std::map<std::pair<store::ProcessId, std::uint32_t>, Sum> sums;
  for (const DigestSumRow& row : model.digest_sums) {
    if (row.of != SumOf::work || (row.detail != kKernels && row.detail != kCopies)) continue;
    Sum& sum = sums[{row.process, row.detail}];
    sum.all += static_cast<double>(row.total);
    if (!row.name.empty()) sum.kept += static_cast<double>(row.total);
  }
  double least = 1;
  for (const auto& [of, sum] : sums) {
    if (sum.all > 0) least = std::min(least, sum.kept / sum.all);
  }
  return least;
}

std::map<store::ProcessId, RankWork> work_of_digests(const TraceModel& model, SumOf of) {
  std::map<store::ProcessId, RankWork> all;
  for (const DigestSumRow& sum : model.digest_sums) {
    if (sum.of != of) continue;
    RankWork& work = all[sum.process];
    work.process = sum.process;
    if (sum.detail == kKnown) {
      work.known = (sum.rows & kKnownBit) != 0;
      work.on_device = (sum.rows & kOnDeviceBit) != 0;
    } else if (sum.detail == kBytes) {
      work.bytes = static_cast<std::uint64_t>(sum.total);
    } else if (sum.detail - kFields < kTimes.size()) {
      work.*kTimes[sum.detail - kFields] = sum.total;
    } else if (sum.detail >= kPlaces && sum.detail <= kPlaces + static_cast<std::uint32_t>(PlaceKind::kernel)) {
      work.places[{static_cast<PlaceKind>(sum.detail - kPlaces), sum.name}] = sum.total;
    } else if (sum.detail == kKernels || sum.detail == kCopies) {
      (sum.detail == kKernels ? work.common.kernels : work.common.copies)[sum.name] = {sum.rows, sum.total,
                                                                                       sum.longest};
    }
  }
  for (const DigestSumRow& sum : model.digest_sums) {
    if (const auto work = all.find(sum.process); sum.of == SumOf::turns && work != all.end())
      work->second.common.interrupted += sum.total;
  }
  return all;
}

}  // namespace wicprof::analyzer
