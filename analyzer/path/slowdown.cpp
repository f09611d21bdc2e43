#include "analyzer/path/slowdown.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "analyzer/path/prediction_constants.h"

namespace wicprof::analyzer {
namespace {

namespace known = calibration;

/// From this mean number of pollers per word on, words count as shared. Not calibrated: halfway between 1 and 2.
constexpr double kSharedFrom = 1.5;

/// Interpolates between two anchors on logarithmic scales, or linearly from an anchor at 0; constant outside of them.
double interpolate(std::span<const known::Slowdown> anchors, double pollers, double known::Slowdown::*bound) {
  if (pollers <= anchors.front().pollers) return anchors.front().*bound;
  if (pollers >= anchors.back().pollers) return anchors.back().*bound;
  std::size_t i = 1;
  while (anchors[i].pollers < pollers) ++i;
  const known::Slowdown& a = anchors[i - 1];
  const known::Slowdown& b = anchors[i];
  if (a.pollers <= 0) {
    const double part = (pollers - a.pollers) / (b.pollers - a.pollers);
    return a.*bound + part * (b.*bound - a.*bound);
  }
  const double part = std::log(pollers / a.pollers) / std::log(b.pollers / a.pollers);
  return std::exp(std::log(a.*bound) + part * (std::log(b.*bound) - std::log(a.*bound)));
}

SlowdownRange range_of(std::span<const known::Slowdown> anchors, double pollers, double spread, std::string from) {
  SlowdownRange range;
  const double streaming = interpolate(anchors, pollers, &known::Slowdown::streaming);
  const double values[] = {interpolate(anchors, pollers, &known::Slowdown::compute),
                           interpolate(anchors, pollers, &known::Slowdown::shared_memory), streaming,
                           interpolate(anchors, pollers, &known::Slowdown::l2_latency)};
  range.by_work.value = streaming;
  range.by_work.low = std::min(*std::min_element(std::begin(values), std::end(values)), streaming / spread);
  range.by_work.high = spread * *std::max_element(std::begin(values), std::end(values));
  range.from = std::move(from);
  return range;
}

}  // namespace

bool on_one_word(const SiteStats& site) { return site.words_seen ? *site.words_seen == 1 : site.words == 1; }

std::optional<SlowdownRange> slowdown_beside(const SiteStats& site, double pollers, std::string& why) {
  if (!site.declared || site.word_memory == WordMemory::unknown) {
    why = "the trace does not say which memory holds the word";
    return std::nullopt;
  }
  if (site.word_memory == WordMemory::managed) {
    why = "no measurement shows how much polling a word in managed memory slows concurrent work";
    return std::nullopt;
  }
  if (site.pollers == Pollers::each_thread) {
    if (site.word_memory != WordMemory::device) {
      why = "the cost of polling by every thread was measured only for words in device memory";
      return std::nullopt;
    }
    return range_of(known::kEachThread, pollers, 1, "measured: interference.h200.json, inside_device_one");
  }
  // A few waiters per word cost as much as waiters with one word each.
  const bool shared = on_one_word(site) || pollers > kSharedFrom;
  switch (site.word_memory) {
    case WordMemory::pinned_host:
      if (!shared) return range_of(known::kHostLines, 1, 1, "measured: interference.h200.json, blocks_host_lines");
      return range_of(known::kHostWord, pollers, pollers > known::kCongestedFrom ? known::kHostWordSpread : 1,
                      "measured: interference.h200.json, blocks_host_one, and threads.h200.json");
    case WordMemory::peer_device:
      if (!shared) return range_of(known::kPeerLines, 1, 1, "measured: interference_peer.h200x2.json, peer_peer_lines");
      return range_of(known::kPeerWord, pollers, 1, "measured: interference_peer.h200x2.json, peer_peer_one");
    default:
      break;
  }
  if (!shared) return range_of(known::kDeviceLines, 1, 1, "measured: interference.h200.json, blocks_device_lines");
  return range_of(known::kDeviceWord, pollers, 1, "measured: interference.h200.json, blocks_device_one and many");
}

}  // namespace wicprof::analyzer
