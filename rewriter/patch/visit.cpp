#include "rewriter/patch/visit.h"

#include <cstddef>

#include "rewriter/patch/records.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/watch.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

constexpr const char* kRegisters = R"(
.local .align 16 .b8 __wic_state[<state bytes>];
.reg .b32 %__wic_n, %__wic_l, %__wic_s;
mov.b32 %__wic_n, <no wait>;
mov.b32 %__wic_s, 0;
{
.reg .b64 %__wic_a;
mov.u64 %__wic_a, %globaltimer;
cvt.u32.u64 %__wic_l, %__wic_a;
}
)";

// Times are read with 64 bits everywhere: a reading of 32 bits takes 30 cycles longer on an H100.
constexpr const char* kArrive = R"(
{
.reg .b64 %__wic_a;
mov.b32 %__wic_n, 0;
mov.u64 %__wic_a, %globaltimer;
cvt.u32.u64 %__wic_l, %__wic_a;
add.u32 %__wic_l, %__wic_l, <first look ns>;
}
)";

// Beside the poll the device does this while the program's load is under way. At a back edge, a round without a look
// goes back by a branch of its own: a branch around the look would cost it more. The time of a wait that is recorded is
// noted in each round, since at the exit the program's next fence would wait for the reading of the clock.
constexpr const char* kRound = R"(add.u32 %__wic_n, %__wic_n, 1;
mov.u64 %__wic_y, %globaltimer;
<note>cvt.u32.u64 %__wic_t, %__wic_y;
sub.u32 %__wic_d, %__wic_t, %__wic_l;
)";
constexpr const char* kNote = R"(and.b32 %__wic_e, %__wic_n, <begun>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
@%__wic_p st.local.u64 [__wic_state+<ended>], %__wic_y;
)";
constexpr const char* kGoBack = R"(setp.lt<and>.s32 %__wic_p, %__wic_d, 0<condition>;
@%__wic_p bra <label>;
<leave>)";
constexpr const char* kGoAround = R"(setp.lt.s32 %__wic_p, %__wic_d, 0;
@%__wic_p bra $__wic_go_on_<k>;
)";

// A thread that has come to the loop by a branch has no time of arrival: its wait begins now. %__wic_d: how late the
// look is. What the thread knows of its wait goes to ThreadState at the first look, after the record of the end of the
// wait before. %__wic_q: the record is one of an end.
constexpr const char* kLook = R"(
{
.reg .pred %__wic_p, %__wic_q;
.reg .b32 %__wic_r, %__wic_e, %__wic_g, %__wic_h, %__wic_d, %__wic_t;
.reg .b64 %__wic_a, %__wic_i, %__wic_x, %__wic_y;
<round>setp.ge.s32 %__wic_p, %__wic_n, 0;
@%__wic_p bra $__wic_arrived_<k>;
mov.b32 %__wic_n, 1;
add.u32 %__wic_l, %__wic_t, <first look ns>;
bra $__wic_go_on_<k>;
$__wic_arrived_<k>:
<elect>setp.ge.u32 %__wic_p, %__wic_n, <looked>;
@%__wic_p bra $__wic_again_<k>;
or.b32 %__wic_n, %__wic_n, <looked>;
add.u32 %__wic_d, %__wic_d, <first look ns>;
cvt.u64.u32 %__wic_x, %__wic_d;
sub.u64 %__wic_y, %__wic_y, %__wic_x;
st.local.u64 [__wic_state+<begin>], %__wic_y;
setp.ne.b32 %__wic_q, %__wic_s, 0;
@%__wic_q bra $__wic_record_<k>;
$__wic_fresh_<k>:
mov.b32 %__wic_s, 0;
mov.b32 %__wic_e, 0;
bra $__wic_control_<k>;
$__wic_record_<k>:
<record>@%__wic_q bra $__wic_fresh_<k>;
mov.b32 %__wic_s, <own>;
or.b32 %__wic_n, %__wic_n, <begun>;
bra $__wic_recorded_<k>;
$__wic_again_<k>:
and.b32 %__wic_g, %__wic_n, <round bits>;
setp.gt.u32 %__wic_p, %__wic_g, <most rounds>;
@%__wic_p sub.u32 %__wic_n, %__wic_n, <most rounds>;
ld.local.u32 %__wic_e, [__wic_state+<flags>];
<nap>and.b32 %__wic_e, %__wic_e, <not pause>;
$__wic_control_<k>:
st.local.u32 [__wic_state+<flags>], %__wic_e;
)";

