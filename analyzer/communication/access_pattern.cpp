#include "analyzer/communication/access_pattern.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "analyzer/communication/access_pattern_words.h"

namespace wicprof::analyzer {
namespace {

namespace words = pattern_evidence;

// Thresholds and confidences are not calibrated; tests/analyzer/classify_property_test.cpp checks the answers that
// follow from them.

/// Fewer messages than this show no order.
constexpr std::size_t kMinMessages = 6;
/// The number of messages that halves the confidence.
constexpr double kPriorMessages = 3;
/// Least share of the bytes for "mostly": with known places, in irregular pieces, in regular pieces.
constexpr double kMostly = 0.5;

/// A stream repeats its ranges if the previous iteration sent this share of its messages, and each range occurs twice.
constexpr double kRepeated = 0.35;
/// The whole repeats from this share of the bytes in repeating streams on, and moves up to that share.
constexpr double kFixed = 0.7, kMoving = 0.3;

// Repeated ranges, by their share of the data.
/// Up to this share repeated ranges may be borders: halos are thin.
constexpr double kBorder = 0.55;
/// A thin border even without touching ranges, in both directions or in one.
constexpr double kThinBothWays = 0.4, kThinOneWay = 0.3;
/// Above this share, repeated ranges are all of the data; up to kTouching, touching ranges are still borders.
constexpr double kNearlyAll = 0.9, kTouching = 0.8;
/// Dense pieces are scatter-gather from this share of the data on, and if they fill this share of their range; the
/// pieces of a halo across rows do not.
constexpr double kDenseShare = 0.3, kDenseFill = 0.3;
/// The directions alternate at least this often.
constexpr std::size_t kAlternations = 4;
/// A whole that each iteration sends in this many contiguous parts.
constexpr std::size_t kStreamedParts = 3;
constexpr double kStreamedContiguous = 0.6, kStreamedShare = 0.75;

// Moving ranges.
constexpr std::size_t kMinMoves = 3;
/// Share of the moves in one direction that makes a stream, and below which there is no order.
constexpr double kInOrder = 0.9, kNoOrder = 0.75;
/// A stream that wraps more often than each third move must be contiguous for nine tenths of its moves.
constexpr std::size_t kMovesPerWrap = 3, kContiguousTenths = 9;
/// An exchange with alternating partners repeats half of its messages, at a distance for each four moves at most.
constexpr double kPartnersRepeated = 0.5;
constexpr std::size_t kMovesPerDistance = 4;
/// Random: at least this many moves, half of them with distinct distances, and few repeated ranges.
constexpr std::size_t kRandomMoves = 12, kRandomMovesPerDistance = 2;
constexpr double kRandomRepeated = 0.3;
/// With fewer messages than this, an exchange among few places is less certain.
constexpr double kWhole = 0.98;

double prior(std::size_t n) { return static_cast<double>(n) / (static_cast<double>(n) + kPriorMessages); }

struct Weighed {
  double part = 0, whole = 0;
  void add(double weight, bool counts) {
    whole += weight;
    if (counts) part += weight;
  }
  double share() const { return whole == 0 ? 0 : part / whole; }
};

bool one_piece(const Place& place) { return place.pieces == 1; }

/// Distinct ranges each way, by their begins.
struct Ranges {
  std::vector<Place> forth, back;
};

Ranges distinct_ranges(const std::vector<Access>& accesses) {
  Ranges ranges;
  for (const Access& a : accesses) (a.back ? ranges.back : ranges.forth).push_back(a.place);
  for (std::vector<Place>* list : {&ranges.forth, &ranges.back}) {
    std::sort(list->begin(), list->end(), [](const Place& a, const Place& b) { return range_key(a) < range_key(b); });
    list->erase(std::unique(list->begin(), list->end(),
                            [](const Place& a, const Place& b) { return range_key(a) == range_key(b); }),
                list->end());
  }
  return ranges;
}

// Whether a range of one direction begins where one of the other ends: as a whole, or piece by piece.
bool touch(const Ranges& ranges) {
  const auto meets = [](const std::vector<Place>& a, const std::vector<Place>& b) {
    for (const Place& p : a) {
      const std::uint64_t piece = p.pieces == 0 ? 0 : p.bytes / p.pieces;
      for (const std::uint64_t at : {p.end(), p.offset + piece}) {
        const auto found =
            std::lower_bound(b.begin(), b.end(), at, [](const Place& x, std::uint64_t v) { return x.offset < v; });
        if (found != b.end() && found->offset == at && (at == p.end() || found->pieces == p.pieces)) return true;
      }
    }
    return false;
  };
  return meets(ranges.forth, ranges.back) || meets(ranges.back, ranges.forth);
}

// How often the direction changes along the data.
std::size_t alternations(const Ranges& ranges) {
  std::vector<std::pair<std::uint64_t, bool>> at;
  for (const Place& p : ranges.forth) at.emplace_back(p.offset, false);
  for (const Place& p : ranges.back) at.emplace_back(p.offset, true);
  std::sort(at.begin(), at.end());
  std::size_t changes = 0;
  for (std::size_t i = 1; i < at.size(); ++i) changes += at[i].second != at[i - 1].second ? 1 : 0;
  return changes;
}

bool dense(const Ranges& ranges) {
  double bytes = 0, spanned = 0;
  for (const std::vector<Place>* list : {&ranges.forth, &ranges.back}) {
    std::uint64_t low = ~std::uint64_t{0}, high = 0;
    for (const Place& place : *list) {
      if (one_piece(place)) continue;
      bytes += place.bytes;
      low = std::min(low, place.offset);
      high = std::max(high, place.end());
    }
    if (high > low) spanned += static_cast<double>(high - low);
  }
  return bytes >= kDenseFill * spanned;
}

class PatternFinder {
 public:
  PatternFinder(const std::vector<Access>& accesses, const Exchanged& whole, double seen, bool iterations_known)
      : accesses_(accesses), whole_(whole), seen_(seen), iterations_known_(iterations_known) {}

