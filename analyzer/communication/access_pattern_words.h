// The evidence of an access pattern as sentences.
#pragma once

#include <cstdint>
#include <string>

#include "analyzer/communication/stream_facts.h"

namespace wicprof::analyzer::pattern_evidence {

std::string too_few_messages(std::size_t messages, std::size_t needed);
std::string amounts_only(double mean_bytes, double spread);
std::string irregular_pieces(double share, std::uint64_t pieces, std::size_t messages, double mean_bytes);
std::string some_streams_repeat(double share);

/// Ranges that repeat: the common begin of these sentences.
std::string repeated_ranges(std::size_t ranges, double share);
std::string dense_pieces(double share);
std::string regular_pieces(double share);
std::string alternating_ranges(std::size_t turns);
std::string contiguous_messages(double share);

/// Ranges that move.
std::string too_few_moves(const StreamFacts& all);
std::string spread_pieces(double share, const StreamFacts& all);
std::string continuing_ranges(double order, const StreamFacts& all);
std::string moving_pieces(double share);
/// The common begin of the sentences below.
std::string moving_ranges(double order, const StreamFacts& all);
std::string few_distances(std::size_t distances);
std::string many_distances(std::size_t distances, std::size_t moves);

}  // namespace wicprof::analyzer::pattern_evidence
