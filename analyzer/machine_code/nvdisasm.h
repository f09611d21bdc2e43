// Reads what nvdisasm prints.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "store/format/rows.h"

namespace wicprof::analyzer {

/// The instructions of the functions `symbols` in a listing by `nvdisasm -c` (with `-g` or `-gi` for lines), or by
/// `cuobjdump -sass`, of the module `module`. Offsets count from the start of the function. Of several source lines
/// (inlined code), the innermost one that is not the toolkit's own is kept. What is not an instruction is skipped.
std::vector<store::SassRow> parse_nvdisasm(std::string_view listing, std::uint64_t module,
                                           const std::set<std::string>& symbols);

}  // namespace wicprof::analyzer
