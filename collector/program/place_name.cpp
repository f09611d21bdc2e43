#include "collector/program/place_name.h"

#include <elf.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "collector/program/loaded_module.h"
#include "collector/program/mapped_file.h"
#include "protocol/symbol_name.h"
#include "rewriter/images/elf.h"

namespace wicprof::collector {

namespace {

/// The function at an address of the file, by its symbol table of that type; empty without one.
std::string symbol_in(const rewriter::Elf& file, std::uint64_t address, std::uint32_t type) {
  std::string name;
  rewriter::for_each_function(file, type, [&](const rewriter::ElfFunction& function) {
    if (!function.is_defined || address < function.address || address - function.address >= function.bytes) return true;
    name = function.name();
    return false;
  });
  return name;
}

/// Removes what brackets enclose, except in names such as operator().
std::string without_brackets(std::string_view name) {
  std::string kept;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (name.substr(i).starts_with("operator()")) {
      if (depth == 0) kept += "operator()";
      i += 9;
    } else if (name.substr(i).starts_with("(anonymous namespace)")) {
      i += 20 + (name.substr(i + 21).starts_with("::") ? 2 : 0);
    } else if (c == '<' || c == '(') {
      ++depth;
    } else if ((c == '>' || c == ')') && depth > 0) {
      --depth;
    } else if (depth == 0) {
      kept += c;
    }
  }
  if (kept.ends_with(" const")) kept.resize(kept.size() - 6);
  const std::size_t space = kept.rfind(' ');  // after the return type of a template
  return space == std::string::npos || kept.find("operator") != std::string::npos ? kept : kept.substr(space + 1);
}

}  // namespace

FunctionAt function_at(const void* address) {
  FunctionAt function;
  const LoadedModule module = module_at(address);
  if (!module.found) return function;
  function.offset = reinterpret_cast<std::uintptr_t>(address) - module.begin;
  const char* const path = module.is_program() ? "/proc/self/exe" : module.path.c_str();
  char target[4096] = {};
  const char* shown = path;
  if (module.is_program() && readlink(path, target, sizeof target - 1) > 0) shown = target;
  const char* slash = std::strrchr(shown, '/');
  function.module = slash == nullptr ? shown : slash + 1;
  const MappedFile file(path);
  const Result<rewriter::Elf> elf = rewriter::read_elf(file.bytes());
  if (!elf) return function;
  function.name = symbol_in(*elf, function.offset, SHT_SYMTAB);
  if (function.name.empty()) function.name = symbol_in(*elf, function.offset, SHT_DYNSYM);
  return function;
}

std::string short_function(std::string_view symbol, std::size_t most) {
  std::string name = without_brackets(demangled(symbol));
  for (std::size_t colon = 0; name.size() > most && (colon = name.find("::")) != std::string::npos;)
    name.erase(0, colon + 2);
  if (name.size() > most) name.resize(most);
  return name;
}

std::string place_text(const FunctionAt& function) {
  if (function.module.empty()) return {};
  char offset[24];
  std::snprintf(offset, sizeof offset, "+0x%llx", static_cast<unsigned long long>(function.offset));
  return function.module + offset;
}

}  // namespace wicprof::collector
