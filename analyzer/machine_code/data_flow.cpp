#include "analyzer/machine_code/data_flow.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace wicprof::analyzer {
namespace {

bool contains(const std::vector<SassRegister>& registers, SassRegister r) {
  return std::ranges::find(registers, r) != registers.end();
}

// Whether an instruction only passes a value on, so that what it writes stays the same if what it reads does.
bool copies(const SassInstruction& instruction) {
  if (instruction.kind != SassKind::other || instruction.writes.empty()) return false;
  const std::string_view name = instruction.operation;
  const std::string_view first = first_part(name);
  const bool stack = first == "STL" || first == "LDL" || first == "ST" || first == "LD";  // see use_known_values()
  return stack || has_part(name, "MOV") || first == "R2UR" || first == "MOVM" || first == "UMOV";
}

}  // namespace

DataFlow::DataFlow(const std::vector<SassInstruction>& function, const SassLoop& loop)
    : function_(function),
      loop_(loop),
      flow_(*loop.graph, loop.blocks,
            [&](std::size_t i) {
              return LoopFlow::Writes{&function[i].writes, function[i].guard.empty()};
            }),
      inputs_(flow_.inputs([&](const LoopFlow::Node& node, const auto& use) {
        for (const SassRegister r : function[node.instruction].reads) use(r);
      })),
      carried_(function.size()) {
  for (const int block : exits_of(*loop.graph, loop.blocks)) {
    exits_.insert(loop.graph->block(block).end - 1);
  }
  find_carried();
}

void DataFlow::add_choices(Places& places) const {
  const bool choose = std::ranges::any_of(places, [&](std::size_t place) {
    return std::ranges::any_of(at(place).reads, [&](SassRegister r) { return writers(place, r).size() > 1; });
  });
  if (!choose) return;
  for (const std::size_t branch : body()) {
    if (at(branch).kind == SassKind::branch && !exits_.contains(branch))
      places.merge(sources(branch, at(branch).guard));
  }
}

Places DataFlow::sources(std::size_t place, const std::vector<SassRegister>& registers) const {
  Places found;
  std::vector<int> open;
  std::vector<bool> seen(inputs_.size());
  const auto add = [&](const std::vector<int>& nodes) {
    for (const int node : nodes) {
      if (!seen[static_cast<std::size_t>(node)]) open.push_back(node);
      seen[static_cast<std::size_t>(node)] = true;
    }
  };
  for (const SassRegister r : registers) add(flow_.reaching(place, r));
  while (!open.empty()) {
    const auto node = static_cast<std::size_t>(open.back());
    open.pop_back();
    found.insert(flow_.nodes()[node].instruction);
    add(inputs_[node]);
  }
  found.erase(LoopFlow::npos);
  return found;
}

const SassInstruction* DataFlow::written_before(SassRegister r) const {
  constexpr std::size_t kDistance = 64;  // a constant operand is set shortly before its loop
  const std::size_t head = *index_of(function_, loop_.head);
  for (std::size_t i = head; i > 0 && head - i < kDistance; --i) {
    if (contains(function_[i - 1].writes, r)) return &function_[i - 1];
  }
  return nullptr;
}

bool DataFlow::skips_exchange() const {
  std::vector<bool> closed(function_.size(), true);
  for (const std::size_t i : loop_.body) {
    const SassInstruction& instruction = function_[i];
    closed[i] = instruction.kind == SassKind::atomic && instruction.guard.empty() && is_exchange(instruction);
  }
  const std::size_t head = *index_of(function_, loop_.head);
  const auto successors = [&](std::size_t i) { return successors_of(function_, i); };
  const std::vector<bool> reached = reached_from(head, std::move(closed), successors);
  return std::ranges::any_of(loop_.body,
                             [&](std::size_t i) { return reached[i] && std::ranges::count(successors(i), head) > 0; });
}

bool DataFlow::reads_external(std::size_t place) const {
  return reads_memory(at(place)) || at(place).kind == SassKind::try_wait || reads_clock(at(place));
}

bool DataFlow::carried(const Places& places) const {
  return std::ranges::any_of(places, [&](std::size_t place) { return carried_[place]; });
}

bool DataFlow::varies(const Places& places) const {
  return std::ranges::any_of(places, [&](std::size_t place) { return reads_external(place) || carried_[place]; });
}

// A value depends on itself from one round to the next, and at least one instruction computes: a cycle of copies keeps
// its value.
void DataFlow::find_carried() {
  const auto inputs = flow_.inputs([&](const LoopFlow::Node& node, const auto& use) {
    const SassInstruction& instruction = function_[node.instruction];
    for (const SassRegister r : instruction.reads) {
      // A guard decides whether to load, not what.
      if (!contains(instruction.guard, r) || !reads_memory(instruction)) use(r);
    }
  });
  for (const Component& component : components_of(inputs)) {
    if (!component.cyclic) continue;
    Places writers;
    for (const int node : component.nodes) writers.insert(flow_.nodes()[static_cast<std::size_t>(node)].instruction);
    const bool crosses = writers.erase(LoopFlow::npos) > 0;
    if (!crosses || std::ranges::all_of(writers, [&](std::size_t i) { return copies(at(i)); })) continue;
    for (const std::size_t writer : writers) carried_[writer] = true;
  }
}

}  // namespace wicprof::analyzer
