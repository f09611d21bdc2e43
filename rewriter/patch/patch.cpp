#include "rewriter/patch/patch.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "rewriter/flow/effects.h"
#include "rewriter/patch/call.h"
#include "rewriter/patch/look.h"
#include "rewriter/patch/marks.h"
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
/// loop's label and the poll.
bool passes_poll(const FunctionVerdicts& verdict, const LoopVerdict& loop) {
  const std::vector<Statement>& statements = verdict.function->statements;
  if (!loop.word || loop.word->poll <= loop.header || statements[loop.header].kind != StatementKind::label)
    return false;
  if (!statements[loop.word->poll].guard.empty()) return false;
  for (std::size_t i = loop.header + 1; i < loop.word->poll; ++i) {
    if (statements[i].kind == StatementKind::label || may_branch(statements[i].opcode())) return false;
  }
  return std::count_if(verdict.loops.begin(), verdict.loops.end(),
                       [&](const LoopVerdict& other) { return other.header == loop.header; }) == 1;
}

/// Whether threads may come to the loop by a branch, so that nothing shows when a wait begins.
bool is_entered_by_branch(const FunctionVerdicts& verdict, const LoopVerdict& loop) {
  const std::vector<Statement>& statements = verdict.function->statements;
  const Statement& header = statements[loop.header];
  if (loop.falls_through || header.kind != StatementKind::label) return true;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const auto goes_back = [&](const LoopVerdict& other) {
      return other.header == loop.header && other.back_edge == i && other.verdict == Verdict::wait;
    };
    if (i == loop.header || std::any_of(verdict.loops.begin(), verdict.loops.end(), goes_back)) continue;
    const auto names_header = [&](const Token& token) { return token.text == header.opcode(); };
    if (std::any_of(statements[i].tokens.begin(), statements[i].tokens.end(), names_header)) return true;
  }
  return false;
}

/// Insertions of one function.
class FunctionPatch {
 public:
  FunctionPatch(const FunctionVerdicts& verdict, std::span<const Site> sites, const Table& table,
                std::vector<Insertion>& insertions)
      : verdict_(verdict),
        function_(*verdict.function),
        sites_(sites),
        table_(table),
        insertions_(insertions),
        by_branch_(std::any_of(sites.begin(), sites.end(),
                               [&](const Site& site) { return is_entered_by_branch(verdict, *site.loop); })) {}

  /// `ends`: of all functions so far.
  void place(std::size_t& ends) {
    // Where a wait ends and another loop goes back, or the function ends, the wait ends first: its insertion comes
    // first.
    place_waits();
    place_ends(ends);
    for (const Site& site : sites_) place_visit(site);
    insert(function_.body.begin + 1, registers_text(by_branch_));
  }

 private:
  void insert(std::size_t at, const std::string& text) {
    if (!text.empty()) insertions_.push_back({at, marked(text)});
  }

  /// Where a thread comes to a loop from above, its wait begins; where loops are left, their waits end.
  void place_waits() {
    std::set<std::size_t> headers;
    std::map<std::size_t, std::vector<const Site*>> left;
    for (const Site& site : sites_) {
      for (const std::size_t exit : site.loop->exits) left[exit].push_back(&site);
      if (site.loop->falls_through) continue;  // what comes from above goes back
      if (function_.statements[site.loop->header].kind == StatementKind::label) headers.insert(site.loop->header);
    }
    for (const auto& [statement, of] : left) {
      insert(statement < function_.statements.size() ? function_.statements[statement].range.begin
                                                     : function_.body.end - 1,
             exit_text(of, by_branch_));
    }
    for (const std::size_t header : headers) insert(function_.statements[header].range.begin, arrive_text());
  }

  /// Before the thread leaves the function, the end of its last wait is recorded: behind the function's last statement.
  void place_ends(std::size_t& ends) {
    const std::string last = "$__wic_last_" + std::to_string(ends);
    for (const Statement& statement : function_.statements) {
      const std::string_view what = mnemonic_of(statement.opcode());
      if (statement.kind != StatementKind::instruction || (what != "ret" && what != "exit")) continue;
      if (what == "exit" && !function_.is_entry) {
        insert(statement.range.begin, leave_at_once_text(table_, "leave_" + std::to_string(ends++)));
        continue;
      }
      insert(statement.range.begin,
             before_leaving_text(std::string(statement.guard_negated ? "!" : "") + std::string(statement.guard), last));
    }
    insert(function_.body.end - 1,
           "\n" + last + ":\n" + leave_text(table_, "leave_" + std::to_string(ends++)) + "ret;\n");
  }

  /// Behind the poll, or before the branch that goes back, under the branch's own predicate.
  void place_visit(const Site& site) {
    if (passes_poll(verdict_, *site.loop)) {
      const Statement& poll = function_.statements[site.loop->word->poll];
      const std::string visit = visit_text(site, table_);
      // The instructions behind a poll that acquires wait for its load: the clock is read before it.
      if (has_modifier(poll.opcode(), "acquire")) {
        insert(poll.range.begin, count_text());
        insert(poll.range.end, "\n" + visit);
      } else {
        insert(poll.range.end, count_text() + visit);
      }
      return;
    }
    const Statement& statement = function_.statements[site.loop->back_edge];
    if (site.loop->falls_through) return insert(statement.range.end, visit_back_text(site, table_, {}));
    BackEdge back{statement.guard, statement.guard_negated, {}};
    // A branch before a uniform one would leave it to some of the threads only.
    const bool uniform = has_modifier(statement.opcode(), "uni") && !statement.guard.empty();
    if (mnemonic_of(statement.opcode()) == "bra" && statement.tokens.size() == 2 && !uniform) {
      back.label = statement.tokens[1].text;
    }
    insert(statement.range.begin, visit_back_text(site, table_, back));
  }

  const FunctionVerdicts& verdict_;
  const Function& function_;
  const std::span<const Site> sites_;
  const Table& table_;
  std::vector<Insertion>& insertions_;
  const bool by_branch_;
};

}  // namespace

Result<Patch> patch(const Module& module, const std::vector<FunctionVerdicts>& verdicts) {
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
  for (const FunctionVerdicts& verdict : verdicts) {
    std::size_t in_function = 0;
    for (const LoopVerdict& loop : verdict.loops) {
      if (loop.verdict != Verdict::wait || in_function == kMostSitesOfFunction) continue;
      patch.sites.push_back({patch.sites.size(), in_function++, verdict.function->name, &loop});
    }
  }
  if (patch.sites.size() > kMostSites)
    return bad_input("the module has more than " + std::to_string(kMostSites) + " waits");
  const Table table{name, patch.sites.size()};
  std::vector<Insertion> insertions;
  std::size_t ends = 0, next = 0;
  for (const FunctionVerdicts& verdict : verdicts) {
    const std::size_t first = next;
    // By the name's place in the text: a damaged module may define one name twice.
    const char* const function = verdict.function->name.data();
    while (next < patch.sites.size() && patch.sites[next].function.data() == function) ++next;
    if (next == first) continue;
    FunctionPatch(verdict, std::span<const Site>(&patch.sites[first], next - first), table, insertions).place(ends);
  }
  if (!patch.sites.empty()) {
    insertions.push_back({module.after_header, marked("\n.visible .global .align 64 .b8 " + patch.table + "[" +
                                                      std::to_string(table.bytes()) + "];\n" + look_text(table))});
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
