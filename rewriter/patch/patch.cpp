#include "rewriter/patch/patch.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "rewriter/flow/effects.h"
#include "rewriter/flow/live_values.h"
#include "rewriter/patch/call.h"
#include "rewriter/patch/marks.h"
#include "rewriter/patch/records.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/visit.h"

namespace wicprof::rewriter {

namespace {

// nanosleep needs sm_70 and version 6.3 of the language.
constexpr int kFirstArchitecture = 70;
constexpr int kFirstMajor = 6, kFirstMinor = 3;

/// FNV-1a, 64 bits. The table's name must differ from that of other modules that are linked with this one.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

struct Insertion {
  std::size_t at = 0;  ///< byte of the original
  std::string text;
};

bool may_branch(std::string_view opcode) {
  const std::string_view what = mnemonic_of(opcode);
  return what == "bra" || what == "brx" || what == "call" || what == "ret" || what == "exit" || what == "trap";
}

/// Whether each round of the loop, and of no other loop, passes the poll: no label and no branch stands between the
/// loop's label and the poll. `headers`: per header, the number of its loops.
bool passes_poll(const FunctionVerdicts& verdict, const std::map<std::size_t, int>& headers, const LoopVerdict& loop) {
  const std::vector<Statement>& statements = verdict.function->statements;
  if (!loop.word || loop.word->poll <= loop.header || statements[loop.header].kind != StatementKind::label)
    return false;
  if (!statements[loop.word->poll].guard.empty()) return false;
  for (std::size_t i = loop.header + 1; i < loop.word->poll; ++i) {
    if (statements[i].kind == StatementKind::label || may_branch(statements[i].opcode())) return false;
  }
  return headers.at(loop.header) == 1;
}

/// Whether the looks of the function's waits are calls: all values that live across them have registers then.
bool may_call(const FunctionVerdicts& verdict) {
  if (!verdict.function->is_entry) return false;
  // ptxas computes values of large kernels before the wait that they need behind it: those live across it, too.
  if (declared_registers(*verdict.function) > kMostValuesOfCaller) return false;
  return std::all_of(verdict.loops.begin(), verdict.loops.end(), [](const LoopVerdict& loop) {
    return loop.verdict != Verdict::wait || loop.live_registers <= kKeptAcrossCalls;
  });
}

/// Where the visit stands, and under which guard: behind the poll, or before one that acquires, since its instructions
/// wait for the load; else before the branch that goes back.
void place_visit(const Function& function, const Site& site, const Table& table, std::vector<Insertion>& insertions) {
  const auto add = [&](std::size_t at, const BackEdge& back) {
    insertions.push_back({at, marked(visit_text(site, table, back))});
  };
  if (site.beside_poll) {
    const LoopVerdict& loop = *site.loop;
    const Statement& poll = function.statements[loop.visit_behind ? *loop.visit_behind : loop.word->poll];
    if (!has_modifier(poll.opcode(), "acquire") || !poll.guard.empty()) {
      return add(poll.range.end, {poll.guard, poll.guard_negated, {}});
    }
    insertions.push_back({poll.range.begin, marked(clock_text())});
    insertions.push_back({poll.range.end, marked(visit_behind_clock_text(site, table))});
    return;
  }
  const Statement& statement = function.statements[site.loop->back_edge];
  if (site.loop->falls_through) return add(statement.range.end, {});
  BackEdge back{statement.guard, statement.guard_negated, {}};
  // A branch before a uniform one would leave it to some of the threads only.
  const bool uniform = has_modifier(statement.opcode(), "uni") && !statement.guard.empty();
  if (mnemonic_of(statement.opcode()) == "bra" && statement.tokens.size() == 2 && !uniform) {
    back.label = statement.tokens[1].text;
  }
  add(statement.range.begin, back);
}

// Adds 0 to a pointer, of which ptxas does not know that it is 0. It reads a parameter anew in each round, and behind
// the wait, rather than keep it across a call; what is computed from it once, and is the same for a block, it keeps in
// registers that the threads of a warp share.
constexpr const char* kKeepPointer = R"({
.reg .b32 %__wic_e;
.reg .b64 %__wic_x;
mov.u32 %__wic_e, %smid;
shr.u32 %__wic_e, %__wic_e, 31;
cvt.u64.u32 %__wic_x, %__wic_e;
add.s64 <pointer>, <pointer>, %__wic_x;
}
)";