// Lanes of a warp that look at the same time leave the records to the first of them. Nobody waits for the others here:
// whether they wait for the same word is not asked, since `match` would make ptxas put values of the kernel into local
// memory.
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
ld.local.u32 %__wic_h, [__wic_state+<next>];
sub.u32 %__wic_h, %__wic_t, %__wic_h;
setp.ge.s32 %__wic_p, %__wic_h, 0;
@%__wic_p bra $__wic_look_on_<k>;
nanosleep.u32 %__wic_g;
bra $__wic_go_on_<k>;
$__wic_look_on_<k>:
)";

// %__wic_r becomes the control word as the module has it. One thread at a time and per kControlNs reads the host's
// first: hundreds of readers of one host line wait for each other. Without a table, %__wic_r is 0.
constexpr const char* kControl = R"(
ld.volatile.global.v2.u32 {%__wic_r, %__wic_e}, [<table>+<control>];
ld.volatile.global.u64 %__wic_a, [<table>+<sites>];
setp.eq.b64 %__wic_p, %__wic_a, 0;
@%__wic_p bra $__wic_looked_<k>;
sub.u32 %__wic_g, %__wic_e, %__wic_t;
setp.lt.u32 %__wic_p, %__wic_g, <control ns>;
@%__wic_p bra $__wic_known_<k>;
add.u32 %__wic_g, %__wic_t, <control ns - 1>;
atom.global.cas.b32 %__wic_g, [<table>+<look>], %__wic_e, %__wic_g;
setp.ne.b32 %__wic_p, %__wic_g, %__wic_e;
@%__wic_p bra $__wic_known_<k>;
ld.volatile.global.u32 %__wic_r, [%__wic_a+<host control>];
st.volatile.global.u32 [<table>+<control>], %__wic_r;
$__wic_known_<k>:
)";

// The high bit of %__wic_r: waits are recorded; by this lane, unless it has begun to, or follows another one.
constexpr const char* kBegin = R"(
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
ld.local.u64 %__wic_y, [__wic_state+<begin>];
sub.u64 %__wic_x, %__wic_x, %__wic_y;
shr.u64 %__wic_x, %__wic_x, <pause share>;
cvt.u64.u32 %__wic_y, %__wic_r;
min.u64 %__wic_x, %__wic_x, %__wic_y;
cvt.u32.u64 %__wic_e, %__wic_x;
setp.lt.u32 %__wic_p, %__wic_e, <first pause>;
@%__wic_p bra $__wic_looked_<k>;
ld.local.u32 %__wic_g, [__wic_state+<flags>];
or.b32 %__wic_e, %__wic_e, %__wic_g;
st.local.u32 [__wic_state+<flags>], %__wic_e;
mov.b32 %__wic_l, %__wic_t;
add.u32 %__wic_t, %__wic_t, <look ns>;
st.local.u32 [__wic_state+<next>], %__wic_t;
bra $__wic_go_on_<k>;
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
$__wic_go_on_<k>:
}
)";

// The program has waited for this moment: a few instructions without a branch. Nothing but stores stands under the
// predicate, so that ptxas executes nothing in vain.
constexpr const char* kExitOf = R"(<own><value>@%__wic_p st.local.v2.u32 [__wic_state+<rounds>], {%__wic_n, %__wic_e};
)";
// Where several waits end at one place.
constexpr const char* kOwnExit = R"(and.b32 %__wic_e, %__wic_n, <begun>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
setp.eq.and.u32 %__wic_p, %__wic_s, <own>, %__wic_p;
)";
constexpr const char* kOnlyExit = R"(and.b32 %__wic_e, %__wic_n, <begun>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
)";

