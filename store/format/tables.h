// The tables that events become, one explicit list: each column stands beside the field of the event that it holds.
// What the columns mean: docs/schema.md. A new event kind: a new struct here, and its name in EventTables at the end.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>

#include "protocol/events/call.h"
#include "protocol/events/choice.h"
#include "protocol/events/clock.h"
#include "protocol/events/copy.h"
#include "protocol/events/cuda_event.h"
#include "protocol/events/device.h"
#include "protocol/events/graph.h"
#include "protocol/events/host_wait.h"
#include "protocol/events/intervention.h"
#include "protocol/events/kernel.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/overhead.h"
#include "protocol/events/pc_interval.h"
#include "protocol/events/pc_sample.h"
#include "protocol/events/process.h"
#include "protocol/events/signal.h"
#include "protocol/events/site.h"
#include "protocol/events/strategy.h"
#include "protocol/events/sync.h"
#include "protocol/events/thread_sample.h"
#include "protocol/events/uvm.h"
#include "protocol/events/wait.h"
#include "protocol/time.h"
#include "store/sqlite/value.h"

namespace wicprof::store {

/// What turning an event into a row needs to know besides the event.
class Lookup {
 public:
  virtual Value text(TextId id) const = 0;                     ///< the id in `string`; NULL for no text, or a lost one
  virtual Value host_time(std::uint64_t device_ns) const = 0;  ///< on the clock of the event's device
  virtual Value process() const = 0;                           ///< whose ring the event came through
  /// The trace's number for what the event's process calls so: processes number devices and sites for themselves.
  virtual Value device(DeviceId id) const = 0;
  virtual Value site(SiteId id) const = 0;  ///< NULL for 0

 protected:
  ~Lookup() = default;
};

inline constexpr const char* kInteger = "INTEGER";  ///< may be NULL
inline constexpr const char* kKnown = "INTEGER NOT NULL";
inline constexpr const char* kProcessColumn =
    "process_id";  ///< the first of every table whose rows have no id of their own
inline constexpr const char* kId = "INTEGER PRIMARY KEY";  ///< where the event brings its own id; else the row's number

template <class Event>
struct Column {
  const char* name;
  const char* type;
  Value (*of)(const Event&, const Lookup&);
};

/// The columns that say when a row's thing began and ended (one column for what has no length): a table that has them
/// can be cut to windows of time (store/write/retention.h). Tables without are declarations, and changes that hold from
/// then on: they stay.
struct RowTime {
  const char* begin;
  const char* end;
};

struct DeviceTable {
  using Event = DeviceEvent;
  static constexpr const char* kName = "device";
  static constexpr std::array kColumns{
      Column<Event>{"id", kId, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"kind", kKnown, [](const Event& e, const Lookup&) { return number(e.kind); }},
      Column<Event>{"name_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.name); }},
      Column<Event>{"sm_count", kKnown, [](const Event& e, const Lookup&) { return number(e.sm_count); }},
      Column<Event>{"memory_bytes", kKnown, [](const Event& e, const Lookup&) { return number(e.memory_bytes); }},
      Column<Event>{"compute_major", kKnown, [](const Event& e, const Lookup&) { return number(e.compute_major); }},
      Column<Event>{"compute_minor", kKnown, [](const Event& e, const Lookup&) { return number(e.compute_minor); }},
      Column<Event>{"host_native_atomics", kKnown,
                    [](const Event& e, const Lookup&) { return number(e.host_native_atomics); }},
      Column<Event>{"uuid_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.uuid); }},
      Column<Event>{"max_threads_per_sm", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.max_threads_per_sm, 0u); }},
      Column<Event>{"max_blocks_per_sm", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.max_blocks_per_sm, 0u); }},
      Column<Event>{"registers_per_sm", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.registers_per_sm, 0u); }},
      Column<Event>{"shared_bytes_per_sm", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.shared_bytes_per_sm, 0u); }},
      Column<Event>{
          "reserved_shared_bytes_per_block", kInteger,
          [](const Event& e, const Lookup&) { return number_or_null(e.reserved_shared_bytes_per_block, 0u); }},
      Column<Event>{"clock_khz", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.clock_khz, 0u); }},
      // Filled in as the clock's readings come.
      Column<Event>{"clock_error_ns", kInteger, [](const Event&, const Lookup&) { return kNull; }},
  };
};

