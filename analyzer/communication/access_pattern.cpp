#include "analyzer/communication/access_pattern.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Fewer messages than this show no order.
constexpr std::size_t kMinMessages = 6;
/// How many messages weigh as much as having seen none.
constexpr double kPriorMessages = 3;
/// Halos are thin: beyond this part of the data, exchanged over and over, it is no longer a border.
constexpr double kBorder = 0.55;

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

auto key_of(const Place& p) { return std::tuple(p.offset, p.span, p.bytes, p.pieces); }

/// What one stream's ranges do from iteration to iteration.
struct StreamFacts {
  double bytes = 0;
  std::size_t messages = 0, ranges = 0;  ///< ranges: distinct ones
  double again = 0;                      ///< the share of messages whose range was sent in the iteration before
  double ever_again = 0;                 ///< the share whose range was sent before at all
  std::size_t up = 0, down = 0, wraps = 0, goes_on = 0, steps = 0;  ///< of the iterations' ranges
  std::size_t on_within = 0, steps_within = 0;                      ///< of the messages within an iteration, in time
  std::size_t most_in_unit = 0;
  std::size_t jumps = 0;  ///< distinct distances from one iteration's range to the next's
  std::uint64_t lowest = ~std::uint64_t{0}, highest = 0;

  bool fixed(double seen) const { return again >= 0.35 * seen && ranges * 2 <= messages; }
  double order() const {
    const auto ahead = static_cast<double>(std::max(up, down - std::min(down, wraps)));
    const auto all = static_cast<double>(up + down - std::min(down, wraps));
    return all == 0 ? 0 : ahead / all;
  }
};

class Analysis {
 public:
  Analysis(const std::vector<Access>& accesses, const Exchanged& whole, double seen, bool iterations_known)
      : accesses_(accesses), whole_(whole), seen_(seen), iterations_known_(iterations_known) {}

  PatternAnswer run() {
    if (accesses_.size() < kMinMessages) {
      return unknown(fmt::format("{} with a known place; at least {} are needed", count_of(accesses_.size(), "message"),
                                 kMinMessages));
    }
    Weighed placed, irregular, pieced;
    for (const Access& a : accesses_) {
      placed.add(a.place.bytes, a.place.pieces > 0);
      irregular.add(a.place.bytes, a.place.pieces > 1 && !a.place.regular);
      pieced.add(a.place.bytes, a.place.pieces > 1 && a.place.regular);
    }
    if (placed.share() < 0.5) return by_amounts();
    if (irregular.share() >= 0.5) {
      const double bytes_a_piece = pieces() == 0 ? 0 : irregular.whole / pieces();
      return answer(
          Pattern::random, 0.5 + 0.5 * irregular.share(),
          fmt::format("{} of the bytes lie in pieces of no regular form ({} in {}, {:.0f} bytes each on average)",
                      format_percent(irregular.share()), count_of(static_cast<std::uint64_t>(pieces()), "piece"),
                      count_of(accesses_.size(), "message"), bytes_a_piece));
    }
    doubt_ = 1 - irregular.share();
    learn_streams();
    Weighed fixed;
    for (const StreamFacts& stream : streams_) fixed.add(stream.bytes, stream.fixed(seen_));
    if (fixed.share() >= 0.7) return by_fixed_ranges(pieced.share());
    if (fixed.share() <= 0.3) return by_moving_ranges(pieced.share());
    return unknown(fmt::format("some sites send the same ranges again ({} of the bytes), others do not",
                               format_percent(fixed.share())));
  }

 private:
  static PatternAnswer unknown(std::string words) { return {Pattern::unknown, 0, std::move(words)}; }
  PatternAnswer answer(Pattern pattern, double confidence, std::string words) const {
    return {pattern, std::clamp(confidence * doubt_, 0.0, 1.0) * prior(accesses_.size()), std::move(words)};
  }

  double pieces() const {
    double sum = 0;
    for (const Access& a : accesses_) sum += a.place.pieces;
    return sum;
  }

  // Only amounts are known.
  PatternAnswer by_amounts() const {
    double sum = 0, squares = 0;
    for (const Access& a : accesses_) {
      sum += a.place.bytes;
      squares += static_cast<double>(a.place.bytes) * a.place.bytes;
    }
    const auto n = static_cast<double>(accesses_.size());
    const double mean = sum / n;
    const double spread = std::sqrt(std::max(0.0, squares / n - mean * mean)) / mean;
    return unknown(
        fmt::format("the messages do not say where in the data they lie, only how large they are ({:.0f} bytes on "
                    "average, spread {})",
                    mean, format_percent(spread)));
  }

