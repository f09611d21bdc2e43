#include "analyzer/machine_code/data_flow.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace wicprof::analyzer {
namespace {

bool contains(const std::vector<SassRegister>& registers, SassRegister r) {
  return std::find(registers.begin(), registers.end(), r) != registers.end();
}

// Whether an instruction only passes a value on, so that what it writes stays the same if what it reads does.
bool copies(const SassInstruction& instruction) {
  if (instruction.kind != SassKind::other || instruction.writes.empty()) return false;
  const std::string_view name = instruction.operation;
  const std::string_view first = name.substr(0, name.find('.'));
  const bool stack = first == "STL" || first == "LDL" || first == "ST" || first == "LD";  // see use_known_values()
  return stack || has_part(name, "MOV") || first == "R2UR" || first == "MOVM" || first == "UMOV";
}

}  // namespace

DataFlow::DataFlow(const std::vector<SassInstruction>& function, const SassLoop& loop)
    : function_(function), loop_(loop), predecessors_(loop.body.size()), carried_(loop.body.size()) {
  const auto place_of = [&](std::size_t i) {
    const auto found = std::lower_bound(loop.body.begin(), loop.body.end(), i);
    return found != loop.body.end() && *found == i ? static_cast<std::size_t>(found - loop.body.begin()) : size();
  };
  head_ = place_of(*index_of(function, loop.head));
  for (std::size_t place = 0; place < size(); ++place) {
    for (const std::size_t i : successors_of(function, loop.body[place])) {
      const std::size_t next = place_of(i);
      if (next < size()) {
        predecessors_[next].push_back(place);
      } else {
        exits_.insert(place);
      }
    }
  }
  operands_.resize(size());
  for (std::size_t place = 0; place < size(); ++place) {
    for (const SassRegister r : at(place).reads) {
      const bool guards = contains(at(place).guard, r);
      for (Writer writer : reaching(place, r)) {
        writer.guards = guards;
        operands_[place].push_back(writer);
      }
    }
  }
  find_carried();
}

std::vector<DataFlow::Writer> DataFlow::reaching(std::size_t place, SassRegister r) const {
  std::vector<Writer> found;
  std::vector<bool> seen(2 * size());
  std::vector<std::pair<std::size_t, bool>> open;
  const auto step = [&](std::size_t from, bool round_before) {
    const bool crosses = round_before || from == head_;
    for (const std::size_t before : predecessors_[from]) {
      const std::size_t state = 2 * before + (crosses ? 1 : 0);
      if (seen[state]) continue;
      seen[state] = true;
      open.emplace_back(before, crosses);
    }
  };
  step(place, false);
  while (!open.empty()) {
    const auto [writer, round_before] = open.back();
    open.pop_back();
    if (contains(at(writer).writes, r)) {
      found.push_back({writer, round_before, false});
      if (at(writer).guard.empty()) continue;
    }
    step(writer, round_before);
  }
  return found;
}

void DataFlow::add_choices(Places& places) const {
  for (bool grew = true; grew;) {
    grew = false;
    for (const std::size_t place : Places(places)) {
      for (const SassRegister r : at(place).reads) {
        const Places written = writers(place, r);
        if (written.size() < 2) continue;
        for (std::size_t branch = 0; branch < size(); ++branch) {
          if (at(branch).kind != SassKind::branch || at(branch).guard.empty() || exits_.contains(branch)) continue;
          for (const std::size_t source : sources(branch, at(branch).guard)) {
            grew = places.insert(source).second || grew;
          }
        }
        if (grew) return add_choices(places);
      }
    }
  }
}

Places DataFlow::writers(std::size_t place, SassRegister r) const {
  Places places;
  for (const Writer& writer : reaching(place, r)) places.insert(writer.place);
  return places;
}

Places DataFlow::sources(std::size_t place, const std::vector<SassRegister>& registers) const {
  Places found;
  std::vector<std::size_t> open;
  const auto add = [&](std::size_t writer) {
    if (found.insert(writer).second) open.push_back(writer);
  };
  for (const SassRegister r : registers) {
    for (const Writer& writer : reaching(place, r)) add(writer.place);
  }
  while (!open.empty()) {
    const std::size_t writer = open.back();
    open.pop_back();
    for (const Writer& before : operands_[writer]) add(before.place);
  }
  return found;
}

const SassInstruction* DataFlow::written_before(SassRegister r) const {
  constexpr std::size_t kDistance = 64;  // a constant operand is set shortly before its loop
  const std::size_t head = loop_.body[head_];
  for (std::size_t i = head; i > 0 && head - i < kDistance; --i) {
    if (contains(function_[i - 1].writes, r)) return &function_[i - 1];
  }
  return nullptr;
}

bool DataFlow::skips_exchange() const {
  const auto exchanges = [&](std::size_t place) {
    const SassInstruction& instruction = at(place);
    return instruction.kind == SassKind::atomic && instruction.guard.empty() &&
           (has_part(instruction.operation, "CAS") || has_part(instruction.operation, "CAST") ||
            has_part(instruction.operation, "EXCH"));
  };
  // Backward from the branches to the head.
  std::set<std::size_t> seen;
  std::vector<std::size_t> open(predecessors_[head_].begin(), predecessors_[head_].end());
  while (!open.empty()) {
    const std::size_t place = open.back();
    open.pop_back();
    if (exchanges(place) || !seen.insert(place).second) continue;
    if (place == head_) return true;
    open.insert(open.end(), predecessors_[place].begin(), predecessors_[place].end());
  }
  return false;
}

bool DataFlow::reads_memory(std::size_t place) const {
  const SassInstruction& instruction = at(place);
  return instruction.kind == SassKind::load || instruction.kind == SassKind::atomic;
}

bool DataFlow::reads_external(std::size_t place) const {
  return reads_memory(place) || at(place).kind == SassKind::try_wait || reads_clock(at(place));
}

bool DataFlow::carried(const Places& places) const {
  return std::any_of(places.begin(), places.end(), [&](std::size_t place) { return carried_[place]; });
}

bool DataFlow::varies(const Places& places) const {
  return std::any_of(places.begin(), places.end(),
                     [&](std::size_t place) { return reads_external(place) || carried_[place]; });
}

// A cycle of uses and writers that passes from one round to the next at least once, and in which at least one
// instruction computes: a cycle of copies keeps its value.
void DataFlow::find_carried() {
  for (std::size_t start = 0; start < size(); ++start) {
    if (at(start).writes.empty()) continue;
    struct Step {
      std::size_t place;
      bool crossed, computes;
    };
    std::vector<std::array<bool, 4>> seen(size());
    std::vector<Step> open{{start, false, !copies(at(start))}};
    while (!open.empty() && !carried_[start]) {
      const auto [place, crossed, computes] = open.back();
      open.pop_back();
      for (const Writer& writer : operands_[place]) {
        if (writer.guards && reads_memory(place)) continue;  // decides whether to load, not what
        const bool crosses = crossed || writer.round_before;
        const bool computed = computes || !copies(at(writer.place));
        if (writer.place == start && crosses && computes) carried_[start] = true;
        if (std::exchange(seen[writer.place][(crosses ? 1u : 0u) + (computed ? 2u : 0u)], true)) continue;
        open.push_back({writer.place, crosses, computed});
      }
    }
  }
}

}  // namespace wicprof::analyzer
