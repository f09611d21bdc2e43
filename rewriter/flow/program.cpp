#include "rewriter/flow/program.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "rewriter/flow/fold_branches.h"
#include "rewriter/flow/memory.h"
#include "rewriter/flow/names.h"

namespace wicprof::rewriter {

namespace {

// Functions that libraries wrap around one load are four to seven calls deep without optimization.
constexpr int kDeepestCall = 12;
constexpr std::size_t kMostInlined = 20'000;  // instructions of one function

bool is_clock(std::string_view name) { return name.starts_with("%clock") || name.starts_with("%globaltimer"); }

using Tokens = std::span<const Token>;

/// The operands of an instruction: its tokens after the opcode, split at commas outside brackets.
std::vector<Tokens> operands_of(Tokens tokens) {
  std::vector<Tokens> operands;
  std::size_t begin = 1;
  int depth = 0;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (text == "(" || text == "[" || text == "{") ++depth;
    if (text == ")" || text == "]" || text == "}") --depth;
    if (text != "," || depth != 0) continue;
    operands.push_back(tokens.subspan(begin, i - begin));
    begin = i + 1;
  }
  if (begin < tokens.size()) operands.push_back(tokens.subspan(begin));
  return operands;
}

/// The operands inside { } of a vector, or between | of a pair; the operand itself otherwise.
std::vector<Tokens> elements_of(Tokens tokens) {
  std::vector<Tokens> elements;
  std::size_t begin = 0, size = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view text = tokens[i].text;
    if (text == "," || text == "|") elements.push_back(tokens.subspan(begin, std::exchange(size, 0)));
    if (text == "," || text == "|" || text == "{" || text == "}") continue;
    if (size++ == 0) begin = i;
  }
  elements.push_back(tokens.subspan(begin, size));
  return elements;
}

class Builder {
 public:
  Builder(const Module& module, const Function& function, const std::vector<std::size_t>& inline_calls)
      : module_(module), outer_(function), inline_calls_(inline_calls.begin(), inline_calls.end()) {}

  Program build() {
    add_body(outer_, {}, {}, 0, 0);
    for (const auto& [instruction, label] : branches_) {
      const auto found = labels_.find(label);
      if (found == labels_.end()) {
        fail("a branch to a label that does not exist");
        break;
      }
      program_.code[instruction].targets.push_back(found->second);
    }
    if (program_.problem.empty()) {
      fold_branches(program_);
      find_memory(program_);
      fold_branches(program_);
    }
    return std::move(program_);
  }

 private:
  // A label: the inlined call that it belongs to, its scope, its name.
  using Label = std::tuple<int, int, std::string_view>;
  /// A place in parameter memory: who declares it. Its offset comes beside it.
  using Base = int;

  void fail(const std::string& problem) {
    if (program_.problem.empty()) program_.problem = problem;
  }
  int parameter_variable(Base base, std::int64_t offset) {
    const auto [place, added] = parameters_.try_emplace({base, offset}, program_.variables);
    if (added) ++program_.variables;
    return place->second;
  }

  Base base_of(int instance, int scope, std::string_view name) {
    const auto [place, added] = bases_.try_emplace({instance, scope, name}, next_base_);
    if (added) ++next_base_;
    return place->second;
  }

  struct Frame {
    const Function* function = nullptr;
    Names* names = nullptr;
    int instance = 0;
    int depth = 0;
    std::map<std::string_view, Base> bound;  ///< the function's parameters and results -> places of the caller
    std::set<std::pair<int, std::string_view>> labels;
    std::map<std::string_view, const Statement*> targets;  ///< by label: the list of an indexed branch
  };

