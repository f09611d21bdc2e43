#include "analyzer/ranks/rank_work.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "analyzer/ranks/work_sums.h"
#include "protocol/mpi_operation.h"

namespace wicprof::analyzer {

namespace {

using store::ProcessId;

/// By RankCause.
constexpr RankCauseWords kCauseWords[] = {
    {"unknown", "", ""},
    {"computed", "it computed longer {}", ""},
    {"more data", "it has more data, and computed longer {}",
     "divide the data among the ranks by the time that they take"},
    {"slept", "it slept longer {}", "look for input and output, sleeps and locks there"},
    {"other thread", "it slept {}, while another thread of its process ran",
     "look for a lock that the other thread holds, such as Python's"},
    {"child process", "it slept {}, while a process that it had started ran",
     "look for what it waits for from that process, such as a data loader's next batch"},
    {"throttled", "a CPU quota stopped it {}", "raise the quota (cpu.max, docker --cpus, the pod's CPU limit)"},
    {"no CPU", "it had no CPU {}", "look for what else runs on its CPUs (mpirun --report-bindings, top)"},
    {"kernels", "its kernels took longer", ""},
    {"copies", "its copies took longer", ""},
    {"slow device", "its device took longer for the same kernels",
     "compare its GPU's clocks, temperature and other programs with those of the other GPUs"},
    {"slow link", "the same copies from and to its device took longer",
     "compare its GPU's link and NUMA node with those of the other GPUs"},
    {"shared device", "another program had its device by turns",
     "end the other program, such as one that is left of an earlier run, or give the rank a device of its own"},
    {"host", "its host enqueued later", "record what its host does (--trace with host and nvtx, or without --trace)"},
};
static_assert(std::size(kCauseWords) == static_cast<std::size_t>(RankCause::host) + 1);

/// What explains a part of a time must be at least so large, as a share of that part. Not calibrated.
constexpr double kExplains = 0.5;
/// Of the places that explain most: that share of it. Not calibrated.
constexpr double kAboutAsMuch = 0.8;
/// The same launches may have other data, which a trace does not show: the confidence is that share of the others',
/// unless a lower clock explains them. Not calibrated.
constexpr double kOfSameWork = 0.75;
/// More data: by so much more bytes than the median of the other ranks. Not calibrated.
constexpr double kMoreBytes = 1.25;

TimeNs length(TimeNs begin, TimeNs end) { return std::max<TimeNs>(0, end - begin); }

/// The rank whose process, or whose child, this is; end() for none.
std::map<ProcessId, RankWork>::iterator owner(std::map<ProcessId, RankWork>& ranks,
                                              const std::map<ProcessId, ProcessId>& parents, ProcessId process) {
  for (std::size_t steps = 0; steps <= parents.size(); ++steps) {
    const auto rank = ranks.find(process);
    const auto parent = parents.find(process);
    if (rank != ranks.end() || parent == parents.end()) return rank;
    process = parent->second;
  }
  return ranks.end();
}

using Threads = std::set<std::pair<ProcessId, std::uint32_t>>;

/// What a thread did.
struct ThreadTimes {
  TimeNs cpu = 0, run_delay = 0, slept = 0;

