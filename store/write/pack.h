// A trace made of rows in memory, packed with gzip: how digests are written.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "protocol/result.h"
#include "store/format/rows.h"

namespace wicprof::store {

/// What a packed trace holds: of the lists only those of PackedTables.
struct PackedRows {
  const Lists& lists;
  const std::map<std::string, std::string>& meta;
  const std::vector<StatRow>& stats;
  const std::vector<DigestSumRow>& sums;
};

using PackedTables = std::tuple<MpiCallTable, MpiRequestTable, MpiCommunicatorTable, ProcessTable, ThreadSampleTable,
                                NoticeTable, DeviceTable>;

/// The bytes of a .wicprof file, packed. One behind the other, such files are a file that PackedTraces reads one by
/// one. Error: no memory.
Result<std::string> pack(const PackedRows& rows);

}  // namespace wicprof::store
