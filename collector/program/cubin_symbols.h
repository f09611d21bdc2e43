// Names of functions in a module (cubin), for samples that CUPTI delivers without a name.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace wicprof::collector {

/// The function symbol with this index in the module's symbol table (ELF, 64 bit); empty if the module has no such
/// symbol, the symbol is no function, or the bytes are damaged.
std::string function_symbol(std::span<const char> cubin, std::uint32_t index);

}  // namespace wicprof::collector
