#include "rewriter/flow/names.h"

#include <charconv>
#include <vector>

namespace wicprof::rewriter {

std::optional<std::int64_t> integer_of(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  if (text.ends_with("U")) text.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

Names::Names(const Function& function) : function_(function) {
  for (const Statement& statement : function.statements) {
    if (statement.kind == StatementKind::declaration) declare(statement);
  }
}

int Names::register_of(std::string_view name, int scope) {
  const int declared = register_scope_of(name, scope);
  if (declared < 0) return -1;
  return numbers_.try_emplace({declared, name}, static_cast<int>(numbers_.size())).first->second;
}

int Names::register_scope_of(std::string_view name, int scope) const {
  for (; scope >= 0; scope = function_.scopes[static_cast<std::size_t>(scope)]) {
    if (declares_register(scope, name)) return scope;
  }
  return -1;
}

int Names::memory_scope_of(std::string_view name, int scope) const {
  for (; scope >= 0; scope = function_.scopes[static_cast<std::size_t>(scope)]) {
    if (memory_.contains({scope, name})) return scope;
  }
  return -1;
}

bool Names::declares_register(int scope, std::string_view name) const {
  if (registers_.contains({scope, name})) return true;
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits == name.size() || digits == 0) return false;
  const auto range = ranges_.find({scope, name.substr(0, digits)});
  if (range == ranges_.end()) return false;
  const std::optional<std::int64_t> number = integer_of(name.substr(digits));
  return number && *number < range->second;
}

void Names::declare(const Statement& statement) {
  const std::vector<Token>& tokens = statement.tokens;
  const std::string_view space = tokens.front().text;
  for (std::size_t i = 1; i < tokens.size(); ++i) {
    if (tokens[i].text == "=") break;  // an initializer
    if (tokens[i].kind != TokenKind::word || tokens[i].text.front() == '.') continue;
    const Key key{statement.scope, tokens[i].text};
    if (space == ".param" || space == ".local") memory_.insert(key);
    if (space != ".reg") continue;
    if (i + 2 < tokens.size() && tokens[i + 1].text == "<") {
      ranges_[key] = integer_of(tokens[i + 2].text).value_or(0);
    } else {
      registers_.insert(key);
    }
  }
}

}  // namespace wicprof::rewriter
