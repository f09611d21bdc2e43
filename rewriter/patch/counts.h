// The counts of waits, most of which are too short to be recorded: each wait is counted when it goes round for the
// first time, under the program's next poll; rounds and times are those of a sample.
#pragma once

#include <string>

#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// After how many ns a wait that begins counts, at the earliest: 1 beside a poll, where the first round may find the
/// word ready, so that the second one is late; 0 at a back edge, since who goes back waits.
std::uint32_t first_count_ns(const Site& site);

/// Stands before the look in the loop: a thread that comes here for the first time in a wait counts it, may note it as
/// one of the sample, and goes on to $__wic_go_on_N, or to the look behind this text if an earlier wait of the sample
/// is to be added. Expects what look_text() expects, and the round's clock in %__wic_c. Changes %__wic_n, %__wic_l,
/// %__wic_s and %__wic_b.
std::string count_wait_text(const Site& site, const Table& table);

/// %__wic_a becomes the address of the counts of the site whose number (Site::number) is in %__wic_h; changes %__wic_h.
std::string counts_address_text(const Table& table);

/// Adds the thread's wait of the sample, of which %__wic_s says the site, to the site's counts. `state`: the address of
/// the thread's ThreadState. Changes %__wic_a, %__wic_h, %__wic_i and %__wic_x.
std::string add_sample_text(const Table& table, const std::string& state);

}  // namespace wicprof::rewriter
