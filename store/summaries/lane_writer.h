// Writes the tables `lane` and `lane_block`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/summaries/lane_block.h"
#include "store/summaries/lanes.h"
#include "store/summaries/row_source.h"

namespace wicprof::store {

class LaneWriter {
 public:
  explicit LaneWriter(RowSource& source)
      : source_(source),
        put_lane_(source.prepare(
            "INSERT INTO lane (kind, process_id, device_id, context, number, domain_id, row, name_id, events, most) "
            "VALUES (?, ?, ?, ?, ?, " +
            kTextId + ", ?, " + kTextId + ", ?, ?)")),
        put_block_(source.prepare("INSERT INTO lane_block (lane_id, level, number, columns) VALUES (?, ?, ?, ?)")) {}

  void put(const Lane& lane, const std::vector<LaneBlock>& lane_blocks) {
    const LaneKind kind = lane.track.kind;
    put_lane_.bind(1, static_cast<std::int64_t>(kind));
    bind_if(2, lane.track.process != 0, lane.track.process);
    bind_if(3, kind == LaneKind::stream || kind == LaneKind::managed || kind == LaneKind::sm, lane.track.device);
    bind_if(4, kind == LaneKind::stream, lane.track.context);
    bind_if(5, kind != LaneKind::managed, lane.track.number);
    bind_text(6, lane.track.domain);
    put_lane_.bind(7, std::int64_t{lane.row});
    bind_text(8, lane.name);
    put_lane_.bind(9, static_cast<std::int64_t>(lane.events));
    put_lane_.bind(10, std::int64_t{lane.most});
    source_.run(put_lane_);
    const std::int64_t id = source_.last_id();
    ++lanes_;
    for (const LaneBlock& block : lane_blocks) put(id, block);
  }
  std::int64_t lanes() const { return lanes_; }
  std::int64_t blocks() const { return blocks_; }

 private:
  inline static const std::string kTextId = "(SELECT id FROM string WHERE value = ? LIMIT 1)";

  void put(std::int64_t lane, const LaneBlock& block) {
    const std::string bytes = pack_block(block);
    put_block_.bind(1, lane);
    put_block_.bind(2, std::int64_t{block.level});
    put_block_.bind(3, block.number);
    put_block_.bind_bytes(4, bytes);
    source_.run(put_block_);
    ++blocks_;
  }
  void bind_text(int parameter, const std::string& value) {
    if (value.empty()) {
      put_lane_.bind_null(parameter);
    } else {
      put_lane_.bind(parameter, std::string_view(value));
    }
  }
  void bind_if(int parameter, bool has_meaning, std::int64_t value) {
    if (has_meaning) {
      put_lane_.bind(parameter, value);
    } else {
      put_lane_.bind_null(parameter);
    }
  }

  RowSource& source_;
  Statement put_lane_, put_block_;
  std::int64_t lanes_ = 0, blocks_ = 0;
};

}  // namespace wicprof::store
