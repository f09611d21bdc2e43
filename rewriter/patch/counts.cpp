#include "rewriter/patch/counts.h"

#include <cstddef>
#include <cstdint>

#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"

namespace wicprof::rewriter {

namespace {

constexpr const char* kFirstLook = R"(setp.eq.u32 %__wic_p, %__wic_n, 1;
@%__wic_p add.u32 %__wic_l, %__wic_t, <first look ns>;
sub.u32 %__wic_d, %__wic_t, %__wic_l;
)";
// Computed in each round, under the program's poll, and used in the first: a branch would cost more.
constexpr const char* kIsSample = R"(shr.u32 %__wic_e, %__wic_t, <window>;
mul.lo.u32 %__wic_e, %__wic_e, %__wic_e;
mul.lo.u32 %__wic_e, %__wic_e, <multiplier>;
setp.lt.and.u32 %__wic_q, %__wic_e, <timed below>, %__wic_p;
)";

// The end of an earlier wait is written first. Beside a poll the first round may find the word ready: then the wait is
// none. Lanes of a warp that wait together leave it to the first of them.
constexpr const char* kSampleWait = R"(setp.lt.s32 %__wic_p, %__wic_d, 0;
@%__wic_p sub.u32 %__wic_l, %__wic_t, <due before>;
@%__wic_p mov.b32 %__wic_d, <due before>;
setp.lt.s32 %__wic_p, %__wic_d, <due before>;
@%__wic_p bra $__wic_longer_<k>;
and.b32 %__wic_e, %__wic_n, <is known>;
or.b32 %__wic_e, %__wic_e, %__wic_s;
setp.ne.b32 %__wic_p, %__wic_e, 0;
@%__wic_p bra $__wic_longer_<k>;
<place>add.u32 %__wic_g, %__wic_l, <due before>;
<number of window>add.u32 %__wic_l, %__wic_l, <to first look>;
activemask.b32 %__wic_e;
mov.u32 %__wic_h, %lanemask_lt;
and.b32 %__wic_e, %__wic_e, %__wic_h;
setp.ne.b32 %__wic_p, %__wic_e, 0;
@%__wic_p bra $__wic_go_on_<k>;
setp.ge.u32 %__wic_p, %__wic_g, <counted below>;
@%__wic_p bra $__wic_timed_<k>;
mov.u64 %__wic_a, <table>+<counts of site>;
<slot>red.global.add.u64 [%__wic_a+<sampled>], 1;
bra $__wic_go_on_<k>;
$__wic_timed_<k>:
<note>bra $__wic_go_on_<k>;
$__wic_longer_<k>:
)";
constexpr const char* kBesidePoll = R"(setp.eq.u32 %__wic_p, %__wic_n, 1;
@%__wic_p bra $__wic_go_on_<k>;
)";
constexpr const char* kNoteBegin = R"(sub.u32 %__wic_d, %__wic_d, <due before>;
cvt.u64.u32 %__wic_x, %__wic_d;
sub.u64 %__wic_x, %__wic_c, %__wic_x;
st.local.u64 [__wic_state+<begin>], %__wic_x;
st.local.u64 [__wic_state+<ended>], %__wic_c;
mov.b32 %__wic_s, <own>;
or.b32 %__wic_n, %__wic_n, <begun>;
setp.eq.b32 %__wic_b, %__wic_n, %__wic_n;
)";

/// The number of the window of the time in %__wic_g.
constexpr const char* kNumberOfWindow = R"(shr.u32 %__wic_g, %__wic_g, <window>;
mul.lo.u32 %__wic_g, %__wic_g, %__wic_g;
mul.lo.u32 %__wic_g, %__wic_g, <multiplier>;
)";
/// %__wic_a, the address of a site's counts, goes on to the slot of the window whose number is in %__wic_g.
constexpr const char* kSlotOfWindow = R"(shr.u32 %__wic_g, %__wic_g, <slot shift>;
and.b32 %__wic_g, %__wic_g, <slot mask>;
mad.wide.u32 %__wic_a, %__wic_g, <slot bytes>, %__wic_a;
)";

/// %__wic_a becomes the address of the counts of the site whose number is in %__wic_h.
constexpr const char* kAddress = R"(mov.u64 %__wic_a, <table>+<counts>;
mad.wide.u32 %__wic_a, %__wic_h, <site bytes>, %__wic_a;
)";
/// A wait lasts: it began kFirstLookNs before its first look was due. In the slot of the SM, then in that of the
/// window.
constexpr const char* kAddLooked = R"(<address>mov.u32 %__wic_e, %smid;
and.b32 %__wic_e, %__wic_e, <slot mask>;
mad.wide.u32 %__wic_a, %__wic_e, <slot bytes>, %__wic_a;
red.global.add.u64 [%__wic_a+<looked>], 1;
)";
constexpr const char* kTakeAway = R"(sub.u32 %__wic_g, %__wic_l, <first look ns>;
<number of window>setp.lt.u32 %__wic_p, %__wic_g, <counted below>;
<address><slot>@%__wic_p red.global.add.u64 [%__wic_a+<sampled>], -1;
)";

