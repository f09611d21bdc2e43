#include "tests/analyzer/made_programs/layouts.h"

#include <algorithm>
#include <numeric>

namespace wicprof::analyzer::made {
namespace {

constexpr std::uint32_t kWindow = 6;         // tiles that several blocks send at once
constexpr std::uint32_t kFarTile = 100'000;  // where a stream that goes down begins

Announcement contiguous(std::uint64_t offset, std::uint32_t bytes) { return {offset, bytes, bytes, 1, true}; }
Announcement strided(std::uint64_t offset, std::uint32_t piece, std::uint64_t stride, std::uint32_t pieces) {
  return {offset, (pieces - 1) * stride + piece, piece * pieces, pieces, true};
}

}  // namespace

Pattern pattern_of(Layout layout) {
  switch (layout) {
    case Layout::stream_ascending:
    case Layout::stream_descending:
    case Layout::stream_interleaved:
    case Layout::frames:
      return Pattern::streaming;
    case Layout::halo:
    case Layout::halo_across_rows:
      return Pattern::adjacent;
    case Layout::strided_all:
    case Layout::exchange_partners:
      return Pattern::scatter_gather;
    case Layout::lookup_pieces:
    case Layout::lookup_ranges:
      return Pattern::random;
  }
  return Pattern::unknown;
}

Layouts::Layouts(const Plan& plan, Random& random) : plan_(plan), random_(random) {
  unit_ = 64u << draw(random, 7);
  tiles_ = chance(random, 50) ? 0 : draw(random, 24, 200);
  most_ = 8;
  part_ = most_ * draw(random, 4, 40);
  slots_ = draw(random, 1, 4);
  rows_ = 16u << draw(random, 5);
  blocks_ = 4u << draw(random, 4);
  const Amounts a = plan.kind.amounts;
  frames_in_parts_ = a == Amounts::one_way || a == Amounts::several_each || a == Amounts::many_each;
}

Announcement Layouts::next(const Transfer& transfer) {
  const std::uint32_t message = messages_[{transfer.edge, transfer.back}]++;
  Announcement a = in_data(transfer, message);
  if (plan_.kind.offsets == Offsets::buffer) a.offset = std::uint64_t{message % slots_} * part_ * unit_;
  return a;
}

std::uint64_t Layouts::tile(const Transfer& transfer, std::uint32_t message) {
  const auto in_turn = [&](std::uint32_t tile) { return tiles_ == 0 ? tile : tile % tiles_; };
  switch (plan_.kind.layout) {
    case Layout::stream_descending:
      return tiles_ == 0 ? kFarTile - message : tiles_ - 1 - message % tiles_;
    case Layout::stream_interleaved: {
      std::vector<std::uint32_t>& window = window_[{transfer.edge, transfer.back}];
      if (window.empty()) {
        window.resize(kWindow);
        std::iota(window.begin(), window.end(), message);
        for (std::size_t i = kWindow; i > 1; --i)
          std::swap(window[i - 1], window[draw(random_, static_cast<std::uint32_t>(i))]);
      }
      const std::uint32_t tile = window.back();
      window.pop_back();
      return in_turn(tile);
    }
    case Layout::frames:
      if (frames_in_parts_ && transfer.of_iteration >= 3) return transfer.number_in_iteration;
      return in_turn(message);
    default:
      return in_turn(message);
  }
}

Announcement Layouts::in_data(const Transfer& t, std::uint32_t message) {
  const std::uint64_t part = std::uint64_t{part_} * unit_;
  const std::uint64_t border = (t.edge + 1) * part;
  const std::uint64_t mine = t.back ? border : border - part;  // the sender's part
  switch (plan_.kind.layout) {
    case Layout::stream_ascending:
    case Layout::stream_descending:
    case Layout::stream_interleaved:
    case Layout::frames:
      return contiguous(tile(t, message) * unit_, unit_);
    case Layout::halo: {
      const std::uint32_t piece = std::max(4u, unit_ / most_);
      const std::uint32_t pieces = std::max(t.of_iteration, 1u);
      const std::uint64_t halo = std::uint64_t{piece} * pieces;
      return contiguous((t.back ? border : border - halo) + std::uint64_t{piece} * t.number_in_iteration, piece);
    }
    case Layout::halo_across_rows: {
      const std::uint32_t columns = 16;  // bytes of each row
      const std::uint64_t row = std::uint64_t{columns} * part_ * (plan_.edges.size() + 1);
      const std::uint64_t column = std::uint64_t{columns} * part_ * (t.edge + 1) - (t.back ? 0 : columns);
      const std::uint32_t rows = std::max(1u, rows_ / std::max(1u, t.of_iteration));
      return strided(column + row * rows * t.number_in_iteration, columns, row, rows);
    }
    case Layout::strided_all: {
      const std::uint32_t piece = 16;
      const std::uint64_t stride = std::uint64_t{piece} * 2 * std::max(1u, t.of_iteration);
      const auto pieces = static_cast<std::uint32_t>(std::max<std::uint64_t>(2, part / stride));
      return strided(mine + std::uint64_t{piece} * 2 * t.number_in_iteration, piece, stride, pieces);
    }
    case Layout::exchange_partners: {
      std::uint32_t stages = 0;
      while ((1u << stages) < blocks_) ++stages;
      const std::uint32_t block = (t.number_in_iteration % blocks_) ^ (1u << (t.iteration % stages));
      return contiguous((t.back ? std::uint64_t{blocks_} * unit_ : 0) + std::uint64_t{block} * unit_, unit_);
    }
    case Layout::lookup_pieces: {
      const std::uint32_t pieces = draw(random_, 8, 40);
      const std::uint64_t first = draw(random_, part_ * unit_ / 8) * std::uint64_t{4};
      return {mine + first, part / 2, pieces * 8, pieces, false};
    }
    case Layout::lookup_ranges: {
      const std::uint32_t bytes = 4 * draw(random_, 4, std::max(8u, unit_ / 2));
      const std::uint64_t datum = part * (plan_.edges.size() + 1);
      return contiguous(draw(random_, static_cast<std::uint32_t>(datum / 4)) * std::uint64_t{4}, bytes);
    }
  }
  return {};
}

}  // namespace wicprof::analyzer::made
