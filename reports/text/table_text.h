// A table on the screen.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/parts/table.h"
#include "reports/text/screen.h"

namespace wicprof::reports {

/// The columns of these numbers, or those of a screen; the first head begins with a capital letter. Says how many more
/// rows there are. Empty if the table has no rows.
std::string table_text(const Table& table, const Screen& screen, std::size_t indent = 0,
                       std::vector<std::size_t> columns = {});

}  // namespace wicprof::reports