  TimeNs all() const { return cpu + run_delay + slept; }
  void add(const ThreadTimes& other, double share = 1) {
    const auto part = [&](TimeNs time) { return static_cast<TimeNs>(static_cast<double>(time) * share); };
    cpu += part(other.cpu);
    run_delay += part(other.run_delay);
    slept += part(other.slept);
  }
  void take_away(const ThreadTimes& other) {
    cpu = std::max<TimeNs>(0, cpu - other.cpu);
    run_delay = std::max<TimeNs>(0, run_delay - other.run_delay);
    slept = std::max<TimeNs>(0, slept - other.slept);
  }
};
using TimesOfThreads = std::map<std::pair<ProcessId, std::uint32_t>, ThreadTimes>;

/// The share of a time that lies between the first and the last of the process's kernels of NCCL.
double share_of(const std::map<ProcessId, RankDevices>& devices, ProcessId process, TimeNs begin, TimeNs end) {
  const auto of = devices.find(process);
  if (of == devices.end() || end <= begin) return 0;
  const TimeNs both = length(std::max(begin, of->second.nccl.begin()), std::min(end, of->second.nccl.end()));
  return static_cast<double>(both) / static_cast<double>(end - begin);
}

/// In waits in calls of CUDA.
TimesOfThreads waits_of_threads(const TraceModel& model, const std::map<ProcessId, RankDevices>& devices) {
  TimesOfThreads waits;
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow wait = model.host_waits[i];
    if (!wait.in_call()) continue;
    const TimeNs all = length(wait.begin, wait.end);
    ThreadTimes times;
    times.run_delay = std::clamp<TimeNs>(wait.run_delay.value_or(0), 0, all);
    times.cpu = std::clamp<TimeNs>(wait.cpu.value_or(all), 0, all - times.run_delay);
    times.slept = all - times.cpu - times.run_delay;
    waits[{wait.process, wait.thread}].add(times, share_of(devices, wait.process, wait.begin, wait.end));
  }
  return waits;
}

/// What the programs' first threads did, as the system's scheduler says.
std::map<ProcessId, ThreadTimes> first_threads(const TraceModel& model,
                                               const std::map<ProcessId, RankDevices>& devices) {
  std::map<ProcessId, ThreadTimes> threads;
  for (const store::ThreadSampleRow& sample : model.thread_samples) {
    if (sample.thread != sample.process || !devices.contains(sample.process)) continue;
    threads[sample.process].add({sample.cpu, sample.run_delay.value_or(0), 0},
                                share_of(devices, sample.process, sample.begin, sample.end));
  }
  for (auto& [process, times] : threads) {
    const RankDevices& of = devices.at(process);
    times.slept = std::max<TimeNs>(0, of.nccl.end() - of.nccl.begin() - times.cpu - times.run_delay);
  }
  return threads;
}

/// What the hosts did beside waits in calls of CUDA. A library's thread may call NCCL, as PyTorch's for gradients does,
/// while the program's first thread waits for the device: then that one is what makes the rank late.
void take_hosts(const TraceModel& model, const std::map<ProcessId, RankDevices>& devices, Threads& callers,
                std::map<ProcessId, RankWork>& ranks) {
  const TimesOfThreads waits = waits_of_threads(model, devices);
  const std::map<ProcessId, ThreadTimes> first = first_threads(model, devices);
  for (auto& [process, work] : ranks) {
    ThreadTimes of_callers;
    for (const auto& [thread, times] : waits) {
      if (thread.first == process && callers.contains(thread)) of_callers.add(times);
    }
    const auto own = first.find(process);
    const auto of_first = waits.find({process, process});
    ThreadTimes times{work.cpu, work.run_delay, work.slept};
    if (own != first.end() && of_first != waits.end() && !callers.contains({process, process}) &&
        of_first->second.all() > of_callers.all()) {
      times = own->second;
      of_callers = of_first->second;
      callers.insert({process, process});
      work.known = true;
    }
    times.take_away(of_callers);
    work.cpu = times.cpu;
    work.run_delay = times.run_delay;
    work.slept = times.slept;
  }
}

void add_scheduled(const TraceModel& model, const Threads& callers, std::map<ProcessId, RankWork>& ranks) {
  std::map<ProcessId, ProcessId> parents;
  for (const store::ProcessRow& row : model.processes) parents[row.id] = row.parent;
  for (const store::ThreadSampleRow& sample : model.thread_samples) {
    if (callers.contains({sample.process, sample.thread})) continue;
    const auto of = owner(ranks, parents, sample.process);
    if (of == ranks.end()) continue;
    const TimeNs wanted = sample.cpu + sample.run_delay.value_or(0);
    (of->first == sample.process ? of->second.other_threads : of->second.children) += wanted;
  }
}

std::set<ProcessId> processes_of_digests(const TraceModel& model) {
  std::set<ProcessId> processes;
  for (const store::DigestSumRow& sum : model.digest_sums) processes.insert(sum.process);
  return processes;
}

/// What the devices did when they did more than to run kernels of NCCL. False: the trace does not have these kernels of
/// all ranks. `digested`: what digests say of that.
bool add_devices(const TraceModel& model, const std::map<ProcessId, RankDevices>& devices,
                 const std::map<ProcessId, RankWork>& digested, std::map<ProcessId, RankWork>& ranks) {
  const std::set<ProcessId> of_digests = processes_of_digests(model);  // their kernels are not in the model
  const auto has_devices = [&](const auto& rank) {
    return of_digests.contains(rank.first) ? digested.contains(rank.first) : devices.contains(rank.first);
  };
  if (ranks.empty() || !std::all_of(ranks.begin(), ranks.end(), has_devices)) return false;
  for (auto& [process, rank] : ranks) {
    rank.on_device = true;
    if (digested.contains(process)) continue;
    const RankDevices& of = devices.at(process);
    const TimeNs begin = of.nccl.begin(), end = of.nccl.end();
    rank.kernels = of.kernels.covered(begin, end);
    rank.copies = of.work.covered(begin, end) - rank.kernels;
    rank.idle = end - begin - of.all.covered(begin, end);
    rank.outside = rank.kernels + rank.copies + rank.idle;
    rank.run = end - begin;
  }
  return true;
}

/// How much more the late rank has of it than the median of the others; not below 0.
double more(const std::vector<RankWork>& ranks, const RankWork& late, const auto& value_of) {
  std::vector<double> others;
  for (const RankWork& each : ranks) {
    if (each.process != late.process) others.push_back(static_cast<double>(value_of(each)));
  }
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
  std::nth_element(others.begin(), middle, others.end());
  return std::max(0.0, static_cast<double>(value_of(late)) - *middle);
}
template <class Field>
double more(const std::vector<RankWork>& ranks, const RankWork& late, Field RankWork::*field) {
  return more(ranks, late, [&](const RankWork& of) { return of.*field; });
}

struct Parts {
  double cpu, run_delay, slept;
};

/// Where all ranks lack CPUs, a rank that computes longer also lacks one longer, in proportion: that is the work's.
Parts parts_of(const std::vector<RankWork>& ranks, const RankWork& late) {
  Parts more_of{more(ranks, late, &RankWork::cpu), more(ranks, late, &RankWork::run_delay),
                more(ranks, late, &RankWork::slept)};
  double cpu = 0, run_delay = 0;
  for (const RankWork& each : ranks) {
    if (each.process == late.process) continue;
    cpu += static_cast<double>(each.cpu);
    run_delay += static_cast<double>(each.run_delay);
  }
  if (cpu > 0) {
    const double with_work = std::min(more_of.run_delay, more_of.cpu * run_delay / cpu);
    more_of.run_delay -= with_work;
    more_of.cpu += with_work;
  }
  return more_of;
}

struct Explained {
  RankCause cause;
  double part;
  std::optional<SlowerWork> slower = {};
};

Explained explain_cpu(const std::vector<RankWork>& ranks, const RankWork& late, double part) {
  const double bytes = more(ranks, late, &RankWork::bytes), others = static_cast<double>(late.bytes) - bytes;
  if (others <= 0 || static_cast<double>(late.bytes) < kMoreBytes * others) return {RankCause::computed, part};
  const double others_cpu = static_cast<double>(late.cpu) - more(ranks, late, &RankWork::cpu);
  const double with_bytes = others_cpu * bytes / others;
  return {with_bytes >= kExplains * part ? RankCause::more_data : RankCause::computed, part};
}

Explained explain_sleep(const std::vector<RankWork>& ranks, const RankWork& late, double part) {
  const double threads = more(ranks, late, &RankWork::other_threads), children = more(ranks, late, &RankWork::children);
  if (std::max(threads, children) < kExplains * part) return {RankCause::slept, part};
  return {threads >= children ? RankCause::other_thread : RankCause::child_process, part};
}

TimeNs throttled(const TraceModel& model) {
  for (const store::StatRow& row : model.stats) {
    if (row.name == "throttled_ns") return row.value;
  }
  return 0;
}

Explained explain_host(const TraceModel& model, const std::vector<RankWork>& ranks, const RankWork& late) {
  const Parts parts = parts_of(ranks, late);
  if (parts.cpu >= std::max(parts.run_delay, parts.slept)) return explain_cpu(ranks, late, parts.cpu);
  if (parts.slept >= parts.run_delay) return explain_sleep(ranks, late, parts.slept);
  const bool by_quota = static_cast<double>(throttled(model)) >= kExplains * parts.run_delay;
  return {by_quota ? RankCause::throttled : RankCause::no_cpu, parts.run_delay};
}

/// Longer kernels or copies: of the same ones, or others.
Explained explain_device_work(const std::vector<RankWork>& ranks, const RankWork& late, bool of_kernels, double part) {
  const double interrupted = more(ranks, late, [](const RankWork& of) { return of.common.interrupted; });
  if (of_kernels && interrupted >= kExplains * part) return {RankCause::shared_device, std::min(part, interrupted)};
  std::vector<const SameWork*> others;
  for (const RankWork& each : ranks) {
    if (each.process != late.process) others.push_back(of_kernels ? &each.common.kernels : &each.common.copies);
  }
  const double others_bytes = static_cast<double>(late.bytes) - more(ranks, late, &RankWork::bytes);
  const bool more_bytes = static_cast<double>(late.bytes) >= kMoreBytes * others_bytes && others_bytes > 0;
  const std::optional<SlowerWork> slower =
      of_kernels ? slower_kernels(late.common.kernels, others) : slower_copies(late.common.copies, others);
  if (more_bytes || !slower || static_cast<double>(slower->longer_ns) < kExplains * part)
    return {of_kernels ? RankCause::kernels : RankCause::copies, part};
  return {of_kernels ? RankCause::slow_device : RankCause::slow_link,
          std::min(part, static_cast<double>(slower->longer_ns)), slower};
}

/// Longer kernels or copies before NCCL's kernels, or a device that had nothing to do since the host came late.
Explained explain_device(const TraceModel& model, const std::vector<RankWork>& ranks, const RankWork& late) {
  const double kernels = more(ranks, late, &RankWork::kernels), copies = more(ranks, late, &RankWork::copies);
  const double idle = more(ranks, late, &RankWork::idle);
  if (std::max(kernels, copies) >= idle)
    return explain_device_work(ranks, late, kernels >= copies, std::max(kernels, copies));
  const bool known = std::all_of(ranks.begin(), ranks.end(), [](const RankWork& of) { return of.known; });
  const Explained host = known ? explain_host(model, ranks, late) : Explained{RankCause::host, 0};
  if (host.part < kExplains * idle) return {RankCause::host, idle};
  return {host.cause, std::min(host.part, idle)};
}

Explained explain(const TraceModel& model, const std::vector<RankWork>& ranks, const RankWork& late, double longer) {
  if (late.on_device) {
    Explained found = explain_device(model, ranks, late);
    found.part = std::min(longer, found.part);
    return found;
  }
  const double waits = more(ranks, late, &RankWork::device_waits);
  const double kernels = more(ranks, late, &RankWork::kernels), copies = more(ranks, late, &RankWork::copies);
  if (waits >= kExplains * longer && std::max(kernels, copies) >= kExplains * waits) {
    return explain_device_work(ranks, late, kernels >= copies, std::min(longer, std::max(kernels, copies)));
  }
  return explain_host(model, ranks, late);
}

/// Of the GPUs of a rank that is slow for the same kernels, and of the others.
std::optional<ComparedDevices> devices_of(const TraceModel& model, const std::vector<RankWork>& ranks, ProcessId late) {
  std::vector<ProcessId> all;
  for (const RankWork& each : ranks) all.push_back(each.process);
  return compare_devices(model, late, all);
}

/// A range explains the rank's time on the host, a kernel that of its device.
bool can_explain(PlaceKind kind, RankCause cause) {
  if (cause == RankCause::kernels) return kind == PlaceKind::kernel;
  return cause != RankCause::copies && cause != RankCause::shared_device && kind != PlaceKind::kernel;
}

/// Of the places that explain about as much as the best one, the most specific: that in which the rank is shortest.
std::optional<LateRankPlace> late_rank_place(const std::vector<RankWork>& ranks, const RankWork& late, RankCause cause,
                                             double longer) {
  struct Candidate {
    const RankPlace* place;
    TimeNs all;
    double more;
  };
  std::vector<Candidate> candidates;
  double most = 0;
  for (const auto& [place, time] : late.places) {
    if (!can_explain(place.kind, cause)) continue;
    const double further = more(ranks, late, [&place = place](const RankWork& of) {
      const auto there = of.places.find(place);
      return there == of.places.end() ? TimeNs{0} : there->second;
    });
    if (further < kExplains * longer) continue;
    candidates.push_back({&place, time, further});
    most = std::max(most, further);
  }
  const Candidate* best = nullptr;
  for (const Candidate& each : candidates) {
    if (std::min(each.more, longer) < kAboutAsMuch * std::min(most, longer)) continue;
    if (best == nullptr || each.all < best->all) best = &each;
  }
  if (best == nullptr) return std::nullopt;
  return LateRankPlace{*best->place, static_cast<TimeNs>(best->more), std::min(1.0, best->more / longer)};
}

}  // namespace

