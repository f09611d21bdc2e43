#include "rewriter/patch/watch.h"

#include <cstddef>

#include "rewriter/patch/template.h"
#include "rewriter/patch/visit.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

// Is a read of the word slow? A word that has changed since the round's poll is for the program's own poll; the branch
// on the value makes the clock's second reading wait for the load.
constexpr const char* kIsSlow = R"(<address><generic><seen>and.b32 %__wic_e, %__wic_w, <slow>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
@%__wic_p bra $__wic_watch_<k>;
mov.u64 %__wic_now, %globaltimer;
<read>setp.ne.b64 %__wic_p, %__wic_y, %__wic_seen;
@%__wic_p bra $__wic_store_<k>;
mov.u64 %__wic_x, %globaltimer;
sub.u64 %__wic_x, %__wic_x, %__wic_now;
setp.le.u64 %__wic_p, %__wic_x, <slow read>;
@%__wic_p bra $__wic_unwatched_<k>;
or.b32 %__wic_w, %__wic_w, <slow>;
)";

// %__wic_own: the WatchedWord of this address, %__wic_until: when the watch ends, %__wic_r: the pause between looks. A
// place that another word uses now is left to it. If another word takes the place later, its values hold this thread up
// until the watch ends. The next round has its look again.
constexpr const char* kWatch = R"(
$__wic_watch_<k>:
mov.u64 %__wic_now, %globaltimer;
sub.u64 %__wic_x, %__wic_now, %__wic_begin;
max.u64 %__wic_until, %__wic_x, <shortest watch>;
min.u64 %__wic_until, %__wic_until, <longest watch>;
add.u64 %__wic_until, %__wic_until, %__wic_now;
shr.u64 %__wic_x, %__wic_x, <watch share>;
max.u64 %__wic_x, %__wic_x, <first watch pause>;
min.u64 %__wic_x, %__wic_x, <longest watch pause>;
cvt.u32.u64 %__wic_r, %__wic_x;
shr.u64 %__wic_x, %__wic_address, 2;
mul.lo.u64 %__wic_x, %__wic_x, 0x9e3779b97f4a7c15;
shr.u64 %__wic_x, %__wic_x, <64-log2>;
shl.b64 %__wic_x, %__wic_x, 6;
add.u64 %__wic_own, %__wic_table, %__wic_x;
ld.volatile.global.u64 %__wic_x, [%__wic_own+<watched>];
setp.eq.b64 %__wic_p, %__wic_x, %__wic_address;
@%__wic_p bra $__wic_look_<k>;
ld.volatile.global.u32 %__wic_e, [%__wic_own+<watched+16>];
cvt.u32.u64 %__wic_t, %__wic_now;
sub.u32 %__wic_e, %__wic_e, %__wic_t;
setp.lt.u32 %__wic_p, %__wic_e, <lead ns>;
@%__wic_p bra $__wic_unwatched_<k>;
atom.global.cas.b64 %__wic_y, [%__wic_own+<watched>], %__wic_x, %__wic_address;
setp.ne.b64 %__wic_p, %__wic_y, %__wic_x;
@%__wic_p bra $__wic_left_<k>;
$__wic_look_<k>:
ld.volatile.global.v2.u64 {%__wic_x, %__wic_y}, [%__wic_own+<watched+16>];
mov.b64 {%__wic_e, %__wic_valid}, %__wic_x;
mov.u64 %__wic_now, %globaltimer;
setp.gt.u64 %__wic_p, %__wic_now, %__wic_until;
@%__wic_p bra $__wic_left_<k>;
cvt.u32.u64 %__wic_t, %__wic_now;
sub.u32 %__wic_g, %__wic_valid, %__wic_t;
setp.ge.u32 %__wic_p, %__wic_g, <valid ns>;
@%__wic_p bra $__wic_stale_<k>;
setp.ne.b64 %__wic_p, %__wic_y, %__wic_seen;
@%__wic_p bra $__wic_left_<k>;
$__wic_later_<k>:
nanosleep.u32 %__wic_r;
bra $__wic_look_<k>;
$__wic_stale_<k>:
sub.u32 %__wic_g, %__wic_e, %__wic_t;
setp.lt.u32 %__wic_p, %__wic_g, <lead ns>;
@%__wic_p bra $__wic_later_<k>;
add.u32 %__wic_g, %__wic_t, <lead>;
atom.global.cas.b32 %__wic_g, [%__wic_own+<watched+16>], %__wic_e, %__wic_g;
setp.ne.b32 %__wic_p, %__wic_g, %__wic_e;
@%__wic_p bra $__wic_look_<k>;
)";

