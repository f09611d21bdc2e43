// A PTX module as statements: which functions it has, and what stands in their bodies.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/result.h"
#include "rewriter/text/tokens.h"

namespace wicprof::rewriter {

/// A place in a source, from a `.loc` directive.
struct SourcePlace {
  int file = 0;  ///< the number of a `.file` directive; 0: unknown
  int line = 0;  ///< 0: the compiler names no line
  bool operator==(const SourcePlace&) const = default;
};

/// Where code stands and where it was inlined: one `.loc`. Callers come before what they call.
struct InlinedPlace {
  SourcePlace place;  ///< the first outside of the toolkit's and the system's headers, from here to the outermost
  int caller = -1;    ///< in Function::places, of the call that was inlined; -1: not inlined
};

enum class StatementKind {
  instruction,
  label,
  open,         ///< `{`, which begins a scope
  close,        ///< `}`, which ends a scope
  declaration,  ///< .reg, .param, .local, .shared and others that introduce names
  targets,      ///< .branchtargets of an indexed branch
  other,        ///< what neither computes nor branches: .loc, .pragma, .callprototype
};

/// One statement of a function's body.
struct Statement {
  StatementKind kind = StatementKind::other;
  Range range;                 ///< all its bytes, with its semicolon or colon
  std::vector<Token> tokens;   ///< without the semicolon; an instruction's guard is left out
  std::string_view guard;      ///< the predicate of `@%p`; empty: none
  bool guard_negated = false;  ///< `@!%p`
  int scope = 0;               ///< its scope in Function::scopes
  int place = -1;              ///< in Function::places, the one in effect; -1: unknown
  std::string_view opcode() const { return tokens.empty() ? std::string_view() : tokens.front().text; }
};

struct Parameter {
  std::string_view name;
};

struct Function {
  std::string_view name;
  bool is_entry = false;  ///< a kernel
  bool has_body = false;
  Range header;  ///< from the linkage or `.entry`/`.func` up to the body
  Range body;    ///< with its braces
  std::vector<Parameter> parameters, results;
  std::vector<Statement> statements;
  std::vector<int> scopes;  ///< each scope's outer scope; scope 0 is the whole body and has -1
  std::vector<InlinedPlace> places;

  SourcePlace place_at(int place) const {
    return place < 0 ? SourcePlace{} : places[static_cast<std::size_t>(place)].place;
  }
  int caller_of(int place) const { return place < 0 ? -1 : places[static_cast<std::size_t>(place)].caller; }
};

struct Module {
  std::string_view text;
  int version_major = 0, version_minor = 0;  ///< of the PTX language
  std::string_view target;                   ///< "sm_90"
  int target_architecture = 0;               ///< 90
  bool is_64_bit = true;
  std::size_t after_header = 0;      ///< first byte after .version, .target and .address_size
  std::map<int, std::string> files;  ///< of `.file`
  std::vector<Function> functions;
  std::map<std::string_view, std::size_t> bodies;  ///< by name, the first function that has a body
};

/// Reads a module. The result refers to `text`, which must outlive it. Fails on syntax that this reader does not know;
/// the message names the line.
Result<Module> read_module(std::string_view text);

}  // namespace wicprof::rewriter
