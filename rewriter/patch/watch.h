// Waiting for a word of host memory without reading it: one thread of the device reads for all.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Part of the look, for sites that watch. Goes on to `unwatched` where reads of the word are fast, or where nobody can
/// watch it, to `looked` where the word has changed, and to `left` when the watch has ended.
std::string watch_text(const Table& table);

}  // namespace wicprof::rewriter
