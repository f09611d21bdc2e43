// The evidence of a classification as sentences.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/communication/block_pattern.h"
#include "analyzer/communication/classify.h"
#include "analyzer/communication/traffic.h"

namespace wicprof::analyzer {

/// An answer whose confidence is below kMinConfidence.
std::string leaning_words(Model model, double confidence);
std::string leaning_words(Pattern pattern, double confidence);

std::string pattern_words(Pattern pattern, std::string_view words);
std::string block_pattern_words(const BlockPattern& found);

/// How the pairs vote: `agreeing` of `pairs`, with `share` of the messages, have `model`. `judged` are the pairs that
/// the classification examined.
std::string pairs_words(std::size_t pairs, std::size_t judged, std::size_t agreeing, double share, Model model);
std::string ring_words(std::size_t parties, const Rhythm& first);

/// One line per kind of message that does not count and per kind of record that is missing.
std::vector<std::string> record_words(const Traffic& traffic);

/// Why a trace without messages has none.
std::string no_messages_words(const TraceModel& model, const Traffic& traffic);

inline constexpr std::string_view kMergedWords =
    "words of one site that are set to the same value in one iteration count as one transfer, because the signals do "
    "not say what they carry";
inline constexpr std::string_view kDoubtfulWords =
    "the other side awaits some signals only an iteration later and never has to wait for them: they may be answers or "
    "acknowledgements";
inline constexpr std::string_view kCopiesWords =
    "nothing waits at wait sites; this classifies the copies between kernels";
inline constexpr std::string_view kMigrationsWords =
    "nothing waits at wait sites; this classifies the migrations of managed memory between kernels";

}  // namespace wicprof::analyzer