struct SiteTable {
  using Event = SiteEvent;
  static constexpr const char* kName = "site";
  static constexpr std::array kColumns{
      Column<Event>{"id", kId, [](const Event& e, const Lookup& l) { return l.site(e.site); }},
      Column<Event>{"name_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.name); }},
      Column<Event>{"word_memory", kKnown, [](const Event& e, const Lookup&) { return number(e.word_memory); }},
      Column<Event>{"pollers", kKnown, [](const Event& e, const Lookup&) { return number(e.pollers); }},
      Column<Event>{"words", kKnown, [](const Event& e, const Lookup&) { return number(e.words); }},
      Column<Event>{"purpose", kKnown, [](const Event& e, const Lookup&) { return number(e.purpose); }},
      Column<Event>{"releasing", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.releasing, SiteEnd{0}); }},
      Column<Event>{"waiting", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.waiting, SiteEnd{0}); }},
  };
};

struct StrategyTable {
  using Event = StrategyEvent;
  static constexpr const char* kName = "strategy";
  static constexpr std::array kColumns{
      Column<Event>{"id", kId, [](const Event& e, const Lookup&) { return number(e.strategy); }},
      Column<Event>{"name_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.name); }},
  };
};

struct WaitTable {
  using Event = WaitEvent;
  static constexpr const char* kName = "wait";
  static constexpr RowTime kTime{"arrived_ns", "resumed_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"site_id", kInteger, [](const Event& e, const Lookup& l) { return l.site(e.site); }},
      Column<Event>{"device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"block", kKnown, [](const Event& e, const Lookup&) { return number(e.block); }},
      Column<Event>{"warp", kKnown, [](const Event& e, const Lookup&) { return number(e.warp); }},
      Column<Event>{"sm", kKnown, [](const Event& e, const Lookup&) { return number(e.sm); }},
      Column<Event>{"iteration", kKnown, [](const Event& e, const Lookup&) { return number(e.iteration); }},
      Column<Event>{"arrived_ns", kKnown, [](const Event& e, const Lookup& l) { return l.host_time(e.arrived_ns); }},
      // Filled in from the signals when the trace is completed.
      Column<Event>{"ready_ns", kInteger, [](const Event&, const Lookup&) { return kNull; }},
      Column<Event>{"resumed_ns", kKnown, [](const Event& e, const Lookup& l) { return l.host_time(e.resumed_ns); }},
      Column<Event>{"polls", kKnown, [](const Event& e, const Lookup&) { return number(e.polls); }},
      Column<Event>{"strategy_id", kKnown, [](const Event& e, const Lookup&) { return number(e.strategy); }},
      Column<Event>{"status", kKnown, [](const Event& e, const Lookup&) { return number(e.status); }},
      Column<Event>{"value", kKnown, [](const Event& e, const Lookup&) { return number(e.value); }},
      Column<Event>{"switched_ns", kInteger,
                    [](const Event& e, const Lookup& l) {
                      return e.switched_after_ns == 0 ? kNull : l.host_time(e.arrived_ns + e.switched_after_ns);
                    }},
      Column<Event>{"word_tag", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.word_tag, WordTag{0}); }},
  };
};

struct SignalTable {
  using Event = SignalEvent;
  static constexpr const char* kName = "signal";
  static constexpr RowTime kTime{"at_ns", "at_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"site_id", kInteger, [](const Event& e, const Lookup& l) { return l.site(e.site); }},
      Column<Event>{"device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"block", kKnown, [](const Event& e, const Lookup&) { return number(e.block); }},
      Column<Event>{"warp", kKnown, [](const Event& e, const Lookup&) { return number(e.warp); }},
      Column<Event>{"sm", kKnown, [](const Event& e, const Lookup&) { return number(e.sm); }},
      Column<Event>{"iteration", kKnown, [](const Event& e, const Lookup&) { return number(e.iteration); }},
      Column<Event>{"value", kKnown, [](const Event& e, const Lookup&) { return number(e.value); }},
      Column<Event>{"at_ns", kKnown, [](const Event& e, const Lookup& l) { return l.host_time(e.at_ns); }},
      Column<Event>{"word_tag", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.word_tag, WordTag{0}); }},
      Column<Event>{"bytes", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.bytes, 0u); }},
      Column<Event>{"pieces", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.pieces, 0u); }},
      Column<Event>{"regular", kInteger,
                    [](const Event& e, const Lookup&) { return e.pieces == 0 ? Value{} : number(e.regular); }},
      Column<Event>{"offset_bytes", kInteger,
                    [](const Event& e, const Lookup&) { return e.pieces == 0 ? Value{} : number(e.offset); }},
      Column<Event>{"span_bytes", kInteger,
                    [](const Event& e, const Lookup&) { return e.pieces == 0 ? Value{} : number(e.span); }},
  };
};

