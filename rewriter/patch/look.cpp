#include "rewriter/patch/look.h"

#include <cstddef>

#include "rewriter/patch/records.h"
#include "rewriter/patch/site.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"
#include "rewriter/patch/watch.h"

namespace wicprof::rewriter {

namespace {

// Times are read with 64 bits everywhere: a reading of 32 bits takes 30 cycles longer on an H100. %y: the clock, %t:
// its low 32 bits, %n and %l: the arguments and the result.
constexpr const char* kBegin = R"(
.func (.param .b64 __wic_result) <look name>(.param .b64 __wic_state, .param .b32 __wic_site, .param .b32 __wic_n,
.param .b32 __wic_l, .param .b64 __wic_value, .param .b64 __wic_word)
{
.reg .pred %p, %q;
.reg .b32 %n, %l, %i, %r, %e, %g, %h, %d, %t;
.reg .b64 %s, %o, %a, %x, %y, %v, %w;
ld.param.u64 %s, [__wic_state];
ld.param.u32 %n, [__wic_n];
ld.param.u32 %i, [__wic_site];
mov.u64 %y, %globaltimer;
cvt.u32.u64 %t, %y;
and.b32 %g, %i, <leaves>;
setp.ne.b32 %p, %g, 0;
@%p bra end;
and.b32 %g, %n, <no wait>;
setp.eq.b32 %p, %g, 0;
@%p bra arrived;
and.b32 %n, %n, <pending>;
or.b32 %n, %n, 1;
mov.b32 %l, <first look ns>;
bra done;
)";

// Lanes of a warp that look at the same time leave the records to the first of them. Nobody waits for the others here:
// whether they wait for the same word is not asked.
// What the thread knows of its wait goes to ThreadState at the first look, after the record of the end of the wait
// before: its loads and stores would delay what the program does next. A thread that leaves the function has to record
// that end as well.
constexpr const char* kFirst = R"(
arrived:
activemask.b32 %g;
mov.u32 %h, %lanemask_lt;
and.b32 %g, %g, %h;
setp.ne.b32 %p, %g, 0;
and.b32 %n, %n, <leads>;
@%p or.b32 %n, %n, <follows>;
and.b32 %g, %n, <looked>;
setp.ne.b32 %p, %g, 0;
@%p bra again;
or.b32 %n, %n, <looked>;
setp.ge.s32 %p, %n, 0;
@%p bra fresh;
end:
<end>and.b32 %n, %n, <not pending>;
and.b32 %g, %i, <leaves>;
setp.ne.b32 %p, %g, 0;
@%p bra done;
fresh:
ld.param.u32 %l, [__wic_l];
sub.u32 %l, %t, %l;
add.u32 %l, %l, <first look ns>;
cvt.u64.u32 %x, %l;
sub.u64 %x, %y, %x;
st.local.u64 [%s+<begin>], %x;
mov.b32 %e, 0;
bra visit;
)";

// A thread that sleeps in each round comes here in each round, and looks by the clock.
constexpr const char* kAgain = R"(
again:
and.b32 %g, %n, <round bits>;
setp.gt.u32 %p, %g, <most rounds>;
@%p sub.u32 %n, %n, <most rounds>;
ld.local.u32 %e, [%s+<flags>];
and.b32 %g, %e, <pause bits>;
setp.eq.b32 %p, %g, 0;
@%p bra due;
ld.local.u32 %h, [%s+<next>];
sub.u32 %h, %t, %h;
setp.ge.s32 %p, %h, 0;
@%p bra due;
nanosleep.u32 %g;
mov.b32 %l, 0;
bra done;
due:
and.b32 %e, %e, <not pause>;
visit:
st.local.u64 [%s+<looked at>], %y;
st.local.u32 [%s+<flags>], %e;
)";

// %r becomes the control word as the module has it. One thread at a time and per kControlNs reads the host's first:
// hundreds of readers of one host line wait for each other. Without a table, there is nothing to look at.
constexpr const char* kControl = R"(
mov.u64 %a, <table>;
and.b32 %h, %i, 0xffff;
mad.wide.u32 %o, %h, <device words>, %a;
ld.volatile.global.u64 %a, [%a+<sites>];
setp.eq.b64 %p, %a, 0;
@%p bra looked;
ld.volatile.global.v2.u32 {%r, %e}, [%o+<control>];
sub.u32 %g, %e, %t;
setp.lt.u32 %p, %g, <control ns>;
@%p bra known;
add.u32 %g, %t, <control ns - 1>;
atom.global.cas.b32 %g, [%o+<look>], %e, %g;
setp.ne.b32 %p, %g, %e;
@%p bra known;
mad.wide.u32 %a, %h, <site words>, %a;
ld.volatile.global.u32 %r, [%a+<host control>];
st.volatile.global.u32 [%o+<control>], %r;
known:
)";