constexpr const char* kLead = R"(
$__wic_lead_<k>:
<read>setp.ne.b64 %__wic_p, %__wic_y, %__wic_seen;
mov.u64 %__wic_now, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_now;
add.u32 %__wic_e, %__wic_t, <lead>;
add.u32 %__wic_g, %__wic_t, <valid>;
mov.b64 %__wic_x, {%__wic_e, %__wic_g};
st.volatile.global.v2.u64 [%__wic_own+<watched+16>], {%__wic_x, %__wic_y};
@%__wic_p bra $__wic_resign_<k>;
setp.gt.u64 %__wic_p, %__wic_now, %__wic_until;
@%__wic_p bra $__wic_resign_<k>;
nanosleep.u32 <lead pause>;
bra $__wic_lead_<k>;
$__wic_resign_<k>:
st.volatile.global.u32 [%__wic_own+<watched+16>], %__wic_t;
$__wic_left_<k>:
mov.u64 %__wic_now, %globaltimer;
sub.u64 %__wic_last, %__wic_now, <look ns>;
add.u32 %__wic_m, %__wic_n, 1;
bra $__wic_store_<k>;
$__wic_unwatched_<k>:
)";

constexpr const char* kRead64 = "ld.volatile.global.u64 %__wic_y, [%__wic_address];\n";
constexpr const char* kRead32 =
    "ld.volatile.global.u32 %__wic_e, [%__wic_address];\ncvt.u64.u32 %__wic_y, %__wic_e;\n";

constexpr const char* kGeneric = R"(isspacep.global %__wic_p, %__wic_address;
@!%__wic_p bra $__wic_unwatched_<k>;
cvta.to.global.u64 %__wic_address, %__wic_address;
)";

}  // namespace

std::string watch_text(const Site& site, const Table& table) {
  const Word& word = *site.loop->word;
  const std::size_t watched = table.watched_words();
  return fill(std::string(kIsSlow) + kWatch + kLead,
              {{"address", address_text(word, "%__wic_address")},
               {"generic", word.is_global ? "" : kGeneric},
               {"seen", seen_text(word, "%__wic_seen")},
               {"read", word.is_64_bit ? kRead64 : kRead32},
               {"slow", std::to_string(kSlow)},
               {"slow read", std::to_string(kSlowReadNs)},
               {"longest watch", std::to_string(kLongestWatch)},
               {"shortest watch", std::to_string(kShortestWatch)},
               {"watch share", std::to_string(kWatchShareLog2)},
               {"first watch pause", std::to_string(kFirstWatchPause)},
               {"longest watch pause", std::to_string(kLongestWatchPause)},
               {"64-log2", std::to_string(64 - kWatchedWordsLog2)},
               {"watched", std::to_string(watched)},
               {"watched+16", std::to_string(watched + offsetof(WatchedWord, leader_until))},
               {"lead ns", std::to_string(kLeadNs)},
               {"lead", std::to_string(kLeadNs - 1)},
               {"valid ns", std::to_string(kValidNs)},
               {"valid", std::to_string(kValidNs - 1)},
               {"lead pause", std::to_string(kLeadPause)}});
}

}  // namespace wicprof::rewriter
