// Names of places in the program's machine code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace wicprof::collector {

/// The function at an address of this process.
struct FunctionAt {
  std::string name;          ///< as in the symbol table, mangled; empty: unknown
  std::string module;        ///< file name of the program or library; empty: unknown
  std::uint64_t offset = 0;  ///< of the address in the module, as addr2line -e MODULE takes it
};

/// Reads the module's full symbol table where the file has one, so that static functions have names, too. The first
/// call for a module takes as long as its symbol table is large (some 10 ms for a million symbols). Any thread.
FunctionAt function_at(const void* address);

/// A function's readable name without parameters and template arguments, and without its leading namespaces as far as
/// it is longer than `most` characters; cut at the end if nothing else helps.
std::string short_function(std::string_view symbol, std::size_t most);

/// "MODULE+0xOFFSET"
std::string place_text(const FunctionAt& function);

}  // namespace wicprof::collector
