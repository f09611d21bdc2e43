#include "tests/analyzer/made_programs/plan.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

#include "tests/analyzer/made_programs/layouts.h"

namespace wicprof::analyzer::made {
namespace {

/// So that a program with many messages per iteration takes no longer than the others.
constexpr std::uint32_t kMaxMessages = 3'000;
constexpr std::uint32_t kBeforeAll = ~0u;  // the number of an iteration is one more
constexpr std::uint32_t kEndBytes = 64;

bool one_way(Amounts amounts) { return amounts == Amounts::one_way || amounts == Amounts::one_way_varying; }

std::vector<std::pair<std::uint32_t, std::uint32_t>> edges_of(Graph graph, std::uint32_t parties, Random& random) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  for (std::uint32_t a = 0; a < parties; ++a) {
    for (std::uint32_t b = a + 1; b < parties; ++b) {
      bool joined = false;
      switch (graph) {
        case Graph::pair:
        case Graph::chain:
          joined = b == a + 1;
          break;
        case Graph::star:
          joined = a == 0;
          break;
        case Graph::ring:
          joined = b == a + 1;
          break;
        case Graph::all_to_all:
          joined = true;
          break;
        case Graph::random_graph:
          joined = b == a + 1 ? chance(random, 80) : chance(random, 30);
          break;
      }
      if (joined) edges.emplace_back(a, b);
    }
  }
  if (graph == Graph::ring) edges.emplace_back(parties - 1, 0);
  if (edges.empty()) edges.emplace_back(0, 1);
  return edges;
}

struct Counts {
  std::uint32_t forth = 0, back = 0;
  bool operator==(const Counts&) const = default;
};

/// Per iteration, for one edge.
std::vector<Counts> counts_of(Amounts amounts, std::uint32_t iterations, Random& random) {
  const auto not_one_each = [&](std::uint32_t most) {
    Counts c{1, 1};
    while (c == Counts{1, 1}) c = {draw(random, 1, most), draw(random, 1, most)};
    return c;
  };
  Counts same;
  std::array<Counts, 3> phases;
  switch (amounts) {
    case Amounts::one_way:
      same = {draw(random, 1, 6), 0};
      break;
    case Amounts::one_each:
    case Amounts::both_or_none:
      same = {1, 1};
      break;
    case Amounts::several_each:
      same = not_one_each(8);
      break;
    case Amounts::batch_or_none:
      same = not_one_each(5);
      break;
    case Amounts::many_each:
      same = not_one_each(100);
      break;
    case Amounts::phases:
      phases[0] = {draw(random, 1, 4), draw(random, 1, 4)};
      for (std::size_t i = 1; i < phases.size(); ++i) {
        phases[i] = phases[i - 1];
        while (phases[i] == phases[i - 1]) phases[i] = {draw(random, 1, 4), draw(random, 1, 4)};
      }
      break;
    default:
      break;
  }
  const std::uint32_t some = draw(random, 20, 80);
  std::vector<Counts> counts;
  for (std::uint32_t i = 0; i < iterations; ++i) {
    switch (amounts) {
      case Amounts::one_way_varying:
        counts.push_back({draw(random, 7), 0});
        break;
      case Amounts::varying:
        counts.push_back({draw(random, 7), draw(random, 7)});
        break;
      case Amounts::both_or_none:
      case Amounts::batch_or_none:
        counts.push_back(chance(random, some) ? same : Counts{});
        break;
      case Amounts::phases:
        counts.push_back(phases[i * phases.size() / iterations]);
        break;
      default:
        counts.push_back(same);
        break;
    }
  }
  return counts;
}

// The definitions, applied to all iterations of one exchange.
Model class_of(const std::vector<Counts>& counts, bool in_phases) {
  const bool forth = std::any_of(counts.begin(), counts.end(), [](const Counts& c) { return c.forth > 0; });
  const bool back = std::any_of(counts.begin(), counts.end(), [](const Counts& c) { return c.back > 0; });
  if (!forth && !back) return Model::unknown;
  if (!forth || !back) return Model::unidirectional;
  const bool same = std::all_of(counts.begin(), counts.end(), [&](const Counts& c) { return c == counts.front(); });
  if (same) return counts.front() == Counts{1, 1} ? Model::alternating : Model::multiple;
  // Counts that change twice in a run do not vary from iteration to iteration.
  return in_phases ? Model::unknown : Model::probabilistic;
}

/// Without the iterations at both ends in which nobody sends anything: no record shows that they exist.
std::vector<std::vector<Counts>> seen_counts(std::vector<std::vector<Counts>> counts) {
  const auto silent = [&](std::size_t i) {
    return std::all_of(counts.begin(), counts.end(), [&](const auto& edge) { return edge[i] == Counts{}; });
  };
  while (!counts.front().empty() && silent(counts.front().size() - 1)) {
    for (auto& edge : counts) edge.pop_back();
  }
  std::size_t first = 0;
  while (first < counts.front().size() && silent(first)) ++first;
  for (auto& edge : counts) edge.erase(edge.begin(), edge.begin() + static_cast<std::ptrdiff_t>(first));
  return counts;
}

/// The program has the class that all of its pairs have. A closed ring of parties that each only send on is judged as
/// each party sees it: what it sends forth, what it receives back.
Model class_of(const Plan& plan, const std::vector<std::vector<Counts>>& counts) {
  const bool ring = plan.kind.graph == Graph::ring && one_way(plan.kind.amounts);
  std::optional<Model> model;
  for (std::size_t e = 0; e < counts.size(); ++e) {
    std::vector<Counts> seen = counts[e];
    // Two parties that never send to each other are no pair.
    if (std::all_of(seen.begin(), seen.end(), [](const Counts& c) { return c == Counts{}; })) continue;
    if (ring) {
      const std::vector<Counts>& before = counts[(e + counts.size() - 1) % counts.size()];
      for (std::size_t i = 0; i < seen.size(); ++i) seen[i].back = before[i].forth;
    }
    const Model its = class_of(seen, plan.kind.amounts == Amounts::phases);
    if (model && its != *model) return Model::unknown;
    model = its;
  }
  return model.value_or(Model::unknown);
}

enum class Order { forth_first, in_turn, shuffled };

std::vector<bool> directions(const Counts& counts, Order order, Random& random) {
  std::vector<bool> back(counts.forth, false);
  // Several exchanges in strict turn are several alternating iterations, whatever number they have.
  if (order == Order::in_turn && counts.forth != counts.back) {
    back.clear();
    for (std::uint32_t k = 0; k < std::max(counts.forth, counts.back); ++k) {
      if (k < counts.forth) back.push_back(false);
      if (k < counts.back) back.push_back(true);
    }
    return back;
  }
  back.insert(back.end(), counts.back, true);
  if (order == Order::shuffled) {
    for (std::size_t i = back.size(); i > 1; --i) {
      const std::size_t other = draw(random, static_cast<std::uint32_t>(i));
      const bool mine = back[i - 1];
      back[i - 1] = back[other];
      back[other] = mine;
    }
  }
  return back;
}

Announcement falsified(Announcement a, const Plan& plan, const Transfer& t, bool double_span, Random& random) {
  switch (plan.kind.announced) {
    case Announced::never:
      return {};
    case Announced::sometimes:
      return chance(random, 50) ? a : Announcement{};
    case Announced::one_side:
      return t.back ? a : Announcement{};
    case Announced::wrong_size:
      if (double_span) {
        a.span *= 2;
      } else {
        a.bytes = std::max(1u, a.bytes / 4);  // elements instead of bytes
      }
      return a;
    default:
      return a;
  }
}

/// One message of each pair outside of the iterations.
void add_ends(Plan& plan, bool before) {
  const bool announced = plan.kind.announced != Announced::never;
  for (std::uint32_t e = 0; e < plan.edges.size(); ++e) {
    Transfer t;
    t.edge = e;
    t.back = !before;
    t.iteration = before ? kBeforeAll : plan.iterations;
    t.of_iteration = 1;
    if (announced) t.announcement = {0, kEndBytes, kEndBytes, 1, true};
    plan.transfers.push_back(t);
  }
}

}  // namespace

