#include "import/kineto/kineto.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "import/kineto/json_reader.h"
#include "import/trace/times.h"
#include "protocol/events/call.h"
#include "protocol/events/copy.h"
#include "protocol/events/cuda_event.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/overhead.h"
#include "protocol/events/sync.h"
#include "protocol/python_frame.h"

namespace wicprof::imports {

namespace {

/// Kineto's times begin at a multiple of this: a quarter of a year, so that the files of all ranks have one clock.
constexpr TimeNs kQuarter = 7'889'238 * kSecond;
/// Older files count from 1970. No quarter of a year has so many nanoseconds.
constexpr TimeNs kSince1970 = 100'000'000 * kSecond;

enum class Category { other, kernel, copy, memset, call, sync, annotation, operation, function, overhead, ignored };

/// Also the names that PyTorch 1.8 had.
Category category_of(std::string_view name) {
  static const std::unordered_map<std::string_view, Category> categories{
      {"kernel", Category::kernel},
      {"Kernel", Category::kernel},
      {"gpu_memcpy", Category::copy},
      {"Memcpy", Category::copy},
      {"gpu_memset", Category::memset},
      {"Memset", Category::memset},
      {"cuda_runtime", Category::call},
      {"cuda_driver", Category::call},
      {"Runtime", Category::call},
      {"cuda_sync", Category::sync},
      {"user_annotation", Category::annotation},
      {"cpu_op", Category::operation},
      {"Operator", Category::operation},
      {"python_function", Category::function},
      {"overhead", Category::overhead},
      {"gpu_user_annotation", Category::ignored},  // the shadow of an annotation on a stream
      {"Trace", Category::ignored},
      {"", Category::ignored},
  };
  const auto found = categories.find(name);
  return found == categories.end() ? Category::other : found->second;
}

std::uint32_t number(const std::optional<std::int64_t>& value) {
  return value && *value >= 0 && *value <= std::numeric_limits<std::uint32_t>::max()
             ? static_cast<std::uint32_t>(*value)
             : 0;
}
std::uint64_t size_of(const std::optional<std::int64_t>& value) {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value.value_or(0), 0));
}

/// "Memcpy DtoH (Device -> Pageable)"
CopyKind copy_kind(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, CopyKind>, 9> kKinds{{{"HtoD", CopyKind::host_to_device},
                                                                         {"HostToDevice", CopyKind::host_to_device},
                                                                         {"DtoH", CopyKind::device_to_host},
                                                                         {"DeviceToHost", CopyKind::device_to_host},
                                                                         {"DtoD", CopyKind::device_to_device},
                                                                         {"DeviceToDevice", CopyKind::device_to_device},
                                                                         {"PtoP", CopyKind::peer_to_peer},
                                                                         {"HtoH", CopyKind::host_to_host},
                                                                         {"HostToHost", CopyKind::host_to_host}}};
  for (const auto& [text, kind] : kKinds) {
    if (name.find(text) != std::string_view::npos) return kind;
  }
  return CopyKind::unknown;
}

CopyMemory memory_of(std::string_view name) {
  return name == "Pageable"  ? CopyMemory::pageable
         : name == "Pinned"  ? CopyMemory::pinned
         : name == "Device"  ? CopyMemory::device
         : name == "Array"   ? CopyMemory::array
         : name == "Managed" ? CopyMemory::managed
                             : CopyMemory::unknown;
}

/// Source and destination.
std::pair<CopyMemory, CopyMemory> memories_of(std::string_view name) {
  const std::size_t begin = name.find('('), arrow = name.find(" -> "), end = name.rfind(')');
  if (begin == std::string_view::npos || arrow == std::string_view::npos || end == std::string_view::npos ||
      !(begin < arrow && arrow + 4 <= end))
    return {CopyMemory::unknown, CopyMemory::unknown};
  return {memory_of(name.substr(begin + 1, arrow - begin - 1)), memory_of(name.substr(arrow + 4, end - arrow - 4))};
}

