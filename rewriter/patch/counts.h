// The counts of waits, most of which are too short to be recorded: of those that last, and of a sample of the others.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Stands in each round: makes %__wic_l in the wait's first round, when %__wic_t is its clock. The first look of a wait
/// of the sample is due at once, since its time lies kSampleDueBefore behind. Changes %__wic_p, %__wic_q and %__wic_e.
std::string first_look_text(const Table& table);

/// Stands in the loop before the look, where a thread comes whose wait is one of the sample: when it goes round, it is
/// counted, or its begin is noted, and the thread goes on to $__wic_go_on_N. It goes to what is behind this text if it
/// has waited for kFirstLookNs, or if the end of an earlier wait is still to be written. Expects what look_text()
/// expects, and %__wic_c.
std::string sample_text(const Site& site, const Table& table);

/// Adds 1 to the waits of the site whose number `number` puts into %__wic_h (LookPlace::number) that have lasted until
/// their first look, and takes a wait that has been counted away again. Expects %__wic_l as it was due. Changes
/// %__wic_a, %__wic_e, %__wic_g, %__wic_h and %__wic_p.
std::string add_looked_text(const Site& site, const Table& table, const std::string& number);

/// Adds the thread's wait that was timed, of which %__wic_s says the site, to the site's counts. `state`: the address
/// of the thread's ThreadState. Changes %__wic_a, %__wic_g, %__wic_h, %__wic_i and %__wic_x.
std::string add_timed_text(const Table& table, const std::string& state);

}  // namespace wicprof::rewriter