// The high bit of %r: waits are recorded; by this lane, unless it has begun to, or follows another one.
constexpr const char* kMayRecord = R"(
setp.ge.s32 %p, %r, 0;
@%p bra recorded;
and.b32 %g, %i, <records>;
setp.eq.b32 %p, %g, 0;
@%p bra recorded;
and.b32 %g, %n, <begun or follows>;
setp.ne.b32 %p, %g, 0;
@%p bra recorded;
<record>or.b32 %n, %n, <begun and pending>;
bfe.u32 %g, %i, <in function>, 8;
st.local.u32 [%s+<site>], %g;
recorded:
)";

// Goes on to what parks only if the control word allows a pause: %r is the longest one then.
constexpr const char* kPark = R"(
and.b32 %g, %i, <pauses>;
setp.eq.b32 %p, %g, 0;
@%p bra looked;
and.b32 %g, %i, <briefly>;
setp.ne.b32 %p, %g, 0;
selp.b32 %g, <longest brief>, <longest>, %p;
and.b32 %r, %r, 0x7fffffff;
min.u32 %r, %r, %g;
setp.eq.b32 %p, %r, 0;
@%p bra looked;
and.b32 %g, %i, <watches>;
setp.eq.b32 %p, %g, 0;
@%p bra unwatched;
)";

constexpr const char* kPause = R"(
mov.u64 %x, %globaltimer;
cvt.u32.u64 %t, %x;
ld.local.u64 %y, [%s+<begin>];
sub.u64 %x, %x, %y;
shr.u64 %x, %x, <pause share>;
cvt.u64.u32 %y, %r;
min.u64 %x, %x, %y;
cvt.u32.u64 %e, %x;
setp.lt.u32 %p, %e, <first pause>;
@%p bra looked;
ld.local.u32 %g, [%s+<flags>];
or.b32 %e, %e, %g;
st.local.u32 [%s+<flags>], %e;
add.u32 %t, %t, <look ns>;
st.local.u32 [%s+<next>], %t;
mov.b32 %l, 0;
bra done;
)";

// A watch that has ended: the next round has its look again.
constexpr const char* kDone = R"(
left:
mov.b32 %l, 0;
bra done;
looked:
mov.b32 %l, <look ns>;
done:
mov.b64 %x, {%n, %l};
st.param.b64 [__wic_result], %x;
ret;
}
.global .u64 <look pointer> = <look name>;
)";

}  // namespace

std::string look_pointer(const Table& table) { return "__wic_look_at" + table.hash(); }

std::string look_text(const Table& table) {
  const std::string look = std::string(kBegin) + kFirst + kAgain + kControl + kMayRecord + kPark + watch_text(table) +
                           "unwatched:\n" + kPause + kDone;
  return record_function_text(table) +
         fill(look, {{"end", end_text(table)},
                     {"record", begin_text(table)},
                     {"look name", "__wic_look" + table.hash()},
                     {"look pointer", look_pointer(table)},
                     {"table", table.name},
                     {"leaves", std::to_string(SiteBits::kLeaves)},
                     {"records", std::to_string(SiteBits::kRecords)},
                     {"pauses", std::to_string(SiteBits::kPauses)},
                     {"briefly", std::to_string(SiteBits::kBriefly)},
                     {"watches", std::to_string(SiteBits::kWatches)},
                     {"in function", std::to_string(kInFunctionShift)},
                     {"no wait", std::to_string(kNoWait)},
                     {"pending", std::to_string(kPending)},
                     {"not pending", std::to_string(~kPending)},
                     {"looked", std::to_string(kLooked)},
                     {"leads", std::to_string(~kFollows)},
                     {"follows", std::to_string(kFollows)},
                     {"begun or follows", std::to_string(kBegun | kFollows)},
                     {"begun and pending", std::to_string(kBegun | kPending)},
                     {"round bits", std::to_string(kRoundBits)},
                     {"most rounds", std::to_string(kMostRounds)},
                     {"pause bits", std::to_string(kPauseBits)},
                     {"not pause", std::to_string(~kPauseBits)},
                     {"begin", std::to_string(offsetof(ThreadState, begin_ns))},
                     {"looked at", std::to_string(offsetof(ThreadState, looked_ns))},
                     {"flags", std::to_string(offsetof(ThreadState, flags))},
                     {"next", std::to_string(offsetof(ThreadState, next_ns))},
                     {"site", std::to_string(offsetof(ThreadState, site))},
                     {"sites", std::to_string(offsetof(ModuleWords, sites))},
                     {"device words", std::to_string(sizeof(DeviceWords))},
                     {"control", std::to_string(Table::kOfSites + offsetof(DeviceWords, control))},
                     {"look", std::to_string(Table::kOfSites + offsetof(DeviceWords, look_ns))},
                     {"site words", std::to_string(sizeof(SiteWords))},
                     {"host control", std::to_string(offsetof(SiteWords, control))},
                     {"control ns", std::to_string(kControlNs)},
                     {"control ns - 1", std::to_string(kControlNs - 1)},
                     {"first look ns", std::to_string(kFirstLookNs)},
                     {"look ns", std::to_string(kLookNs)},
                     {"longest brief", std::to_string(kLongestBriefPause)},
                     {"longest", std::to_string(kLongestPause)},
                     {"pause share", std::to_string(kPauseShareLog2)},
                     {"first pause", std::to_string(kFirstPause)}});
}

}  // namespace wicprof::rewriter
