#include "rewriter/patch/watch.h"

#include <cstddef>

#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

// Is a read of the word slow? So it is if the rounds were. A word that has changed since the round's poll is for the
// program's own poll; the branch on the value makes the clock's second reading wait for the load. %__wic_y: the wait so
// far.
constexpr const char* kIsSlow = R"(<generic>mov.u64 %__wic_y, %globaltimer;
ld.local.u64 %__wic_x, [<state>+<begin>];
sub.u64 %__wic_y, %__wic_y, %__wic_x;
ld.local.u32 %__wic_e, [<state>+<flags>];
and.b32 %__wic_g, %__wic_e, <slow>;
setp.ne.b32 %__wic_p, %__wic_g, 0;
@%__wic_p bra $__wic_watch_<k>;
and.b32 %__wic_g, %__wic_n, <round bits>;
mul.wide.u32 %__wic_x, %__wic_g, <slow round>;
setp.gt.u64 %__wic_p, %__wic_y, %__wic_x;
@%__wic_p bra $__wic_slow_<k>;
mov.u64 %__wic_x, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_x;
<probe>setp.ne<type> %__wic_p, <w>, <seen>;
@%__wic_p bra $__wic_looked_<k>;
mov.u64 %__wic_x, %globaltimer;
cvt.u32.u64 %__wic_g, %__wic_x;
sub.u32 %__wic_g, %__wic_g, %__wic_t;
setp.le.u32 %__wic_p, %__wic_g, <slow read>;
@%__wic_p bra $__wic_unwatched_<k>;
$__wic_slow_<k>:
or.b32 %__wic_e, %__wic_e, <slow>;
st.local.u32 [<state>+<flags>], %__wic_e;
)";

// The look comes before the loop's way out: what the round's poll has read may be what the loop waits for, and a watch
// waits for another value. So the loop has one more round first, in which it leaves or shows that it waits on.
constexpr const char* kTries = R"(
$__wic_watch_<k>:
<one word>ld.local.u32 %__wic_e, [<state>+<value>];
setp.eq.b32 %__wic_p, %__wic_e, %__wic_g;
ld.local.u32 %__wic_e, [<state>+<flags>];
and.b32 %__wic_h, %__wic_e, <tried>;
setp.ne.and.b32 %__wic_p, %__wic_h, 0, %__wic_p;
@%__wic_p bra $__wic_tried_<k>;
or.b32 %__wic_e, %__wic_e, <tried>;
st.local.u32 [<state>+<flags>], %__wic_e;
st.local.u32 [<state>+<value>], %__wic_g;
mov.u64 %__wic_x, %globaltimer;
cvt.u32.u64 %__wic_l, %__wic_x;
bra $__wic_leave_<k>;
$__wic_tried_<k>:
)";

// %__wic_a: the WatchedWord of this address, %__wic_d: when the watch ends, %__wic_r: the pause between looks. A place
// that another word uses now is left to it. If another word takes the place later, its values hold this thread up until
// the watch ends. The next round has its look again.
constexpr const char* kWatch = R"(min.u64 %__wic_y, %__wic_y, <longest watch>;
cvt.u32.u64 %__wic_d, %__wic_y;
shr.u32 %__wic_r, %__wic_d, <watch share>;
max.u32 %__wic_r, %__wic_r, <first watch pause>;
min.u32 %__wic_r, %__wic_r, <longest watch pause>;
max.u32 %__wic_d, %__wic_d, <shortest watch>;
mov.u64 %__wic_y, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_y;
add.u32 %__wic_d, %__wic_d, %__wic_t;
<address>shr.u64 %__wic_y, %__wic_x, 2;
mul.lo.u64 %__wic_y, %__wic_y, 0x9e3779b97f4a7c15;
shr.u64 %__wic_y, %__wic_y, <64-log2>;
shl.b64 %__wic_y, %__wic_y, 6;
mov.u64 %__wic_a, <table>;
add.u64 %__wic_a, %__wic_a, %__wic_y;
ld.volatile.global.u64 %__wic_y, [%__wic_a+<watched>];
setp.eq.b64 %__wic_p, %__wic_y, %__wic_x;
@%__wic_p bra $__wic_look_<k>;
ld.volatile.global.u32 %__wic_e, [%__wic_a+<watched+16>];
sub.u32 %__wic_e, %__wic_e, %__wic_t;
setp.lt.u32 %__wic_p, %__wic_e, <lead ns>;
@%__wic_p bra $__wic_unwatched_<k>;
atom.global.cas.b64 %__wic_x, [%__wic_a+<watched>], %__wic_y, %__wic_x;
setp.ne.b64 %__wic_p, %__wic_x, %__wic_y;
@%__wic_p bra $__wic_left_<k>;
$__wic_look_<k>:
ld.volatile.global.v2.u32 {%__wic_e, %__wic_g}, [%__wic_a+<watched+16>];
ld.volatile.global<value type> <v>, [%__wic_a+<watched+24>];
setp.ne<type> %__wic_q, <v>, <seen>;
mov.u64 %__wic_y, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_y;
sub.u32 %__wic_h, %__wic_d, %__wic_t;
setp.gt.u32 %__wic_p, %__wic_h, <longest watch>;
@%__wic_p bra $__wic_left_<k>;
sub.u32 %__wic_g, %__wic_g, %__wic_t;
setp.ge.u32 %__wic_p, %__wic_g, <valid ns>;
@%__wic_p bra $__wic_stale_<k>;
@%__wic_q bra $__wic_left_<k>;
$__wic_later_<k>:
nanosleep.u32 %__wic_r;
bra $__wic_look_<k>;
$__wic_stale_<k>:
sub.u32 %__wic_g, %__wic_e, %__wic_t;
setp.lt.u32 %__wic_p, %__wic_g, <lead ns>;
@%__wic_p bra $__wic_later_<k>;
add.u32 %__wic_g, %__wic_t, <lead>;
atom.global.cas.b32 %__wic_g, [%__wic_a+<watched+16>], %__wic_e, %__wic_g;
setp.ne.b32 %__wic_p, %__wic_g, %__wic_e;
@%__wic_p bra $__wic_look_<k>;
)";

