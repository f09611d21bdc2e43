// The kinds of made programs: what varies from one communication program to another, and which kinds may be looked at.
//
// A kind is one choice of each field of Kind. Half of the kinds serve to improve the analyzer. The other half only
// judges it: nobody looks at their programs one by one, only at sums over all of them. half_of() is the rule. It was
// fixed before the analyzer had seen a made program, and it depends on nothing but the kind's name.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace wicprof::analyzer::made {

using Random = std::mt19937_64;
/// 0 to `count` - 1. std::uniform_int_distribution gives other numbers with another library.
inline std::uint32_t draw(Random& random, std::uint32_t count) { return static_cast<std::uint32_t>(random() % count); }
inline std::uint32_t draw(Random& random, std::uint32_t least, std::uint32_t most) {
  return least + draw(random, most - least + 1);
}
inline bool chance(Random& random, std::uint32_t percent) { return draw(random, 100) < percent; }

/// Who exchanges messages with whom.
enum class Graph { pair, ring, star, chain, all_to_all, random_graph };
/// What the parties are.
enum class Parties { devices, with_host, blocks_of_one_device };
/// How many messages a pair exchanges per iteration. one_way...: one of the two always sends.
enum class Amounts {
  one_way,
  one_way_varying,  ///< 0 to 6
  one_each,
  several_each,   ///< 1 to 8 each way, not one each
  many_each,      ///< 1 to 100 each way
  varying,        ///< 0 to 6 each way, independently
  both_or_none,   ///< one each, in some iterations
  phases,         ///< the same numbers each way through each third of the run
  batch_or_none,  ///< the same numbers each way, above one, in some iterations
};
/// How a word announces a message.
enum class Words {
  cycle_flags,    ///< two words in turn, each set to the message's number
  counter,        ///< one word counts the messages, and the receiver waits for each number
  batch_counter,  ///< one word counts the messages, and the receiver waits once per iteration, for the last one
  toggle,         ///< one word, 0 and 1 in turn
  reset,          ///< one word, set to 1 and cleared by the receiver
};
enum class Sites { one_for_all, one_per_direction, one_per_pair_and_direction };
/// Which signals say what they carry.
enum class Announced { always, never, sometimes, one_side, wrong_size };
/// What the offsets count from.
enum class Offsets { data, buffer };
/// What the messages carry, and so the access pattern.
enum class Layout {
  stream_ascending,
  stream_descending,
  stream_interleaved,  ///< pieces of a stream that several blocks send at once, not in order
  frames,              ///< each iteration hands over the whole data, in contiguous pieces from several messages
  halo,                ///< contiguous ranges at the border of two parts
  halo_across_rows,    ///< a few bytes of each row at the border
  strided_all,         ///< regular pieces from all over the data
  exchange_partners,   ///< blocks of the data whose distance is another power of two each time
  lookup_pieces,       ///< many irregular pieces
  lookup_ranges,       ///< one range anywhere
};
/// The iteration numbers that the program gives to signals and waits.
enum class Numbers { right, absent, per_message, one_later_at_waits };
/// Which block or thread does what.
enum class Threads { one_per_party, one_per_pair, one_per_direction };
/// How a sender learns that its buffer is free. by_hand: at a site that does not declare its purpose.
enum class Acknowledged { no, declared, by_hand };
enum class Losses { none, removed_rows, counted_rows, full_rings };
/// What programs do around their iterations. The class is that of the iterations.
enum class Ends {
  none,
  greeting,  ///< one message of each pair before the first iteration, under the number 0
  result,    ///< one message of each pair against the first direction, after the last iteration
};

struct Kind {
  Graph graph{};
  Parties parties{};
  Amounts amounts{};
  Words words{};
  Sites sites{};
  Announced announced{};
  Offsets offsets{};
  Layout layout{};
  Numbers numbers{};
  Threads threads{};
  Acknowledged acknowledged{};
  Losses losses{};
  // Habits, which came later than the other choices. They are drawn from a stream of their own, so that the other
  // choices of a seed stay as they were.
  Ends ends{};
  std::uint32_t rounds = 1;             ///< the numbers of the iterations start again in each
  std::uint32_t acknowledge_every = 1;  ///< messages

  /// All fields in words.
  std::string name() const;
};

/// A kind that a program can have: combinations that mean nothing (a toggle without acknowledgements, say) are drawn
/// again.
Kind draw_kind(Random& random);
/// Draws the habits, which most programs do not have.
void draw_habits(Kind& kind, Random& random);

enum class Half { improve, judge };
/// By the lowest bit of the 64-bit FNV-1a hash of the kind's name without its losses and habits, so that a program that
/// is only judged stays so however many of its records are lost, and whatever surrounds its iterations.
Half half_of(const Kind& kind);

}  // namespace wicprof::analyzer::made
