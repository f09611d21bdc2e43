// The counts of waits, most of which are too short to be recorded: of those that last, and of a sample of the others.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Stands in each round: makes %__wic_l in the wait's first round, when %__wic_t is its clock, and %__wic_d, how late
/// the look is. %__wic_q: this is the first round of a wait of the sample. Changes %__wic_p and %__wic_e.
std::string first_look_text(const Table& table);

/// %__wic_p becomes whether the round has no look, from what first_look_text() has made.
std::string no_look_text(const Table& table);

/// Stands in the loop before the look, where a thread comes whose wait is one of the sample: when it goes round, it is
/// counted, or its begin is noted, and the thread goes on to $__wic_go_on_N. It goes to what is behind this text if it
/// has waited for kFirstLookNs, or if the end of an earlier wait is still to be written: until the wait is counted, its
/// look is due since kSampleDueBefore. Expects what look_text() expects, and %__wic_c.
std::string sample_text(const Site& site, const Table& table);

/// Adds 1 to the waits of the site whose number `number` puts into %__wic_h (LookPlace::number) that have lasted until
/// their first look, and takes a wait that has been counted away again. Expects %__wic_l as it was due. Changes
/// %__wic_a, %__wic_e, %__wic_g, %__wic_h and %__wic_p.
std::string add_looked_text(const Site& site, const Table& table, const std::string& number);

/// Adds the thread's wait that was timed, of which %__wic_s says the site, to the site's counts. `state`: the address
/// of the thread's ThreadState. Changes %__wic_a, %__wic_g, %__wic_h, %__wic_i and %__wic_x.
std::string add_timed_text(const Table& table, const std::string& state);

}  // namespace wicprof::rewriter
