#include "import/nsys/nsys.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "import/nsys/tables.h"
#include "import/trace/times.h"
#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/cuda_event.h"
#include "protocol/events/graph.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/overhead.h"
#include "protocol/events/sync.h"
#include "protocol/events/thread_sample.h"
#include "protocol/events/uvm.h"

namespace wicprof::imports {

namespace {

constexpr std::uint32_t kBitsOfId = 0xff'ffff;  // of a pid and a tid in nsys's global ids
std::uint32_t pid_of(std::int64_t global) { return static_cast<std::uint32_t>(global >> 24) & kBitsOfId; }
std::uint32_t tid_of(std::int64_t global) { return static_cast<std::uint32_t>(global) & kBitsOfId; }

// ENUM_NSYS_EVENT_TYPE
constexpr std::int64_t kMark = 34, kPushPop = 59, kStartEnd = 60, kDomain = 75;

// ENUM_CUDA_MEMCPY_OPER. The last three are migrations of managed memory.
constexpr std::int64_t kFirstMigration = 11;
constexpr std::array kCopyKinds{CopyKind::unknown,          CopyKind::host_to_device,   CopyKind::device_to_host,
                                CopyKind::host_to_device,   CopyKind::device_to_host,   CopyKind::device_to_device,
                                CopyKind::device_to_device, CopyKind::device_to_device, CopyKind::device_to_device,
                                CopyKind::host_to_host,     CopyKind::peer_to_peer};
constexpr std::array kMigrations{UvmKind::host_to_device, UvmKind::device_to_host, UvmKind::device_to_device};
constexpr std::array<std::string_view, 6> kMigrationCauses{"",         "user",     "coherence",
                                                           "prefetch", "eviction", "access counters"};
// ENUM_CUDA_MEM_KIND
constexpr std::array kMemories{CopyMemory::pageable, CopyMemory::pinned, CopyMemory::device,  CopyMemory::array,
                               CopyMemory::managed,  CopyMemory::device, CopyMemory::managed, CopyMemory::unknown};
// ENUM_CUPTI_SYNC_TYPE has the numbers of SyncKind.
constexpr std::array kSyncs{SyncKind::unknown, SyncKind::event, SyncKind::stream_waits_for_event, SyncKind::stream,
                            SyncKind::context};

template <class Kind, std::size_t kSize>
Kind one_of(const std::array<Kind, kSize>& kinds, std::int64_t number, Kind otherwise) {
  return number >= 0 && static_cast<std::size_t>(number) < kSize ? kinds[static_cast<std::size_t>(number)] : otherwise;
}

CopyMemory memory_of(const NsysRow& row, int column) {
  return row.has(column) ? one_of(kMemories, row.integer(column), CopyMemory::unknown) : CopyMemory::unknown;
}

/// Tables that are read, and those that say nothing of what the program did.
constexpr std::string_view kNotLeftOut =
    " ANALYSIS_DETAILS ANALYSIS_FILE CUPTI_ACTIVITY_KIND_CUDA_EVENT CUPTI_ACTIVITY_KIND_GRAPH_TRACE "
    "CUPTI_ACTIVITY_KIND_KERNEL CUPTI_ACTIVITY_KIND_MEMCPY CUPTI_ACTIVITY_KIND_MEMSET CUPTI_ACTIVITY_KIND_OVERHEAD "
    "CUPTI_ACTIVITY_KIND_RUNTIME CUPTI_ACTIVITY_KIND_SYNCHRONIZATION CUDA_UM_CPU_PAGE_FAULT_EVENTS "
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS DIAGNOSTIC_EVENT EXPORT_META_DATA META_DATA_CAPTURE META_DATA_EXPORT "
    "MPI_COLLECTIVES_EVENTS MPI_OTHER_EVENTS MPI_P2P_EVENTS MPI_START_WAIT_EVENTS NVTX_EVENTS NVTX_PAYLOAD_ENUMS "
    "NVTX_PAYLOAD_ENUM_ENTRIES NVTX_PAYLOAD_SCHEMAS NVTX_PAYLOAD_SCHEMA_ENTRIES OSRT_API PROCESSES ProcessStreams "
    "SCHED_EVENTS StringIds TARGET_INFO_CUDA_CONTEXT_INFO TARGET_INFO_CUDA_DEVICE TARGET_INFO_CUDA_NULL_STREAM "
    "TARGET_INFO_CUDA_STREAM TARGET_INFO_GPU TARGET_INFO_NIC_INFO TARGET_INFO_SESSION_START_TIME "
    "TARGET_INFO_SYSTEM_ENV ThreadNames ";

class Import {
 public:
  Import(NsysTables& tables, Target& target, HostWaits& waits, const Progress& progress)
      : tables_(tables), target_(target), waits_(waits), progress_(progress) {}