SyncKind sync_kind(std::string_view name) {
  return name == "Event Sync"                                   ? SyncKind::event
         : name == "Stream Sync"                                ? SyncKind::stream
         : name == "Context Sync"                               ? SyncKind::context
         : name == "Stream Wait Event" || name == "Stream Wait" ? SyncKind::stream_waits_for_event
                                                                : SyncKind::unknown;
}

class Import {
 public:
  Import(const std::optional<TimeNs>& clock, Target& target, HostWaits& waits)
      : clock_(clock), target_(target), waits_(waits) {}

  void take(const JsonEvent& event) {
    if (event.phase == "M") return take_name(event);
    const Category category = category_of(event.category);
    if (category == Category::ignored || event.phase == "s" || event.phase == "t" || event.phase == "f") return;
    if (category == Category::other || event.phase != "X") {
      return leave_out(event.category.empty() ? "events of phase " + event.phase : event.category);
    }
    const auto at = times_of(event);
    if (!at) return target_.count_impossible("traceEvents");
    target_.saw(at->begin, at->end);
    switch (category) {
      case Category::kernel:
        return take_kernel(event, *at);
      case Category::copy:
      case Category::memset:
        return take_copy(event, *at, category == Category::memset);
      case Category::sync:
        return take_sync(event, *at);
      case Category::call:
        return take_call(event, *at);
      case Category::overhead:
        return take_overhead(event, *at);
      default:
        return take_range(event, *at, category);
    }
  }

  void take(const JsonDevice& device) {
    ForeignDevice& to = described_[number(device.id)];
    to.name = device.name;
    to.memory_bytes = size_of(device.memory);
    to.sm_count = number(device.sms);
    to.compute_major = static_cast<std::uint16_t>(number(device.major));
    to.compute_minor = static_cast<std::uint16_t>(number(device.minor));
    to.max_threads_per_sm = number(device.threads_per_sm);
    to.registers_per_sm = number(device.registers_per_sm);
    to.shared_bytes_per_sm = number(device.shared_per_sm);
  }

  Result<Origin> finish(const std::string& name, const JsonReader& reader) {
    Origin origin;
    origin.tool = "torch.profiler";
    origin.utc = begin_;
    if (!absolute_ && reader.base_time() && *reader.base_time() > 0) {
      origin.utc = *reader.base_time();
      if (clock_ && *clock_ != *origin.utc) {
        return bad_input(
            fmt::format("the times of {} begin at another quarter of a year than those of the files before "
                        "it; import the files of one run",
                        name));
      }
    }
    if (!main_ && !held_.empty()) begin_process(0);
    const auto rank = reader.rank() && *reader.rank() >= 0 && *reader.rank() <= std::numeric_limits<std::int32_t>::max()
                          ? std::optional(static_cast<std::int32_t>(*reader.rank()))
                          : std::nullopt;
    for (const auto& [pid, ring] : rings_)
      target_.describe(ring, {pid, names_[pid], ring == main_ ? rank : std::nullopt});
    for (const auto& [ordinal, id] : devices_) {
      if (const auto known = described_.find(ordinal); known != described_.end())
        target_.describe_device(id, known->second);
    }
    for (const auto& [what, count] : left_out_)
      origin.left_out += fmt::format("{}{} ({} events)", origin.left_out.empty() ? "" : ", ", what, count);
    return origin;
  }

 private:
  struct Times {
    TimeNs begin, end;
  };
  /// What runs on a device, until the process that launched it is known.
  using Held = std::variant<KernelEvent, CopyEvent, SyncEvent, CudaEventEvent, OverheadEvent>;

  std::optional<Times> times_of(const JsonEvent& event) {
    if (!event.ts || event.dur.value_or(0) < 0) return std::nullopt;
    if (*event.ts >= kSince1970 && !absolute_) {
      absolute_ = true;
      begin_ = clock_ ? *clock_ : *event.ts / kQuarter * kQuarter;
    }
    const auto begin = shifted(*event.ts, absolute_ ? -*begin_ : 0);
    const auto end = begin ? shifted(*begin, event.dur.value_or(0)) : std::nullopt;
    if (!end) return std::nullopt;
    return Times{*begin, *end};
  }

