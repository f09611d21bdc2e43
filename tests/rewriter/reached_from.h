// Which functions of a module belong to a kernel.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "rewriter/text/module.h"

namespace wicprof::rewriter {

/// The functions that the kernel calls, with the kernel.
inline std::set<std::string> reached_from(const Module& module, const std::string& kernel) {
  std::map<std::string, const Function*> bodies;
  for (const Function& function : module.functions) {
    if (function.has_body) bodies[std::string(function.name)] = &function;
  }
  std::set<std::string> seen{kernel};
  std::vector<std::string> open{kernel};
  while (!open.empty()) {
    const Function& function = *bodies.at(open.back());
    open.pop_back();
    for (const Statement& statement : function.statements) {
      if (!statement.opcode().starts_with("call")) continue;
      for (const Token& token : statement.tokens) {
        const std::string name(token.text);
        if (bodies.contains(name) && seen.insert(name).second) open.push_back(name);
      }
    }
  }
  return seen;
}

}  // namespace wicprof::rewriter