struct KernelTable {
  using Event = KernelEvent;
  static constexpr const char* kName = "kernel";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"name_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.name); }},
      Column<Event>{"start_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.start_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"context", kKnown, [](const Event& e, const Lookup&) { return number(e.context); }},
      Column<Event>{"stream", kKnown, [](const Event& e, const Lookup&) { return number(e.stream); }},
      Column<Event>{"correlation", kKnown, [](const Event& e, const Lookup&) { return number(e.correlation); }},
      Column<Event>{"grid_x", kKnown, [](const Event& e, const Lookup&) { return number(e.grid[0]); }},
      Column<Event>{"grid_y", kKnown, [](const Event& e, const Lookup&) { return number(e.grid[1]); }},
      Column<Event>{"grid_z", kKnown, [](const Event& e, const Lookup&) { return number(e.grid[2]); }},
      Column<Event>{"block_x", kKnown, [](const Event& e, const Lookup&) { return number(e.block[0]); }},
      Column<Event>{"block_y", kKnown, [](const Event& e, const Lookup&) { return number(e.block[1]); }},
      Column<Event>{"block_z", kKnown, [](const Event& e, const Lookup&) { return number(e.block[2]); }},
      Column<Event>{"registers_per_thread", kKnown,
                    [](const Event& e, const Lookup&) { return number(e.registers_per_thread); }},
      Column<Event>{"static_shared_bytes", kKnown,
                    [](const Event& e, const Lookup&) { return number(e.static_shared_bytes); }},
      Column<Event>{"dynamic_shared_bytes", kKnown,
                    [](const Event& e, const Lookup&) { return number(e.dynamic_shared_bytes); }},
      Column<Event>{"shared_executed_bytes", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.shared_executed_bytes, 0u); }},
      Column<Event>{"local_bytes_per_thread", kKnown,
                    [](const Event& e, const Lookup&) { return number(e.local_bytes_per_thread); }},
      Column<Event>{"cluster_x", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.cluster[0], 0u); }},
      Column<Event>{"cluster_y", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.cluster[1], 0u); }},
      Column<Event>{"cluster_z", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.cluster[2], 0u); }},
      Column<Event>{"graph", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.graph, 0u); }},
      Column<Event>{"graph_node", kInteger,
                    [](const Event& e, const Lookup&) { return e.graph == 0 ? kNull : number(e.graph_node); }},
  };
};

struct CopyTable {
  using Event = CopyEvent;
  static constexpr const char* kName = "copy";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"peer_device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.peer_device); }},
      Column<Event>{"kind", kKnown, [](const Event& e, const Lookup&) { return number(e.kind); }},
      Column<Event>{"start_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.start_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"bytes", kKnown, [](const Event& e, const Lookup&) { return number(e.bytes); }},
      Column<Event>{"context", kKnown, [](const Event& e, const Lookup&) { return number(e.context); }},
      Column<Event>{"stream", kKnown, [](const Event& e, const Lookup&) { return number(e.stream); }},
      Column<Event>{"correlation", kKnown, [](const Event& e, const Lookup&) { return number(e.correlation); }},
      Column<Event>{"source_memory", kKnown, [](const Event& e, const Lookup&) { return number(e.source); }},
      Column<Event>{"destination_memory", kKnown, [](const Event& e, const Lookup&) { return number(e.destination); }},
      Column<Event>{"asynchronous", kKnown, [](const Event& e, const Lookup&) { return number(e.asynchronous); }},
      Column<Event>{"graph", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.graph, 0u); }},
      Column<Event>{"graph_node", kInteger,
                    [](const Event& e, const Lookup&) { return e.graph == 0 ? kNull : number(e.graph_node); }},
  };
};

