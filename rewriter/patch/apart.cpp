#include "rewriter/patch/apart.h"

#include <algorithm>
#include <set>
#include <vector>

#include "rewriter/flow/effects.h"
#include "rewriter/patch/visit.h"

namespace wicprof::rewriter {

namespace {

bool names_label(const Statement& statement, std::string_view label) {
  return std::any_of(statement.tokens.begin(), statement.tokens.end(),
                     [&](const Token& token) { return token.text == label; });
}

/// The labels that the loop's text defines.
std::set<std::string_view> labels_of(const Function& function, const LoopVerdict& loop) {
  std::set<std::string_view> labels;
  for (std::size_t i = loop.header; i <= loop.back_edge; ++i) {
    const Statement& statement = function.statements[i];
    if (statement.kind == StatementKind::label) labels.insert(statement.opcode());
  }
  return labels;
}

/// What the loop's branches name outside of its text.
std::set<std::string_view> targets_of(const Function& function, const LoopVerdict& loop) {
  const std::set<std::string_view> own = labels_of(function, loop);
  std::set<std::string_view> targets;
  for (std::size_t i = loop.header; i <= loop.back_edge; ++i) {
    const Statement& statement = function.statements[i];
    if (mnemonic_of(statement.opcode()) != "bra" || statement.tokens.size() != 2) continue;
    if (const std::string_view label = statement.tokens[1].text; !own.contains(label)) targets.insert(label);
  }
  return targets;
}

/// The statements outside of its text that the loop can lead to next are those where it is left.
bool leads_to_exits_only(const Function& function, const LoopVerdict& loop) {
  const std::set<std::string_view> targets = targets_of(function, loop);
  std::set<std::size_t> leads_to;
  for (std::size_t i = 0; i < function.statements.size(); ++i) {
    const Statement& statement = function.statements[i];
    if (statement.kind == StatementKind::label && targets.contains(statement.opcode())) leads_to.insert(i);
  }
  if (leads_to.size() != targets.size()) return false;
  if (!function.statements[loop.back_edge].guard.empty()) leads_to.insert(loop.back_edge + 1);
  return std::all_of(leads_to.begin(), leads_to.end(), [&](std::size_t statement) {
    // Where nothing but labels and directives stands between, it is the same place.
    for (std::size_t i = statement; i <= function.statements.size(); ++i) {
      if (std::find(loop.exits.begin(), loop.exits.end(), i) != loop.exits.end()) return true;
      if (i == function.statements.size() || function.statements[i].kind == StatementKind::instruction) return false;
    }
    return false;
  });
}

}  // namespace

bool stands_apart(const FunctionVerdicts& verdict, const LoopVerdict& loop) {
  const Function& function = *verdict.function;
  const std::vector<Statement>& statements = function.statements;
  if (!loop.word || loop.falls_through || loop.back_edge <= loop.word->poll) return false;
  const Statement& header = statements[loop.header];
  if (header.kind != StatementKind::label || header.scope != 0) return false;
  const Statement& back = statements[loop.back_edge];
  if (mnemonic_of(back.opcode()) != "bra" || back.tokens.size() != 2 || back.scope != 0) return false;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    if (i != loop.header && i != loop.back_edge && names_label(statements[i], header.opcode())) return false;
  }
  if (mnemonic_of(statements[loop.word->poll].opcode()) != "ld") return false;
  for (std::size_t i = loop.header; i <= loop.back_edge; ++i) {
    const std::string_view what = mnemonic_of(statements[i].opcode());
    if (what == "call" || what == "brx" || what == "ret" || what == "exit" || what == "trap") return false;
    if (statements[i].kind == StatementKind::label && statements[i].scope != 0) return false;
    // Names that are declared here would be declared twice.
    if (statements[i].kind == StatementKind::declaration && statements[i].scope == 0) return false;
    if (statements[i].kind == StatementKind::targets) return false;
  }
  if (std::any_of(loop.exits.begin(), loop.exits.end(),
                  [&](std::size_t exit) { return exit >= loop.header && exit <= loop.back_edge; })) {
    return false;
  }
  return !loop.exits_known || leads_to_exits_only(function, loop);
}

std::string copy_text(std::string_view text, const Function& function, const Site& site) {
  const LoopVerdict& loop = *site.loop;
  const std::string k = std::to_string(site.number);
  const std::set<std::string_view> own = labels_of(function, loop);
  const std::set<std::string_view> targets = targets_of(function, loop);
  const auto copied = [&](std::string_view label) {
    return (own.contains(label) ? "$__wic_copy_" : "$__wic_left_") + k + "_" + std::string(label);
  };
  std::string copy;
  std::size_t at = function.statements[loop.header].range.begin;
  const std::size_t end = function.statements[loop.back_edge].range.end;
  for (std::size_t i = loop.header; i <= loop.back_edge; ++i) {
    const Statement& statement = function.statements[i];
    for (const Token& token : statement.tokens) {
      if (!own.contains(token.text) && !targets.contains(token.text)) continue;
      copy += text.substr(at, token.range.begin - at);
      copy += copied(token.text);
      at = token.range.end;
    }
    if (i == loop.word->poll) {
      copy += text.substr(at, statement.range.end - at);
      copy += "\n" + round_of_copy_text(site);
      at = statement.range.end;
    }
  }
  copy += text.substr(at, end - at);
  copy += "\n";
  const std::string left = exit_text({&site});
  if (!function.statements[loop.back_edge].guard.empty()) copy += left + "bra $__wic_out_" + k + ";\n";
  for (const std::string_view target : targets) {
    copy += copied(target) + ":" + left + "bra " + std::string(target) + ";\n";
  }
  return copy;
}

}  // namespace wicprof::rewriter