  PatternAnswer run() {
    if (accesses_.size() < kMinMessages) return unknown(words::too_few_messages(accesses_.size(), kMinMessages));
    Weighed placed, irregular, pieced;
    for (const Access& a : accesses_) {
      placed.add(a.place.bytes, a.place.pieces > 0);
      irregular.add(a.place.bytes, a.place.pieces > 1 && !a.place.regular);
      pieced.add(a.place.bytes, a.place.pieces > 1 && a.place.regular);
    }
    if (placed.share() < kMostly) return judge_amounts();
    if (irregular.share() >= kMostly) return judge_irregular(irregular);
    doubt_ = 1 - irregular.share();
    streams_ = stream_facts(accesses_);
    Weighed fixed;
    for (const StreamFacts& stream : streams_) fixed.add(stream.bytes, repeats(stream));
    if (fixed.share() >= kFixed) return judge_repeated_ranges(pieced.share());
    if (fixed.share() <= kMoving) return judge_moving_ranges(pieced.share());
    return unknown(words::some_streams_repeat(fixed.share()));
  }

 private:
  static PatternAnswer unknown(std::string sentence) { return {Pattern::unknown, 0, std::move(sentence)}; }
  PatternAnswer answer(Pattern pattern, double confidence, std::string sentence) const {
    return {pattern, std::clamp(confidence * doubt_, 0.0, 1.0) * prior(accesses_.size()), std::move(sentence)};
  }

  bool repeats(const StreamFacts& stream) const {
    return stream.repeated >= kRepeated * seen_ && stream.ranges * 2 <= stream.messages;
  }

  PatternAnswer judge_amounts() const {
    double sum = 0, squares = 0;
    for (const Access& a : accesses_) {
      sum += a.place.bytes;
      squares += static_cast<double>(a.place.bytes) * a.place.bytes;
    }
    const auto n = static_cast<double>(accesses_.size());
    const double mean = sum / n;
    return unknown(words::amounts_only(mean, std::sqrt(std::max(0.0, squares / n - mean * mean)) / mean));
  }

  PatternAnswer judge_irregular(const Weighed& irregular) const {
    std::uint64_t pieces = 0;
    for (const Access& a : accesses_) pieces += a.place.pieces;
    const double mean_bytes = pieces == 0 ? 0 : irregular.whole / static_cast<double>(pieces);
    return answer(Pattern::random, 0.5 + 0.5 * irregular.share(),
                  words::irregular_pieces(irregular.share(), pieces, accesses_.size(), mean_bytes));
  }

  // --- the same ranges every iteration

