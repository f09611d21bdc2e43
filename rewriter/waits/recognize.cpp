#include "rewriter/waits/recognize.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "protocol/symbol_name.h"
#include "rewriter/flow/same_values.h"
#include "rewriter/waits/judge.h"
#include "rewriter/waits/site_names.h"

namespace wicprof::rewriter {

namespace {

/// The statements that call functions inside loops.
std::vector<std::size_t> calls_inside_loops(const Program& program, const Graph& graph) {
  std::set<std::size_t> calls;
  for (const Loop& loop : loops_of(graph)) {
    each_instruction(graph, loop, [&](std::size_t i) {
      if (program.code[i].effect == Effect::call) calls.insert(program.code[i].statement);
    });
  }
  return {calls.begin(), calls.end()};
}

void place_back_edge(const Lines& lines, const FunctionFlow& flow, int header, int tail, LoopVerdict& verdict) {
  const std::size_t first = flow.graph.block(header).begin;
  const Instruction& last = flow.program.code[flow.graph.block(tail).end - 1];
  verdict.back_edge = last.statement;
  verdict.falls_through =
      std::ranges::find(last.targets, static_cast<int>(first)) == last.targets.end() || last.inlined;
  const std::vector<Statement>& statements = flow.function.statements;
  const auto line = [&](std::size_t statement) {
    return lines.of(statement < statements.size() ? statements[statement].range.begin : flow.function.body.end);
  };
  verdict.first_line = line(flow.program.code[first].statement);
  verdict.last_line = line(last.statement);
  verdict.header = flow.program.code[first].statement;
  for (std::size_t at = verdict.header; at > 0; --at) {
    const StatementKind before = statements[at - 1].kind;
    if (before == StatementKind::label) verdict.header = at - 1;
    if (before != StatementKind::label && before != StatementKind::other) break;
  }
}

/// What lives where the waits begin: `headers` has a block for each wait of `loops`.
void count_live_values(FunctionFlow& flow, const std::vector<int>& headers, std::vector<LoopVerdict>& loops) {
  if (headers.empty()) return;
  const std::vector<std::vector<int>> live = flow.live.at(headers);
  const RegisterCount registers(flow.program);
  const ParameterPointers pointers(flow.function, flow.program);
  std::size_t next = 0;
  for (LoopVerdict& verdict : loops) {
    if (verdict.verdict != Verdict::wait) continue;
    verdict.live_registers = registers.of(live[next]);
    verdict.pointers = pointers.of(live[next], flow.graph.block(headers[next]).begin);
    ++next;
  }
}

/// False: `goes_on` said so.
bool recognize_function(const Module& module, const Function& function, const Lines& lines, const GoesOn& goes_on,
                        FunctionVerdicts& verdicts) {
  verdicts.function = &function;
  Program program = program_of(module, function, {});
  if (program.problem.empty()) {
    const std::vector<std::size_t> calls = calls_inside_loops(program, graph_of(successors_of(program)));
    if (!calls.empty()) program = program_of(module, function, calls);
  }
  if (!program.problem.empty()) {
    verdicts.problem = program.problem;
    return goes_on();
  }
  use_same_values(program);
  FunctionFlow flow(function, program);
  std::vector<int> headers;
  for (const Loop& loop : flow.loops) {
    if (!goes_on()) return false;
    const Instruction& first = program.code[flow.graph.block(loop.header).begin];
    const Instruction& last = program.code[flow.graph.block(loop.tail).end - 1];
    // A loop of a function that was inlined: its own function has it.
    if (first.inlined && last.inlined && first.statement == last.statement) continue;
    LoopVerdict verdict = judge(flow, loop);
    place_back_edge(lines, flow, loop.header, loop.tail, verdict);
    if (verdict.verdict == Verdict::wait) {
      headers.push_back(loop.header);
      flow.waits.push_back(&loop);
    }
    verdicts.loops.push_back(std::move(verdict));
  }
  count_live_values(flow, headers, verdicts.loops);
  for (const int tail : flow.irreducible) {
    const Instruction& last = program.code[flow.graph.block(tail).end - 1];
    if (last.inlined) continue;
    LoopVerdict verdict;
    verdict.reason = text_of(reasons::two_entries);
    verdict.place = last.place;
    place_back_edge(lines, flow, tail, tail, verdict);
    verdicts.loops.push_back(std::move(verdict));
  }
  std::ranges::stable_sort(verdicts.loops,
                           [](const LoopVerdict& a, const LoopVerdict& b) { return a.back_edge < b.back_edge; });
  return goes_on();
}

void name_sites(std::vector<FunctionVerdicts>& all) {
  SiteNames names;
  std::size_t number = 0;
  for (FunctionVerdicts& function : all) {
    for (LoopVerdict& loop : function.loops) {
      if (loop.verdict != Verdict::wait) continue;
      const std::string unique = std::to_string(number++);
      const std::string line = loop.place.line != 0 ? std::to_string(loop.place.line) : "site" + unique;
      loop.name = names.of(short_symbol(function.function->name) + ':' + line, unique);
    }
  }
}

}  // namespace

std::string_view name_of(Pause pause) {
  switch (pause) {
    case Pause::none:
      return "none";
    case Pause::brief:
      return "brief";
    case Pause::any:
      break;
  }
  return "any";
}

std::vector<FunctionVerdicts> recognize(const Module& module) {
  return *recognize(module, [] { return true; });
}

std::optional<std::vector<FunctionVerdicts>> recognize(const Module& module, const GoesOn& goes_on) {
  const Lines lines(module.text);
  std::vector<FunctionVerdicts> all;
  for (const Function& function : module.functions) {
    if (!function.has_body) continue;
    if (!recognize_function(module, function, lines, goes_on, all.emplace_back())) return std::nullopt;
  }
  name_sites(all);
  return all;
}

}  // namespace wicprof::rewriter