  Result<Origin> read(const std::optional<TimeNs>& clock) {
    Origin origin;
    origin.tool = "Nsight Systems";
    if (const std::string version = tables_.about_export("EXPORT_PRODUCT_VERSION"); !version.empty())
      origin.tool += ' ' + version;
    if (const std::string schema = tables_.about_export("EXPORT_SCHEMA_VERSION"); !schema.empty())
      origin.tool += " (schema " + schema + ')';
    if (const Result<> set = set_clock(clock, origin); !set) return set.error();
    if (const Result<> found = find_devices(); !found) return found.error();
    count_rows();
    // Calls before copies, which they tell whether they were waited for.
    const std::array steps{&Import::kernels,  &Import::graphs,   &Import::calls,    &Import::copies,  &Import::memsets,
                           &Import::ranges,   &Import::mpi,      &Import::syncs,    &Import::events,  &Import::faults,
                           &Import::overhead, &Import::schedule, &Import::os_calls, &Import::describe};
    for (const auto step : steps) {
      if (const Result<> read = (this->*step)(); !read) return read.error();
    }
    for (const std::string& table : tables_.names()) {
      if (table.starts_with("ENUM_") || kNotLeftOut.find(' ' + table + ' ') != kNotLeftOut.npos) continue;
      if (const std::uint64_t rows = tables_.rows(table); rows != 0)
        origin.left_out += fmt::format("{}{} ({} rows)", origin.left_out.empty() ? "" : ", ", table, rows);
    }
    return origin;
  }

 private:
  struct Times {
    TimeNs begin, end;
  };

  Result<> set_clock(const std::optional<TimeNs>& clock, Origin& origin) {
    std::int64_t monotonic = 0, utc = 0;
    Result<> read = tables_.each("TARGET_INFO_SESSION_START_TIME", "utcEpochNs systemClockNs", [&](const NsysRow& row) {
      utc = std::max<std::int64_t>(row.integer(0), 0);
      monotonic = std::max<std::int64_t>(row.integer(1), 0);
    });
    if (read && monotonic == 0) {
      read = tables_.each("ANALYSIS_DETAILS", "startTime",
                          [&](const NsysRow& row) { monotonic = std::max<std::int64_t>(row.integer(0), 0); });
    }
    if (!read) return read;
    if (clock && utc > *clock) monotonic = utc - *clock;
    shift_ = std::min<TimeNs>(monotonic, std::numeric_limits<TimeNs>::max() / 2);
    if (utc > shift_) origin.utc = utc - shift_;
    return ok();
  }

  // A process numbers its devices by itself; a GPU's uuid tells which one a number means.
  Result<> find_devices() {
    std::unordered_map<std::int64_t, ForeignDevice> gpus;
    Result<> read =
        tables_.each("TARGET_INFO_GPU",
                     "id cuDevice name uuid totalMemory smCount computeMajor computeMinor maxWarpsPerSm threadsPerWarp "
                     "maxBlocksPerSm maxRegistersPerSm maxShmemPerSm clockRate",
                     [&](const NsysRow& row) {
                       ForeignDevice gpu;
                       gpu.name = row.text(2);
                       if (!row.text(3).empty()) gpu.uuid = "GPU-" + std::string(row.text(3));
                       gpu.memory_bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer(4), 0));
                       gpu.sm_count = row.number(5);
                       gpu.compute_major = static_cast<std::uint16_t>(row.number(6));
                       gpu.compute_minor = static_cast<std::uint16_t>(row.number(7));
                       gpu.max_threads_per_sm = row.number(8) * row.number(9);
                       gpu.max_blocks_per_sm = row.number(10);
                       gpu.registers_per_sm = row.number(11);
                       gpu.shared_bytes_per_sm = row.number(12);
                       gpu.clock_khz = static_cast<std::uint32_t>(std::max<std::int64_t>(row.integer(13), 0) / 1000);
                       by_ordinal_[row.has(1) ? row.number(1) : row.number(0)] = gpu;
                       gpus[row.integer(0)] = std::move(gpu);
                     });
    if (!read) return read;
    return tables_.each("TARGET_INFO_CUDA_DEVICE", "gpuId cudaId pid", [&](const NsysRow& row) {
      if (const auto gpu = gpus.find(row.integer(0)); gpu != gpus.end())
        of_process_[{row.number(2), row.number(1)}] = gpu->second;
    });
  }

