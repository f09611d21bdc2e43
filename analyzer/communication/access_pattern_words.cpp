#include "analyzer/communication/access_pattern_words.h"

#include <fmt/format.h>

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

std::string pieces(std::size_t ranges, double share_of_data, double share_in_pieces) {
  return fmt::format("{} of the bytes in regular pieces, {} of the data (as far as messages show its size) in {}",
                     format_percent(share_in_pieces), format_percent(share_of_data), count_of(ranges, "message"));
}

std::string few_ranges(std::size_t ranges, double share) {
  return fmt::format("the same {} again and again, {} of the data (as far as messages show its size)",
                     count_of(ranges, "range"), format_percent(share));
}

std::string alternating_ranges(std::size_t turns) {
  return fmt::format("along the data, the two directions alternate {} times", turns);
}

std::string few_distances(std::size_t distances) {
  return fmt::format("the ranges change from iteration to iteration by only {} different distances, each many times",
                     distances);
}

std::string advancing_ranges(const StreamFacts& all) {
  return fmt::format("ranges advance through the data in {} of the bytes; {} different ranges in {}",
                     format_percent(all.advancing * all.long_passes), format_count(all.ranges),
                     count_of(all.messages, "message"));
}

std::string jumping_ranges(const StreamFacts& all) {
  return fmt::format("{} of the messages jump through the data, with few places and distances twice; {} in {}",
                     format_percent(all.jumping), count_of(all.ranges, "different range"),
                     count_of(all.messages, "message"));
}

std::string moving_ranges(const StreamFacts& all) {
  return fmt::format("{} in {}, {} of the bytes in ranges that advance through the data", count_of(all.ranges, "range"),
                     count_of(all.messages, "message"), format_percent(all.advancing * all.long_passes));
}

}  // namespace wicprof::analyzer::pattern_evidence