  PatternAnswer judge_repeated_ranges(double pieced) const {
    const Ranges ranges = distinct_ranges(accesses_);
    const StreamFacts all = total(streams_);
    const double share = whole_.share();
    const std::string same = words::repeated_ranges(ranges.forth.size() + ranges.back.size(), share);
    const bool both = !ranges.forth.empty() && !ranges.back.empty();
    // Repetition in every iteration raises the confidence, as far as the trace holds the messages.
    const double sure = 0.75 + 0.25 * std::min(1.0, all.repeated / std::max(0.1, seen_));
    if (pieced >= kMostly && share >= kDenseShare && dense(ranges)) {
      return answer(Pattern::scatter_gather, 0.9 * sure, same + "; " + words::dense_pieces(pieced));
    }
    if (share <= kBorder) {
      if (both && touch(ranges)) {
        return answer(Pattern::adjacent, 0.98 * sure,
                      same + "; the ranges of one direction begin where those of the other end");
      }
      // Few bytes in one place, but not necessarily at a border.
      if (share <= (both ? kThinBothWays : kThinOneWay)) {
        return answer(Pattern::adjacent, (both ? 0.8 : 0.7) * sure, same);
      }
      return unknown(same + ": either a border or a part that is sent repeatedly");
    }
    const auto within =
        all.steps == 0 ? 0.0 : static_cast<double>(all.contiguous_steps) / static_cast<double>(all.steps);
    if (pieced >= kMostly) {
      return answer(Pattern::scatter_gather, 0.9 * sure, same + "; " + words::regular_pieces(pieced));
    }
    if (both && alternations(ranges) >= kAlternations) {
      return answer(Pattern::scatter_gather, 0.85 * sure,
                    same + "; " + words::alternating_ranges(alternations(ranges)));
    }
    if (all.most_per_unit >= kStreamedParts && within >= kStreamedContiguous * seen_ && share > kStreamedShare) {
      return answer(Pattern::streaming, 0.75 * sure, same + "; " + words::contiguous_messages(within));
    }
    if (both && share <= kTouching && touch(ranges)) {
      return answer(Pattern::adjacent, 0.6 * sure, same + "; they touch at a border");
    }
    if (both && share > kNearlyAll) {
      return answer(Pattern::scatter_gather, 0.6 * sure, same + "; each side sends all of its data");
    }
    return unknown(same + ": either a border or a whole that is sent repeatedly");
  }

  // --- ranges that change from iteration to iteration

  PatternAnswer judge_moving_ranges(double pieced) const {
    const StreamFacts all = total(streams_);
    double order = 0, bytes = 0;
    for (const StreamFacts& s : streams_) {
      order += s.order() * s.bytes;
      bytes += s.bytes;
    }
    order /= bytes;
    const std::size_t moves = all.up + all.down;
    if (moves + all.steps < kMinMoves) return unknown(words::too_few_moves(all));
    if (pieced >= kMostly && widely_spread()) {
      return answer(Pattern::scatter_gather, 0.9, words::spread_pieces(pieced, all));
    }
    const bool few_wraps = all.wraps * kMovesPerWrap <= moves;
    const bool contiguous = all.contiguous + all.wraps >= moves * kContiguousTenths / 10;
    if (moves >= kMinMoves && order >= kInOrder && (few_wraps || contiguous)) {
      return answer(Pattern::streaming, 0.8 + 0.2 * order, words::continuing_ranges(order, all));
    }
    if (pieced >= kMostly) return answer(Pattern::scatter_gather, 0.8, words::moving_pieces(pieced));
    const std::string places = words::moving_ranges(order, all);
    if (!iterations_known_) return unknown(places + "; the trace does not show which of them belong to one iteration");
    if (all.ever_repeated >= kPartnersRepeated && all.distances * kMovesPerDistance <= moves) {
      return answer(Pattern::scatter_gather, seen_ >= kWhole ? 0.75 : 0.5,
                    places + "; " + words::few_distances(all.distances));
    }
    if (order < kNoOrder && all.distances * kRandomMovesPerDistance >= moves && moves >= kRandomMoves &&
        all.ever_repeated < kRandomRepeated) {
      return answer(Pattern::random, 0.8, places + "; " + words::many_distances(all.distances, moves));
    }
    return unknown(places + ": neither ordered nor random");
  }

  // Whether in most of the pieced bytes, gaps take at least a quarter of the span.
  bool widely_spread() const {
    Weighed sparse;
    for (const Access& a : accesses_) {
      if (!one_piece(a.place)) sparse.add(a.place.bytes, a.place.span * 3 >= std::uint64_t{a.place.bytes} * 4);
    }
    return sparse.share() >= kMostly;
  }

  const std::vector<Access>& accesses_;
  const Exchanged whole_;
  const double seen_;
  const bool iterations_known_;
  double doubt_ = 1;  // lowers the confidence by the share of irregular pieces
  std::vector<StreamFacts> streams_;
};

}  // namespace

Exchanged exchanged(std::vector<Place> places) {
  Exchanged result;
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return std::pair(a.offset, ~a.span) < std::pair(b.offset, ~b.span); });
  std::uint64_t reached = 0;  // everything before is counted
  const Place* before = nullptr;
  for (const Place& place : places) {
    if (place.pieces == 0) continue;
    result.extent = std::max(result.extent, place.end());
    if (before != nullptr && range_key(*before) == range_key(place)) continue;
    before = &place;
    if (place.pieces == 1) {
      if (place.end() > reached) result.bytes += place.end() - std::max(place.offset, reached);
      reached = std::max(reached, place.end());
    } else if (place.end() > reached) {
      result.bytes += place.bytes;
    }
  }
  result.bytes = std::min(result.bytes, result.extent);
  return result;
}

PatternAnswer find_pattern(const std::vector<Access>& accesses, const Exchanged& whole, double seen,
                           bool iterations_known) {
  return PatternFinder(accesses, whole, seen, iterations_known).run();
}

}  // namespace wicprof::analyzer
