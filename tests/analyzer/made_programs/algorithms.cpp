#include "tests/analyzer/made_programs/algorithms.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/analyzer/made_programs/losses.h"
#include "tests/analyzer/made_programs/simulate.h"

namespace wicprof::analyzer::made {
namespace {

constexpr std::uint32_t kFewestIterations = 12, kMostIterations = 60;

Announcement range(std::uint64_t offset, std::uint64_t bytes) {
  return {offset, bytes, static_cast<std::uint32_t>(bytes), 1, true};
}
Announcement columns(std::uint64_t offset, std::uint32_t piece, std::uint64_t stride, std::uint32_t pieces) {
  return {offset, (pieces - 1) * stride + piece, piece * pieces, pieces, true};
}

/// Writes a plan's messages in the order in which the program's source has them.
class Writer {
 public:
  Writer(Plan& plan, Random& random) : plan_(plan), random_(random) { bytes_ = 256u << draw(random, 6); }

  void write(std::size_t algorithm) {
    using Algorithm = void (Writer::*)();
    static constexpr Algorithm kWrite[] = {
        &Writer::video_pipeline,  &Writer::stripe_filter,   &Writer::halo_with_corners, &Writer::halo_of_fields,
        &Writer::ring_all_reduce, &Writer::ring_all_gather, &Writer::parameter_server,  &Writer::asynchronous_server,
        &Writer::batches,         &Writer::varying_batches, &Writer::work_queue,        &Writer::tiles_in_rounds,
        &Writer::broadcast,       &Writer::tree_all_reduce, &Writer::transposition,     &Writer::rows_out,
        &Writer::frontiers,       &Writer::sparse_vector,   &Writer::wavefront,         &Writer::particles};
    static_assert(std::size(kWrite) == kAlgorithms.size());
    plan_.iterations = draw(random_, kFewestIterations, kMostIterations);
    (this->*kWrite[algorithm])();
    number_messages();
  }

 private:
  // --- graphs

  void pair() {
    plan_.parties = 2;
    plan_.edges = {{0, 1}};
  }
  void chain(std::uint32_t parties) {
    plan_.parties = parties;
    for (std::uint32_t i = 0; i + 1 < parties; ++i) plan_.edges.emplace_back(i, i + 1);
  }
  void ring(std::uint32_t parties) {
    chain(parties);
    plan_.edges.emplace_back(parties - 1, 0);
  }
  void star(std::uint32_t parties) {
    plan_.parties = parties;
    for (std::uint32_t i = 1; i < parties; ++i) plan_.edges.emplace_back(0, i);
  }
  void all_to_all(std::uint32_t parties) {
    plan_.parties = parties;
    for (std::uint32_t a = 0; a < parties; ++a) {
      for (std::uint32_t b = a + 1; b < parties; ++b) plan_.edges.emplace_back(a, b);
    }
  }

  void is(Model model, Pattern pattern) {
    plan_.model = model;
    plan_.pattern = pattern;
  }

  void send(std::uint32_t edge, bool back, std::uint32_t iteration, Announcement what, bool joins = false) {
    Transfer t;
    t.edge = edge;
    t.back = back;
    t.iteration = iteration;
    t.turn = turn_;
    t.joins = joins;
    t.announcement = what;
    plan_.transfers.push_back(t);
  }
  /// What is sent in one turn is sent before anything of it is awaited.
  void next_turn() { ++turn_; }

  // --- algorithms

  // Stages hand over each frame in stripes, each with a signal of its own; a stage begins with a stripe that is there.
  void video_pipeline() {
    chain(draw(random_, 3, 5));
    const std::uint32_t stripes = draw(random_, 2, 6);
    is(Model::unidirectional, Pattern::streaming);
    for (std::uint32_t frame = 0; frame < plan_.iterations; ++frame) {
      for (std::uint32_t s = 0; s < stripes; ++s) {
        for (std::uint32_t e = 0; e < plan_.edges.size(); ++e, next_turn()) {
          send(e, false, frame, range(std::uint64_t{s} * bytes_, bytes_));
        }
      }
    }
  }

  // One side sends each frame in stripes and gets each back when it is filtered.
  void stripe_filter() {
    pair();
    const std::uint32_t stripes = draw(random_, 3, 8);
    is(Model::multiple, Pattern::streaming);
    const std::uint64_t frame_bytes = std::uint64_t{stripes} * bytes_;
    for (std::uint32_t frame = 0; frame < plan_.iterations; ++frame) {
      for (const bool back : {false, true}) {
        for (std::uint32_t s = 0; s < stripes; ++s, next_turn()) {
          send(0, back, frame, range((back ? frame_bytes : 0) + std::uint64_t{s} * bytes_, bytes_));
        }
      }
    }
  }

