#include "tests/analyzer/made_programs/kinds.h"

#include <array>
#include <string_view>

namespace wicprof::analyzer::made {
namespace {

constexpr std::array kGraphs{"pair", "ring", "star", "chain", "all to all", "random graph"};
constexpr std::array kParties{"devices", "devices and CPU", "blocks of one device"};
constexpr std::array kAmounts{"one way", "one way varying", "one each", "several each", "many each",
                              "varying", "both or none",    "phases",   "batch or none"};
constexpr std::array kWords{"cycle flags", "counter", "batch counter", "toggle", "reset"};
constexpr std::array kSites{"one site", "site per direction", "site per pair and direction"};
constexpr std::array kAnnounced{"always announced", "never announced", "sometimes announced", "one side announces",
                                "announced with a wrong size"};
constexpr std::array kOffsets{"offsets in the data", "offsets in the buffer"};
constexpr std::array kLayouts{
    "stream ascending", "stream descending", "stream interleaved", "frames",        "halo",
    "halo across rows", "strided all",       "exchange partners",  "lookup pieces", "lookup ranges"};
constexpr std::array kNumbers{"right numbers", "no numbers", "numbers per message", "waits number one later"};
constexpr std::array kThreads{"one thread per party", "one thread per pair", "one thread per direction"};
constexpr std::array kAcknowledged{"no acknowledgements", "declared acknowledgements", "acknowledgements by hand"};
constexpr std::array kLosses{"no losses", "removed rows", "counted rows", "full rings"};

template <class Names, class Enum>
std::string_view name_of(const Names& names, Enum value) {
  return names.at(static_cast<std::size_t>(value));
}

std::string joined(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) {
    if (!all.empty()) all += ", ";
    all += part;
  }
  return all;
}

std::string basic_name(const Kind& k) {
  return joined({name_of(kGraphs, k.graph), name_of(kParties, k.parties), name_of(kAmounts, k.amounts),
                 name_of(kWords, k.words), name_of(kSites, k.sites), name_of(kAnnounced, k.announced),
                 name_of(kOffsets, k.offsets), name_of(kLayouts, k.layout), name_of(kNumbers, k.numbers),
                 name_of(kThreads, k.threads), name_of(kAcknowledged, k.acknowledged)});
}

std::string habits_of(const Kind& k) {
  std::string name;
  if (k.ends == Ends::greeting) name += ", a greeting";
  if (k.ends == Ends::result) name += ", a result";
  if (k.rounds > 1) name += ", " + std::to_string(k.rounds) + " rounds";
  if (k.acknowledge_every > 1) name += ", acknowledged every " + std::to_string(k.acknowledge_every);
  return name;
}

template <class Enum, class Names>
Enum any(Random& random, const Names& names) {
  return static_cast<Enum>(draw(random, static_cast<std::uint32_t>(names.size())));
}

bool one_way(Amounts amounts) { return amounts == Amounts::one_way || amounts == Amounts::one_way_varying; }

/// Whether a program can be like that, and whether its class is determined by the definitions.
bool makes_sense(const Kind& k) {
  // A toggle without acknowledgements would lose messages.
  if (k.words == Words::toggle && k.acknowledged == Acknowledged::no) return false;
  // Clearing a word is the acknowledgement.
  if (k.words == Words::reset && k.acknowledged != Acknowledged::no) return false;
  // A receiver that waits for the last message of an iteration acknowledges none before.
  if (k.words == Words::batch_counter && k.acknowledged != Acknowledged::no) return false;
  // Iterations without a message do not exist for a program whose numbers do not name iterations.
  const bool some_empty = k.amounts == Amounts::both_or_none || k.amounts == Amounts::batch_or_none;
  if (some_empty && (k.numbers == Numbers::absent || k.numbers == Numbers::per_message)) return false;
  if (k.announced == Announced::one_side && one_way(k.amounts)) return false;
  // Blocks of one device are parties by their sites, or each block is one.
  if (k.parties == Parties::blocks_of_one_device && k.sites == Sites::one_for_all &&
      k.threads != Threads::one_per_party) {
    return false;
  }
  // A direction is the CPU's or a device's site; in a graph of several pairs it would join both ends of different
  // pairs.
  if (k.parties == Parties::blocks_of_one_device && k.sites == Sites::one_per_direction && k.graph != Graph::pair) {
    return false;
  }
  if (k.parties == Parties::blocks_of_one_device && k.threads == Threads::one_per_direction) return false;
  // Blocks that only send beside blocks that only receive are no ring.
  if (k.parties == Parties::blocks_of_one_device && k.graph == Graph::ring && k.threads != Threads::one_per_party) {
    return false;
  }
  return true;
}

}  // namespace

std::string Kind::name() const { return joined({basic_name(*this), name_of(kLosses, losses)}) + habits_of(*this); }

Kind draw_kind(Random& random) {
  for (;;) {
    Kind k;
    k.graph = any<Graph>(random, kGraphs);
    k.parties = any<Parties>(random, kParties);
    k.amounts = any<Amounts>(random, kAmounts);
    k.words = any<Words>(random, kWords);
    k.sites = any<Sites>(random, kSites);
    k.announced = chance(random, 50) ? Announced::always : any<Announced>(random, kAnnounced);
    k.offsets = chance(random, 80) ? Offsets::data : Offsets::buffer;
    k.layout = any<Layout>(random, kLayouts);
    k.numbers = chance(random, 50) ? Numbers::right : any<Numbers>(random, kNumbers);
    k.threads = any<Threads>(random, kThreads);
    k.acknowledged = any<Acknowledged>(random, kAcknowledged);
    k.losses = chance(random, 60) ? Losses::none : any<Losses>(random, kLosses);
    if (makes_sense(k)) return k;
  }
}

void draw_habits(Kind& kind, Random& random) {
  if (chance(random, 25)) kind.ends = chance(random, 50) ? Ends::greeting : Ends::result;
  if (chance(random, 10) && kind.numbers == Numbers::right) kind.rounds = draw(random, 2, 4);
  if (chance(random, 25) && kind.acknowledged != Acknowledged::no && kind.words != Words::toggle) {
    kind.acknowledge_every = 1u << draw(random, 1, 2);
  }
}

Half half_of(const Kind& kind) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : basic_name(kind)) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return (hash & 1) == 0 ? Half::improve : Half::judge;
}

}  // namespace wicprof::analyzer::made