Plan make_plan(const Kind& kind, Random& random) {
  Plan plan;
  plan.kind = kind;
  const std::uint32_t most = kind.graph == Graph::all_to_all ? 5 : 8;
  plan.parties = kind.graph == Graph::pair ? 2 : draw(random, 3, most);
  plan.edges = edges_of(kind.graph, plan.parties, random);
  plan.iterations = draw(random, 12, 120);
  std::vector<std::vector<Counts>> counts;
  const bool all_alike = chance(random, 60) || (kind.graph == Graph::ring && one_way(kind.amounts));
  for (std::size_t e = 0; e < plan.edges.size(); ++e) {
    counts.push_back(e > 0 && all_alike ? counts.front() : counts_of(kind.amounts, plan.iterations, random));
  }
  std::uint32_t all = 0;
  for (const auto& edge : counts) {
    for (const Counts& c : edge) all += c.forth + c.back;
  }
  if (all > kMaxMessages) {
    plan.iterations = std::max(12u, plan.iterations * kMaxMessages / all);
    for (auto& edge : counts) edge.resize(plan.iterations);
  }
  plan.model = class_of(plan, seen_counts(counts));
  plan.pattern = pattern_of(kind.layout);
  const bool form_shows = kind.layout == Layout::lookup_pieces;
  plan.pattern_shown = kind.announced != Announced::never && (kind.offsets == Offsets::data || form_shows);
  const bool several_blocks = kind.words != Words::batch_counter && chance(random, 40);
  const bool whole = kind.announced == Announced::always || kind.announced == Announced::wrong_size;
  const bool own_values = kind.words == Words::cycle_flags || kind.words == Words::counter;
  const std::uint32_t lanes = several_blocks && whole ? draw(random, 2, 4) : 1;
  if (several_blocks && kind.announced == Announced::never && own_values) plan.parts = draw(random, 2, 8);

  const auto order = static_cast<Order>(draw(random, 3));
  const bool double_span = chance(random, 50);
  Layouts layouts(plan, random);
  if (kind.ends == Ends::greeting) add_ends(plan, true);
  for (std::uint32_t i = 0; i < plan.iterations; ++i) {
    for (std::uint32_t e = 0; e < plan.edges.size(); ++e) {
      const Counts& c = counts[e][i];
      std::uint32_t sent[2] = {0, 0};
      for (const bool back : directions(c, order, random)) {
        Transfer t;
        t.edge = e;
        t.back = back;
        t.iteration = i;
        t.number_in_iteration = sent[back ? 1 : 0]++;
        t.of_iteration = back ? c.back : c.forth;
        t.lane = t.number_in_iteration % lanes;
        t.announcement = falsified(layouts.next(t), plan, t, double_span, random);
        plan.transfers.push_back(t);
      }
    }
  }
  if (kind.ends == Ends::result) add_ends(plan, false);
  return plan;
}

}  // namespace wicprof::analyzer::made