  // Parts of a grid of rows, exchanged with all eight neighbours.
  void halo_with_corners() {
    const std::uint32_t wide = draw(random_, 2, 3), high = 2;
    plan_.parties = wide * high;
    is(Model::alternating, Pattern::adjacent);
    const std::uint32_t rows = 16u << draw(random_, 3), cell = 8;
    const std::uint64_t part_row = std::uint64_t{rows} * cell, grid_row = part_row * wide;
    struct Way {
      std::uint32_t edge;
      bool back;
      int dx, dy;
      std::uint32_t from;
    };
    std::vector<Way> ways;
    for (std::uint32_t a = 0; a < plan_.parties; ++a) {
      for (std::uint32_t b = a + 1; b < plan_.parties; ++b) {
        const int dx = static_cast<int>(b % wide) - static_cast<int>(a % wide);
        const int dy = static_cast<int>(b / wide) - static_cast<int>(a / wide);
        if (std::abs(dx) > 1 || std::abs(dy) > 1) continue;
        const auto edge = static_cast<std::uint32_t>(plan_.edges.size());
        plan_.edges.emplace_back(a, b);
        ways.push_back({edge, false, dx, dy, a});
        ways.push_back({edge, true, -dx, -dy, b});
      }
    }
    for (std::uint32_t i = 0; i < plan_.iterations; ++i, next_turn()) {
      for (const Way& way : ways) {
        // The first cell of the layer of the sender's part that lies at the receiver.
        const std::uint64_t x = (way.from % wide) * part_row + (way.dx > 0 ? part_row - cell : 0);
        const std::uint64_t y = std::uint64_t{way.from / wide} * rows + (way.dy > 0 ? rows - 1 : 0);
        const std::uint64_t at = y * grid_row + x;
        const Announcement what = way.dx == 0   ? range(at, part_row)
                                  : way.dy == 0 ? columns(at, cell, grid_row, rows)
                                                : range(at, cell);
        send(way.edge, way.back, i, what);
      }
    }
  }

  // Slabs of a volume: two layers of two or more fields, one message each.
  void halo_of_fields() {
    chain(draw(random_, 2, 4));
    const std::uint32_t fields = draw(random_, 2, 4), layers = draw(random_, 8, 40);
    is(Model::multiple, Pattern::adjacent);
    const std::uint64_t field_bytes = std::uint64_t{layers} * bytes_ * plan_.parties;
    for (std::uint32_t i = 0; i < plan_.iterations; ++i, next_turn()) {
      for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) {
        const std::uint64_t border = std::uint64_t{layers} * bytes_ * (e + 1);
        for (std::uint32_t f = 0; f < fields; ++f) {
          send(e, false, i, range(f * field_bytes + border - bytes_, bytes_));
          send(e, true, i, range(f * field_bytes + border, bytes_));
        }
      }
    }
  }

  /// The chunk that `rank` sends in a step: down the vector, in both halves of an all-reduce.
  static std::uint32_t ring_chunk(std::uint32_t rank, std::uint32_t step, std::uint32_t ranks) {
    const std::uint32_t half = ranks - 1;
    const std::uint32_t first = step < half ? rank : rank + 1, gone = step < half ? step : step - half;
    return (first + 2 * ranks - gone) % ranks;
  }

  void ring_step(std::uint32_t step, std::uint32_t iteration, std::uint32_t slices) {
    const std::uint32_t ranks = plan_.parties;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      const std::uint64_t chunk = std::uint64_t{ring_chunk(rank, step, ranks)} * slices * bytes_;
      for (std::uint32_t s = 0; s < slices; ++s)
        send(rank, false, iteration, range(chunk + std::uint64_t{s} * bytes_, bytes_));
    }
    next_turn();
  }