  void leave_out(const std::string& what) {
    constexpr std::size_t kMostKinds = 50;
    ++left_out_[left_out_.size() < kMostKinds || left_out_.contains(what) ? what : "other kinds"];
  }

  void take_name(const JsonEvent& event) {
    if (event.name == "process_name" && event.pid && *event.pid >= 0)
      names_[number(event.pid)] = event.given_name.substr(0, event.given_name.find(' '));
  }

  /// The process of an event on the host.
  Ring ring_of(const JsonEvent& event) {
    const std::uint32_t pid = number(event.pid);
    if (const auto known = rings_.find(pid); known != rings_.end()) return known->second;
    return begin_process(pid);
  }
  Ring begin_process(std::uint32_t pid) {
    const Ring ring = rings_[pid] = target_.process(pid);
    if (main_) return ring;
    main_ = ring;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      std::visit([&](auto& event) { write(event, held_names_[i]); }, held_[i]);
    }
    held_.clear();
    held_names_.clear();
    return ring;
  }

  template <class Event>
  void write(Event& event, const std::string& name) {
    if constexpr (requires { event.name; }) event.name = target_.text(*main_, name);
    if constexpr (requires { event.what; }) event.what = target_.text(*main_, name);
    if constexpr (requires { event.asynchronous; }) {
      event.asynchronous = waits_.copies_synchronously(*main_, event.correlation) ? 0 : 1;
      waits_.copy(*main_, event);
    }
    target_.add(*main_, event);
  }
  template <class Event>
  void write_or_hold(Event& event, const std::string& name) {
    if (main_) return write(event, name);
    held_.emplace_back(event);
    held_names_.push_back(name);
  }

  DeviceId device_of(const JsonEvent& event) {
    const std::uint32_t ordinal = number(event.device ? event.device : event.pid);
    if (const auto known = devices_.find(ordinal); known != devices_.end()) return known->second;
    return devices_[ordinal] = target_.device(ordinal);
  }

  void take_kernel(const JsonEvent& from, const Times& at) {
    auto event = make_event<KernelEvent>();
    event.device = device_of(from);
    event.start_ns = at.begin;
    event.end_ns = at.end;
    event.context = number(from.context);
    event.stream = number(from.stream ? from.stream : from.tid);
    event.correlation = number(from.correlation);
    for (int i = 0; i < 3; ++i) {
      event.grid[i] = number(from.grid[i]);
      event.block[i] = number(from.block[i]);
    }
    event.registers_per_thread = number(from.registers);
    event.dynamic_shared_bytes = number(from.shared_memory);  // of both kinds: the file does not part them
    event.graph = number(from.graph);
    event.graph_node = event.graph == 0 ? 0 : size_of(from.graph_node);
    write_or_hold(event, from.name);
  }

  void take_copy(const JsonEvent& from, const Times& at, bool memset) {
    auto event = make_event<CopyEvent>();
    event.device = event.peer_device = device_of(from);
    event.start_ns = at.begin;
    event.end_ns = at.end;
    event.bytes = size_of(from.bytes);
    event.context = number(from.context);
    event.stream = number(from.stream ? from.stream : from.tid);
    event.correlation = number(from.correlation);
    event.kind = memset ? CopyKind::memset : copy_kind(from.name);
    std::tie(event.source, event.destination) = memories_of(from.name);
    event.graph = number(from.graph);
    event.graph_node = event.graph == 0 ? 0 : size_of(from.graph_node);
    write_or_hold(event, {});
  }

  void take_sync(const JsonEvent& from, const Times& at) {
    auto event = make_event<SyncEvent>();
    event.kind = sync_kind(from.sync_kind.empty() ? from.name : from.sync_kind);
    event.start_ns = at.begin;
    event.end_ns = at.end;
    event.context = number(from.context);
    event.stream = from.stream && *from.stream >= 0 ? number(from.stream) : SyncEvent::kNoStream;
    event.event = number(from.awaited_event);
    event.event_sync = size_of(from.recorded_by);
    event.correlation = number(from.correlation);
    // The call that recorded the event tells one recording from another.
    if (event.event_sync != 0 && recorded_.insert(event.event_sync).second) {
      auto recorded = make_event<CudaEventEvent>();
      recorded.device = device_of(from);
      recorded.event = event.event;
      recorded.event_sync = event.event_sync;
      recorded.context = event.context;
      recorded.stream = number(from.awaited_stream);
      recorded.correlation = number(from.recorded_by);
      write_or_hold(recorded, {});
    }
    write_or_hold(event, {});
  }

  void take_overhead(const JsonEvent& from, const Times& at) {
    auto event = make_event<OverheadEvent>();
    event.thread = number(from.tid);
    event.start_ns = at.begin;
    event.end_ns = at.end;
    write_or_hold(event, from.name);
  }

  void take_call(const JsonEvent& from, const Times& at) {
    const Ring ring = ring_of(from);
    const std::string_view name = plain_call_name(from.name);
    auto event = make_event<CallEvent>();
    event.name = target_.text(ring, name);
    event.api = from.category == "cuda_driver" ? CallApi::driver : CallApi::runtime;
    event.thread = number(from.tid);
    event.start_ns = at.begin;
    event.end_ns = at.end;
    event.correlation = number(from.correlation);
    waits_.call(ring, event, name);
    target_.add(ring, event);
  }

  void take_range(const JsonEvent& from, const Times& at, Category category) {
    const Ring ring = ring_of(from);
    auto event = make_event<NvtxEvent>();
    event.name = target_.text(ring, from.name);
    event.start_ns = at.begin;
    event.end_ns = at.end;
    event.thread = number(from.tid);
    ScopeKind kind = ScopeKind::range;
    if (category == Category::operation) {
      event.domain = target_.text(ring, kOperatorsDomain);
      kind = ScopeKind::operation;
    } else if (category == Category::function) {
      event.domain = target_.text(ring, kPythonDomain);
      kind = ScopeKind::function;
    }
    waits_.scope(ring, event.thread, kind, from.name, at.begin, at.end);
    target_.add(ring, event);
  }

  std::optional<TimeNs> clock_;
  Target& target_;
  HostWaits& waits_;
  bool absolute_ = false;                ///< times since 1970
  std::optional<TimeNs> begin_;          ///< of the trace's clock, in UTC, where they are
  std::map<std::uint32_t, Ring> rings_;  // by pid
  std::optional<Ring> main_;             ///< of the process that launches what runs on the devices
  std::vector<Held> held_;
  std::vector<std::string> held_names_;
  std::map<std::uint32_t, std::string> names_;
  std::map<std::uint32_t, DeviceId> devices_;
  std::map<std::uint32_t, ForeignDevice> described_;
  std::unordered_set<std::uint64_t> recorded_;
  std::map<std::string, std::uint64_t> left_out_;
};

}  // namespace

