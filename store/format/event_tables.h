// The tables whose rows come from events. To add an event kind: its table in store/format/tables/, and its line here.
// The file's schema, writing, reading, the analyzer's lists and the window's live lists follow from this list.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

#include "protocol/events/loss.h"
#include "protocol/events/nvtx.h"
#include "protocol/events/text.h"
#include "store/format/column.h"
#include "store/format/tables/call.h"
#include "store/format/tables/choice.h"
#include "store/format/tables/clock.h"
#include "store/format/tables/copy.h"
#include "store/format/tables/cuda_event.h"
#include "store/format/tables/decision.h"
#include "store/format/tables/device.h"
#include "store/format/tables/device_state.h"
#include "store/format/tables/energy.h"
#include "store/format/tables/graph.h"
#include "store/format/tables/host_wait.h"
#include "store/format/tables/intervention.h"
#include "store/format/tables/kernel.h"
#include "store/format/tables/mpi.h"
#include "store/format/tables/notice.h"
#include "store/format/tables/nvtx.h"
#include "store/format/tables/overhead.h"
#include "store/format/tables/pc_interval.h"
#include "store/format/tables/pc_sample.h"
#include "store/format/tables/polled_word.h"
#include "store/format/tables/process.h"
#include "store/format/tables/signal.h"
#include "store/format/tables/site.h"
#include "store/format/tables/strategy.h"
#include "store/format/tables/sync.h"
#include "store/format/tables/thread_sample.h"
#include "store/format/tables/uvm.h"
#include "store/format/tables/wait.h"
#include "store/format/tables/wait_count.h"
#include "store/format/tables/writer_candidate.h"

namespace wicprof::store {

/// The tables that may be largest come first: two threads that read a trace then finish together.
using EventTables = std::tuple<  //
    WaitTable,                   //
    SignalTable,                 //
    CallTable,                   //
    MpiCallTable,                //
    MpiRequestTable,             //
    KernelTable,                 //
    HostWaitTable,               //
    CopyTable,                   //
    PcSampleTable,               //
    UvmTable,                    //
    NvtxTable,                   //
    SyncTable,                   //
    CudaEventTable,              //
    OverheadTable,               //
    ThreadSampleTable,           //
    MpiGapTable,                 //
    PcIntervalTable,             //
    WaitCountTable,              //
    EnergyTable,                 //
    DeviceStateTable,            //
    GraphTable,                  //
    ClockTable,                  //
    InterventionTable,           //
    ChoiceTable,                 //
    DecisionTable,               //
    NoticeTable,                 //
    StrategyTable,               //
    PolledWordTable,             //
    WriterCandidateTable,        //
    MpiCommunicatorTable,        //
    ProcessTable,                //
    DeviceTable,                 //
    SiteTable>;

/// Events that the recorder uses without writing a row.
using RowlessEvents = std::tuple<TextEvent, LossEvent, NvtxOpenEvent>;

/// A type as a value, for functions that visit tables.
template <class T>
struct Type {
  using type = T;
};

/// Calls `visit(Type<Table>())` for each table of a list.
template <class Tables, class Visit>
constexpr void for_each_table(Visit&& visit) {
  [&]<std::size_t... I>(std::index_sequence<I...>) { (visit(Type<std::tuple_element_t<I, Tables>>()), ...); }
  (std::make_index_sequence<std::tuple_size_v<Tables>>());
}

template <template <class> class Wanted, class... Tables>
auto select_tables(const std::tuple<Tables...>*)
    -> decltype(std::tuple_cat(std::conditional_t<Wanted<Tables>::value, std::tuple<Tables>, std::tuple<>>()...));

template <class Table>
struct IsRead : std::bool_constant<is_read<Table>()> {};
/// Tables whose rows are read one by one.
using ReadTables = decltype(select_tables<IsRead>(static_cast<const EventTables*>(nullptr)));

template <class Table>
        struct Grows : std::bool_constant < is_read<Table>() &&
    has_time<Table>() && !requires {
  Table::kLive;
} > {};
/// Tables that grow without bound while a trace is recorded, and are read then.
using GrowingTables = decltype(select_tables<Grows>(static_cast<const EventTables*>(nullptr)));

template <class Table>
struct IsDeclaration : std::bool_constant<is_read<Table>() && !has_time<Table>()> {};
/// Tables with few rows, which a live view reads as a whole.
using DeclarationTables = decltype(select_tables<IsDeclaration>(static_cast<const EventTables*>(nullptr)));

template <class Table>
struct HasDeviceTime : std::bool_constant<has_device_time<Table>()> {};
/// Tables whose events wait for the first reading of their device's clock.
using DeviceTimeTables = decltype(select_tables<HasDeviceTime>(static_cast<const EventTables*>(nullptr)));

/// The members `waits`, `signals`, ...: one list per table that is read.
template <class Tables>
struct ListsOf;
template <class... Tables>
struct ListsOf<std::tuple<Tables...>> : Tables::List... {};
using Lists = ListsOf<ReadTables>;

/// The list of a table's rows.
template <class Table>
using RowsOf = std::remove_reference_t<decltype(std::declval<typename Table::List&>().*Table::kRows)>;

/// The version of the trace file that has the table.
inline constexpr std::int64_t kOldestReadable = 4;
template <class Table>
constexpr std::int64_t since() {
  if constexpr (requires { Table::kSince; }) {
    return Table::kSince;
  } else {
    return kOldestReadable;
  }
}

/// The version of the trace file that has all columns of the table.
template <class Table>
constexpr std::int64_t newest_column() {
  std::int64_t newest = since<Table>();
  Table::kColumns.for_each([&](const auto& column) { newest = std::max(newest, column.since); });
  return newest;
}

namespace event_tables {

template <class... Tables, class... Rowless>
constexpr bool kinds_are_consecutive(const std::tuple<Tables...>*, const std::tuple<Rowless...>*) {
  std::array kinds{static_cast<int>(Tables::Event::kKind)..., static_cast<int>(Rowless::kKind)...};
  std::sort(kinds.begin(), kinds.end());
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] != static_cast<int>(i) + 1) return false;
  }
  return true;
}
static_assert(kinds_are_consecutive(static_cast<const EventTables*>(nullptr),
                                    static_cast<const RowlessEvents*>(nullptr)),
              "two events have one kKind, or the table of an event is not in EventTables");

template <class... Tables>
constexpr std::int64_t newest(const std::tuple<Tables...>*) {
  return std::max({since<Tables>()..., newest_column<Tables>()...});
}

}  // namespace event_tables

/// The version of the trace file that this code writes. It reads back to kOldestReadable: a table that an older file
/// lacks is empty, and a column that it lacks is NULL.
inline constexpr std::int64_t kSchemaVersion = event_tables::newest(static_cast<const EventTables*>(nullptr));

/// The version that has the table `digest_sum` (store/format/rows.h).
inline constexpr std::int64_t kDigestsSince = 10;
static_assert(kDigestsSince <= kSchemaVersion);

}  // namespace wicprof::store