  /// Adds a function's body. `arguments` and `results` are places of the caller; the outermost body has none.
  void add_body(const Function& function, const std::vector<Base>& arguments, const std::vector<Base>& results,
                int depth, std::size_t call_statement) {
    Names names(function);
    Frame frame{&function, &names, next_instance_++, depth, {}, {}, {}};
    for (std::size_t i = 0; i < function.parameters.size(); ++i) {
      frame.bound[function.parameters[i].name] =
          i < arguments.size() ? arguments[i] : base_of(frame.instance, -1, function.parameters[i].name);
    }
    for (std::size_t i = 0; i < function.results.size(); ++i) {
      frame.bound[function.results[i].name] =
          i < results.size() ? results[i] : base_of(frame.instance, -1, function.results[i].name);
    }
    for (std::size_t i = 0; i < function.statements.size(); ++i) {
      const Statement& statement = function.statements[i];
      if (statement.kind != StatementKind::label) continue;
      frame.labels.insert({statement.scope, statement.opcode()});
      if (i + 1 < function.statements.size() && function.statements[i + 1].kind == StatementKind::targets) {
        frame.targets[statement.opcode()] = &function.statements[i + 1];
      }
    }
    stack_.insert(function.name);
    const std::size_t before = current_statement_;
    for (std::size_t i = 0; i < function.statements.size() && program_.problem.empty(); ++i) {
      const Statement& statement = function.statements[i];
      current_statement_ = depth == 0 ? i : call_statement;
      if (statement.kind == StatementKind::label) {
        labels_[{frame.instance, statement.scope, statement.opcode()}] = static_cast<int>(program_.code.size());
      } else if (statement.kind == StatementKind::instruction) {
        add_statement(frame, statement, i);
      }
    }
    current_statement_ = before;
    stack_.erase(function.name);
    if (depth == 0) {
      Instruction end;
      end.opcode = "ret";
      end.effect = Effect::leave;
      end.statement = function.statements.size();
      program_.code.push_back(end);
    } else {
      labels_[{frame.instance, -2, "end"}] = static_cast<int>(program_.code.size());
    }
  }

  int register_of(Frame& frame, std::string_view name, int scope) {
    const int local = frame.names->register_of(name, scope);
    if (local < 0) return -1;
    const auto [place, added] = registers_.try_emplace({frame.instance, local}, program_.variables);
    if (added) ++program_.variables;
    return place->second;
  }

  Operand operand_of(Frame& frame, Tokens tokens, int scope) {
    Operand operand;
    if (tokens.empty()) return operand;
    const Token& first = tokens.front();
    if (first.kind == TokenKind::number || ((first.text == "-" || first.text == "~") && tokens.size() == 2)) {
      const std::optional<std::int64_t> value = integer_of(tokens.back().text);
      if (value) {
        operand.kind = OperandKind::constant;
        // The smallest number has no positive one, and negates to itself.
        const auto bits = static_cast<std::uint64_t>(*value);
        operand.constant = first.text == "-"   ? static_cast<std::int64_t>(0 - bits)
                           : first.text == "~" ? ~*value
                                               : *value;
      }
      return operand;
    }
    const Token& name = first.text == "!" && tokens.size() == 2 ? tokens.back() : first;
    if (name.kind != TokenKind::word) return operand;
    std::string_view text = name.text;
    int variable = register_of(frame, text, scope);
    if (variable < 0 && text.find('.') != std::string_view::npos) {  // an element of a vector
      variable = register_of(frame, text.substr(0, text.find('.')), scope);
    }
    if (variable >= 0) {
      operand = {OperandKind::variable, variable};
    } else if (text.front() == '%') {
      operand.kind = is_clock(text) ? OperandKind::clock : OperandKind::special;
    } else {
      operand.kind = OperandKind::symbol;
      operand.constant = frame.instance;
    }
    operand.name = text;
    return operand;
  }