const RankCauseWords& words_of(RankCause cause) { return kCauseWords[static_cast<std::size_t>(cause)]; }

std::vector<RankWork> rank_work(const TraceModel& model, const std::map<ProcessId, RankDevices>* devices) {
  std::map<ProcessId, RankWork> ranks, digested;
  for (const store::MpiCommunicatorRow& row : model.mpi_communicators) ranks[row.process].process = row.process;
  if (devices != nullptr) digested = work_of_digests(model, store::SumOf::work_of_nccl);
  const bool on_device = devices != nullptr && add_devices(model, *devices, digested, ranks);
  if (!on_device) digested = work_of_digests(model, store::SumOf::work);
  Threads callers;
  std::map<ProcessId, Interval> runs;
  for (const store::MpiGapRow& gap : model.mpi_gaps) {
    const auto rank = ranks.find(gap.process);
    if (rank == ranks.end() || !gap.run_delay) continue;
    callers.insert({gap.process, gap.thread});
    RankWork& work = rank->second;
    work.known = true;
    if (!on_device) work.outside += gap.outside;
    const auto run = runs.try_emplace(gap.process, Interval{gap.begin, gap.end}).first;
    run->second = {std::min(run->second.begin, gap.begin), std::max(run->second.end, gap.end)};
    if (!on_device) work.run = run->second.end - run->second.begin;
    work.cpu += gap.cpu;
    work.run_delay += *gap.run_delay;
    work.slept += std::max<TimeNs>(0, gap.outside - gap.cpu - *gap.run_delay);
  }
  if (callers.empty() && digested.empty() && !on_device) return {};
  if (on_device) take_hosts(model, *devices, callers, ranks);
  add_scheduled(model, callers, ranks);
  const auto add = [&](ProcessId process, TimeNs RankWork::*field, TimeNs time) {
    if (const auto rank = ranks.find(process); rank != ranks.end()) rank->second.*field += time;
  };
  for (const store::MpiCallRow& call : model.mpi_calls) {
    const auto rank = ranks.find(call.process);
    if (rank == ranks.end() || mpi_kind(call.operation) == MpiKind::receives) continue;
    rank->second.bytes += static_cast<std::uint64_t>(call.bytes.value_or(0)) * std::max(call.stands_for, 1u);
  }
  for (std::size_t i = 0; i < model.host_waits.size(); ++i) {
    const store::HostWaitRow wait = model.host_waits[i];
    if (wait.in_call()) add(wait.process, &RankWork::device_waits, length(wait.begin, wait.end));
  }
  if (!on_device) {
    for (const auto& kernel : model.kernels) add(kernel.process, &RankWork::kernels, length(kernel.start, kernel.end));
    for (const auto& copy : model.copies) add(copy.process, &RankWork::copies, length(copy.start, copy.end));
  }
  for (auto& [process, places] : rank_places(model, on_device ? devices : nullptr)) {
    if (const auto rank = ranks.find(process); rank != ranks.end()) rank->second.places = std::move(places);
  }
  for (auto& [process, common] : same_work(model, on_device ? devices : nullptr)) {
    if (const auto rank = ranks.find(process); rank != ranks.end()) rank->second.common = std::move(common);
  }
  std::vector<RankWork> all;
  for (auto& [process, work] : ranks) {
    const auto found = digested.find(process);
    all.push_back(std::move(found == digested.end() ? work : found->second));
  }
  return all;
}