  // Each rank sends one chunk on and receives one, in strict turn: alternating, however many steps have one number.
  // Chunks in several slices are several messages each way.
  void ring_all_reduce() {
    ring(draw(random_, 4, 8));
    const std::uint32_t slices = draw(random_, 1, 4);
    is(slices == 1 ? Model::alternating : Model::multiple, Pattern::streaming);
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) {
      for (std::uint32_t step = 0; step < 2 * (plan_.parties - 1); ++step) ring_step(step, i, slices);
    }
  }

  void ring_all_gather() {
    ring(draw(random_, 4, 8));
    const std::uint32_t slices = draw(random_, 1, 4);
    is(slices == 1 ? Model::alternating : Model::multiple, Pattern::streaming);
    const std::uint32_t steps = plan_.parties - 1;
    plan_.iterations *= steps;
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) ring_step(i % steps, i, slices);
  }

  // Workers send their gradients in chunks; the server answers with the weights in as many.
  void parameter_server() {
    star(draw(random_, 3, 6));
    const std::uint32_t chunks = draw(random_, 4, 12);
    is(Model::multiple, Pattern::streaming);
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) {
      for (const bool back : {true, false}) {
        for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) {
          for (std::uint32_t c = 0; c < chunks; ++c) send(e, back, i, range(std::uint64_t{c} * bytes_, bytes_));
        }
        next_turn();
      }
    }
  }

  // In each round some workers push a gradient as a whole, and get the weights if they ask: places show nothing.
  void asynchronous_server() {
    star(draw(random_, 3, 6));
    is(Model::probabilistic, Pattern::unknown);
    plan_.pattern_shown = false;
    plan_.iterations = std::max(plan_.iterations, 30u);
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) {
      for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) {
        const std::uint32_t pushes = draw(random_, 3);
        for (std::uint32_t p = 0; p < pushes; ++p, next_turn()) send(e, true, i, range(0, std::uint64_t{bytes_} * 16));
        if (chance(random_, 50)) send(e, false, i, range(0, std::uint64_t{bytes_} * 16));
        next_turn();
      }
    }
  }

  Announcement lookup() { return range(draw(random_, 1u << 20) * std::uint64_t{8}, 8 * draw(random_, 1, 32)); }

  /// Clients (the edges' second parties) send requests; the server answers each batch with one message.
  void batch(std::uint32_t edge, std::uint32_t iteration, std::uint32_t requests) {
    for (std::uint32_t r = 0; r < requests; ++r) send(edge, true, iteration, lookup());
    next_turn();
    if (requests > 0) send(edge, false, iteration, lookup());
    next_turn();
  }

  void batches() {
    star(draw(random_, 2, 6));
    is(Model::multiple, Pattern::random);
    const std::uint32_t requests = draw(random_, 2, 8);
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) {
      for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) batch(e, i, requests);
    }
  }

  void varying_batches() {
    star(draw(random_, 2, 6));
    is(Model::probabilistic, Pattern::random);
    plan_.iterations = std::max(plan_.iterations, 30u);
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) {
      for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) batch(e, i, draw(random_, 9));
    }
  }

  // A master hands out the tiles of an image to whoever is free, and takes the results: none to three per round.
  void work_queue() {
    star(draw(random_, 3, 6));
    is(Model::probabilistic, Pattern::streaming);
    plan_.iterations = std::max(plan_.iterations, 30u);
    std::uint64_t tile = 0;
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) {
      std::vector<std::vector<std::uint64_t>> given(plan_.edges.size());
      for (std::uint32_t n = 0; n < plan_.edges.size(); ++n) {
        const std::uint32_t e = draw(random_, static_cast<std::uint32_t>(plan_.edges.size()));
        given[e].push_back(tile);
        send(e, false, i, range(tile++ * bytes_, bytes_));
      }
      next_turn();
      for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) {
        for (const std::uint64_t t : given[e]) send(e, true, i, range(t * bytes_, bytes_));
      }
      next_turn();
    }
  }

  void tiles_in_rounds() {
    star(draw(random_, 3, 6));
    is(Model::alternating, Pattern::streaming);
    const auto workers = static_cast<std::uint32_t>(plan_.edges.size());
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) {
      for (const bool back : {false, true}) {
        for (std::uint32_t e = 0; e < workers; ++e) {
          send(e, back, i, range((std::uint64_t{i} * workers + e) * bytes_, bytes_));
        }
        next_turn();
      }
    }
  }

  // One signal per chunk, for which all others wait.
  void broadcast() {
    star(draw(random_, 3, 8));
    const std::uint32_t chunks = draw(random_, 3, 8);
    is(Model::unidirectional, Pattern::streaming);
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) {
      for (std::uint32_t c = 0; c < chunks; ++c, next_turn()) {
        for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) {
          send(e, false, i, range(std::uint64_t{c} * bytes_, bytes_), e > 0);
        }
      }
    }
  }

  // Sums go up a binary tree, the result comes down, each as a whole.
  void tree_all_reduce() {
    plan_.parties = draw(random_, 3, 8);
    for (std::uint32_t child = 1; child < plan_.parties; ++child) plan_.edges.emplace_back((child - 1) / 2, child);
    is(Model::alternating, Pattern::unknown);
    plan_.pattern_shown = false;
    const auto edges = static_cast<std::uint32_t>(plan_.edges.size());
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) {
      for (std::uint32_t e = edges; e-- > 0; next_turn()) send(e, true, i, range(0, std::uint64_t{bytes_} * 8));
      for (std::uint32_t e = 0; e < edges; ++e, next_turn()) send(e, false, i, range(0, std::uint64_t{bytes_} * 8));
    }
  }

  // Each party holds some rows of a matrix and sends each other party the columns that this one will hold as rows.
  void transposition() {
    all_to_all(draw(random_, 3, 5));
    is(Model::alternating, Pattern::scatter_gather);
    const std::uint32_t rows = 8u << draw(random_, 3), cell = 8;
    const std::uint64_t row = std::uint64_t{rows} * cell * plan_.parties;
    for (std::uint32_t i = 0; i < plan_.iterations; ++i, next_turn()) {
      for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) {
        for (const bool back : {false, true}) {
          const auto [a, b] = plan_.edges[e];
          const std::uint64_t from = back ? b : a, to = back ? a : b;
          send(e, back, i, columns(from * rows * row + to * rows * cell, rows * cell, row, rows));
        }
      }
    }
  }

  // A master deals the rows of a matrix out as cards, in two messages per worker, and gets each worker's sums back.
  void rows_out() {
    star(draw(random_, 3, 6));
    is(Model::multiple, Pattern::scatter_gather);
    const auto workers = static_cast<std::uint32_t>(plan_.edges.size());
    const std::uint32_t rows = 16;
    const std::uint64_t stride = std::uint64_t{workers} * bytes_;
    for (std::uint32_t i = 0; i < plan_.iterations; ++i) {
      for (std::uint32_t e = 0; e < workers; ++e) {
        for (std::uint32_t half = 0; half < 2; ++half) {
          send(e, false, i, columns(half * rows * stride + std::uint64_t{e} * bytes_, bytes_, stride, rows));
        }
      }
      next_turn();
      for (std::uint32_t e = 0; e < workers; ++e)
        send(e, true, i, columns(std::uint64_t{e} * 16, 16, workers * 16, 2 * rows));
      next_turn();
    }
  }

  Announcement scattered(std::uint64_t part) {
    const std::uint32_t pieces = draw(random_, 5, 60);
    return {part * (1u << 22) + draw(random_, 1u << 12) * std::uint64_t{8}, 1u << 20, pieces * 8, pieces, false};
  }

  // Vertices that the other party owns, if a level of the search reached any.
  void frontiers() {
    all_to_all(draw(random_, 2, 4));
    is(Model::probabilistic, Pattern::random);
    plan_.iterations = std::max(plan_.iterations, 30u);
    for (std::uint32_t i = 0; i < plan_.iterations; ++i, next_turn()) {
      for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) {
        for (const bool back : {false, true}) {
          if (chance(random_, 60)) send(e, back, i, scattered(back ? plan_.edges[e].second : plan_.edges[e].first));
        }
      }
    }
  }

  // The entries of a vector that the other party's rows need: irregular pieces, the same in each iteration.
  void sparse_vector() {
    all_to_all(draw(random_, 2, 4));
    is(Model::alternating, Pattern::random);
    std::vector<Announcement> needed;
    for (std::uint32_t w = 0; w < 2 * plan_.edges.size(); ++w) needed.push_back(scattered(w));
    for (std::uint32_t i = 0; i < plan_.iterations; ++i, next_turn()) {
      for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) {
        for (const bool back : {false, true}) send(e, back, i, needed[2 * e + (back ? 1 : 0)]);
      }
    }
  }

  // Strips of a table whose cells need their left neighbours: the border of each block of rows, downwards.
  void wavefront() {
    chain(draw(random_, 3, 6));
    is(Model::unidirectional, Pattern::streaming);
    for (std::uint32_t block = 0; block < plan_.iterations; ++block) {
      for (std::uint32_t e = 0; e < plan_.edges.size(); ++e, next_turn()) {
        send(e, false, block, range((std::uint64_t{e} * plan_.iterations + block) * bytes_, bytes_));
      }
    }
  }

  // Domains in a row: particles that cross a border, in none to three messages.
  void particles() {
    chain(draw(random_, 2, 5));
    is(Model::probabilistic, Pattern::random);
    plan_.iterations = std::max(plan_.iterations, 30u);
    for (std::uint32_t i = 0; i < plan_.iterations; ++i, next_turn()) {
      for (std::uint32_t e = 0; e < plan_.edges.size(); ++e) {
        for (const bool back : {false, true}) {
          for (std::uint32_t n = draw(random_, 4); n > 0; --n) send(e, back, i, scattered(back ? e + 1 : e));
        }
      }
    }
  }

  /// Says of each message which of its iteration's it is.
  void number_messages() {
    std::map<std::tuple<std::uint32_t, bool, std::uint32_t>, std::uint32_t> counts;
    for (Transfer& t : plan_.transfers) t.number_in_iteration = counts[{t.edge, t.back, t.iteration}]++;
    for (Transfer& t : plan_.transfers) t.of_iteration = counts[{t.edge, t.back, t.iteration}];
  }

  Plan& plan_;
  Random& random_;
  std::uint32_t bytes_ = 0;  // of a stripe, chunk, tile or row
  std::uint32_t turn_ = 1;
};