  DeviceId device(std::uint32_t pid, std::uint32_t ordinal) {
    const std::uint64_t key = std::uint64_t{pid} << 32 | ordinal;
    if (const auto known = devices_.find(key); known != devices_.end()) return known->second;
    const auto own = of_process_.find({pid, ordinal});
    const auto shared = by_ordinal_.find(ordinal);
    const ForeignDevice* const gpu = own != of_process_.end()      ? &own->second
                                     : shared != by_ordinal_.end() ? &shared->second
                                                                   : nullptr;
    const DeviceId id = target_.device(ordinal, gpu == nullptr ? "" : gpu->uuid);
    if (gpu != nullptr) target_.describe_device(id, *gpu);
    return devices_[key] = id;
  }

  void count_rows() {
    for (const std::string& table : tables_.names()) {
      if (table.starts_with("CUPTI_") || table.starts_with("NVTX_EVENTS") || table.starts_with("MPI_") ||
          table == "OSRT_API" || table == "SCHED_EVENTS")
        rows_ += tables_.rows_at_most(table);
    }
  }
  void row_done() {
    if ((++done_ & 0xfff) == 0 && rows_ != 0)
      progress_(std::min(1.0, static_cast<double>(done_) / static_cast<double>(rows_)));
  }

  std::optional<Times> times(const NsysRow& row, int begin, int end, const char* table) {
    row_done();
    const auto from = shifted(row.integer(begin), shift_), to = shifted(row.integer(end), shift_);
    if (from && to && *to >= *from) {
      target_.saw(*from, *to);
      return Times{*from, *to};
    }
    target_.count_impossible(table);
    return std::nullopt;
  }

  Ring ring(std::uint32_t pid) {
    if (const auto known = rings_.find(pid); known != rings_.end()) return known->second;
    return rings_[pid] = target_.process(pid);
  }
  TextId text(Ring ring, std::int64_t id) { return target_.text(ring, string(id)); }
  const std::string& string(std::int64_t id) {
    constexpr std::size_t kMost = 200'000;  // in memory. Not calibrated
    if (strings_.size() > kMost) strings_.clear();
    const auto [known, is_new] = strings_.try_emplace(id);
    if (is_new) known->second = tables_.string(id);
    return known->second;
  }

  /// What the columns 0 to 6 say, which all tables of work on devices have in common.
  template <class Event>
  Event work(const NsysRow& row, const Times& at, std::uint32_t pid) {
    auto event = make_event<Event>();
    event.start_ns = at.begin;
    event.end_ns = at.end;
    event.device = device(pid, row.number(2));
    event.context = row.number(3);
    event.stream = row.number(4);
    event.correlation = row.number(5);
    return event;
  }