/// Behind the statements that give registers the parameters that the waits, or what comes behind them, read: ptxas's
/// reads would stand where the next thread waits for this one. At each wait as many live as have room across the call
/// if ptxas gives each thread registers for them.
void keep_pointers(const Function& function, std::span<const Site> sites, std::vector<Insertion>& insertions) {
  if (!sites.front().calls) return;              // as all sites of a function, or none
  std::map<std::size_t, std::string_view> kept;  // by statement
  std::vector<int> room;
  for (const Site& site : sites) room.push_back((kKeptAcrossCalls - site.loop->live_registers) / 2);
  for (const Site& site : sites) {
    for (const ParameterPointer& pointer : site.loop->pointers) {
      if (kept.contains(pointer.statement)) continue;
      std::vector<std::size_t> lives;
      for (std::size_t i = 0; i < sites.size(); ++i) {
        if (std::ranges::count(sites[i].loop->pointers, pointer.statement, &ParameterPointer::statement) != 0)
          lives.push_back(i);
      }
      if (std::ranges::any_of(lives, [&](std::size_t i) { return room[i] <= 0; })) continue;
      for (const std::size_t i : lives) --room[i];
      kept[pointer.statement] = pointer.name;
    }
  }
  for (const auto& [statement, name] : kept) {
    insertions.push_back({function.statements[statement].range.end,
                          marked("\n" + fill(kKeepPointer, {{"pointer", std::string(name)}}))});
  }
}

/// Where loops are left, their waits end.
void place_waits(const Function& function, std::span<const Site> sites, std::vector<Insertion>& insertions) {
  std::set<std::size_t> headers;
  std::map<std::size_t, std::vector<const Site*>> left;
  for (const Site& site : sites) {
    for (const std::size_t exit : site.loop->exits) left[exit].push_back(&site);
    if (site.loop->falls_through) continue;  // what comes from above goes back
    if (function.statements[site.loop->header].kind == StatementKind::label) headers.insert(site.loop->header);
  }
  for (const auto& [statement, of] : left) {
    const std::size_t at =
        statement < function.statements.size() ? function.statements[statement].range.begin : function.body.end - 1;
    insertions.push_back({at, marked(exit_text(of))});
  }
  for (const std::size_t header : headers) {
    insertions.push_back({function.statements[header].range.begin, marked(arrive_text())});
  }
}

/// Before the thread leaves the function, the end of its last wait is recorded, or that wait added to those that were
/// timed: behind the function's last statement.
void place_ends(const Function& function, std::span<const Site> sites, const Table& table, std::size_t& ends,
                std::vector<Insertion>& insertions) {
  const auto records = std::find_if(sites.begin(), sites.end(), [](const Site& site) { return site.records(); });
  if (records == sites.end()) return;
  const std::string last = "$__wic_last_" + std::to_string(ends);
  for (const Statement& statement : function.statements) {
    const std::string_view what = mnemonic_of(statement.opcode());
    if (statement.kind != StatementKind::instruction || (what != "ret" && what != "exit")) continue;
    std::string text;
    if (what == "exit" && !function.is_entry) {
      text = end_text(table, "leave_" + std::to_string(ends++));
    } else {
      const std::string guard = std::string(statement.guard_negated ? "!" : "") + std::string(statement.guard);
      text = "{\n.reg .pred %__wic_p;\n" +
             (statement.guard.empty() ? std::string("setp.ne.b32 %__wic_p, %__wic_s, 0;\n")
                                      : "setp.ne.and.b32 %__wic_p, %__wic_s, 0, " + guard + ";\n") +
             "@%__wic_p bra " + last + ";\n}\n";
    }
    insertions.push_back({statement.range.begin, marked("\n" + text)});
  }
  const std::string label = "leave_" + std::to_string(ends++);
  const std::string record = records->calls ? leave_text(*records, table) : end_text(table, label);
  insertions.push_back({function.body.end - 1, marked("\n" + last + ":\n" + record + "ret;\n")});
}

}  // namespace

