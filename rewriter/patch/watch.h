// Waiting for a word of host memory without reading it: one thread of the device reads for all.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Part of a visit, for sites that watch. Falls through where reads of the word are fast, or where nobody can watch it.
std::string watch_text(const Site& site, const Table& table);

}  // namespace wicprof::rewriter