  Result<> kernels() {
    static constexpr char kColumns[] =
        "start end deviceId contextId streamId correlationId globalPid demangledName shortName registersPerThread "
        "gridX gridY gridZ blockX blockY blockZ staticSharedMemory dynamicSharedMemory localMemoryPerThread "
        "sharedMemoryExecuted graphNodeId graphId clusterX clusterY clusterZ";
    return tables_.each("CUPTI_ACTIVITY_KIND_KERNEL", kColumns, [&](const NsysRow& row) {
      const auto at = times(row, 0, 1, "kernel");
      if (!at) return;
      const std::uint32_t pid = pid_of(row.integer(6));
      const Ring owner = ring(pid);
      auto event = work<KernelEvent>(row, *at, pid);
      event.name = text(owner, row.integer(row.has(7) ? 7 : 8));
      event.registers_per_thread = row.number(9);
      for (int i = 0; i < 3; ++i) {
        event.grid[i] = row.number(10 + i);
        event.block[i] = row.number(13 + i);
        event.cluster[i] = row.number(22 + i);
      }
      event.static_shared_bytes = row.number(16);
      event.dynamic_shared_bytes = row.number(17);
      event.local_bytes_per_thread = row.number(18);
      event.shared_executed_bytes = row.number(19);
      if (row.integer(20) != 0) {
        event.graph_node = static_cast<std::uint64_t>(row.integer(20));
        // Where the graph's own number is not in the file, the node's upper half stands for it.
        event.graph =
            row.number(21) != 0 ? row.number(21) : std::max(1u, static_cast<std::uint32_t>(event.graph_node >> 32));
      }
      target_.add(owner, event);
    });
  }

  // A launch as a whole is one row of work without blocks, as in a recording.
  Result<> graphs() {
    static constexpr char kColumns[] = "start end deviceId contextId streamId correlationId globalPid graphId";
    return tables_.each("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", kColumns, [&](const NsysRow& row) {
      const auto at = times(row, 0, 1, "graph");
      if (!at) return;
      const std::uint32_t pid = pid_of(row.integer(6));
      const Ring owner = ring(pid);
      auto event = work<GraphEvent>(row, *at, pid);
      event.graph = std::max(1u, row.number(7));
      target_.add(owner, event);
      auto whole = work<KernelEvent>(row, *at, pid);
      whole.name = target_.text(owner, fmt::format("CUDA graph {}", event.graph));
      whole.graph = event.graph;
      target_.add(owner, whole);
    });
  }

