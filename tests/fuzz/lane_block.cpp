// The blocks of a large trace's summaries, as a damaged trace holds them.
#include "store/summaries/lane_block.h"

#include "tests/fuzz/target.h"

namespace wicprof::fuzz {

void run(std::string_view input) {
  const Result<store::LaneBlock> block = store::unpack_block(input, 3, 1);
  if (!block) return;
  const Result<store::LaneBlock> again = store::unpack_block(store::pack_block(*block), 3, 1);
  require(static_cast<bool>(again), "a block that was unpacked can be packed");
  require(again->begins == block->begins && again->time == block->time, "packing keeps a block's numbers");
  require(block->begins.size() == store::kBlockColumns, "a block has all its columns");
}

std::vector<std::string> seeds() {
  store::LaneBlock block;
  block.begins.assign(store::kBlockColumns, 0);
  std::string empty = store::pack_block(block);
  block.begins[5] = 3;
  block.begins[1023] = 1u << 31;
  for (auto& time : block.time) time.assign(store::kBlockColumns, 0);
  block.time[0][7] = TimeNs{1} << 62;
  return {empty, store::pack_block(block)};
}

}  // namespace wicprof::fuzz