Result<Origin> read_kineto(Bytes& bytes, const std::string& name, const std::optional<TimeNs>& clock, Target& target,
                           HostWaits& waits, const Progress& progress) {
  Import import(clock, target, waits);
  JsonReader reader(bytes);
  std::uint64_t events = 0;
  reader.on_event = [&](const JsonEvent& event) {
    import.take(event);
    if ((++events & 0x3ff) == 0) progress(bytes.part());
  };
  reader.on_device = [&](const JsonDevice& device) { import.take(device); };
  const bool whole = reader.read();
  if (!bytes.error().empty())
    return bad_input(fmt::format("{}: {}, at byte {}; copy it again", name, bytes.error(), bytes.position()));
  if (!whole)
    return bad_input(fmt::format("{} is damaged: {}; copy it again, or record again", name, reader.problem()));
  if (!reader.has_events()) {
    return bad_input(name +
                     " is JSON, but no trace of torch.profiler (it has no traceEvents); wic-prof import reads what "
                     "export_chrome_trace() and tensorboard_trace_handler() write");
  }
  return import.finish(name, reader);
}

Result<Origin> read_kineto(const std::string& path, const std::optional<TimeNs>& clock, Target& target,
                           HostWaits& waits, const Progress& progress) {
  Result<Bytes> bytes = Bytes::open(path);
  if (!bytes) return bytes.error();
  return read_kineto(*bytes, path, clock, target, waits, progress);
}

}  // namespace wicprof::imports