  void add_statement(Frame& frame, const Statement& statement, std::size_t index) {
    Instruction instruction;
    instruction.opcode = statement.opcode();
    instruction.effect = effect_of(instruction.opcode);
    instruction.statement = current_statement_;
    instruction.inlined = frame.depth > 0;
    instruction.place = frame.function->place_at(statement.place);
    if (!statement.guard.empty()) {
      instruction.guard = register_of(frame, statement.guard, statement.scope);
      instruction.guard_negated = statement.guard_negated;
      if (instruction.guard < 0) return fail("a predicate that is not declared");
    }
    const std::vector<Tokens> operands = operands_of(statement.tokens);
    for (const Tokens operand : operands) {
      if (operand.empty()) return fail("an empty operand");
    }
    switch (instruction.effect) {
      case Effect::branch:
        if (operands.size() != 1 || operands[0].size() != 1) return fail("a branch without one label");
        return add_branch(frame, instruction, operands[0][0].text, statement.scope);
      case Effect::indexed:
        return add_indexed_branch(frame, instruction, operands, statement.scope);
      case Effect::leave:
        if (mnemonic_of(instruction.opcode) == "ret" && frame.depth > 0) {
          instruction.opcode = "bra";
          instruction.effect = Effect::branch;
          branches_.push_back({program_.code.size(), Label{frame.instance, -2, "end"}});
        }
        program_.code.push_back(std::move(instruction));
        return;
      case Effect::call:
        return add_call(frame, instruction, statement, operands, index);
      default:
        break;
    }
    if (is_parameter_access(instruction.opcode))
      return add_parameter_access(frame, instruction, operands, statement.scope);
    const bool writes = writes_first_operand(instruction.opcode);
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const Tokens tokens = operands[i];
      if (tokens.front().text == "[") {
        if (!add_address(frame, instruction, tokens, statement.scope)) return;
        continue;
      }
      for (const Tokens element : elements_of(tokens)) {
        const Operand operand = operand_of(frame, element, statement.scope);
        if (i == 0 && writes) {
          if (operand.kind == OperandKind::variable) {
            instruction.defines.push_back(operand.variable);
          } else if (element.empty() || element.front().text != "_") {
            return fail("a result that is not a declared register");
          }
          if (operand.kind == OperandKind::variable && operand.name.find('.') != std::string_view::npos) {
            instruction.partial = true;
          }
        } else {
          instruction.sources.push_back(operand);
        }
      }
    }
    // match.all and shfl write a second result, which elements_of() separated at its `|`.
    instruction.moves = mnemonic_of(instruction.opcode) == "mov" && instruction.defines.size() == 1 &&
                        instruction.sources.size() == 1 && !instruction.partial;
    program_.code.push_back(std::move(instruction));
  }

  bool add_address(Frame& frame, Instruction& instruction, Tokens tokens, int scope) {
    if (tokens.size() < 3 || tokens.back().text != "]") {
      fail("an address without its bracket");
      return false;
    }
    std::size_t at = 2;
    std::int64_t offset = 0;
    bool plain = true;
    while (at + 1 < tokens.size()) {
      const std::string_view text = tokens[at].text;
      if ((text == "+" || text == "-") && at + 2 < tokens.size()) {
        std::int64_t sign = text == "-" ? -1 : 1;
        ++at;
        if (tokens[at].text == "-" && at + 2 < tokens.size()) {
          sign = -sign;
          ++at;
        }
        const std::optional<std::int64_t> value = integer_of(tokens[at].text);
        if (!value) plain = false;
        offset += sign * value.value_or(0);
        ++at;
      } else {
        plain = false;  // texture coordinates, tensor coordinates
        const Operand operand = operand_of(frame, tokens.subspan(at, 1), scope);
        if (operand.kind == OperandKind::variable) instruction.sources.push_back(operand);
        ++at;
      }
    }
    const Operand address = operand_of(frame, tokens.subspan(1, 1), scope);
    if (instruction.has_address) {
      instruction.sources.push_back(address);  // a second address
      return true;
    }
    instruction.has_address = true;
    instruction.address = address;
    if (!plain) instruction.address.kind = address.kind == OperandKind::variable ? address.kind : OperandKind::other;
    instruction.offset = offset;
    return true;
  }

  void add_branch(Frame& frame, Instruction& instruction, std::string_view label, int scope) {
    for (; scope >= 0; scope = frame.function->scopes[static_cast<std::size_t>(scope)]) {
      if (!frame.labels.contains({scope, label})) continue;
      branches_.push_back({program_.code.size(), Label{frame.instance, scope, label}});
      program_.code.push_back(std::move(instruction));
      return;
    }
    fail("a branch to a label that does not exist");
  }

  void add_indexed_branch(Frame& frame, Instruction& instruction, const std::vector<Tokens>& operands, int scope) {
    if (operands.size() != 2) return fail("an indexed branch of unknown form");
    instruction.sources.push_back(operand_of(frame, operands[0], scope));
    const auto targets = frame.targets.find(operands[1][0].text);
    if (targets == frame.targets.end()) return fail("an indexed branch without its list of targets");
    const Statement* const list = targets->second;
    const std::size_t at = program_.code.size();
    for (std::size_t i = 1; i < list->tokens.size(); ++i) {
      if (list->tokens[i].kind != TokenKind::word) continue;
      int found = -1;
      for (int s = list->scope; s >= 0 && found < 0; s = frame.function->scopes[static_cast<std::size_t>(s)]) {
        if (frame.labels.contains({s, list->tokens[i].text})) found = s;
      }
      if (found < 0) return fail("a branch to a label that does not exist");
      branches_.push_back({at, Label{frame.instance, found, list->tokens[i].text}});
    }
    program_.code.push_back(std::move(instruction));
  }

  static bool is_parameter_access(std::string_view opcode) {
    const std::string_view mnemonic = mnemonic_of(opcode);
    return (mnemonic == "ld" || mnemonic == "st") && has_modifier(opcode, "param");
  }

  /// ld.param and st.param, one move per element.
  void add_parameter_access(Frame& frame, Instruction& instruction, const std::vector<Tokens>& operands, int scope) {
    const bool loads = instruction.effect == Effect::load;
    if (operands.size() != 2) return fail("a parameter access of unknown form");
    const Tokens place = operands[loads ? 1 : 0];
    Instruction probe;
    if (place.empty() || place.front().text != "[" || !add_address(frame, probe, place, scope)) {
      return fail("a parameter access of unknown form");
    }
    if (probe.address.kind == OperandKind::variable) {
      // Parameters of kernels that are read through a pointer: constant memory.
      instruction.effect = loads ? Effect::load : Effect::store;
      instruction.has_address = true;
      instruction.address = probe.address;
      instruction.offset = probe.offset;
      for (const Tokens element : elements_of(operands[loads ? 0 : 1])) {
        const Operand operand = operand_of(frame, element, scope);
        if (!loads) {
          instruction.sources.push_back(operand);
        } else if (operand.kind == OperandKind::variable) {
          instruction.defines.push_back(operand.variable);
        }
      }
      program_.code.push_back(std::move(instruction));
      return;
    }
    const Base base = parameter_base(frame, probe.address.name, scope);
    std::int64_t offset = probe.offset;
    for (const Tokens element : elements_of(operands[loads ? 0 : 1])) {
      Instruction move = instruction;
      move.effect = Effect::compute;
      move.moves = true;
      const Operand operand = operand_of(frame, element, scope);
      const Operand parameter{OperandKind::variable, parameter_variable(base, offset)};
      offset += bytes_of_type(instruction.opcode);
      if (loads) {
        if (operand.kind != OperandKind::variable) continue;
        move.defines = {operand.variable};
        move.sources = {parameter};
      } else {
        move.defines = {parameter.variable};
        move.sources = {operand};
      }
      program_.code.push_back(std::move(move));
    }
  }

  Base parameter_base(Frame& frame, std::string_view name, int scope) {
    const int declared = frame.names->memory_scope_of(name, scope);
    if (declared >= 0) return base_of(frame.instance, declared, name);
    const auto bound = frame.bound.find(name);
    if (bound != frame.bound.end()) return bound->second;
    return base_of(frame.instance, -1, name);
  }

  static std::vector<std::string_view> names_in(Tokens tokens, bool& plain) {
    std::vector<std::string_view> names;
    for (const Token& token : tokens) {
      if (token.kind == TokenKind::word) {
        names.push_back(token.text);
      } else if (token.kind != TokenKind::punctuation) {
        plain = false;
      }
    }
    return names;
  }

  void add_call(Frame& frame, Instruction& instruction, const Statement& statement, const std::vector<Tokens>& operands,
                std::size_t index) {
    // call (results), name, (arguments), prototype
    std::size_t at = 0;
    bool plain = true;
    std::vector<std::string_view> results, arguments;
    if (at < operands.size() && operands[at].front().text == "(") results = names_in(operands[at++], plain);
    if (at >= operands.size() || operands[at].empty()) return fail("a call of unknown form");
    instruction.callee = operands[at].front().text;
    ++at;
    if (at < operands.size() && operands[at].front().text == "(") arguments = names_in(operands[at++], plain);
    if (at < operands.size()) plain = false;  // an indirect call
    // Results that are registers change with the call.
    for (const std::string_view name : results) {
      const int variable = register_of(frame, name, statement.scope);
      if (variable >= 0) {
        instruction.defines.push_back(variable);
        plain = false;
      }
    }
    const auto body = module_.bodies.find(instruction.callee);
    const Function* const called = body == module_.bodies.end() ? nullptr : &module_.functions[body->second];
    const bool wanted = frame.depth > 0 || inline_calls_.contains(index);
    if (wanted && plain && instruction.guard < 0 && called != nullptr && !stack_.contains(instruction.callee) &&
        frame.depth < kDeepestCall &&
        program_.code.size() + called->statements.size() < kMostInlined + outer_.statements.size()) {
      std::vector<Base> given, got;
      for (const std::string_view name : arguments) given.push_back(parameter_base(frame, name, statement.scope));
      for (const std::string_view name : results) got.push_back(parameter_base(frame, name, statement.scope));
      add_body(*called, given, got, frame.depth + 1, current_statement_);
      return;
    }
    // What a call that stays a call returns is new each time.
    for (const std::string_view name : results) {
      const Base base = parameter_base(frame, name, statement.scope);
      for (std::int64_t offset = 0; offset < 16; ++offset) {
        instruction.defines.push_back(parameter_variable(base, offset));
      }
    }
    program_.code.push_back(std::move(instruction));
  }

  const Module& module_;
  const Function& outer_;
  std::set<std::size_t> inline_calls_;
  Program program_;
  std::map<Label, int> labels_;
  std::vector<std::pair<std::size_t, Label>> branches_;
  std::map<std::pair<int, int>, int> registers_;
  std::map<std::pair<Base, std::int64_t>, int> parameters_;
  std::map<Label, Base> bases_;
  std::set<std::string_view> stack_;
  std::size_t current_statement_ = 0;
  int next_instance_ = 0;
  Base next_base_ = 0;
};

}  // namespace

