// The evidence of an access pattern as sentences.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/communication/stream_facts.h"

namespace wicprof::analyzer::pattern_evidence {

std::string too_few_messages(std::size_t messages, std::size_t needed);
std::string amounts_only(double mean_bytes, double spread);
std::string irregular_pieces(double share, std::uint64_t pieces, std::size_t messages, double mean_bytes);
/// Regular pieces: the common begin of these sentences.
std::string pieces(std::size_t ranges, double share_of_data, double share_in_pieces);

/// Ranges that occur again and again: the common begin of these sentences.
std::string few_ranges(std::size_t ranges, double share);
std::string alternating_ranges(std::size_t turns);
std::string few_distances(std::size_t distances);

std::string advancing_ranges(const StreamFacts& all);
std::string jumping_ranges(const StreamFacts& all);
std::string moving_ranges(const StreamFacts& all);

}  // namespace wicprof::analyzer::pattern_evidence
