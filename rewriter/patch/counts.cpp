#include "rewriter/patch/counts.h"

#include <cstddef>
#include <cstdint>

#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"

namespace wicprof::rewriter {

namespace {

constexpr const char* kFirstLook = R"(setp.eq.u32 %__wic_p, %__wic_n, 1;
@%__wic_p add.u32 %__wic_l, %__wic_t, <first look ns>;
)";
// Computed in each round, under the program's poll, and used in the first: a branch would cost more.
constexpr const char* kFirstLookOrSample = R"(shr.u32 %__wic_e, %__wic_t, <window>;
mul.lo.u32 %__wic_e, %__wic_e, %__wic_e;
mul.lo.u32 %__wic_e, %__wic_e, <multiplier>;
setp.lt.u32 %__wic_q, %__wic_e, <share>;
selp.b32 %__wic_e, <due before>, <first look ns>, %__wic_q;
setp.eq.u32 %__wic_p, %__wic_n, 1;
@%__wic_p add.u32 %__wic_l, %__wic_t, %__wic_e;
)";

// Beside a poll the first round may find the word ready: then the wait is none. There only the end of an earlier wait
// is written, so that the second round can note this one.
constexpr const char* kBesidePoll = R"(setp.ne.b32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_longer_<k>;
setp.eq.u32 %__wic_p, %__wic_n, 1;
@%__wic_p bra $__wic_go_on_<k>;
)";
// Who goes back waits, and may do so once only.
constexpr const char* kAtBackEdge = R"(setp.gt.s32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_longer_<k>;
setp.eq.b32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_note_<k>;
<add sample>mov.b32 %__wic_s, 0;
$__wic_note_<k>:
)";
// A call before the function ends has no rounds.
constexpr const char* kSampleWait = R"(and.b32 %__wic_g, %__wic_n, <is known>;
setp.ne.b32 %__wic_p, %__wic_g, 0;
setp.eq.or.b32 %__wic_p, %__wic_n, 0, %__wic_p;
@%__wic_p bra $__wic_longer_<k>;
setp.lt.s32 %__wic_p, %__wic_d, <due before>;
@%__wic_p bra $__wic_longer_<k>;
<place>add.u32 %__wic_l, %__wic_l, <to first look>;
sub.u32 %__wic_d, %__wic_d, <due before>;
activemask.b32 %__wic_g;
mov.u32 %__wic_h, %lanemask_lt;
and.b32 %__wic_g, %__wic_g, %__wic_h;
setp.ne.b32 %__wic_p, %__wic_g, 0;
@%__wic_p bra $__wic_go_on_<k>;
cvt.u64.u32 %__wic_x, %__wic_d;
sub.u64 %__wic_x, %__wic_y, %__wic_x;
<note>bra $__wic_go_on_<k>;
$__wic_longer_<k>:
)";
constexpr const char* kNoteBegin = R"(st.local.u64 [<state>+<begin>], %__wic_x;
st.local.u64 [<state>+<ended>], %__wic_y;
or.b32 %__wic_s, <own>, <sampled>;
or.b32 %__wic_n, %__wic_n, <begun>;
<begins>)";
constexpr const char* kNoteNoEnd = R"(<number><address>cvt.u32.u64 %__wic_g, %__wic_x;
<slot>red.global.add.u64 [%__wic_a+<sampled waits>], 1;
)";

/// %__wic_a becomes the address of the counts of the site whose number is in %__wic_h.
constexpr const char* kAddress = R"(mov.u64 %__wic_a, <table>+<counts>;
mad.wide.u32 %__wic_a, %__wic_h, <site bytes>, %__wic_a;
)";
/// Goes on from there to the slot of the window of the time in %__wic_g.
constexpr const char* kSlotOfWindow = R"(shr.u32 %__wic_g, %__wic_g, <window>;
mul.lo.u32 %__wic_g, %__wic_g, %__wic_g;
mul.lo.u32 %__wic_g, %__wic_g, <multiplier>;
shr.u32 %__wic_g, %__wic_g, <slot shift>;
and.b32 %__wic_g, %__wic_g, <slot mask>;
mad.wide.u32 %__wic_a, %__wic_g, <slot bytes>, %__wic_a;
)";
/// The same to the slot of the SM.
constexpr const char* kSlotOfSm = R"(mov.u32 %__wic_h, %smid;
and.b32 %__wic_h, %__wic_h, <slot mask>;
mad.wide.u32 %__wic_a, %__wic_h, <slot bytes>, %__wic_a;
)";