Result<Patch> patch(const Module& module, const std::vector<FunctionVerdicts>& verdicts, bool counts) {
  if (module.text.find(kMark) != std::string_view::npos) {
    return bad_input("the module uses names that begin with " + std::string(kMark) + ": perhaps it is patched already");
  }
  if (module.target_architecture < kFirstArchitecture || !module.is_64_bit ||
      std::pair(module.version_major, module.version_minor) < std::pair(kFirstMajor, kFirstMinor)) {
    return bad_input("the module is for " + std::string(module.target) +
                     "; a patch needs sm_70 or later, 64-bit addresses and version 6.3 of PTX or later");
  }
  Patch patch;
  char name[40];
  std::snprintf(name, sizeof name, "__wic_sites_%016llx", static_cast<unsigned long long>(hash_of(module.text)));
  patch.table = name;
  // A function that may be called through a pointer counts for each such call of the program's, too.
  const bool through_pointers = module.text.find(".callprototype") != std::string_view::npos ||
                                module.text.find(".calltargets") != std::string_view::npos;
  for (const FunctionVerdicts& verdict : verdicts) {
    std::size_t in_function = 0;
    const bool calls = !through_pointers && may_call(verdict);
    std::map<std::size_t, int> headers;  // how many loops each has
    for (const LoopVerdict& loop : verdict.loops) ++headers[loop.header];
    for (const LoopVerdict& loop : verdict.loops) {
      if (loop.verdict != Verdict::wait || in_function == kMostSitesOfFunction) continue;
      patch.sites.push_back({.number = patch.sites.size(),
                             .in_function = in_function++,
                             .function = verdict.function->name,
                             .loop = &loop,
                             .beside_poll = loop.visit_behind || passes_poll(verdict, headers, loop),
                             .calls = calls});
    }
  }
  if (patch.sites.size() > kMostSites)
    return bad_input("the module has more than " + std::to_string(kMostSites) + " waits");
  const Table table{name, patch.sites.size(), counts};
  std::vector<Insertion> insertions;
  std::size_t ends = 0, next = 0;
  for (const FunctionVerdicts& verdict : verdicts) {
    const std::size_t first = next;
    // By the name's place in the text: a damaged module may define one name twice.
    const char* const function = verdict.function->name.data();
    while (next < patch.sites.size() && patch.sites[next].function.data() == function) ++next;
    if (next == first) continue;
    const std::span<const Site> sites(&patch.sites[first], next - first);
    // Where a wait ends and another loop goes back, or the function ends, the wait ends first: its insertion comes
    // first.
    keep_pointers(*verdict.function, sites, insertions);
    place_waits(*verdict.function, sites, insertions);
    place_ends(*verdict.function, sites, table, ends, insertions);
    for (const Site& site : sites) place_visit(*verdict.function, site, table, insertions);
    insertions.push_back({verdict.function->body.begin + 1, marked(registers_text())});
  }
  if (!patch.sites.empty()) {
    insertions.push_back(
        {module.after_header, marked("\n.visible .global .align 64 .b8 " + patch.table + "[" +
                                     std::to_string(table.bytes()) + "];\n" + functions_text(patch.sites, table))});
  }
  std::stable_sort(insertions.begin(), insertions.end(),
                   [](const Insertion& a, const Insertion& b) { return a.at < b.at; });
  std::size_t copied = 0;
  for (const Insertion& insertion : insertions) {
    patch.text += module.text.substr(copied, insertion.at - copied);
    patch.text += insertion.text;
    copied = insertion.at;
  }
  patch.text += module.text.substr(copied);
  return patch;
}

std::string strip(std::string_view text) {
  std::string original;
  while (true) {
    const std::size_t begin = text.find(kBegin);
    original += text.substr(0, begin);
    if (begin == std::string_view::npos) return original;
    const std::size_t end = text.find(kEnd, begin);
    if (end == std::string_view::npos) return original;
    text.remove_prefix(end + kEnd.size());
  }
}

}  // namespace wicprof::rewriter
