#include "analyzer/communication/access_pattern_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/words/format.h"

namespace wicprof::analyzer::pattern_evidence {

std::string too_few_messages(std::size_t messages, std::size_t needed) {
  return fmt::format("{} with a known place; at least {} are needed", count_of(messages, "message"), needed);
}

std::string amounts_only(double mean_bytes, double spread) {
  return fmt::format(
      "the messages show only their sizes ({:.0f} bytes on average, spread {}), not their places in the "
      "data",
      mean_bytes, format_percent(spread));
}

std::string irregular_pieces(double share, std::uint64_t pieces, std::size_t messages, double mean_bytes) {
  return fmt::format("{} of the bytes are in irregular pieces ({} in {}, {:.0f} bytes each on average)",
                     format_percent(share), count_of(pieces, "piece"), count_of(messages, "message"), mean_bytes);
}

std::string some_streams_repeat(double share) {
  return fmt::format("some sites send the same ranges again ({} of the bytes), others do not", format_percent(share));
}

std::string repeated_ranges(std::size_t ranges, double share) {
  return fmt::format("the same {} in every iteration, {} of the data (as far as messages show its size)",
                     count_of(ranges, "range"), format_percent(share));
}

std::string dense_pieces(double share) {
  return fmt::format("{} of the bytes in regular pieces close to each other", format_percent(share));
}

std::string regular_pieces(double share) {
  return fmt::format("{} of the bytes in regular pieces", format_percent(share));
}

std::string alternating_ranges(std::size_t turns) {
  return fmt::format("along the data, the two directions alternate {} times", turns);
}

std::string contiguous_messages(double share) {
  return fmt::format("within an iteration, {} of the messages start where the previous one ends",
                     format_percent(share));
}

std::string too_few_moves(const StreamFacts& all) {
  return fmt::format("{} in {}: too few to show an order", count_of(all.ranges, "range"),
                     count_of(all.messages, "message"));
}

std::string spread_pieces(double share, const StreamFacts& all) {
  return fmt::format("{} of the bytes in regular pieces with gaps between them, {} in {}", format_percent(share),
                     count_of(all.ranges, "range"), count_of(all.messages, "message"));
}

std::string continuing_ranges(double order, const StreamFacts& all) {
  const std::size_t moves = all.up + all.down;
  const auto contiguous =
      static_cast<double>(all.contiguous) / static_cast<double>(std::max<std::size_t>(1, all.moves));
  return fmt::format(
      "ranges advance through the data: {} of {} moves have the same direction, {} start where the previous range "
      "ends; "
      "{} back to the beginning; {} different ranges in {}",
      format_percent(order), format_count(moves - std::min(moves, all.wraps)), format_percent(contiguous),
      count_of(all.wraps, "time"), format_count(all.ranges), count_of(all.messages, "message"));
}

std::string moving_pieces(double share) {
  return fmt::format("{} of the bytes in regular pieces, at changing places", format_percent(share));
}

std::string moving_ranges(double order, const StreamFacts& all) {
  return fmt::format("{} in {}, with {} of the moves in the same direction", count_of(all.ranges, "range"),
                     count_of(all.messages, "message"), format_percent(order));
}

std::string few_distances(std::size_t distances) {
  return fmt::format("only {} different distances, each many times", distances);
}

std::string many_distances(std::size_t distances, std::size_t moves) {
  return fmt::format("{} different distances in {} moves", format_count(distances), format_count(moves));
}

}  // namespace wicprof::analyzer::pattern_evidence
