#include "analyzer/communication/access_pattern.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "analyzer/communication/access_pattern_words.h"

namespace wicprof::analyzer {
namespace {

namespace words = pattern_evidence;

// No threshold is fitted by itself. They were chosen on the made programs that serve to improve; the answers that
// follow are judged on others (bench_classification_made, docs/truth.md).

/// Fewer messages than this show no order.
constexpr std::size_t kMinMessages = 6;
/// The number of messages that halves the confidence.
constexpr double kPriorMessages = 3;
/// Least share of the bytes for "mostly": with known places, in irregular pieces, in regular pieces.
constexpr double kMostly = 0.5;

/// Ranges are few if each occurs this often on average.
constexpr std::size_t kOften = 3;
/// The data is sent again if each range occurs this often on average.
constexpr std::size_t kAgain = 2;
/// Up to this share of the data, few ranges may be borders: halos are thin.
constexpr double kBorder = 0.55;
/// Ranges of two directions are beside each other if both together span at most this share of the data.
constexpr double kBeside = 0.15;
/// The same where only one side sends, or the ranges only lie beside each other.
constexpr double kThinOneWay = 0.3;
/// What touching ranges are worth beyond that share: blocks that change partners may touch, too, beside a range that
/// was sent once.
constexpr double kThickBorder = 0.8;
/// Regular pieces from all over the data hold at least this share of it.
constexpr double kDenseShare = 0.3;
/// Columns are at a border if this share of their bytes is in columns that touch one of the other direction.
constexpr double kInTouch = 0.9;
/// Ranges are at borders if this share of them, with those that they continue, touches ranges of the other direction.
/// Parts in a ring touch at one of their two borders only.
constexpr double kTouching = 0.4;
/// So many messages make a direction count for borders.
constexpr std::size_t kMinSide = 3;
/// The directions alternate at least this often.
constexpr std::size_t kAlternations = 4;
/// A whole that each iteration sends in several contiguous parts.
constexpr double kStreamedShare = 0.75;
/// A stream: this share of the bytes in long passes, of which this share advances.
constexpr double kInLongPasses = 0.6, kInOrder = 0.9;
/// The same where all data is sent again and again: an exchange with changing partners advances, too, in part.
constexpr double kInWholePasses = 0.85;
/// The number of ranges, sent again and again, that halves the confidence.
constexpr std::size_t kPriorRanges = 4;
/// Random: this share of the messages in stretches without order.
constexpr double kJumping = 0.8;
/// A grid is small if it has at most so many places per message.
constexpr std::uint64_t kGridPerMessage = 2;
/// In a stream that is sent again, this share of the ranges continues the one before. Otherwise an exchange of blocks,
/// whose partners change, may advance by chance.
constexpr double kContinuing = 0.5;
/// Data counts as sent again, in part, if at most this share of the ranges are new ones. In so few iterations, an
/// exchange of blocks has not shown yet that its partners change.
constexpr double kNewRanges = 0.8;
constexpr std::size_t kFewIterations = 4;
/// What streaming and random are worth at most where such an exchange looks the same.
constexpr double kMaxOnGrid = 0.75;
/// An exchange with changing partners repeats this share of its ranges, at this many distances or more, for each four
/// moves at most.
constexpr double kPartnersRepeated = 0.5;
constexpr double kRangesAgain = 0.5, kUsualDistance = 0.6;
constexpr std::size_t kMinDistances = 3, kMaxDistances = 8, kMovesPerDistance = 4, kMinPartners = 8;
constexpr double kWhole = 0.98;
/// Overlaps of pieces count up to this many pieces, which take 16 MB.
constexpr std::size_t kMaxPieces = 1'000'000;

double prior(std::size_t n) { return static_cast<double>(n) / (static_cast<double>(n) + kPriorMessages); }

struct Weighed {
  double part = 0, whole = 0;
  void add(double weight, bool counts) {
    whole += weight;
    if (counts) part += weight;
  }
  double share() const { return whole == 0 ? 0 : part / whole; }
};

/// `intervals` by begin and end; sorts them.
std::uint64_t length_of_union(std::vector<std::pair<std::uint64_t, std::uint64_t>>& intervals) {
  std::sort(intervals.begin(), intervals.end());
  std::uint64_t length = 0, reached = 0;
  for (const auto& [begin, end] : intervals) {
    if (end <= std::max(begin, reached)) continue;
    length += end - std::max(begin, reached);
    reached = end;
  }
  return length;
}

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

/// Ranges that continue each other, as one.
struct Stretch {
  std::uint64_t begin = 0, end = 0;
  std::size_t ranges = 0;
};

std::vector<Stretch> joined(const std::vector<Place>& places) {
  std::vector<Stretch> stretches;
  for (const Place& place : places) {
    if (stretches.empty() || place.offset > stretches.back().end) stretches.push_back({place.offset, place.offset, 0});
    stretches.back().end = std::max(stretches.back().end, place.end());
    ++stretches.back().ranges;
  }
  return stretches;
}

/// The share of the ranges that lie, with those that they continue, beside ranges of the other direction.
double touching_share(const Ranges& ranges) {
  const std::vector<Stretch> forth = joined(ranges.forth), back = joined(ranges.back);
  std::size_t touching = 0;
  const auto add = [&](const std::vector<Stretch>& mine, const std::vector<Stretch>& others) {
    for (const Stretch& stretch : mine) {
      const bool touches = std::any_of(others.begin(), others.end(), [&](const Stretch& other) {
        return other.begin == stretch.end || other.end == stretch.begin;
      });
      if (touches) touching += stretch.ranges;
    }
  };
  add(forth, back);
  add(back, forth);
  return static_cast<double>(touching) / static_cast<double>(ranges.forth.size() + ranges.back.size());
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

// Whether no range of one direction overlaps one of the other: each side sends its own part of the data.
bool disjoint(const Ranges& ranges) {
  std::uint64_t forth_end = 0, back_end = 0;
  std::size_t f = 0, b = 0;
  while (f < ranges.forth.size() || b < ranges.back.size()) {
    const bool forth =
        b == ranges.back.size() || (f < ranges.forth.size() && ranges.forth[f].offset <= ranges.back[b].offset);
    const Place& place = forth ? ranges.forth[f++] : ranges.back[b++];
    if (place.offset < (forth ? back_end : forth_end)) return false;
    std::uint64_t& end = forth ? forth_end : back_end;
    end = std::max(end, place.end());
  }
  return true;
}

/// The distance from one piece to the next.
std::uint64_t stride_of(const Place& place) {
  if (place.pieces < 2) return 0;
  const std::uint64_t piece = place.bytes / place.pieces;
  return (place.span - std::min(place.span, piece)) / (place.pieces - 1);
}

/// The pieces of messages as columns of a table. A row is the shortest distance from one piece to the next.
struct Columns {
  double touching = 0;  ///< share of the bytes in columns that begin where a column of the other direction ends, or end
                        ///< where one begins
  double of_row = 0;    ///< share of a row that the columns of both directions cover
};

Columns columns_of(const Ranges& ranges) {
  std::uint64_t row = 0;
  for (const std::vector<Place>* list : {&ranges.forth, &ranges.back}) {
    for (const Place& place : *list) {
      if (const std::uint64_t stride = stride_of(place); stride > 0) row = row == 0 ? stride : std::min(row, stride);
    }
  }
  if (row == 0) return {};
  // The last row ends where the first one begins: the border of a periodic grid is there.
  const auto begin_of = [&](const Place& place) { return place.offset % row; };
  const auto width_of = [](const Place& place) { return std::uint64_t{place.bytes / std::max(1u, place.pieces)}; };
  const auto end_of = [&](const Place& place) { return (begin_of(place) + width_of(place)) % row; };
  const auto sorted = [](const std::vector<Place>& list, const auto& key) {
    std::vector<std::uint64_t> keys;
    for (const Place& place : list) keys.push_back(key(place));
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  Weighed touching;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> covered;
  const auto add = [&](const std::vector<Place>& mine, const std::vector<Place>& others) {
    const std::vector<std::uint64_t> begins = sorted(others, begin_of), ends = sorted(others, end_of);
    for (const Place& place : mine) {
      touching.add(place.bytes, std::binary_search(begins.begin(), begins.end(), end_of(place)) ||
                                    std::binary_search(ends.begin(), ends.end(), begin_of(place)));
      covered.emplace_back(begin_of(place), std::min(row, begin_of(place) + width_of(place)));
    }
  };
  add(ranges.forth, ranges.back);
  add(ranges.back, ranges.forth);
  return {touching.share(), static_cast<double>(length_of_union(covered)) / static_cast<double>(row)};
}

class PatternFinder {
 public:
  PatternFinder(const std::vector<Access>& accesses, const Exchanged& whole, double seen, Units units)
      : accesses_(accesses), whole_(whole), seen_(seen), units_(units) {}

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
    ranges_ = distinct_ranges(accesses_);
    all_ = total(streams_);
    if (pieced.share() >= kMostly) return judge_pieces(pieced.share());
    return judge_ranges();
  }

 private:
  static PatternAnswer unknown(std::string sentence) { return {Pattern::unknown, 0, std::move(sentence)}; }
  PatternAnswer answer(Pattern pattern, double confidence, std::string sentence) const {
    const double product = std::clamp(confidence * doubt_, 0.0, 1.0) * prior(accesses_.size());
    return {pattern, std::min(product, most_from(units())), std::move(sentence)};
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

  // --- several pieces per message, all of one length and distance

  PatternAnswer judge_pieces(double pieced) const {
    const double share = whole_.share();
    const std::string places = words::pieces(ranges_.forth.size() + ranges_.back.size(), share, pieced);
    const Columns columns = columns_of(ranges_);
    const bool touching = columns.touching >= kInTouch;
    if (touching && columns.of_row <= kBorder && share <= kBorder) {
      return answer(Pattern::adjacent, 0.95,
                    places + "; in each row, those of one direction begin where those of the other end");
    }
    if (share >= kDenseShare) return answer(Pattern::scatter_gather, 0.95, places);
    return unknown(places + ": either columns at a border or a part that is gathered");
  }

  // --- one range per message

  PatternAnswer judge_ranges() const {
    const double share = whole_.share();
    const std::size_t count = ranges_.forth.size() + ranges_.back.size();
    const std::size_t begins = distinct_begins();
    const bool few = kOften * begins <= accesses_.size(), again = kAgain * begins <= accesses_.size();
    const auto backs = static_cast<std::size_t>(
        std::count_if(accesses_.begin(), accesses_.end(), [](const Access& a) { return a.back; }));
    // A greeting or a result has no border.
    const bool both = std::min(backs, accesses_.size() - backs) >= kMinSide;
    if (few && both && share <= kBorder && touching_share(ranges_) >= kTouching && disjoint(ranges_)) {
      return answer(
          Pattern::adjacent, share <= kThinOneWay ? 0.98 : kThickBorder,
          words::few_ranges(count, share) + "; the ranges of one direction begin where those of the other end");
    }
    if (few && both && share <= kThinOneWay && side_by_side()) {
      return answer(Pattern::adjacent, 0.8,
                    words::few_ranges(count, share) + "; the ranges of one direction lie beside those of the other");
    }
    const double in_long_passes = again ? kInWholePasses : kInLongPasses;
    const bool advances = all_.long_passes >= in_long_passes * seen_ && all_.advancing >= kInOrder;
    if (advances && (!few || share > kStreamedShare)) {
      // Few ranges may be in order by chance.
      const double known =
          again ? static_cast<double>(all_.ranges) / static_cast<double>(all_.ranges + kPriorRanges) : 1;
      const double in_passes = std::min(1.0, all_.long_passes / seen_);
      const bool in_part_again = static_cast<double>(begins) <= kNewRanges * static_cast<double>(accesses_.size());
      const bool by_chance = all_.continuing < kContinuing || (units_ != Units::messages && units() < kFewIterations);
      const double most = in_part_again && by_chance ? kMaxOnGrid : 1;
      return answer(Pattern::streaming, std::min(most, (0.5 + 0.5 * all_.advancing * in_passes) * known),
                    words::advancing_ranges(all_));
    }
    // A pass begins again at the other end of the data, and that is no jump.
    const bool advances_in_part = all_.long_passes * all_.advancing >= kMostly;
    if (all_.jumping >= kJumping && !advances_in_part) {
      const double most = on_small_grid() ? kMaxOnGrid : 1;
      return answer(Pattern::random, std::min(most, 0.5 + 0.5 * all_.jumping), words::jumping_ranges(all_));
    }
    if (few) {
      if (!both && share <= kThinOneWay && one_interval_inside()) {
        return answer(Pattern::adjacent, 0.75, words::few_ranges(count, share) + ", side by side");
      }
      if (both && share > kBorder && disjoint(ranges_) && alternations(ranges_) >= kAlternations) {
        return answer(Pattern::scatter_gather, 0.9,
                      words::few_ranges(count, share) + "; " + words::alternating_ranges(alternations(ranges_)));
      }
      if (changing_partners()) return answer(Pattern::scatter_gather, 0.7, words::few_distances(all_.distances));
      return unknown(words::few_ranges(count, share) +
                     ": a border, a part or a whole that is sent repeatedly, or a buffer that is used again");
    }
    if (changing_partners()) return answer(Pattern::scatter_gather, 0.7, words::few_distances(all_.distances));
    return unknown(words::moving_ranges(all_) + ": neither ordered nor random");
  }

  /// Those with a message.
  std::size_t units() const {
    std::set<std::uint32_t> units;
    for (const Access& a : accesses_) units.insert(a.unit);
    return units.size();
  }

  /// All ranges have one length and lie at multiples of it, and there are hardly more such places than messages: an
  /// exchange whose partners change in an order that the records do not show would look the same.
  bool on_small_grid() const {
    const std::uint64_t length = accesses_.front().place.bytes;
    std::uint64_t extent = 0;
    for (const Access& a : accesses_) {
      if (a.place.bytes != length || length == 0 || a.place.offset % length != 0) return false;
      extent = std::max(extent, a.place.end());
    }
    return extent / length <= kGridPerMessage * accesses_.size();
  }

  /// Messages of any length at a few places use a buffer again.
  std::size_t distinct_begins() const {
    std::size_t begins = 0;
    for (const std::vector<Place>* list : {&ranges_.forth, &ranges_.back}) {
      for (std::size_t i = 0; i < list->size(); ++i) {
        begins += i == 0 || (*list)[i].offset != (*list)[i - 1].offset ? 1 : 0;
      }
    }
    return begins;
  }

  /// The ranges of one direction lie all below those of the other, and close to them.
  bool side_by_side() const {
    const auto ends = [](const std::vector<Place>& list) {
      std::uint64_t end = 0;
      for (const Place& place : list) end = std::max(end, place.end());
      return std::pair(list.front().offset, end);
    };
    const auto [forth, forth_end] = ends(ranges_.forth);
    const auto [back, back_end] = ends(ranges_.back);
    if (forth_end > back && back_end > forth) return false;
    const std::uint64_t hull = std::max(forth_end, back_end) - std::min(forth, back);
    return static_cast<double>(hull) <= kBeside * static_cast<double>(whole_.extent);
  }

  /// The ranges, all of one direction, lie side by side, and not at the beginning, where a buffer would.
  bool one_interval_inside() const {
    const std::vector<Place>& list = ranges_.forth.empty() ? ranges_.back : ranges_.forth;
    std::uint64_t reached = list.front().offset;
    if (reached == 0) return false;
    for (const Place& place : list) {
      if (place.offset > reached) return false;
      reached = std::max(reached, place.end());
    }
    return true;
  }

  /// Both directions use the same places: a buffer, or data that is changed in place.
  bool same_ranges() const {
    if (ranges_.forth.empty() || ranges_.back.empty()) return false;
    std::size_t same = 0;
    for (const Place& place : ranges_.forth) {
      const auto found = std::lower_bound(ranges_.back.begin(), ranges_.back.end(), place,
                                          [](const Place& a, const Place& b) { return range_key(a) < range_key(b); });
      same += found != ranges_.back.end() && range_key(*found) == range_key(place) ? 1 : 0;
    }
    return 2 * same >= std::min(ranges_.forth.size(), ranges_.back.size());
  }

  /// The places of an iteration are others than those of the one before, and lie at one of a few distances from them. A
  /// stream that begins again and again has one usual distance, the length of its pieces. Only the program's own
  /// iterations show changes of partners.
  bool changing_partners() const {
    const std::size_t moves = all_.up + all_.down;
    return units_ == Units::iterations && all_.repeated < kRangesAgain &&
           static_cast<double>(all_.usual_distance) <= kUsualDistance * static_cast<double>(moves) && seen_ >= kWhole &&
           all_.ranges >= kMinPartners && !same_ranges() && all_.ever_repeated >= kPartnersRepeated &&
           all_.distances >= kMinDistances && all_.distances <= kMaxDistances &&
           all_.distances * kMovesPerDistance <= moves;
  }

  const std::vector<Access>& accesses_;
  const Exchanged whole_;
  const double seen_;
  const Units units_;
  double doubt_ = 1;  // lowers the confidence by the share of irregular pieces
  std::vector<StreamFacts> streams_;
  StreamFacts all_;
  Ranges ranges_;
};

}  // namespace

Exchanged exchanged(std::vector<Place> places) {
  Exchanged result;
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return range_key(a) < range_key(b); });
  std::vector<std::pair<std::uint64_t, std::uint64_t>> covered;
  const Place* before = nullptr;
  for (const Place& place : places) {
    if (place.pieces == 0) continue;
    result.extent = std::max(result.extent, place.end());
    if (before != nullptr && range_key(*before) == range_key(place)) continue;
    before = &place;
    if (place.pieces == 1) {
      covered.emplace_back(place.offset, place.end());
    } else if (place.regular && covered.size() + place.pieces <= kMaxPieces) {
      const std::uint64_t stride = stride_of(place), piece = place.bytes / place.pieces;
      for (std::uint64_t k = 0; k < place.pieces; ++k) {
        covered.emplace_back(place.offset + k * stride, place.offset + k * stride + piece);
      }
    } else {
      result.bytes += place.bytes;
    }
  }
  result.bytes = std::min(result.bytes + length_of_union(covered), result.extent);
  return result;
}

PatternAnswer find_pattern(const std::vector<Access>& accesses, const Exchanged& whole, double seen, Units units) {
  return PatternFinder(accesses, whole, seen, units).run();
}

}  // namespace wicprof::analyzer
