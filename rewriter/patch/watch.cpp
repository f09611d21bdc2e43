#include "rewriter/patch/watch.h"

#include "rewriter/patch/template.h"
#include "rewriter/patch/visit.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

// Is a read of the word slow? %__wic_x: its address. A word that has changed since the round's poll is for the
// program's own poll; the branch on the value makes the clock's second reading wait for the load.
constexpr const char* kIsSlow = R"(
<address><generic>and.b32 %__wic_e, %__wic_w, <slow>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
@%__wic_p bra $__wic_watch_<k>;
mov.u32 %__wic_now, %globaltimer_lo;
<read>setp.ne<type> %__wic_p, <y>, <seen>;
@%__wic_p bra $__wic_go_on_<k>;
mov.u32 %__wic_e, %globaltimer_lo;
sub.u32 %__wic_e, %__wic_e, %__wic_now;
setp.le.u32 %__wic_p, %__wic_e, <slow read>;
@%__wic_p bra $__wic_unwatched_<k>;
or.b32 %__wic_w, %__wic_w, <slow>;
)";

// %__wic_a: the WatchedWord of this address, %__wic_d: when the watch ends, %__wic_r: the pause between looks. A place
// that another word uses now is left to it. If another word takes the place later, its values hold this thread up until
// the watch ends. The next round has its look again.
constexpr const char* kWatch = R"(
$__wic_watch_<k>:
mov.b32 %__wic_m, 0;
mov.u64 %__wic_f, %globaltimer;
shr.u64 %__wic_f, %__wic_f, 10;
cvt.u32.u64 %__wic_r, %__wic_f;
sub.u32 %__wic_r, %__wic_r, %__wic_t;
min.u32 %__wic_d, %__wic_r, <longest watch / 1024>;
shl.b32 %__wic_d, %__wic_d, 10;
max.u32 %__wic_d, %__wic_d, <shortest watch>;
add.u32 %__wic_d, %__wic_d, %__wic_l;
min.u32 %__wic_r, %__wic_r, <longest watch pause>;
shl.b32 %__wic_r, %__wic_r, <10-share>;
max.u32 %__wic_r, %__wic_r, <first watch pause>;
min.u32 %__wic_r, %__wic_r, <longest watch pause>;
shr.u64 %__wic_f, %__wic_x, 2;
mul.lo.u64 %__wic_f, %__wic_f, 0x9e3779b97f4a7c15;
shr.u64 %__wic_f, %__wic_f, <64-log2>;
shl.b64 %__wic_f, %__wic_f, 6;
mov.u64 %__wic_a, <table>;
add.u64 %__wic_a, %__wic_a, %__wic_f;
ld.volatile.global.u64 %__wic_f, [%__wic_a+<watched>];
setp.eq.b64 %__wic_p, %__wic_f, %__wic_x;
@%__wic_p bra $__wic_look_<k>;
ld.volatile.global.u32 %__wic_e, [%__wic_a+<watched+16>];
mov.u32 %__wic_now, %globaltimer_lo;
sub.u32 %__wic_e, %__wic_e, %__wic_now;
setp.lt.u32 %__wic_p, %__wic_e, <lead ns>;
@%__wic_p bra $__wic_unwatched_<k>;
atom.global.cas.b64 %__wic_i, [%__wic_a+<watched>], %__wic_f, %__wic_x;
setp.ne.b64 %__wic_p, %__wic_i, %__wic_f;
@%__wic_p bra $__wic_left_<k>;
$__wic_look_<k>:
ld.volatile.global.v2.u64 {%__wic_f, %__wic_y}, [%__wic_a+<watched+16>];
mov.b64 {%__wic_e, %__wic_g}, %__wic_f;
<value>mov.u32 %__wic_now, %globaltimer_lo;
sub.u32 %__wic_h, %__wic_d, %__wic_now;
setp.gt.u32 %__wic_p, %__wic_h, <longest watch>;
@%__wic_p bra $__wic_left_<k>;
sub.u32 %__wic_g, %__wic_g, %__wic_now;
setp.ge.u32 %__wic_p, %__wic_g, <valid ns>;
@%__wic_p bra $__wic_stale_<k>;
@%__wic_q bra $__wic_left_<k>;
$__wic_later_<k>:
nanosleep.u32 %__wic_r;
bra $__wic_look_<k>;
$__wic_stale_<k>:
sub.u32 %__wic_g, %__wic_e, %__wic_now;
setp.lt.u32 %__wic_p, %__wic_g, <lead ns>;
@%__wic_p bra $__wic_later_<k>;
add.u32 %__wic_g, %__wic_now, <lead>;
atom.global.cas.b32 %__wic_g, [%__wic_a+<watched+16>], %__wic_e, %__wic_g;
setp.ne.b32 %__wic_p, %__wic_g, %__wic_e;
@%__wic_p bra $__wic_look_<k>;
)";

