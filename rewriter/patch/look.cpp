#include "rewriter/patch/look.h"

#include <cstddef>

#include "rewriter/patch/counts.h"
#include "rewriter/patch/records.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"
#include "rewriter/patch/watch.h"

namespace wicprof::rewriter {

namespace {

// What the thread knows of its wait goes to ThreadState at the first look. If the end of the wait before is to be
// recorded, that is all that the thread does, and it looks again in the next round: with a way back to the first look
// in this text, ptxas has the lanes of a warp meet behind each loop that calls it. %__wic_q: the record is one of an
// end.
constexpr const char* kLook = R"(<clock><elect>setp.ge.u32 %__wic_p, %__wic_n, <looked>;
@%__wic_p bra $__wic_again_<k>;
setp.ne.b32 %__wic_q, %__wic_s, 0;
@%__wic_q bra $__wic_ended_<k>;
or.b32 %__wic_n, %__wic_n, <looked>;
<long>add.u32 %__wic_d, %__wic_d, <first look ns>;
cvt.u64.u32 %__wic_x, %__wic_d;
sub.u64 %__wic_y, %__wic_y, %__wic_x;
st.local.u64 [<state>+<begin>], %__wic_y;
mov.b32 %__wic_e, 0;
bra $__wic_control_<k>;
$__wic_ended_<k>:
<timed>$__wic_record_<k>:
<record>@%__wic_q mov.b32 %__wic_s, 0;
@%__wic_q bra $__wic_leave_<k>;
mov.b32 %__wic_s, <own>;
or.b32 %__wic_n, %__wic_n, <begun>;
<begins>bra $__wic_recorded_<k>;
$__wic_again_<k>:
and.b32 %__wic_g, %__wic_n, <round bits>;
setp.gt.u32 %__wic_p, %__wic_g, <most rounds>;
@%__wic_p sub.u32 %__wic_n, %__wic_n, <most rounds>;
ld.local.u32 %__wic_e, [<state>+<flags>];
<nap>and.b32 %__wic_e, %__wic_e, <not pause>;
$__wic_control_<k>:
st.local.u32 [<state>+<flags>], %__wic_e;
)";

// A wait that was timed is over, or this one is: it lasts longer than those that are.
constexpr const char* kEndOfTimed = R"(setp.ge.s32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_record_<k>;
and.b32 %__wic_g, %__wic_n, <begun>;
setp.ne.b32 %__wic_p, %__wic_g, 0;
@%__wic_p bra $__wic_drop_<k>;
<add timed>mov.b32 %__wic_s, 0;
bra $__wic_leave_<k>;
$__wic_drop_<k>:
and.b32 %__wic_n, %__wic_n, <not begun>;
mov.b32 %__wic_s, 0;
<drops>bra $__wic_leave_<k>;
)";

// Of lanes that look together, the first counts for all.
constexpr const char* kLong = R"(and.b32 %__wic_g, %__wic_n, <follows>;
setp.ne.b32 %__wic_p, %__wic_g, 0;
@%__wic_p bra $__wic_counted_<k>;
<add looked>$__wic_counted_<k>:
)";

// Lanes of a warp that look at the same time leave records and counts to the first of them. Nobody waits for the others
// here: whether they wait for the same word is not asked, since `match` would make ptxas put values of the kernel into
// local memory.
constexpr const char* kElect = R"(activemask.b32 %__wic_g;
mov.u32 %__wic_h, %lanemask_lt;
and.b32 %__wic_g, %__wic_g, %__wic_h;
setp.ne.b32 %__wic_p, %__wic_g, 0;
and.b32 %__wic_n, %__wic_n, <leads>;
@%__wic_p or.b32 %__wic_n, %__wic_n, <follows>;
)";

// While the thread sleeps in each round, it looks by the clock.
constexpr const char* kNap = R"(and.b32 %__wic_g, %__wic_e, <pause bits>;
setp.eq.b32 %__wic_p, %__wic_g, 0;
@%__wic_p bra $__wic_look_on_<k>;
ld.local.u32 %__wic_h, [<state>+<next>];
sub.u32 %__wic_h, %__wic_t, %__wic_h;
setp.ge.s32 %__wic_p, %__wic_h, 0;
@%__wic_p bra $__wic_look_on_<k>;
nanosleep.u32 %__wic_g;
bra $__wic_leave_<k>;
$__wic_look_on_<k>:
)";