/// What the words of a plan must be able to do: name each of several messages in progress, and each of several turns
/// that have one iteration number.
Words words_for(const Plan& plan, Words wanted) {
  using Way = std::pair<std::uint32_t, bool>;
  std::map<std::pair<Way, std::uint32_t>, std::uint32_t> in_turn;
  std::map<std::pair<Way, std::uint32_t>, std::set<std::uint32_t>> turns;
  bool several = false, several_turns = false;
  for (const Transfer& t : plan.transfers) {
    const Way way{t.edge, t.back};
    several = several || ++in_turn[{way, t.turn}] > 1;
    auto& of_iteration = turns[{way, t.iteration}];
    of_iteration.insert(t.turn);
    several_turns = several_turns || of_iteration.size() > 1;
  }
  if (wanted == Words::batch_counter) return several_turns ? Words::counter : wanted;
  const bool two_values = wanted == Words::toggle || wanted == Words::reset;
  return two_values && several ? Words::counter : wanted;
}

bool on_a_ring(std::size_t algorithm) { return kAlgorithms[algorithm].substr(0, 5) == "ring "; }

/// How the program is built, whatever the algorithm.
Kind draw_technique(Random& random) {
  for (;;) {
    Kind k = draw_kind(random);
    k.offsets = Offsets::data;
    k.announced = chance(random, 80) ? Announced::always : Announced::never;
    k.numbers = chance(random, 80) ? Numbers::right : Numbers::absent;
    // A block per party: other ways to divide the work among blocks are drawn with the other made programs.
    if (k.parties == Parties::blocks_of_one_device && k.threads != Threads::one_per_party) continue;
    if (k.parties == Parties::blocks_of_one_device && k.sites == Sites::one_per_direction) continue;
    return k;
  }
}

}  // namespace

