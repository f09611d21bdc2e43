// Parses listings of nvdisasm and cuobjdump.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/format/rows.h"

namespace wicprof::analyzer {

/// The instructions of the functions `symbols` in a listing of the module `module` by `nvdisasm -c` (with `-g` or `-gi`
/// for lines) or by `cuobjdump -sass`, and of the functions that they call. Offsets count from the start of the
/// function. For inlined code, keeps the innermost source line outside the toolkit's headers. Skips everything that is
/// not an instruction.
std::vector<store::SassRow> parse_nvdisasm(std::string_view listing, std::uint64_t module,
                                           const std::set<std::string>& symbols);

}  // namespace wicprof::analyzer
