#include "collector/program/symbol_name.h"

#include <cxxabi.h>

#include <cstdlib>

namespace wicprof::collector {

std::string readable_symbol(std::string_view symbol) {
  const std::string mangled(symbol);
  if (!symbol.starts_with("_Z")) return mangled;
  int status = 0;
  char* readable = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  if (readable == nullptr) return mangled;
  std::string name = status == 0 ? readable : mangled;
  std::free(readable);
  return name;
}

std::string_view plain_call_name(std::string_view name) {
  const std::size_t at = name.rfind("_v");
  if (at == std::string_view::npos || at == 0) return name;
  const std::string_view version = name.substr(at + 2);
  if (version.size() < 4 || version.find_first_not_of("0123456789") != std::string_view::npos) return name;
  return name.substr(0, at);
}

}  // namespace wicprof::collector