std::vector<std::vector<std::size_t>> successors_of(const Program& program) {
  std::vector<std::vector<std::size_t>> all;
  for (const Instruction& instruction : program.code) {
    std::vector<std::size_t>& successors = all.emplace_back(instruction.targets.begin(), instruction.targets.end());
    const bool leaves = instruction.effect == Effect::leave;
    if (leaves) successors.push_back(program.code.size());
    const bool ends = leaves || instruction.effect == Effect::branch || instruction.effect == Effect::indexed;
    if (!ends || instruction.guard >= 0) successors.push_back(all.size());
  }
  return all;
}

std::vector<std::vector<std::size_t>> writers_in(const Program& program) {
  std::vector<std::vector<std::size_t>> writers(static_cast<std::size_t>(program.variables));
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    for (const int variable : program.code[i].defines) writers[static_cast<std::size_t>(variable)].push_back(i);
  }
  return writers;
}

std::vector<const Instruction*> makers_in(const Program& program) {
  std::vector<const Instruction*> makers(static_cast<std::size_t>(program.variables));
  std::vector<bool> written(makers.size());
  for (const Instruction& instruction : program.code) {
    const bool alone = replaces_all(instruction) && instruction.defines.size() == 1;
    for (const int variable : instruction.defines) {
      const auto at = static_cast<std::size_t>(variable);
      makers[at] = alone && !written[at] ? &instruction : nullptr;
      written[at] = true;
    }
  }
  return makers;
}

Program program_of(const Module& module, const Function& function, const std::vector<std::size_t>& inline_calls) {
  return Builder(module, function, inline_calls).build();
}

}  // namespace wicprof::rewriter
