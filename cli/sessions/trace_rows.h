// What the tables of a trace, perhaps a growing one, say about a program that hangs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/stuck/stuck.h"
#include "store/read/reader.h"

namespace wicprof::cli {

struct SeenSession {
  analyzer::StuckView view;
  std::vector<std::string> not_seen;  ///< what could not be looked at, and why
};

/// Adds processes, the last messages and signals, writers that may be, and the samples of the last seconds before
/// StuckView::now. Processes that the view has get their names and ranks. `app`: the process that wic-prof has started;
/// if that is a rank, the launcher is outside of the recording, and so may other ranks be.
void add_rows(const store::Reader& reader, std::uint32_t app, SeenSession& to);

}  // namespace wicprof::cli