// %__wic_r becomes the control word as the module has it. One thread at a time and per kControlNs reads the host's
// first: hundreds of readers of one host line wait for each other. Without a table, %__wic_r is 0.
constexpr const char* kControl = R"(
<find words>ld.volatile.global.v2.u32 {%__wic_r, %__wic_e}, [<control>];
ld.volatile.global.u64 %__wic_a, [<table>+<sites>];
setp.eq.b64 %__wic_p, %__wic_a, 0;
@%__wic_p bra $__wic_looked_<k>;
sub.u32 %__wic_g, %__wic_e, %__wic_t;
setp.lt.u32 %__wic_p, %__wic_g, <control ns>;
@%__wic_p bra $__wic_known_<k>;
add.u32 %__wic_g, %__wic_t, <control ns - 1>;
atom.global.cas.b32 %__wic_g, [<look>], %__wic_e, %__wic_g;
setp.ne.b32 %__wic_p, %__wic_g, %__wic_e;
@%__wic_p bra $__wic_known_<k>;
<host words>ld.volatile.global.u32 %__wic_r, [%__wic_a+<host control>];
st.volatile.global.u32 [<control>], %__wic_r;
$__wic_known_<k>:
)";

// The high bit of %__wic_r: waits are recorded; by this lane, unless it has begun to, or follows another one.
constexpr const char* kWaitBegins = R"(
setp.ge.s32 %__wic_p, %__wic_r, 0;
@%__wic_p bra $__wic_recorded_<k>;
setp.ne.b32 %__wic_q, %__wic_s, %__wic_s;
and.b32 %__wic_g, %__wic_n, <follows>;
or.b32 %__wic_g, %__wic_g, %__wic_s;
setp.eq.b32 %__wic_p, %__wic_g, 0;
@%__wic_p bra $__wic_record_<k>;
)";

// Goes on to what parks only if the control word allows a pause: %__wic_r is the longest one then.
constexpr const char* kPark = R"(
and.b32 %__wic_r, %__wic_r, 0x7fffffff;
min.u32 %__wic_r, %__wic_r, <longest>;
setp.eq.b32 %__wic_p, %__wic_r, 0;
@%__wic_p bra $__wic_looked_<k>;
)";

constexpr const char* kPause = R"(
mov.u64 %__wic_x, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_x;
ld.local.u64 %__wic_y, [<state>+<begin>];
sub.u64 %__wic_x, %__wic_x, %__wic_y;
shr.u64 %__wic_x, %__wic_x, <pause share>;
cvt.u64.u32 %__wic_y, %__wic_r;
min.u64 %__wic_x, %__wic_x, %__wic_y;
cvt.u32.u64 %__wic_e, %__wic_x;
setp.lt.u32 %__wic_p, %__wic_e, <first pause>;
@%__wic_p bra $__wic_looked_<k>;
ld.local.u32 %__wic_g, [<state>+<flags>];
or.b32 %__wic_e, %__wic_e, %__wic_g;
st.local.u32 [<state>+<flags>], %__wic_e;
mov.b32 %__wic_l, %__wic_t;
add.u32 %__wic_t, %__wic_t, <look ns>;
st.local.u32 [<state>+<next>], %__wic_t;
bra $__wic_leave_<k>;
)";

// Lanes that have looked together look together again, though the one that records takes longer: the next look is due
// some time after this one was, unless that is over.
constexpr const char* kLookedOn = R"(
$__wic_looked_<k>:
add.u32 %__wic_l, %__wic_l, <look ns>;
mov.u64 %__wic_y, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_y;
sub.u32 %__wic_d, %__wic_t, %__wic_l;
setp.ge.s32 %__wic_p, %__wic_d, 0;
@%__wic_p add.u32 %__wic_l, %__wic_t, <look ns>;
$__wic_leave_<k>:
)";