  Result<> copies() {
    static constexpr char kColumns[] =
        "start end deviceId contextId streamId correlationId globalPid bytes copyKind srcKind dstKind srcDeviceId "
        "dstDeviceId migrationCause graphNodeId virtualAddress";
    return tables_.each("CUPTI_ACTIVITY_KIND_MEMCPY", kColumns, [&](const NsysRow& row) {
      const std::int64_t kind = row.integer(8);
      const auto at = times(row, 0, 1, kind >= kFirstMigration ? "uvm" : "copy");
      if (!at) return;
      const std::uint32_t pid = pid_of(row.integer(6));
      const Ring owner = ring(pid);
      if (kind >= kFirstMigration) {
        const DeviceId on = device(pid, row.number(2));
        auto event = make_event<UvmEvent>();
        event.kind = one_of(kMigrations, kind - kFirstMigration, UvmKind::device_to_device);
        event.device = event.kind == UvmKind::device_to_host ? kHostDevice : on;
        event.peer_device = event.kind == UvmKind::host_to_device ? kHostDevice : on;
        event.address = static_cast<std::uint64_t>(row.integer(15));
        event.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer(7), 0));
        event.start_ns = at->begin;
        event.end_ns = at->end;
        event.count = 1;
        event.cause = target_.text(owner, one_of(kMigrationCauses, row.integer(13), std::string_view()));
        target_.add(owner, event);
        return;
      }
      auto event = work<CopyEvent>(row, *at, pid);
      event.kind = one_of(kCopyKinds, kind, CopyKind::unknown);
      event.peer_device =
          event.kind == CopyKind::peer_to_peer && row.has(12) ? device(pid, row.number(12)) : event.device;
      event.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer(7), 0));
      event.asynchronous = waits_.copies_synchronously(owner, event.correlation) ? 0 : 1;
      event.source = memory_of(row, 9);
      event.destination = memory_of(row, 10);
      event.graph_node = static_cast<std::uint64_t>(row.integer(14));
      event.graph = event.graph_node == 0 ? 0 : std::max(1u, static_cast<std::uint32_t>(event.graph_node >> 32));
      waits_.copy(owner, event);
      target_.add(owner, event);
    });
  }

  Result<> memsets() {
    static constexpr char kColumns[] =
        "start end deviceId contextId streamId correlationId globalPid bytes memKind graphNodeId";
    return tables_.each("CUPTI_ACTIVITY_KIND_MEMSET", kColumns, [&](const NsysRow& row) {
      const auto at = times(row, 0, 1, "copy");
      if (!at) return;
      const std::uint32_t pid = pid_of(row.integer(6));
      auto event = work<CopyEvent>(row, *at, pid);
      event.kind = CopyKind::memset;
      event.peer_device = event.device;
      event.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer(7), 0));
      event.asynchronous = 1;
      event.destination = memory_of(row, 8);
      event.graph_node = static_cast<std::uint64_t>(row.integer(9));
      event.graph = event.graph_node == 0 ? 0 : std::max(1u, static_cast<std::uint32_t>(event.graph_node >> 32));
      target_.add(ring(pid), event);
    });
  }

  // A range without an end closes when the file's events do; it names no wait.
  Result<> ranges() {
    std::map<std::pair<std::uint32_t, std::int64_t>, std::string> domains;
    Result<> read = tables_.each("NVTX_EVENTS", "eventType globalTid domainId text textId", [&](const NsysRow& row) {
      if (row.integer(0) != kDomain) return;
      domains[{pid_of(row.integer(1)), row.integer(2)}] =
          row.has(3) ? std::string(row.text(3)) : string(row.integer(4));
    });
    if (!read) return read;
    static constexpr char kColumns[] = "eventType start end globalTid domainId text textId color category";
    return tables_.each("NVTX_EVENTS", kColumns, [&](const NsysRow& row) {
      const std::int64_t type = row.integer(0);
      if (type != kMark && type != kPushPop && type != kStartEnd) return row_done();
      const bool is_open = type != kMark && !row.has(2);
      const auto at = times(row, 1, row.has(2) ? 2 : 1, "nvtx");
      if (!at) return;
      const std::uint32_t pid = pid_of(row.integer(3));
      const Ring owner = ring(pid);
      const std::string name = row.has(5) ? std::string(row.text(5)) : string(row.integer(6));
      const auto domain = domains.find({pid, row.integer(4)});
      auto event = make_event<NvtxEvent>();
      event.kind = type == kMark ? NvtxKind::mark : NvtxKind::range;
      event.name = target_.text(owner, name);
      event.domain = domain == domains.end() ? 0 : target_.text(owner, domain->second);
      event.start_ns = at->begin;
      event.end_ns = is_open ? target_.seen()->second : at->end;
      event.thread = tid_of(row.integer(3));
      event.has_colour = row.has(7) ? 1 : 0;
      event.colour = static_cast<std::uint32_t>(row.integer(7));
      event.category = row.number(8);
      if (event.kind == NvtxKind::range && !is_open && event.domain == 0)
        waits_.scope(owner, event.thread, ScopeKind::range, name, at->begin, at->end);
      target_.add(owner, event);
    });
  }

  // Calls of MPI are ranges of a domain of their own.
  Result<> mpi() {
    for (const char* const table :
         {"MPI_P2P_EVENTS", "MPI_COLLECTIVES_EVENTS", "MPI_START_WAIT_EVENTS", "MPI_OTHER_EVENTS"}) {
      if (const Result<> read = library_calls(table, "textId", "MPI"); !read) return read;
    }
    return ok();
  }

  Result<> library_calls(const char* table, const char* name, std::string_view domain) {
    return tables_.each(table, std::string("start end globalTid ") + name, [&](const NsysRow& row) {
      const auto at = times(row, 0, 1, "nvtx");
      if (!at) return;
      const Ring owner = ring(pid_of(row.integer(2)));
      auto event = make_event<NvtxEvent>();
      event.name = text(owner, row.integer(3));
      event.domain = target_.text(owner, domain);
      event.start_ns = at->begin;
      event.end_ns = at->end;
      event.thread = tid_of(row.integer(2));
      target_.add(owner, event);
    });
  }

  Result<> calls() {
    static constexpr char kColumns[] = "start end globalTid correlationId nameId returnValue eventClass";
    return tables_.each("CUPTI_ACTIVITY_KIND_RUNTIME", kColumns, [&](const NsysRow& row) {
      const auto at = times(row, 0, 1, "call");
      if (!at) return;
      const Ring owner = ring(pid_of(row.integer(2)));
      const std::string_view name = plain_call_name(string(row.integer(4)));
      auto event = make_event<CallEvent>();
      event.name = target_.text(owner, name);
      event.api = name.starts_with("cuda") ? CallApi::runtime : CallApi::driver;
      event.thread = tid_of(row.integer(2));
      event.start_ns = at->begin;
      event.end_ns = at->end;
      event.correlation = row.number(3);
      event.result = static_cast<std::int32_t>(row.integer(5));
      waits_.call(owner, event, name);
      target_.add(owner, event);
    });
  }

  Result<> syncs() {
    static constexpr char kColumns[] =
        "start end contextId streamId correlationId globalPid syncType eventId eventSyncId deprecatedSyncType";
    return tables_.each("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", kColumns, [&](const NsysRow& row) {
      const auto at = times(row, 0, 1, "sync");
      if (!at) return;
      constexpr std::int64_t kNone = 0xffff'ffff;
      auto event = make_event<SyncEvent>();
      event.kind = one_of(kSyncs, row.integer(row.has(6) ? 6 : 9), SyncKind::unknown);
      event.start_ns = at->begin;
      event.end_ns = at->end;
      event.context = row.number(2);
      event.stream = row.has(3) && row.integer(3) != kNone ? row.number(3) : SyncEvent::kNoStream;
      event.correlation = row.number(4);
      event.event = row.integer(7) == kNone ? 0 : row.number(7);
      event.event_sync = static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer(8), 0));
      target_.add(ring(pid_of(row.integer(5))), event);
    });
  }

  Result<> events() {
    static constexpr char kColumns[] =
        "timestamp deviceId contextId streamId correlationId globalPid eventId eventSyncId";
    return tables_.each("CUPTI_ACTIVITY_KIND_CUDA_EVENT", kColumns, [&](const NsysRow& row) {
      row_done();
      const std::uint32_t pid = pid_of(row.integer(5));
      auto event = make_event<CudaEventEvent>();
      event.device = device(pid, row.number(1));
      event.at_ns = row.integer(0) == 0 ? 0 : shifted(row.integer(0), shift_).value_or(0);
      event.context = row.number(2);
      event.stream = row.number(3);
      event.correlation = row.number(4);
      event.event = row.number(6);
      event.event_sync = static_cast<std::uint64_t>(std::max<std::int64_t>(row.integer(7), 0));
      target_.add(ring(pid), event);
    });
  }

  Result<> faults() {
    Result<> read = tables_.each("CUDA_UM_CPU_PAGE_FAULT_EVENTS", "start globalPid address", [&](const NsysRow& row) {
      const auto at = times(row, 0, 0, "uvm");
      if (!at) return;
      auto event = make_event<UvmEvent>();
      event.kind = UvmKind::cpu_fault;
      event.device = event.peer_device = kHostDevice;
      event.address = static_cast<std::uint64_t>(row.integer(2));
      event.start_ns = event.end_ns = at->begin;
      event.count = 1;
      target_.add(ring(pid_of(row.integer(1))), event);
    });
    if (!read) return read;
    static constexpr char kColumns[] = "start end globalPid deviceId address numberOfPageFaults";
    return tables_.each("CUDA_UM_GPU_PAGE_FAULT_EVENTS", kColumns, [&](const NsysRow& row) {
      const auto at = times(row, 0, 1, "uvm");
      if (!at) return;
      const std::uint32_t pid = pid_of(row.integer(2));
      auto event = make_event<UvmEvent>();
      event.kind = UvmKind::gpu_fault;
      event.device = event.peer_device = device(pid, row.number(3));
      event.address = static_cast<std::uint64_t>(row.integer(4));
      event.start_ns = at->begin;
      event.end_ns = at->end;
      event.count = std::max(1u, row.number(5));
      target_.add(ring(pid), event);
    });
  }

  Result<> overhead() {
    static constexpr char kColumns[] = "start end globalTid correlationId nameId";
    return tables_.each("CUPTI_ACTIVITY_KIND_OVERHEAD", kColumns, [&](const NsysRow& row) {
      const auto at = times(row, 0, 1, "overhead");
      if (!at) return;
      const Ring owner = ring(pid_of(row.integer(2)));
      auto event = make_event<OverheadEvent>();
      event.what = text(owner, row.integer(4));
      event.thread = tid_of(row.integer(2));
      event.start_ns = at->begin;
      event.end_ns = at->end;
      event.correlation = row.number(3);
      target_.add(owner, event);
    });
  }

  // The file does not say which switches were voluntary: all count so.
  Result<> schedule() {
    CpuTimes& times = waits_.cpu_times();
    Result<> read = tables_.each("SCHED_EVENTS", "start isSchedIn globalTid", [&](const NsysRow& row) {
      row_done();
      const auto at = shifted(row.integer(0), shift_);
      if (!at) return target_.count_impossible("thread_sample");
      const Ring owner = ring(pid_of(row.integer(2)));
      const std::uint32_t thread = tid_of(row.integer(2));
      target_.saw(*at, *at);
      row.integer(1) != 0 ? times.on_cpu(owner, thread, *at) : times.off_cpu(owner, thread, *at);
    });
    std::map<std::pair<Ring, std::uint32_t>, std::string> names;
    if (read) {
      read = tables_.each("ThreadNames", "nameId globalTid", [&](const NsysRow& row) {
        if (const auto known = rings_.find(pid_of(row.integer(1))); known != rings_.end())
          names[{known->second, tid_of(row.integer(1))}] = string(row.integer(0));
      });
    }
    if (!read) return read;
    times.settle();
    std::map<Ring, std::uint32_t> pids;
    for (const auto& [pid, owner] : rings_) pids[owner] = pid;
    times.each_slice([&](const CpuTimes::Slice& slice) {
      if (!pids.contains(slice.ring)) return;  // of another file
      auto event = make_event<ThreadSampleEvent>();
      event.pid = pids[slice.ring];
      event.thread = slice.thread;
      event.name = target_.text(slice.ring, names[{slice.ring, slice.thread}]);
      event.begin_ns = slice.begin;
      event.end_ns = slice.end;
      event.cpu_ns = slice.cpu;
      event.run_delay_ns = -1;
      event.voluntary_switches = slice.switches;
      target_.add(slice.ring, event);
    });
    return ok();
  }

  // Calls of the operating system's libraries that nsys takes for waits: ranges of a domain of their own.
  Result<> os_calls() { return library_calls("OSRT_API", "nameId", "OS runtime"); }

  // PROCESSES names all processes of the machine; those without events are none of the program's.
  Result<> describe() {
    return tables_.each("PROCESSES", "globalPid pid name", [&](const NsysRow& row) {
      const auto known = rings_.find(row.has(1) ? row.number(1) : pid_of(row.integer(0)));
      if (known == rings_.end()) return;
      std::string_view name = row.text(2);
      name = name.substr(0, name.find(' '));  // no arguments
      if (const std::size_t slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
      target_.describe(known->second, {known->first, std::string(name), std::nullopt});
    });
  }

  NsysTables& tables_;
  Target& target_;
  HostWaits& waits_;
  const Progress& progress_;
  TimeNs shift_ = 0;
  std::uint64_t rows_ = 0, done_ = 0;
  std::map<std::uint32_t, ForeignDevice> by_ordinal_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, ForeignDevice> of_process_;  // by pid and ordinal
  std::unordered_map<std::uint64_t, DeviceId> devices_;                          // by pid and ordinal
  std::unordered_map<std::uint32_t, Ring> rings_;                                // by pid
  std::unordered_map<std::int64_t, std::string> strings_;
};

}  // namespace

Result<Origin> read_nsys(const std::string& path, const std::optional<TimeNs>& clock, Target& target, HostWaits& waits,
                         const Progress& progress) {
  Result<NsysTables> tables = NsysTables::open(path);
  if (!tables) return tables.error();
  return Import(*tables, target, waits, progress).read(clock);
}

}  // namespace wicprof::imports