constexpr const char* kExit = R"(
{
.reg .pred %__wic_p;
.reg .b32 %__wic_e;
<ends>mov.b32 %__wic_n, <no wait>;
}
)";

// %__wic_n cannot have more rounds than this at two looks in a row: it never runs into its flags.
constexpr std::uint32_t kMostRounds = kRoundBits / 2;

std::string round_text(const Site& site, const BackEdge& back) {
  const std::string guard(back.guard);
  const char* const no = back.guard_negated ? "@" : "@!";
  const char* const yes = back.guard_negated ? "!" : "";
  const std::string leave = guard.empty() ? "" : no + guard + " bra $__wic_go_on_<k>;\n";
  const std::string go = back.label.empty() ? leave + kRound + kGoAround : std::string(kRound) + kGoBack;
  return fill(go, {{"leave", leave},
                   {"note", site.records() ? kNote : ""},
                   {"and", guard.empty() ? "" : ".and"},
                   {"condition", guard.empty() ? "" : ", " + (yes + guard)},
                   {"label", std::string(back.label)}});
}

}  // namespace

std::string arrive_text() { return fill(kArrive, {{"first look ns", std::to_string(kFirstLookNs)}}); }

std::string registers_text() {
  return fill(kRegisters, {{"state bytes", std::to_string(sizeof(ThreadState))}, {"no wait", std::to_string(kNoWait)}});
}

std::string visit_text(const Site& site, const Table& table, const BackEdge& back) {
  const std::string k = std::to_string(site.number);
  const bool pauses = site.loop->pause != Pause::none;
  std::string text = std::string(kLook) + kControl;
  if (site.records()) text += kBegin;
  text += "$__wic_recorded_<k>:\n";
  if (pauses) text += kPark;
  if (site.watches()) text += watch_text(site, table);
  if (pauses) text += kPause;
  text += kLookedOn;
  const std::size_t own = sizeof(ModuleWords) + site.number * sizeof(DeviceWords);
  const std::uint32_t longest = site.loop->pause == Pause::brief ? kLongestBriefPause : kLongestPause;
  return fill(text, {{"round", round_text(site, back)},
                     {"elect", site.records() ? kElect : ""},
                     {"record", record_text(site, table)},
                     {"nap", pauses ? kNap : ""},
                     {"own", std::to_string(site.in_function + 1)},
                     {"table", table.name},
                     {"sites", std::to_string(offsetof(ModuleWords, sites))},
                     {"control", std::to_string(own + offsetof(DeviceWords, control))},
                     {"look", std::to_string(own + offsetof(DeviceWords, look_ns))},
                     {"host control", std::to_string(site.number * sizeof(SiteWords) + offsetof(SiteWords, control))},
                     {"flags", std::to_string(offsetof(ThreadState, flags))},
                     {"begin", std::to_string(offsetof(ThreadState, begin_ns))},
                     {"next", std::to_string(offsetof(ThreadState, next_ns))},
                     {"looked", std::to_string(kLooked)},
                     {"begun", std::to_string(kBegun)},
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
                     {"k", k}});
}

std::string exit_text(const std::vector<const Site*>& sites) {
  std::string ends;
  for (const Site* const site : sites) {
    if (!site->records()) continue;
    const std::optional<Word>& word = site->loop->word;
    const std::string value = !word ? "mov.b32 %__wic_e, 0;\n"
                                    : std::string(word->is_64_bit ? "cvt.u32.u64" : "mov.b32") + " %__wic_e, " +
                                          std::string(word->value) + ";\n";
    ends += fill(kExitOf,
                 {{"value", value},
                  {"own", fill(sites.size() > 1 ? kOwnExit : kOnlyExit,
                               {{"begun", std::to_string(kBegun)}, {"own", std::to_string(site->in_function + 1)}})},
                  {"rounds", std::to_string(offsetof(ThreadState, rounds))}});
  }
  return fill(kExit, {{"ends", ends}, {"no wait", std::to_string(kNoWait)}});
}

}  // namespace wicprof::rewriter