constexpr const char* kLead = R"(
$__wic_lead_<k>:
<read>setp.ne<type> %__wic_q, <v>, <seen>;
st.volatile.global<value type> [%__wic_a+<watched+24>], <v>;
mov.u64 %__wic_y, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_y;
add.u32 %__wic_e, %__wic_t, <lead>;
add.u32 %__wic_g, %__wic_t, <valid>;
st.volatile.global.v2.u32 [%__wic_a+<watched+16>], {%__wic_e, %__wic_g};
@%__wic_q bra $__wic_resign_<k>;
sub.u32 %__wic_h, %__wic_d, %__wic_t;
setp.gt.u32 %__wic_p, %__wic_h, <longest watch>;
@%__wic_p bra $__wic_resign_<k>;
nanosleep.u32 <lead pause>;
bra $__wic_lead_<k>;
$__wic_resign_<k>:
st.volatile.global.u32 [%__wic_a+<watched+16>], %__wic_t;
$__wic_left_<k>:
mov.b32 %__wic_l, %__wic_t;
bra $__wic_leave_<k>;
$__wic_unwatched_<k>:
)";

constexpr const char* kMakeGeneric = R"(isspacep.global %__wic_p, <register>;
@!%__wic_p bra $__wic_unwatched_<k>;
)";

}  // namespace

std::string watch_text(const Site& site, const Table& table) {
  const Word& word = *site.loop->word;
  const std::size_t watched = table.watched_words();
  const std::string address(word.address);
  const auto read = [&](const std::string& to) {
    return std::string("ld.volatile") + (word.is_global ? ".global" : "") + "<value type> " + to + ", [" + address +
           "+" + std::to_string(word.offset) + "];\n";
  };
  return fill(
      std::string(kIsSlow) + kTries + kWatch + kLead,
      {{"generic", word.is_global ? "" : fill(kMakeGeneric, {{"register", address}})},
       {"address", address_text(word, "%__wic_x")},
       {"read", read("<v>")},
       {"probe", read("<w>")},
       {"v", word.is_64_bit ? "%__wic_y" : "%__wic_h"},
       {"w", word.is_64_bit ? "%__wic_x" : "%__wic_h"},
       {"type", word.is_64_bit ? ".b64" : ".b32"},
       {"value type", word.is_64_bit ? ".u64" : ".u32"},
       {"one word", word.is_64_bit ? "mov.b64 {%__wic_g, %__wic_h}, <seen>;\nxor.b32 %__wic_g, %__wic_g, %__wic_h;\n"
                                   : "mov.b32 %__wic_g, <seen>;\n"},
       {"seen", std::string(word.value)},
       {"tried", std::to_string(kTried)},
       {"value", std::to_string(offsetof(ThreadState, value))},
       {"begin", std::to_string(offsetof(ThreadState, begin_ns))},
       {"flags", std::to_string(offsetof(ThreadState, flags))},
       {"round bits", std::to_string(kRoundBits)},
       {"slow round", std::to_string(kSlowRoundNs)},
       {"table", table.name},
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
       {"watched+24", std::to_string(watched + offsetof(WatchedWord, value))},
       {"lead ns", std::to_string(kLeadNs)},
       {"lead", std::to_string(kLeadNs - 1)},
       {"valid ns", std::to_string(kValidNs)},
       {"valid", std::to_string(kValidNs - 1)},
       {"lead pause", std::to_string(kLeadPause)}});
}

}  // namespace wicprof::rewriter