KnownProgram make_known_program(std::uint64_t seed) {
  KnownProgram known;
  known.algorithm = seed % kAlgorithms.size();
  known.half = known.algorithm % 2 == 0 ? Half::improve : Half::judge;
  Random random(seed);
  Plan& plan = known.program.plan;
  plan.kind = draw_technique(random);
  plan.pattern_shown = plan.kind.announced != Announced::never;
  const bool shared_words = kAlgorithms[known.algorithm] == "broadcast in chunks";
  // A rank sends what it has just received, so the same block does both.
  if (on_a_ring(known.algorithm)) plan.kind.threads = Threads::one_per_party;
  // One signal for several receivers: none of them can clear the word or return room to the sender alone.
  if (shared_words) {
    plan.kind.words = chance(random, 50) ? Words::counter : Words::cycle_flags;
    plan.kind.acknowledged = Acknowledged::no;
    if (plan.kind.sites == Sites::one_per_pair_and_direction) plan.kind.sites = Sites::one_per_direction;
    if (plan.kind.parties == Parties::blocks_of_one_device) plan.kind.sites = Sites::one_for_all;
  }
  Writer(plan, random).write(known.algorithm);
  plan.kind.words = words_for(plan, plan.kind.words);
  // Without numbers, iterations without a message do not exist.
  if (plan.model == Model::probabilistic) plan.kind.numbers = Numbers::right;
  if (plan.kind.announced == Announced::never) {
    for (Transfer& t : plan.transfers) t.announcement = {};
    plan.pattern_shown = false;
  }
  known.program.trace = simulate(plan, random);
  settle(known.program.trace);
  lose(known.program.trace, plan.kind.losses, random);
  settle(known.program.trace);
  return known;
}

}  // namespace wicprof::analyzer::made