LateRankCause late_rank_cause(const TraceModel& model, const std::vector<RankWork>& ranks, ProcessId late,
                              TimeNs each) {
  const auto found = std::find_if(ranks.begin(), ranks.end(), [&](const RankWork& of) { return of.process == late; });
  const bool all_known =
      std::all_of(ranks.begin(), ranks.end(), [](const RankWork& of) { return of.known || of.on_device; });
  LateRankCause why;
  if (found == ranks.end() || ranks.size() < 2 || !all_known || each <= 0) return why;
  const double longer = more(ranks, *found, &RankWork::outside);
  why.longer_ns = static_cast<TimeNs>(longer);
  if (longer < kExplains * static_cast<double>(each)) return why;
  const Explained explained = explain(model, ranks, *found, longer);
  why.cause = explained.cause;
  why.slower = explained.slower;
  why.of_cause_ns = static_cast<TimeNs>(explained.part);
  const double of_waits = std::min(1.0, longer / static_cast<double>(each));
  why.confidence = std::min(1.0, explained.part / longer) * of_waits;
  if (explained.cause == RankCause::slow_device) why.devices = devices_of(model, ranks, late);
  if (explained.slower && !(why.devices && why.devices->explains(explained.slower->times)))
    why.confidence *= kOfSameWork;
  if (!explained.slower) why.place = late_rank_place(ranks, *found, explained.cause, longer);
  if (why.place) why.place->confidence *= of_waits;
  return why;
}

}  // namespace wicprof::analyzer
