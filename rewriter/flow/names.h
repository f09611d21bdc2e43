// The registers and the variables in memory that a function declares, by scope.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "rewriter/text/module.h"

namespace wicprof::rewriter {

/// The value of an integer as PTX writes it; nothing for other text.
std::optional<std::int64_t> integer_of(std::string_view text);

class Names {
 public:
  /// `function` must outlive it.
  explicit Names(const Function& function);

  /// The number of a register within its function, as a statement of `scope` sees it; -1 for a name that is not a
  /// register.
  int register_of(std::string_view name, int scope);
  /// The scope that declares the register; -1: none.
  int register_scope_of(std::string_view name, int scope) const;
  /// The scope that declares a variable in parameter or local memory; -1: none.
  int memory_scope_of(std::string_view name, int scope) const;

 private:
  using Key = std::pair<int, std::string_view>;

  bool declares_register(int scope, std::string_view name) const;
  void declare(const Statement& statement);

  const Function& function_;
  std::set<Key> registers_, memory_;
  std::map<Key, std::int64_t> ranges_;  // of %r<20>: the number behind the name
  std::map<Key, int> numbers_;
};

}  // namespace wicprof::rewriter