constexpr const char* kLead = R"(
$__wic_lead_<k>:
<read>setp.ne<type> %__wic_q, <y>, <seen>;
mov.u32 %__wic_now, %globaltimer_lo;
<widened>add.u32 %__wic_e, %__wic_now, <lead>;
add.u32 %__wic_g, %__wic_now, <valid>;
mov.b64 %__wic_f, {%__wic_e, %__wic_g};
st.volatile.global.v2.u64 [%__wic_a+<watched+16>], {%__wic_f, %__wic_y};
@%__wic_q bra $__wic_resign_<k>;
sub.u32 %__wic_r, %__wic_d, %__wic_now;
setp.gt.u32 %__wic_p, %__wic_r, <longest watch>;
@%__wic_p bra $__wic_resign_<k>;
nanosleep.u32 <lead pause>;
bra $__wic_lead_<k>;
$__wic_resign_<k>:
st.volatile.global.u32 [%__wic_a+<watched+16>], %__wic_now;
$__wic_left_<k>:
mov.u32 %__wic_l, %globaltimer_lo;
bra $__wic_go_on_<k>;
$__wic_unwatched_<k>:
)";

constexpr const char* kGeneric = R"(isspacep.global %__wic_p, %__wic_x;
@!%__wic_p bra $__wic_unwatched_<k>;
)";

}  // namespace

std::string watch_text(const Site& site, const Table& table) {
  const Word& word = *site.loop->word;
  const std::size_t watched = table.watched_words();
  const std::string seen(word.value);
  return fill(std::string(kIsSlow) + kWatch + kLead,
              {{"address", address_text(word, "%__wic_x")},
               {"generic", word.is_global ? "" : kGeneric},
               {"read", read_text(word, "<y>")},
               {"value", (word.is_64_bit ? "" : "cvt.u32.u64 %__wic_h, %__wic_y;\n") +
                             std::string("setp.ne<type> %__wic_q, <y>, <seen>;\n")},
               {"widened", word.is_64_bit ? "" : "cvt.u64.u32 %__wic_y, %__wic_h;\n"},
               {"y", word.is_64_bit ? "%__wic_y" : "%__wic_h"},
               {"type", type_of(word)},
               {"seen", seen},
               {"slow", std::to_string(kSlow)},
               {"slow read", std::to_string(kSlowReadNs)},
               {"longest watch", std::to_string(kLongestWatch)},
               {"longest watch / 1024", std::to_string(kLongestWatch / 1024)},
               {"shortest watch", std::to_string(kShortestWatch)},
               {"10-share", std::to_string(10 - kWatchShareLog2)},
               {"first watch pause", std::to_string(kFirstWatchPause)},
               {"longest watch pause", std::to_string(kLongestWatchPause)},
               {"64-log2", std::to_string(64 - kWatchedWordsLog2)},
               {"table", table.name},
               {"watched", std::to_string(watched)},
               {"watched+16", std::to_string(watched + offsetof(WatchedWord, leader_until))},
               {"lead ns", std::to_string(kLeadNs)},
               {"lead", std::to_string(kLeadNs - 1)},
               {"valid ns", std::to_string(kValidNs)},
               {"valid", std::to_string(kValidNs - 1)},
               {"lead pause", std::to_string(kLeadPause)}});
}

}  // namespace wicprof::rewriter
