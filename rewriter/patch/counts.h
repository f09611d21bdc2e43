// The counts of waits, most of which are too short to be recorded: those of a sample, or of all in a register.
#pragma once

#include <string>
#include <vector>

#include "rewriter/patch/look.h"
#include "rewriter/patch/site.h"

namespace wicprof::rewriter {

/// Stands in each round: makes %__wic_l in the wait's first round, when %__wic_t is its clock. The first look of a wait
/// of the sample is due at once, since its time lies kSampleDueBefore behind. Also counts the wait where the site has a
/// register for that, when it goes round for the first time. `guard`: of the branch that goes back: "", "%p" or "!%p".
/// Changes %__wic_p, %__wic_q, %__wic_e and %__wic_d.
std::string first_look_text(const Site& site, const Table& table, const std::string& guard);

/// Stands before the look: a thread whose wait is one of the sample comes here, and notes its begin when it goes round.
/// It goes on to $__wic_go_on_N, or to the look behind this text if it has waited for kFirstLookNs, or if the end of an
/// earlier wait is still to be written. Expects what look_text() expects.
std::string sample_text(const Site& site, const Table& table, const LookPlace& place);

/// Adds 1 to the waits of the site whose number `number` puts into %__wic_h (LookPlace::number) that have lasted until
/// their first look. Changes %__wic_a and %__wic_h.
std::string add_looked_text(const Table& table, const std::string& number);

/// Adds the thread's wait of the sample, of which %__wic_s says the site, to the site's counts. `state`: the address of
/// the thread's ThreadState. Changes %__wic_a, %__wic_g, %__wic_h, %__wic_i and %__wic_x.
std::string add_sample_text(const Table& table, const std::string& state);

/// The registers of the sites that count in them, declared and 0.
std::string count_registers_text(const std::vector<const Site*>& sites);

/// Adds these registers to the sites' counts, before the thread ends.
std::string add_registers_text(const std::vector<const Site*>& sites, const Table& table);

}  // namespace wicprof::rewriter