  void learn_streams() {
    std::vector<std::uint32_t> order(accesses_.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return std::tie(accesses_[a].stream, accesses_[a].unit) < std::tie(accesses_[b].stream, accesses_[b].unit);
    });
    for (std::size_t begin = 0, end; begin < order.size(); begin = end) {
      for (end = begin + 1; end < order.size() && stream(order[end]) == stream(order[begin]); ++end) {
      }
      std::vector<std::uint32_t> members(order.begin() + static_cast<std::ptrdiff_t>(begin),
                                         order.begin() + static_cast<std::ptrdiff_t>(end));
      streams_.push_back(facts_of(members));
    }
  }
  std::uint32_t stream(std::uint32_t i) const { return accesses_[i].stream; }

  // `members` in order of iteration, then time.
  StreamFacts facts_of(std::vector<std::uint32_t>& members) const {
    StreamFacts facts;
    facts.messages = members.size();
    for (const std::uint32_t i : members) {
      const Place& place = accesses_[i].place;
      facts.bytes += place.bytes;
      facts.lowest = std::min(facts.lowest, place.offset);
      facts.highest = std::max(facts.highest, place.end());
    }
    learn_moves(members, facts);
    std::stable_sort(members.begin(), members.end(), [&](std::uint32_t a, std::uint32_t b) {
      const Access &x = accesses_[a], &y = accesses_[b];
      return std::tuple_cat(key_of(x.place), std::tuple(x.unit)) < std::tuple_cat(key_of(y.place), std::tuple(y.unit));
    });
    std::size_t again = 0, ever = 0;
    std::uint32_t first_unit = ~0u;
    for (const std::uint32_t i : members) first_unit = std::min(first_unit, accesses_[i].unit);
    std::size_t later = 0;
    for (std::size_t k = 0; k < members.size(); ++k) {
      const Access& now = accesses_[members[k]];
      if (now.unit != first_unit) ++later;
      if (k == 0 || key_of(accesses_[members[k - 1]].place) != key_of(now.place)) {
        ++facts.ranges;
        continue;
      }
      const Access& before = accesses_[members[k - 1]];
      ++ever;
      if (now.unit - before.unit == 1) ++again;
    }
    facts.again = later == 0 ? 0 : static_cast<double>(again) / static_cast<double>(later);
    facts.ever_again = static_cast<double>(ever) / static_cast<double>(members.size());
    return facts;
  }

  // How the range that an iteration covers moves from one to the next.
  void learn_moves(const std::vector<std::uint32_t>& members, StreamFacts& facts) const {
    std::uint64_t low = 0, high = 0;
    bool any = false;
    std::vector<std::int64_t> jumps;
    const std::uint64_t reach = facts.highest - facts.lowest;
    for (std::size_t begin = 0, end; begin < members.size(); begin = end) {
      std::uint64_t lo = ~std::uint64_t{0}, hi = 0;
      for (end = begin; end < members.size() && accesses_[members[end]].unit == accesses_[members[begin]].unit; ++end) {
        const Place& place = accesses_[members[end]].place;
        lo = std::min(lo, place.offset);
        hi = std::max(hi, place.end());
        if (end == begin) continue;
        ++facts.steps_within;
        const Place& before = accesses_[members[end - 1]].place;
        if (place.offset == before.end()) ++facts.on_within;
      }
      facts.most_in_unit = std::max(facts.most_in_unit, end - begin);
      if (any && (lo != low || hi != high)) {
        ++facts.steps;
        if (lo == high) ++facts.goes_on;
        const bool at_top = low - facts.lowest >= reach / 2, at_bottom = lo - facts.lowest <= reach / 4;
        if (lo > low) ++facts.up;
        if (lo < low) ++facts.down;
        if (lo < low && at_top && at_bottom) ++facts.wraps;
        jumps.push_back(static_cast<std::int64_t>(lo - low));
      }
      low = lo;
      high = hi;
      any = true;
    }
    std::sort(jumps.begin(), jumps.end());
    facts.jumps = static_cast<std::size_t>(std::unique(jumps.begin(), jumps.end()) - jumps.begin());
  }

  StreamFacts total() const {
    StreamFacts sum;
    for (const StreamFacts& s : streams_) {
      sum.messages += s.messages;
      sum.ranges += s.ranges;
      sum.up += s.up;
      sum.down += s.down;
      sum.wraps += s.wraps;
      sum.goes_on += s.goes_on;
      sum.steps += s.steps;
      sum.on_within += s.on_within;
      sum.steps_within += s.steps_within;
      sum.jumps += s.jumps;
      sum.again += s.again * s.bytes;
      sum.ever_again += s.ever_again * static_cast<double>(s.messages);
      sum.bytes += s.bytes;
      sum.most_in_unit = std::max(sum.most_in_unit, s.most_in_unit);
    }
    sum.again /= sum.bytes;
    sum.ever_again /= static_cast<double>(sum.messages);
    return sum;
  }

  // --- the same ranges every iteration

  struct Ranges {
    std::vector<Place> forth, back;
  };
  Ranges distinct_ranges() const {
    Ranges ranges;
    for (const Access& a : accesses_) (a.back ? ranges.back : ranges.forth).push_back(a.place);
    for (std::vector<Place>* list : {&ranges.forth, &ranges.back}) {
      std::sort(list->begin(), list->end(), [](const Place& a, const Place& b) { return key_of(a) < key_of(b); });
      list->erase(std::unique(list->begin(), list->end(),
                              [](const Place& a, const Place& b) { return key_of(a) == key_of(b); }),
                  list->end());
    }
    return ranges;
  }

  // Where one side's data ends, the other's begins: as ranges, or piece by piece.
  static bool touch(const Ranges& ranges) {
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

  // How often, along the data, what goes forth and what goes back take turns.
  static std::size_t turns(const Ranges& ranges) {
    std::vector<std::pair<std::uint64_t, bool>> at;
    for (const Place& p : ranges.forth) at.emplace_back(p.offset, false);
    for (const Place& p : ranges.back) at.emplace_back(p.offset, true);
    std::sort(at.begin(), at.end());
    std::size_t turns = 0;
    for (std::size_t i = 1; i < at.size(); ++i) turns += at[i].second != at[i - 1].second ? 1 : 0;
    return turns;
  }

  PatternAnswer by_fixed_ranges(double pieced) const {
    const Ranges ranges = distinct_ranges();
    const StreamFacts all = total();
    const std::size_t count = ranges.forth.size() + ranges.back.size();
    const double share = whole_.share();
    const std::string same =
        fmt::format("the same {} again in every iteration, {} of the data (as far as messages show its size)",
                    count_of(count, "range"), format_percent(share));
    const bool both = !ranges.forth.empty() && !ranges.back.empty();
    const double sure = 0.75 + 0.25 * std::min(1.0, all.again / std::max(0.1, seen_));
    if (pieced >= 0.5 && share >= 0.3 && dense(ranges)) {
      return answer(
          Pattern::scatter_gather, 0.9 * sure,
          same + fmt::format("; {} of the bytes in regular pieces close to each other", format_percent(pieced)));
    }
    if (share <= kBorder) {
      if (both && touch(ranges)) {
        return answer(Pattern::adjacent, 0.98 * sure, same + "; where one side's end, the other's begin");
      }
      // Thin and at one place, but nothing shows that it is a border.
      if (share <= (both ? 0.4 : 0.3)) return answer(Pattern::adjacent, (both ? 0.8 : 0.7) * sure, same);
      return unknown(same + ": as well a border as a part that is sent again");
    }
    const auto within =
        all.steps_within == 0 ? 0.0 : static_cast<double>(all.on_within) / static_cast<double>(all.steps_within);
    if (pieced >= 0.5) {
      return answer(Pattern::scatter_gather, 0.9 * sure,
                    same + fmt::format("; {} of the bytes in regular pieces", format_percent(pieced)));
    }
    if (both && turns(ranges) >= 4) {
      return answer(
          Pattern::scatter_gather, 0.85 * sure,
          same + fmt::format("; what goes forth and what goes back take turns {} times along it", turns(ranges)));
    }
    if (all.most_in_unit >= 3 && within >= 0.6 * seen_ && share > 0.75) {
      return answer(Pattern::streaming, 0.75 * sure,
                    same + fmt::format("; within an iteration, {} of the messages go on where the one before ends",
                                       format_percent(within)));
    }
    if (both && share <= 0.8 && touch(ranges))
      return answer(Pattern::adjacent, 0.6 * sure, same + "; they touch at a border");
    if (both && share > 0.9) {
      return answer(Pattern::scatter_gather, 0.6 * sure, same + "; each side hands over all that it has");
    }
    return unknown(same + ": as well a border as a whole that is sent again");
  }

  // --- ranges that change from iteration to iteration

  PatternAnswer by_moving_ranges(double pieced) const {
    const StreamFacts all = total();
    double order = 0, bytes = 0;
    for (const StreamFacts& s : streams_) {
      order += s.order() * s.bytes;
      bytes += s.bytes;
    }
    order /= bytes;
    const std::size_t moves = all.up + all.down;
    if (moves + all.steps_within < 3) {
      return unknown(fmt::format("{} in {}: too few to see an order", count_of(all.ranges, "range"),
                                 count_of(all.messages, "message")));
    }
    // Pieces from all over the data, which never are the same range.
    if (pieced >= 0.5 && widely_spread()) {
      return answer(
          Pattern::scatter_gather, 0.9,
          fmt::format("{} of the bytes in regular pieces with gaps between them, {} in {}", format_percent(pieced),
                      count_of(all.ranges, "range"), count_of(all.messages, "message")));
    }
    const bool few_passes = all.wraps * 3 <= moves;
    if (moves >= 3 && order >= 0.9 && (few_passes || all.goes_on + all.wraps >= moves * 9 / 10)) {
      const auto on = static_cast<double>(all.goes_on) / static_cast<double>(std::max<std::size_t>(1, all.steps));
      return answer(
          Pattern::streaming, 0.8 + 0.2 * order,
          fmt::format("ranges go on through the data: {} of {} moves lead the same way, {} begin where the one "
                      "before ends; {} from the beginning again; {} different ranges in {}",
                      format_percent(order), format_count(moves - std::min(moves, all.wraps)), format_percent(on),
                      count_of(all.wraps, "time"), format_count(all.ranges), count_of(all.messages, "message")));
    }
    if (pieced >= 0.5) {
      return answer(Pattern::scatter_gather, 0.8,
                    fmt::format("{} of the bytes in regular pieces, at places that change", format_percent(pieced)));
    }
    const std::string places = fmt::format("{} in {}, {} of which lead the same way", count_of(all.ranges, "range"),
                                           count_of(all.messages, "message"), format_percent(order));
    if (!iterations_known_) return unknown(places + "; which of them belong to one iteration is not known");
    // The same places over and over, at few distances from each other: an exchange with partners in turn.
    if (all.ever_again >= 0.5 && all.jumps * 4 <= moves) {
      return answer(Pattern::scatter_gather, seen_ >= 0.98 ? 0.75 : 0.5,
                    places + fmt::format("; at {} distances only, and each again and again", all.jumps));
    }
    if (order < 0.75 && all.jumps * 2 >= moves && moves >= 12 && all.ever_again < 0.3) {
      return answer(
          Pattern::random, 0.8,
          places + fmt::format("; {} different distances in {} moves", format_count(all.jumps), format_count(moves)));
    }
    return unknown(places + ": neither in order nor without any");
  }

  // Together, pieces take a good part of the room that they are spread over; those of a halo across rows do not.
  static bool dense(const Ranges& ranges) {
    double bytes = 0, room = 0;
    for (const std::vector<Place>* list : {&ranges.forth, &ranges.back}) {
      std::uint64_t low = ~std::uint64_t{0}, high = 0;
      for (const Place& place : *list) {
        if (one_piece(place)) continue;
        bytes += place.bytes;
        low = std::min(low, place.offset);
        high = std::max(high, place.end());
      }
      if (high > low) room += static_cast<double>(high - low);
    }
    return bytes >= 0.3 * room;
  }

  // The gaps between pieces take at least a quarter of the room.
  bool widely_spread() const {
    Weighed sparse;
    for (const Access& a : accesses_) {
      if (!one_piece(a.place)) sparse.add(a.place.bytes, a.place.span * 3 >= std::uint64_t{a.place.bytes} * 4);
    }
    return sparse.share() >= 0.5;
  }

  const std::vector<Access>& accesses_;
  const Exchanged whole_;
  const double seen_;
  const bool iterations_known_;
  double doubt_ = 1;
  std::vector<StreamFacts> streams_;
};

}  // namespace

Exchanged exchanged(std::vector<Place> places) {
  Exchanged result;
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return std::pair(a.offset, ~a.span) < std::pair(b.offset, ~b.span); });
  std::uint64_t reached = 0;  // everything before is counted already
  const Place* before = nullptr;
  for (const Place& place : places) {
    if (place.pieces == 0) continue;
    result.extent = std::max(result.extent, place.end());
    if (before != nullptr && key_of(*before) == key_of(place)) continue;
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
  return Analysis(accesses, whole, seen, iterations_known).run();
}

}  // namespace wicprof::analyzer
