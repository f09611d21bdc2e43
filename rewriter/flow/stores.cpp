#include "rewriter/flow/stores.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "rewriter/flow/program.h"

namespace wicprof::rewriter {

namespace {

// Values that one address is followed through at most; what comes behind them is not known. Not calibrated.
constexpr std::size_t kLongestTrace = 1000;

class StoreFinder {
 public:
  StoreFinder(const Function& function, const Program& program)
      : function_(function), program_(program), writers_(writers_in(program)) {
    for (std::size_t i = 0; i < function.parameters.size(); ++i) parameters_[function.parameters[i].name] = i;
  }

  KernelStores find() {
    found_.kernel = std::string(function_.name);
    for (const Instruction& instruction : program_.code) {
      if (instruction.effect == Effect::call) found_.elsewhere = true;
      const bool stores = instruction.effect == Effect::store || instruction.effect == Effect::atomic ||
                          instruction.effect == Effect::reduction;
      if (!stores || !instruction.has_address || is_private(instruction.opcode)) continue;
      seen_.clear();
      trace(instruction.address, true, instruction.offset);
    }
    return std::move(found_);
  }

 private:
  static bool is_private(std::string_view opcode) {
    return has_modifier(opcode, "shared") || has_modifier(opcode, "local") || has_modifier(opcode, "param") ||
           mnemonic_of(opcode) == "mbarrier";
  }

  void add(StoreTarget target) {
    if (!target.exact) target.offset = 0;
    if (std::ranges::find(found_.targets, target) == found_.targets.end()) {
      found_.targets.push_back(std::move(target));
    }
  }

  /// The parameter that a ld.param of 64 bits reads.
  std::optional<int> parameter_of(const Instruction& instruction) const {
    if (mnemonic_of(instruction.opcode) != "ld" || !has_modifier(instruction.opcode, "param") ||
        bytes_of_type(instruction.opcode) != 8 || instruction.statement >= function_.statements.size()) {
      return std::nullopt;
    }
    for (const Token& token : function_.statements[instruction.statement].tokens) {
      if (const auto known = parameters_.find(token.text); known != parameters_.end()) {
        return static_cast<int>(known->second);
      }
    }
    return std::nullopt;
  }

  /// Follows an address to the pointers that it is computed from.
  void trace(const Operand& operand, bool exact, std::int64_t offset) {
    if (operand.kind == OperandKind::symbol) return add({-1, std::string(operand.name), exact, offset});
    if (operand.kind != OperandKind::variable || !seen_.insert(operand.variable).second) return;
    if (seen_.size() > kLongestTrace) {
      found_.elsewhere = true;
      return;
    }
    const std::vector<std::size_t>& writers = writers_[static_cast<std::size_t>(operand.variable)];
    exact = exact && writers.size() == 1;
    for (const std::size_t writer : writers) {
      const Instruction& instruction = program_.code[writer];
      if (const std::optional<int> parameter = parameter_of(instruction)) {
        add({*parameter, {}, exact, offset});
        continue;
      }
      const std::string_view mnemonic = mnemonic_of(instruction.opcode);
      if (instruction.effect == Effect::load && !instruction.moves) {
        // An index from memory is not told from a pointer, except by its size.
        if (bytes_of_type(instruction.opcode) == 8) found_.elsewhere = true;
        continue;
      }
      if (instruction.effect != Effect::compute && !instruction.moves) continue;
      if (instruction.moves || mnemonic == "cvta") {
        for (const Operand& source : instruction.sources) trace(source, exact, offset);
      } else if (mnemonic == "add" && instruction.sources.size() == 2 &&
                 instruction.sources[1].kind == OperandKind::constant) {
        trace(instruction.sources[0], exact, offset + instruction.sources[1].constant);
      } else {
        for (const Operand& source : instruction.sources) trace(source, false, 0);
      }
    }
  }

  const Function& function_;
  const Program& program_;
  const std::vector<std::vector<std::size_t>> writers_;
  std::map<std::string_view, std::size_t> parameters_;
  std::set<int> seen_;  // of one address
  KernelStores found_;
};

}  // namespace

std::vector<KernelStores> stores_of(const Module& module) {
  std::vector<KernelStores> all;
  for (const Function& function : module.functions) {
    if (!function.is_entry || !function.has_body) continue;
    const Program program = program_of(module, function, {});
    if (!program.problem.empty()) continue;
    KernelStores stores = StoreFinder(function, program).find();
    if (!stores.targets.empty() || stores.elsewhere) all.push_back(std::move(stores));
  }
  return all;
}

}  // namespace wicprof::rewriter