struct HostWaitTable {
  using Event = HostWaitEvent;
  static constexpr const char* kName = "host_wait";
  static constexpr RowTime kTime{"begin_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"site_id", kInteger, [](const Event& e, const Lookup& l) { return l.site(e.site); }},
      Column<Event>{"call_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.call); }},
      Column<Event>{"thread", kKnown, [](const Event& e, const Lookup&) { return number(e.thread); }},
      Column<Event>{"iteration", kKnown, [](const Event& e, const Lookup&) { return number(e.iteration); }},
      Column<Event>{"begin_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.begin_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"cpu_ns", kInteger,
                    [](const Event& e, const Lookup&) { return e.cpu_ns < 0 ? kNull : number(e.cpu_ns); }},
      Column<Event>{"polls", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.polls, 0u); }},
      Column<Event>{"correlation", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.correlation, 0u); }},
      Column<Event>{"status", kKnown, [](const Event& e, const Lookup&) { return number(e.status); }},
      Column<Event>{"word_tag", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.word_tag, WordTag{0}); }},
      Column<Event>{"involuntary_switches", kInteger,
                    [](const Event& e, const Lookup&) {
                      return number_or_null(e.involuntary_switches, HostWaitEvent::kUnknownSwitches);
                    }},
      Column<Event>{"run_delay_ns", kInteger,
                    [](const Event& e, const Lookup&) { return e.run_delay_ns < 0 ? kNull : number(e.run_delay_ns); }},
  };
};

struct CallTable {
  using Event = CallEvent;
  static constexpr const char* kName = "call";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"name_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.name); }},
      Column<Event>{"api", kKnown, [](const Event& e, const Lookup&) { return number(e.api); }},
      Column<Event>{"thread", kKnown, [](const Event& e, const Lookup&) { return number(e.thread); }},
      Column<Event>{"start_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.start_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"correlation", kKnown, [](const Event& e, const Lookup&) { return number(e.correlation); }},
      Column<Event>{"result", kKnown, [](const Event& e, const Lookup&) { return number(e.result); }},
  };
};

struct PcSampleTable {
  using Event = PcSampleEvent;
  static constexpr const char* kName = "pc_sample";
  static constexpr RowTime kTime{"begin_ns", "at_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"function_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.function); }},
      Column<Event>{"symbol_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.symbol); }},
      Column<Event>{"module", kKnown, [](const Event& e, const Lookup&) { return number(e.module); }},
      Column<Event>{"pc_offset", kKnown, [](const Event& e, const Lookup&) { return number(e.pc_offset); }},
      Column<Event>{"begin_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.begin_ns); }},
      Column<Event>{"at_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.at_ns); }},
      Column<Event>{"stall_reason_id", kInteger,
                    [](const Event& e, const Lookup& l) { return l.text(e.stall_reason); }},
      Column<Event>{"samples", kKnown, [](const Event& e, const Lookup&) { return number(e.samples); }},
      Column<Event>{"file_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.file); }},
      Column<Event>{"line", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.line, 0u); }},
  };
};

struct PcIntervalTable {
  using Event = PcIntervalEvent;
  static constexpr const char* kName = "pc_interval";
  static constexpr RowTime kTime{"begin_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"context", kKnown, [](const Event& e, const Lookup&) { return number(e.context); }},
      Column<Event>{"begin_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.begin_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"samples", kKnown, [](const Event& e, const Lookup&) { return number(e.samples); }},
      Column<Event>{"dropped", kKnown, [](const Event& e, const Lookup&) { return number(e.dropped); }},
      Column<Event>{"foreign_samples", kKnown, [](const Event& e, const Lookup&) { return number(e.foreign); }},
      Column<Event>{"period_cycles", kKnown, [](const Event& e, const Lookup&) { return number(e.period_cycles); }},
  };
};

struct UvmTable {
  using Event = UvmEvent;
  static constexpr const char* kName = "uvm";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"kind", kKnown, [](const Event& e, const Lookup&) { return number(e.kind); }},
      Column<Event>{"address", kKnown, [](const Event& e, const Lookup&) { return number(e.address); }},
      Column<Event>{"bytes", kKnown, [](const Event& e, const Lookup&) { return number(e.bytes); }},
      Column<Event>{"start_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.start_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"peer_device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.peer_device); }},
      Column<Event>{"count", kKnown, [](const Event& e, const Lookup&) { return number(e.count); }},
      Column<Event>{"cause_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.cause); }},
  };
};

