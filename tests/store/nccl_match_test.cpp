// Which kernel carries out a call of NCCL.
#include "store/write/nccl_match.h"

#include <gtest/gtest.h>

#include <string>

#include "protocol/mpi_operation.h"
#include "protocol/time.h"
#include "store/format/schema.h"

namespace wicprof::store {
namespace {

/// A trace in memory. Times in us.
class Trace {
 public:
  Trace() {
    EXPECT_EQ(database_.open("", OpenMode::memory), 0);
    EXPECT_EQ(database_.execute(create_tables_sql()), 0) << database_.message();
    run("INSERT INTO string (id, value) VALUES (1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage"
        "<4096ul>)'), (2, 'work(float*)'), (3, 'cuLaunchKernelEx')");
  }

  /// The launch takes 1 us.
  void kernel(int process, int thread, int correlation, TimeNs launched, TimeNs begin, TimeNs end, int name = 1,
              const char* graph = "NULL") {
    call(process, thread, correlation, launched);
    run("INSERT INTO kernel (process_id, device_id, name_id, start_ns, end_ns, context, stream, correlation, grid_x, "
        "grid_y, grid_z, block_x, block_y, block_z, registers_per_thread, static_shared_bytes, dynamic_shared_bytes, "
        "local_bytes_per_thread, graph) VALUES (" +
        std::to_string(process) + ", 0, " + std::to_string(name) + ", " + us(begin) + ", " + us(end) + ", 1, 7, " +
        std::to_string(correlation) + ", 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, " + graph + ")");
  }
  void call(int process, int thread, int correlation, TimeNs launched) {
    run("INSERT INTO call (process_id, name_id, api, thread, start_ns, end_ns, correlation, result) VALUES (" +
        std::to_string(process) + ", 3, 0, " + std::to_string(thread) + ", " + us(launched) + ", " + us(launched + 1) +
        ", " + std::to_string(correlation) + ", 0)");
  }
  void nccl(int process, int thread, TimeNs begin, TimeNs end, MpiOperation operation = MpiOperation::nccl_all_reduce) {
    run("INSERT INTO mpi_call (process_id, operation, communicator, sequence, bytes, thread, begin_ns, end_ns) VALUES "
        "(" +
        std::to_string(process) + ", " + std::to_string(static_cast<int>(operation)) + ", 5, 1, 64, " +
        std::to_string(thread) + ", " + us(begin) + ", " + us(end) + ")");
  }

  /// "process begin-end of posted", in order.
  std::string matched() {
    EXPECT_EQ(match_nccl(database_), 0) << database_.message();
    return database_.text(
        "SELECT group_concat(process_id || ' ' || (begin_ns / 1000) || '-' || (end_ns / 1000) || ' of ' || "
        "(posted_ns / 1000), ', ') FROM (SELECT * FROM mpi_request WHERE operation = completed_by ORDER BY process_id, "
        "posted_ns, id)");
  }

 private:
  static std::string us(TimeNs time) { return std::to_string(time * kMicrosecond); }
  void run(const std::string& sql) { ASSERT_EQ(database_.execute(sql), 0) << database_.message() << sql; }

  Database database_;
};

TEST(NcclMatch, LastKernelThatTheThreadHasLaunched) {
  Trace trace;
  trace.kernel(1, 10, 1, 100, 200, 300);
  trace.nccl(1, 10, 95, 105);
  trace.kernel(1, 10, 2, 120, 130, 140, 2);  // of the program
  trace.kernel(1, 10, 3, 150, 300, 400);
  trace.nccl(1, 10, 145, 155);
  EXPECT_EQ(trace.matched(), "1 200-300 of 95, 1 300-400 of 145");
}

TEST(NcclMatch, CallOfVersion4BeginsBehindItsLaunch) {
  Trace trace;
  trace.kernel(1, 10, 1, 100, 200, 300);
  trace.nccl(1, 10, 103, 103);
  EXPECT_EQ(trace.matched(), "1 200-300 of 103");
}

TEST(NcclMatch, CallsOfOneGroupShareAKernel) {
  Trace trace;
  trace.kernel(1, 10, 1, 100, 200, 300);
  for (const TimeNs begin : {80, 85, 90}) trace.nccl(1, 10, begin, 110);
  EXPECT_EQ(trace.matched(), "1 200-300 of 80, 1 200-300 of 85, 1 200-300 of 90");
}

TEST(NcclMatch, ProcessesAndThreadsAreApart) {
  Trace trace;
  trace.kernel(1, 10, 1, 100, 200, 300);
  trace.kernel(2, 10, 1, 100, 500, 600);  // has the same numbers
  trace.kernel(1, 11, 2, 104, 300, 400);
  trace.nccl(1, 10, 95, 110);
  trace.nccl(2, 10, 96, 110);
  trace.nccl(1, 11, 97, 110);
  trace.nccl(1, 12, 98, 110);  // launched by another thread
  EXPECT_EQ(trace.matched(), "1 200-300 of 95, 1 300-400 of 97, 2 500-600 of 96");
}

TEST(NcclMatch, WithoutKernelOrLaunchThereIsNoRow) {
  Trace trace;
  trace.call(1, 10, 1, 100);
  trace.nccl(1, 10, 95, 105);
  EXPECT_EQ(trace.matched(), "");
  trace.kernel(1, 10, 2, 200, 210, 220, 1, "9");  // in a graph
  trace.nccl(1, 10, 195, 205);
  EXPECT_EQ(trace.matched(), "");
  trace.kernel(1, 10, 3, 300, 310, 320);
  trace.nccl(1, 10, 50'000, 50'010);  // long after: the call's own launch is lost
  EXPECT_EQ(trace.matched(), "");
}

TEST(NcclMatch, CallsOfMpiAreLeftAlone) {
  Trace trace;
  trace.kernel(1, 10, 1, 100, 200, 300);
  trace.nccl(1, 10, 95, 105, MpiOperation::iallreduce);
  EXPECT_EQ(trace.matched(), "");
}

}  // namespace
}  // namespace wicprof::store