// No value is waited for: a sum grows where it lies, by an operation without a result.
constexpr const char* kAddSample = R"(and.b32 %__wic_h, %__wic_s, 0xffff;
<address>ld.local.u32 %__wic_g, [<state>+<begin>];
<slot>ld.local.u32 %__wic_h, [<state>+<rounds>];
and.b32 %__wic_h, %__wic_h, <round bits>;
cvt.u64.u32 %__wic_x, %__wic_h;
red.global.add.u64 [%__wic_a+<sampled rounds>], %__wic_x;
ld.local.u64 %__wic_x, [<state>+<ended>];
ld.local.u64 %__wic_i, [<state>+<begin>];
sub.u64 %__wic_x, %__wic_x, %__wic_i;
red.global.add.u64 [%__wic_a+<sampled ns>], %__wic_x;
red.global.add.u64 [%__wic_a+<sampled waits>], 1;
)";

std::string offset(std::size_t bytes) { return std::to_string(bytes); }

std::string fill_counts(const std::string& text, const Table& table) {
  return fill(text, {{"address", kAddress},
                     {"table", table.name},
                     {"counts", offset(table.counts(0))},
                     {"site bytes", offset(kCountSlots * sizeof(SiteCounts))},
                     {"slot mask", std::to_string(kCountSlots - 1)},
                     {"slot bytes", offset(sizeof(SiteCounts))},
                     {"window", std::to_string(kSampleWindowLog2)},
                     {"multiplier", std::to_string(kSampleMultiplier)},
                     {"slot shift", std::to_string(kSampleSlotShift)},
                     {"looked waits", offset(offsetof(SiteCounts, looked))},
                     {"sampled waits", offset(offsetof(SiteCounts, sampled))},
                     {"sampled rounds", offset(offsetof(SiteCounts, sampled_rounds))},
                     {"sampled ns", offset(offsetof(SiteCounts, sampled_ns))},
                     {"begin", offset(offsetof(ThreadState, begin_ns))},
                     {"ended", offset(offsetof(ThreadState, ended_ns))},
                     {"rounds", offset(offsetof(ThreadState, rounds))},
                     {"round bits", std::to_string(kRoundBits)}});
}

}  // namespace

std::string first_look_text(const Table& table) {
  return fill(table.counts_waits ? kFirstLookOrSample : kFirstLook,
              {{"window", std::to_string(kSampleWindowLog2)},
               {"multiplier", std::to_string(kSampleMultiplier)},
               {"share", std::to_string((std::uint64_t{1} << 32) / kSampleOneIn)},
               {"due before", std::to_string(0u - kSampleDueBefore)},
               {"first look ns", std::to_string(kFirstLookNs)}});
}

std::string sample_text(const Site& site, const Table& table, const LookPlace& place) {
  if (!table.counts_waits) return "";
  const std::string text = fill(kSampleWait, {{"place", site.beside_poll ? kBesidePoll : kAtBackEdge},
                                              {"add sample", add_sample_text(table, place.state)},
                                              {"note", site.records() ? kNoteBegin : kNoteNoEnd},
                                              {"slot", kSlotOfWindow}});
  return fill(fill_counts(text, table), {{"is known", std::to_string(kLooked | kBegun)},
                                         {"due before", std::to_string(kSampleDueBefore)},
                                         {"to first look", std::to_string(kSampleDueBefore + kFirstLookNs)},
                                         {"sampled", std::to_string(kSampled)},
                                         {"begun", std::to_string(kBegun)},
                                         {"begins", place.begins},
                                         {"number", place.number},
                                         {"own", place.own},
                                         {"state", place.state},
                                         {"k", std::to_string(site.number)}});
}

std::string add_looked_text(const Table& table, const std::string& number) {
  const std::string add = "red.global.add.u64 [%__wic_a+<looked waits>], 1;\n";
  return fill_counts(number + kAddress + kSlotOfSm + add, table);
}

std::string add_sample_text(const Table& table, const std::string& state) {
  return fill_counts(fill(kAddSample, {{"slot", kSlotOfWindow}, {"state", state}}), table);
}

}  // namespace wicprof::rewriter