struct NvtxTable {
  using Event = NvtxEvent;
  static constexpr const char* kName = "nvtx";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"kind", kKnown, [](const Event& e, const Lookup&) { return number(e.kind); }},
      Column<Event>{"name_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.name); }},
      Column<Event>{"domain_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.domain); }},
      Column<Event>{"thread", kKnown, [](const Event& e, const Lookup&) { return number(e.thread); }},
      Column<Event>{"start_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.start_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"colour", kInteger,
                    [](const Event& e, const Lookup&) { return e.has_colour == 0 ? kNull : number(e.colour); }},
      Column<Event>{"category", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.category, 0u); }},
  };
};

struct InterventionTable {
  using Event = InterventionEvent;
  static constexpr const char* kName = "intervention";
  static constexpr std::array kColumns{
      Column<Event>{"site_id", kInteger, [](const Event& e, const Lookup& l) { return l.site(e.site); }},
      Column<Event>{"sequence", kKnown, [](const Event& e, const Lookup&) { return number(e.sequence); }},
      Column<Event>{"old_mode", kKnown, [](const Event& e, const Lookup&) { return number(e.old_mode); }},
      Column<Event>{"new_mode", kKnown, [](const Event& e, const Lookup&) { return number(e.new_mode); }},
      Column<Event>{"old_strategy_id", kKnown, [](const Event& e, const Lookup&) { return number(e.old_strategy); }},
      Column<Event>{"new_strategy_id", kKnown, [](const Event& e, const Lookup&) { return number(e.new_strategy); }},
      Column<Event>{"requested_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.requested_ns); }},
      Column<Event>{"effective_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.effective_ns); }},
  };
};

struct ChoiceTable {
  using Event = ChoiceEvent;
  static constexpr const char* kName = "choice";
  static constexpr std::array kColumns{
      Column<Event>{"site_id", kKnown, [](const Event& e, const Lookup& l) { return l.site(e.site); }},
      Column<Event>{"strategy_id", kKnown, [](const Event& e, const Lookup&) { return number(e.strategy); }},
      Column<Event>{"at_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.at_ns); }},
      Column<Event>{"reason_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.reason); }},
      Column<Event>{"waits", kKnown, [](const Event& e, const Lookup&) { return number(e.waits); }},
      Column<Event>{"waiters_a_word", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.waiters_a_word, 0u); }},
      Column<Event>{"words", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.words, 0u); }},
      Column<Event>{
          "median_wait_ns", kInteger,
          [](const Event& e, const Lookup&) { return e.median_wait_ns < 0 ? kNull : number(e.median_wait_ns); }},
      Column<Event>{"look_ns", kInteger,
                    [](const Event& e, const Lookup&) { return e.look_ns < 0 ? kNull : number(e.look_ns); }},
  };
};

struct ClockTable {
  using Event = ClockEvent;
  static constexpr const char* kName = "clock";
  static constexpr RowTime kTime{"host_ns", "host_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"device_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.device_ns); }},
      Column<Event>{"host_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.host_ns); }},
      Column<Event>{"error_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.error_ns); }},
  };
};

struct ProcessTable {
  using Event = ProcessEvent;
  static constexpr const char* kName = "process";
  static constexpr std::array kColumns{
      Column<Event>{"id", kId, [](const Event& e, const Lookup&) { return number(e.pid); }},
      Column<Event>{"parent", kKnown, [](const Event& e, const Lookup&) { return number(e.parent); }},
      Column<Event>{"name_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.name); }},
      Column<Event>{"command_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.command); }},
      Column<Event>{"rank", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.rank, -1); }},
      Column<Event>{"local_rank", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.local_rank, -1); }},
      Column<Event>{"seen_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.seen_ns); }},
  };
};

struct SyncTable {
  using Event = SyncEvent;
  static constexpr const char* kName = "sync";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"kind", kKnown, [](const Event& e, const Lookup&) { return number(e.kind); }},
      Column<Event>{"start_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.start_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"context", kKnown, [](const Event& e, const Lookup&) { return number(e.context); }},
      Column<Event>{"stream", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.stream, SyncEvent::kNoStream); }},
      Column<Event>{"event", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.event, 0u); }},
      Column<Event>{"event_sync", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.event_sync, std::uint64_t{0}); }},
      Column<Event>{"correlation", kKnown, [](const Event& e, const Lookup&) { return number(e.correlation); }},
      Column<Event>{"result", kKnown, [](const Event& e, const Lookup&) { return number(e.result); }},
  };
};

