// Why one word has not got the value for which others wait.
#pragma once

#include <cstddef>

#include "analyzer/stuck/waited_words.h"

namespace wicprof::analyzer {

Cause cause_of(const StuckView& view, const WaitedWords& all, std::size_t index);

}  // namespace wicprof::analyzer