// %__wic_n cannot have more rounds than this at two looks in a row: it never runs into its flags.
constexpr std::uint32_t kMostRounds = kRoundBits / 2;

}  // namespace

LookPlace in_the_loop(const Site& site, const Table& table) {
  LookPlace place;
  place.clock = "mov.b64 %__wic_y, %__wic_c;\n";
  place.state = "__wic_state";
  place.number = "mov.b32 %__wic_h, " + std::to_string(site.number) + ";\n";
  place.own = std::to_string(site.code());
  place.words = table.name;
  place.words_at = Table::device_words(site.number);
  place.host_words_at = site.number * sizeof(SiteWords);
  place.begins = "setp.eq.b32 %__wic_b, %__wic_n, %__wic_n;\n";
  place.drops = "setp.ne.b32 %__wic_b, %__wic_n, %__wic_n;\n";
  return place;
}

std::string look_registers_text() {
  return R"(.reg .pred %__wic_p, %__wic_q;
.reg .b32 %__wic_r, %__wic_e, %__wic_g, %__wic_h, %__wic_d, %__wic_t;
.reg .b64 %__wic_a, %__wic_i, %__wic_x, %__wic_y;
)";
}

std::string look_text(const Site& site, const Table& table, const LookPlace& place) {
  const std::string k = std::to_string(site.number);
  const bool pauses = site.loop->pause != Pause::none;
  std::string text = std::string(kLook) + kControl;
  if (site.records()) text += kWaitBegins;
  text += "$__wic_recorded_<k>:\n";
  if (pauses) text += kPark;
  if (site.watches()) text += watch_text(site, table);
  if (pauses) text += kPause;
  text += kLookedOn;
  const std::uint32_t longest = site.loop->pause == Pause::brief ? kLongestBriefPause : kLongestPause;
  return fill(text, {{"clock", place.clock},
                     {"elect", kElect},
                     {"long", table.counts_waits ? kLong : ""},
                     {"add looked", add_looked_text(site, table, place.number)},
                     {"timed", table.counts_waits ? kEndOfTimed : ""},
                     {"add timed", add_timed_text(table, place.state)},
                     {"number", place.number},
                     {"find words", place.find_words},
                     {"record", record_text(site, table, place.number)},
                     {"nap", pauses ? kNap : ""},
                     {"begins", place.begins},
                     {"drops", place.drops},
                     {"own", place.own},
                     {"table", table.name},
                     {"sites", std::to_string(offsetof(ModuleWords, sites))},
                     {"control", place.words + "+" + std::to_string(place.words_at + offsetof(DeviceWords, control))},
                     {"look", place.words + "+" + std::to_string(place.words_at + offsetof(DeviceWords, look_ns))},
                     {"host words", place.host_words},
                     {"host control", std::to_string(place.host_words_at + offsetof(SiteWords, control))},
                     {"flags", std::to_string(offsetof(ThreadState, flags))},
                     {"begin", std::to_string(offsetof(ThreadState, begin_ns))},
                     {"next", std::to_string(offsetof(ThreadState, next_ns))},
                     {"looked", std::to_string(kLooked)},
                     {"begun", std::to_string(kBegun)},
                     {"not begun", std::to_string(~kBegun)},
                     {"leads", std::to_string(~kFollows)},
                     {"follows", std::to_string(kFollows)},
                     {"ended", std::to_string(offsetof(ThreadState, ended_ns))},
                     {"round bits", std::to_string(kRoundBits)},
                     {"most rounds", std::to_string(kMostRounds)},
                     {"pause bits", std::to_string(kPauseBits)},
                     {"not pause", std::to_string(~kPauseBits)},
                     {"control ns", std::to_string(kControlNs)},
                     {"control ns - 1", std::to_string(kControlNs - 1)},
                     {"look ns", std::to_string(kLookNs)},
                     {"first look ns", std::to_string(kFirstLookNs)},
                     {"longest", std::to_string(longest)},
                     {"pause share", std::to_string(kPauseShareLog2)},
                     {"first pause", std::to_string(kFirstPause)},
                     {"state", place.state},
                     {"k", k}});
}

}  // namespace wicprof::rewriter
