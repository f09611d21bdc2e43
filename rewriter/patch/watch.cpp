#include "rewriter/patch/watch.h"

#include <cstddef>

#include "rewriter/patch/site.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"

namespace wicprof::rewriter {

namespace {

// Is a read of the word slow? So it is if the rounds were. A word that has changed since the round's poll is for the
// program's own poll; the branch on the value makes the clock's second reading wait for the load. %y: the wait so far,
// %w: the word's address, %v: what the poll has read.
constexpr const char* kIsSlow = R"(
ld.param.u64 %w, [__wic_word];
ld.param.u64 %v, [__wic_value];
isspacep.global %p, %w;
@!%p bra unwatched;
mov.u64 %y, %globaltimer;
ld.local.u64 %x, [%s+<begin>];
sub.u64 %y, %y, %x;
ld.local.u32 %e, [%s+<flags>];
and.b32 %g, %e, <slow>;
setp.ne.b32 %p, %g, 0;
@%p bra watch;
and.b32 %g, %n, <round bits>;
mul.wide.u32 %x, %g, <slow round>;
setp.gt.u64 %p, %y, %x;
@%p bra slow;
mov.u64 %x, %globaltimer;
cvt.u32.u64 %t, %x;
<read>setp.ne.b64 %p, %x, %v;
@%p bra looked;
mov.u64 %x, %globaltimer;
cvt.u32.u64 %g, %x;
sub.u32 %g, %g, %t;
setp.le.u32 %p, %g, <slow read>;
@%p bra unwatched;
slow:
or.b32 %e, %e, <slow>;
st.local.u32 [%s+<flags>], %e;
)";

// %a: the WatchedWord of this address, %d: when the watch ends, %r: the pause between looks. A place that another word
// uses now is left to it. If another word takes the place later, its values hold this thread up until the watch ends.
constexpr const char* kWatch = R"(
watch:
min.u64 %y, %y, <longest watch>;
cvt.u32.u64 %d, %y;
shr.u32 %r, %d, <watch share>;
max.u32 %r, %r, <first watch pause>;
min.u32 %r, %r, <longest watch pause>;
max.u32 %d, %d, <shortest watch>;
mov.u64 %y, %globaltimer;
cvt.u32.u64 %t, %y;
add.u32 %d, %d, %t;
shr.u64 %y, %w, 2;
mul.lo.u64 %y, %y, 0x9e3779b97f4a7c15;
shr.u64 %y, %y, <64-log2>;
shl.b64 %y, %y, 6;
mov.u64 %a, <table>;
add.u64 %a, %a, %y;
ld.volatile.global.u64 %y, [%a+<watched>];
setp.eq.b64 %p, %y, %w;
@%p bra look;
ld.volatile.global.u32 %e, [%a+<watched+16>];
sub.u32 %e, %e, %t;
setp.lt.u32 %p, %e, <lead ns>;
@%p bra unwatched;
atom.global.cas.b64 %x, [%a+<watched>], %y, %w;
setp.ne.b64 %p, %x, %y;
@%p bra left;
look:
ld.volatile.global.v2.u32 {%e, %g}, [%a+<watched+16>];
ld.volatile.global.u64 %x, [%a+<watched+24>];
setp.ne.b64 %q, %x, %v;
mov.u64 %y, %globaltimer;
cvt.u32.u64 %t, %y;
sub.u32 %h, %d, %t;
setp.gt.u32 %p, %h, <longest watch>;
@%p bra left;
sub.u32 %g, %g, %t;
setp.ge.u32 %p, %g, <valid ns>;
@%p bra stale;
@%q bra left;
later:
nanosleep.u32 %r;
bra look;
stale:
sub.u32 %g, %e, %t;
setp.lt.u32 %p, %g, <lead ns>;
@%p bra later;
add.u32 %g, %t, <lead>;
atom.global.cas.b32 %g, [%a+<watched+16>], %e, %g;
setp.ne.b32 %p, %g, %e;
@%p bra look;
)";

constexpr const char* kLead = R"(
lead:
<read>setp.ne.b64 %q, %x, %v;
st.volatile.global.u64 [%a+<watched+24>], %x;
mov.u64 %y, %globaltimer;
cvt.u32.u64 %t, %y;
add.u32 %e, %t, <lead>;
add.u32 %g, %t, <valid>;
st.volatile.global.v2.u32 [%a+<watched+16>], {%e, %g};
@%q bra resign;
sub.u32 %h, %d, %t;
setp.gt.u32 %p, %h, <longest watch>;
@%p bra resign;
nanosleep.u32 <lead pause>;
bra lead;
resign:
st.volatile.global.u32 [%a+<watched+16>], %t;
bra left;
)";

// The word, zero-extended, into %x.
constexpr const char* kRead = R"(and.b32 %g, %i, <is 64 bit>;
setp.ne.b32 %p, %g, 0;
@%p ld.volatile.u64 %x, [%w];
@!%p ld.volatile.u32 %g, [%w];
@!%p cvt.u64.u32 %x, %g;
)";

}  // namespace

std::string watch_text(const Table& table) {
  return fill(std::string(kIsSlow) + kWatch + kLead,
              {{"read", fill(kRead, {{"is 64 bit", std::to_string(SiteBits::kIs64Bit)}})},
               {"begin", std::to_string(offsetof(ThreadState, begin_ns))},
               {"flags", std::to_string(offsetof(ThreadState, flags))},
               {"round bits", std::to_string(kRoundBits)},
               {"table", table.name},
               {"slow round", std::to_string(kSlowRoundNs)},
               {"slow", std::to_string(kSlow)},
               {"slow read", std::to_string(kSlowReadNs)},
               {"longest watch", std::to_string(kLongestWatch)},
               {"shortest watch", std::to_string(kShortestWatch)},
               {"watch share", std::to_string(kWatchShareLog2)},
               {"first watch pause", std::to_string(kFirstWatchPause)},
               {"longest watch pause", std::to_string(kLongestWatchPause)},
               {"64-log2", std::to_string(64 - kWatchedWordsLog2)},
               {"watched", std::to_string(Table::kWatched)},
               {"watched+16", std::to_string(Table::kWatched + offsetof(WatchedWord, leader_until))},
               {"watched+24", std::to_string(Table::kWatched + offsetof(WatchedWord, value))},
               {"lead ns", std::to_string(kLeadNs)},
               {"lead", std::to_string(kLeadNs - 1)},
               {"valid ns", std::to_string(kValidNs)},
               {"valid", std::to_string(kValidNs - 1)},
               {"lead pause", std::to_string(kLeadPause)}});
}

}  // namespace wicprof::rewriter
