// Which waits wait for each other, and which only because of another one.
#pragma once

#include <vector>

#include "analyzer/stuck/waited_words.h"

namespace wicprof::analyzer {

/// `causes`: those of words. Makes one of the ranks that wait at one site, adds waits for each other, and marks those
/// that are consequences.
void relate_causes(const WaitedWords& all, std::vector<Cause>& causes);

}  // namespace wicprof::analyzer