// No value is waited for: a sum grows where it lies, by an operation without a result.
constexpr const char* kAddTimed = R"(and.b32 %__wic_h, %__wic_s, 0xffff;
<address>ld.local.u32 %__wic_g, [<state>+<begin>];
<number of window><slot>ld.local.u32 %__wic_h, [<state>+<rounds>];
and.b32 %__wic_h, %__wic_h, <round bits>;
cvt.u64.u32 %__wic_x, %__wic_h;
red.global.add.u64 [%__wic_a+<timed rounds>], %__wic_x;
ld.local.u64 %__wic_x, [<state>+<ended>];
ld.local.u64 %__wic_i, [<state>+<begin>];
sub.u64 %__wic_x, %__wic_x, %__wic_i;
red.global.add.u64 [%__wic_a+<timed ns>], %__wic_x;
red.global.add.u64 [%__wic_a+<timed>], 1;
)";

std::string offset(std::size_t bytes) { return std::to_string(bytes); }

std::string fill_counts(const std::string& text, const Table& table) {
  return fill(text, {{"address", kAddress},
                     {"number of window", kNumberOfWindow},
                     {"slot", kSlotOfWindow},
                     {"table", table.name},
                     {"counts", offset(table.counts(0))},
                     {"site bytes", offset(kCountSlots * sizeof(SiteCounts))},
                     {"slot mask", std::to_string(kCountSlots - 1)},
                     {"slot bytes", offset(sizeof(SiteCounts))},
                     {"window", std::to_string(kSampleWindowLog2)},
                     {"multiplier", std::to_string(kSampleMultiplier)},
                     {"slot shift", std::to_string(kSampleSlotShift)},
                     {"counted below", std::to_string(kCountedBelow)},
                     {"first look ns", std::to_string(kFirstLookNs)},
                     {"looked", offset(offsetof(SiteCounts, looked))},
                     {"sampled", offset(offsetof(SiteCounts, sampled))},
                     {"timed", offset(offsetof(SiteCounts, timed))},
                     {"timed rounds", offset(offsetof(SiteCounts, timed_rounds))},
                     {"timed ns", offset(offsetof(SiteCounts, timed_ns))},
                     {"begin", offset(offsetof(ThreadState, begin_ns))},
                     {"ended", offset(offsetof(ThreadState, ended_ns))},
                     {"rounds", offset(offsetof(ThreadState, rounds))},
                     {"round bits", std::to_string(kRoundBits)}});
}

}  // namespace

std::string first_look_text(const Table& table) {
  return fill(kFirstLook + std::string(table.counts_waits ? kIsSample : ""),
              {{"window", std::to_string(kSampleWindowLog2)},
               {"multiplier", std::to_string(kSampleMultiplier)},
               {"timed below", std::to_string(kTimedBelow)},
               {"first look ns", std::to_string(kFirstLookNs)}});
}

std::string no_look_text(const Table& table) {
  return table.counts_waits ? "setp.lt.and.s32 %__wic_p, %__wic_d, 0, !%__wic_q;\n"
                            : "setp.lt.s32 %__wic_p, %__wic_d, 0;\n";
}

std::string sample_text(const Site& site, const Table& table) {
  if (!table.counts_waits) return "";
  const std::string text =
      fill(kSampleWait, {{"place", site.beside_poll ? kBesidePoll : ""}, {"note", site.records() ? kNoteBegin : ""}});
  return fill(fill_counts(text, table), {{"is known", std::to_string(kLooked | kBegun)},
                                         {"counts of site", offset(table.counts(site.number))},
                                         {"due before", std::to_string(kSampleDueBefore)},
                                         {"to first look", std::to_string(kSampleDueBefore + kFirstLookNs)},
                                         {"begun", std::to_string(kBegun)},
                                         {"own", std::to_string(site.code() | kTimed)},
                                         {"k", std::to_string(site.number)}});
}

std::string add_looked_text(const Site& site, const Table& table, const std::string& number) {
  return fill_counts(number + kAddLooked + (site.records() ? kTakeAway : ""), table);
}

std::string add_timed_text(const Table& table, const std::string& state) {
  return fill(fill_counts(kAddTimed, table), {{"state", state}});
}

}  // namespace wicprof::rewriter
