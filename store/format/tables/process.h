#pragma once

#include "protocol/events/process.h"
#include "store/format/column.h"

namespace wicprof::store {

struct ProcessRow {
  ProcessId id = 0;
  ProcessId parent = 0;
  std::string name, command;  ///< name: of the executable file
  std::optional<std::int32_t> rank, local_rank;
  TimeNs seen = 0;
  std::optional<std::int32_t> ranks = {};  ///< how many the launcher started
  std::string job = {};                    ///< as the launcher calls it
};

struct ProcessTable {
  using Event = ProcessEvent;
  using Row = ProcessRow;
  struct List {
    std::vector<Row> processes;
  };
  static constexpr auto kRows = &List::processes;
  static constexpr auto kSortedBy = &Row::seen;
  static constexpr const char* kName = "process";
  static constexpr Columns kColumns{

      column::known("id", &Event::pid, &Row::id).of_type(kId),
      column::known("parent", &Event::parent, &Row::parent),
      column::text("name_id", &Event::name, &Row::name),
      column::text("command_id", &Event::command, &Row::command),
      column::nullable<-1>("rank", &Event::rank, &Row::rank),
      column::nullable<-1>("local_rank", &Event::local_rank, &Row::local_rank),
      column::known("seen_ns", &Event::seen_ns, &Row::seen),
      column::nullable<-1>("ranks", &Event::ranks, &Row::ranks).since_version(9),
      column::text("job_id", &Event::job, &Row::job).since_version(9),
  };
};

}  // namespace wicprof::store
