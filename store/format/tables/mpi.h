#pragma once

#include "protocol/events/mpi.h"
#include "store/format/column.h"

namespace wicprof::store {

struct MpiCallRow {
  RowId id = 0;
  MpiOperation operation = MpiOperation::none;
  std::optional<CommunicatorId> communicator;
  std::optional<std::uint32_t> sequence;
  std::optional<std::int32_t> peer, tag;
  std::optional<std::int64_t> bytes;
  std::uint32_t thread = 0;
  TimeNs begin = 0, end = 0;
  ProcessId process = 0;
  std::uint32_t stands_for = 0;  ///< of a digest: so many like it, of which only this one was kept; 0 = itself alone
};

struct MpiCallTable {
  using Event = MpiCallEvent;
  using Row = MpiCallRow;
  struct List {
    std::vector<Row> mpi_calls;
  };
  static constexpr auto kRows = &List::mpi_calls;
  static constexpr auto kSortedBy = &Row::begin;
  static constexpr const char* kName = "mpi_call";
  static constexpr std::int64_t kSince = 9;
  static constexpr RowTime kTime{"begin_ns", "end_ns"};
  static constexpr Columns kColumns{
      column::known("operation", &Event::operation, &Row::operation),
      column::nullable("communicator", &Event::communicator, &Row::communicator),
      column::nullable("sequence", &Event::sequence, &Row::sequence),
      column::unless_negative("peer", &Event::peer, &Row::peer),
      column::unless_negative("tag", &Event::tag, &Row::tag),
      column::unless_negative("bytes", &Event::bytes, &Row::bytes),
      column::known("thread", &Event::thread, &Row::thread),
      column::known("begin_ns", &Event::begin_ns, &Row::begin),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::filled_in_later("stands_for", &Row::stands_for).since_version(10),
  };
};

struct MpiRequestRow {
  RowId id = 0;
  MpiOperation operation = MpiOperation::none, completed_by = MpiOperation::none;
  std::optional<CommunicatorId> communicator;
  std::optional<std::uint32_t> sequence;
  std::optional<std::int32_t> peer, tag;
  std::optional<std::int64_t> bytes;
  std::uint32_t thread = 0;
  TimeNs posted = 0, begin = 0, end = 0;  ///< begin, end: of the completing call
  ProcessId process = 0;
  std::uint32_t stands_for = 0;  ///< as in MpiCallRow
};

struct MpiRequestTable {
  using Event = MpiRequestEvent;
  using Row = MpiRequestRow;
  struct List {
    std::vector<Row> mpi_requests;
  };
  static constexpr auto kRows = &List::mpi_requests;
  static constexpr auto kSortedBy = &Row::begin;
  static constexpr const char* kName = "mpi_request";
  static constexpr std::int64_t kSince = 9;
  static constexpr RowTime kTime{"begin_ns", "end_ns"};
  static constexpr Columns kColumns{
      column::known("operation", &Event::operation, &Row::operation),
      column::known("completed_by", &Event::completed_by, &Row::completed_by),
      column::nullable("communicator", &Event::communicator, &Row::communicator),
      column::nullable("sequence", &Event::sequence, &Row::sequence),
      column::unless_negative("peer", &Event::peer, &Row::peer),
      column::unless_negative("tag", &Event::tag, &Row::tag),
      column::unless_negative("bytes", &Event::bytes, &Row::bytes),
      column::known("thread", &Event::thread, &Row::thread),
      column::known("posted_ns", &Event::posted_ns, &Row::posted),
      column::known("begin_ns", &Event::begin_ns, &Row::begin),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::filled_in_later("stands_for", &Row::stands_for).since_version(10),
  };
};

struct MpiCommunicatorRow {
  RowId id = 0;
  CommunicatorId communicator = 0;
  std::string name;
  std::int32_t rank = 0, size = 0;
  std::int32_t world_rank = 0;  ///< of the process, in MPI_COMM_WORLD
  ProcessId process = 0;
};

struct MpiCommunicatorTable {
  using Event = MpiCommunicatorEvent;
  using Row = MpiCommunicatorRow;
  struct List {
    std::vector<Row> mpi_communicators;
  };
  static constexpr auto kRows = &List::mpi_communicators;
  static constexpr const char* kName = "mpi_communicator";
  static constexpr std::int64_t kSince = 9;
  static constexpr Columns kColumns{
      column::known("communicator", &Event::communicator, &Row::communicator),
      column::text("name_id", &Event::name, &Row::name),
      column::known("rank", &Event::rank, &Row::rank),
      column::known("size", &Event::size, &Row::size),
      column::known("world_rank", &Event::world_rank, &Row::world_rank),
  };
};

/// What a thread did between its calls of MPI, in sums over some of these times.
struct MpiGapRow {
  RowId id = 0;
  std::uint32_t thread = 0, gaps = 0;
  TimeNs begin = 0, end = 0, outside = 0, cpu = 0;
  std::optional<TimeNs> run_delay;  ///< ready to run without a CPU
  ProcessId process = 0;
};

struct MpiGapTable {
  using Event = MpiGapEvent;
  using Row = MpiGapRow;
  struct List {
    std::vector<Row> mpi_gaps;
  };
  static constexpr auto kRows = &List::mpi_gaps;
  static constexpr auto kSortedBy = &Row::begin;
  static constexpr const char* kName = "mpi_gap";
  static constexpr std::int64_t kSince = 12;
  static constexpr RowTime kTime{"begin_ns", "end_ns"};
  static constexpr Columns kColumns{
      column::known("thread", &Event::thread, &Row::thread),
      column::known("gaps", &Event::gaps, &Row::gaps),
      column::known("begin_ns", &Event::begin_ns, &Row::begin),
      column::known("end_ns", &Event::end_ns, &Row::end),
      column::known("outside_ns", &Event::outside_ns, &Row::outside),
      column::known("cpu_ns", &Event::cpu_ns, &Row::cpu),
      column::unless_negative("run_delay_ns", &Event::run_delay_ns, &Row::run_delay),
  };
};

}  // namespace wicprof::store