struct CudaEventTable {
  using Event = CudaEventEvent;
  static constexpr const char* kName = "cuda_event";
  static constexpr RowTime kTime{"at_ns", "at_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"event", kKnown, [](const Event& e, const Lookup&) { return number(e.event); }},
      Column<Event>{"event_sync", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.event_sync, std::uint64_t{0}); }},
      Column<Event>{"at_ns", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.at_ns, std::int64_t{0}); }},
      Column<Event>{"context", kKnown, [](const Event& e, const Lookup&) { return number(e.context); }},
      Column<Event>{"stream", kKnown, [](const Event& e, const Lookup&) { return number(e.stream); }},
      Column<Event>{"correlation", kKnown, [](const Event& e, const Lookup&) { return number(e.correlation); }},
  };
};

struct GraphTable {
  using Event = GraphEvent;
  static constexpr const char* kName = "graph";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"device_id", kKnown, [](const Event& e, const Lookup& l) { return l.device(e.device); }},
      Column<Event>{"graph", kKnown, [](const Event& e, const Lookup&) { return number(e.graph); }},
      Column<Event>{"start_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.start_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"context", kKnown, [](const Event& e, const Lookup&) { return number(e.context); }},
      Column<Event>{"stream", kKnown, [](const Event& e, const Lookup&) { return number(e.stream); }},
      Column<Event>{"correlation", kKnown, [](const Event& e, const Lookup&) { return number(e.correlation); }},
  };
};

struct OverheadTable {
  using Event = OverheadEvent;
  static constexpr const char* kName = "overhead";
  static constexpr RowTime kTime{"start_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"what_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.what); }},
      Column<Event>{"thread", kInteger, [](const Event& e, const Lookup&) { return number_or_null(e.thread, 0u); }},
      Column<Event>{"start_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.start_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"correlation", kInteger,
                    [](const Event& e, const Lookup&) { return number_or_null(e.correlation, 0u); }},
  };
};

struct ThreadSampleTable {
  using Event = ThreadSampleEvent;
  static constexpr const char* kName = "thread_sample";
  static constexpr RowTime kTime{"begin_ns", "end_ns"};
  static constexpr std::array kColumns{
      Column<Event>{"thread", kKnown, [](const Event& e, const Lookup&) { return number(e.thread); }},
      Column<Event>{"name_id", kInteger, [](const Event& e, const Lookup& l) { return l.text(e.name); }},
      Column<Event>{"begin_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.begin_ns); }},
      Column<Event>{"end_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.end_ns); }},
      Column<Event>{"cpu_ns", kKnown, [](const Event& e, const Lookup&) { return number(e.cpu_ns); }},
      Column<Event>{"run_delay_ns", kInteger,
                    [](const Event& e, const Lookup&) { return e.run_delay_ns < 0 ? kNull : number(e.run_delay_ns); }},
      Column<Event>{"voluntary_switches", kKnown,
                    [](const Event& e, const Lookup&) { return number(e.voluntary_switches); }},
      Column<Event>{"involuntary_switches", kKnown,
                    [](const Event& e, const Lookup&) { return number(e.involuntary_switches); }},
  };
};

using EventTables =
    std::tuple<DeviceTable, SiteTable, StrategyTable, WaitTable, SignalTable, KernelTable, CopyTable, HostWaitTable,
               CallTable, PcSampleTable, UvmTable, NvtxTable, InterventionTable, ChoiceTable, ClockTable, ProcessTable,
               SyncTable, CudaEventTable, GraphTable, OverheadTable, PcIntervalTable, ThreadSampleTable>;

/// Whether the event brings its own id, so that a second declaration adds to the first.
template <class Table>
constexpr bool has_own_id() {
  return Table::kColumns[0].type == kId;
}

/// Whether rows can be left out for being outside of what was to be captured.
template <class Table>
constexpr bool has_time() {
  return requires { Table::kTime; };
}

/// The place of a column in kColumns.
template <class Table>
constexpr std::size_t column_index(std::string_view name) {
  for (std::size_t i = 0; i < Table::kColumns.size(); ++i) {
    if (Table::kColumns[i].name == name) return i;
  }
  return Table::kColumns.size();
}

/// Whose event it is: what the tool has seen of a process names it, all else came through the process's ring.
template <class Event>
Value process_of(const Event& event, const Lookup& lookup) {
  if constexpr (requires { event.pid; }) {
    return number(event.pid);
  } else {
    return lookup.process();
  }
}

}  // namespace wicprof::store
