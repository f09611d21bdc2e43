#include "protocol/symbol_name.h"

#include <cxxabi.h>

#include <cstdlib>

namespace wicprof {

std::string demangled(std::string_view symbol) {
  const std::string mangled(symbol);
  if (!symbol.starts_with("_Z")) return mangled;
  int status = 0;
  char* readable = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (readable == nullptr) return mangled;
  std::string name = status == 0 ? readable : mangled;
  std::free(readable);
  return name;
}

std::string short_symbol(std::string_view symbol) {
  const std::string whole = demangled(symbol);
  std::size_t begin = 0, end = 0;  // of the last part so far; end 0: it goes on
  int depth = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const char c = whole[at];
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      // "(anonymous namespace)" is a part itself; behind a part, arguments follow, and parameters end the name.
      if (depth == 0 && at > begin && end == 0) end = at;
      if (depth == 0 && at > begin && c == '(') break;
      ++depth;
    } else if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (c != '>' || whole[at - (at > 0 ? 1 : 0)] != '-') --depth;
    } else if (depth == 0 && (c == ':' || c == ' ')) {
      begin = at + 1;
      end = 0;
    }
  }
  const std::string name = whole.substr(begin, end == 0 ? std::string::npos : end - begin);
  return name.empty() ? whole : name;
}

}  // namespace wicprof
