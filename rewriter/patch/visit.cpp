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
.reg .b32 %__wic_n, %__wic_m, %__wic_l, %__wic_k, %__wic_s;
mov.b32 %__wic_n, 0;
mov.b32 %__wic_m, 0;
mov.b32 %__wic_l, 0;
mov.b32 %__wic_k, 0;
mov.b32 %__wic_s, 0;
)";

// Times are read with 64 bits everywhere: a reading of 32 bits takes 30 cycles longer on an H100. `keeps`: kKeep.
constexpr const char* kArrive = R"(
{
.reg .b64 %__wic_a;
mov.b32 %__wic_n, 0;
mov.b32 %__wic_m, <first rounds>;
mov.b32 %__wic_k, 0;
mov.u64 %__wic_a, %globaltimer;
cvt.u32.u64 %__wic_l, %__wic_a;
<keeps>}
)";

// Adds 0 to the address that the loop polls: the clock's highest bit is 0 until the year 2262. ptxas does not know that,
// so that it keeps the address in a register; else it loads the kernel's parameter again in each round, which made the
// rounds of small loops a tenth longer.
constexpr const char* kKeep = R"(shr.u64 %__wic_a, %__wic_a, 63;
<adds>)";

// A round without a look goes back by a branch of its own: a branch around the look would cost it more.
constexpr const char* kGoBack = R"(add.u32 %__wic_n, %__wic_n, 1;
setp.lt<and>.u32 %__wic_p, %__wic_n, %__wic_m<condition>;
@%__wic_p bra <label>;
<leave>)";
constexpr const char* kGoAround = R"(<leave>add.u32 %__wic_n, %__wic_n, 1;
setp.lt.u32 %__wic_p, %__wic_n, %__wic_m;
@%__wic_p bra $__wic_go_on_<k>;
)";

// The first look of a wait is due <first look ns> after its begin, the next one <look ns> after the last. A thread that
// is early goes on for as many rounds as the time that is left takes at the pace of the rounds since; until its first
// look it needs no memory for that. A thread that has come to the loop by a branch has no time of arrival: its wait
// begins now. %__wic_d: the time since the last look, or since the arrival.
constexpr const char* kLook = R"(
{
.reg .pred %__wic_p, %__wic_q, %__wic_timed;
.reg .b32 %__wic_w, %__wic_r, %__wic_e, %__wic_g, %__wic_h, %__wic_d, %__wic_t;
.reg .b64 %__wic_a, %__wic_i, %__wic_x, %__wic_y;
.reg .f32 %__wic_u, %__wic_v;
<round>mov.u64 %__wic_y, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_y;
setp.ne.b32 %__wic_p, %__wic_m, 0;
@%__wic_p bra $__wic_again_<k>;
mov.b32 %__wic_l, %__wic_t;
mov.b32 %__wic_n, 1;
mov.b32 %__wic_k, 0;
mov.b32 %__wic_m, <first rounds>;
bra $__wic_go_on_<k>;
$__wic_again_<k>:
sub.u32 %__wic_d, %__wic_t, %__wic_l;
setp.ne.b32 %__wic_timed, %__wic_k, 0;
selp.b32 %__wic_g, <look ns>, <first look ns>, %__wic_timed;
setp.ge.u32 %__wic_q, %__wic_d, %__wic_g;
@%__wic_q bra $__wic_due_<k>;
sub.u32 %__wic_g, %__wic_g, %__wic_d;
<nap>bra $__wic_pace_<k>;
$__wic_due_<k>:
mov.b32 %__wic_g, <look ns>;
$__wic_pace_<k>:
sub.u32 %__wic_e, %__wic_n, %__wic_k;
cvt.rn.f32.u32 %__wic_u, %__wic_e;
cvt.rn.f32.u32 %__wic_v, %__wic_g;
mul.f32 %__wic_u, %__wic_u, %__wic_v;
max.u32 %__wic_e, %__wic_d, <shortest pace>;
cvt.rn.f32.u32 %__wic_v, %__wic_e;
div.approx.f32 %__wic_u, %__wic_u, %__wic_v;
min.f32 %__wic_u, %__wic_u, <most rounds>;
cvt.rzi.u32.f32 %__wic_e, %__wic_u;
max.u32 %__wic_e, %__wic_e, 1;
add.u32 %__wic_m, %__wic_n, %__wic_e;
@!%__wic_q bra $__wic_go_on_<k>;
mov.b32 %__wic_k, %__wic_n;
mov.b32 %__wic_l, %__wic_t;
@%__wic_timed bra $__wic_known_wait_<k>;
)";

// The first look: what the thread knows of its wait goes to ThreadState.
constexpr const char* kFirst = R"(<last wait>mov.b32 %__wic_s, 0;
mov.b32 %__wic_w, 0;
cvt.u64.u32 %__wic_x, %__wic_d;
mov.u64 %__wic_y, %globaltimer;
sub.u64 %__wic_y, %__wic_y, %__wic_x;
st.local.u64 [__wic_state+<begin>], %__wic_y;
bra $__wic_control_<k>;
$__wic_known_wait_<k>:
ld.local.u32 %__wic_w, [__wic_state+<flags>];
and.b32 %__wic_w, %__wic_w, <not pause>;
$__wic_control_<k>:
)";

// While the thread sleeps in each round, it looks by the clock.
constexpr const char* kNap = R"(@!%__wic_timed bra $__wic_pace_<k>;
ld.local.u32 %__wic_e, [__wic_state+<flags>];
and.b32 %__wic_e, %__wic_e, <pause bits>;
setp.eq.b32 %__wic_p, %__wic_e, 0;
@%__wic_p bra $__wic_pace_<k>;
nanosleep.u32 %__wic_e;
bra $__wic_go_on_<k>;
)";

// %__wic_r becomes the control word as the module has it. One thread at a time and per kControlNs reads the host's
// first: hundreds of readers of one host line wait for each other. Without a table, %__wic_r is 0.
constexpr const char* kControl = R"(
ld.volatile.global.u64 %__wic_a, [<table>+<sites>];
ld.volatile.global.v2.u32 {%__wic_r, %__wic_e}, [<table>+<control>];
setp.eq.b64 %__wic_p, %__wic_a, 0;
@%__wic_p bra $__wic_store_<k>;
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

// The high bit of %__wic_r: waits are recorded.
constexpr const char* kBegin = R"(
setp.ge.s32 %__wic_p, %__wic_r, 0;
@%__wic_p bra $__wic_recorded_<k>;
setp.ne.b32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_recorded_<k>;
<record>mov.b32 %__wic_s, <own>;
$__wic_recorded_<k>:
)";

// Goes on to what parks only if the control word allows a pause: %__wic_r is the longest one then.
constexpr const char* kPark = R"(
and.b32 %__wic_r, %__wic_r, 0x7fffffff;
min.u32 %__wic_r, %__wic_r, <longest>;
setp.eq.b32 %__wic_p, %__wic_r, 0;
@%__wic_p bra $__wic_store_<k>;
)";

constexpr const char* kPause = R"(
mov.u64 %__wic_x, %globaltimer;
ld.local.u64 %__wic_y, [__wic_state+<begin>];
sub.u64 %__wic_x, %__wic_x, %__wic_y;
shr.u64 %__wic_x, %__wic_x, <pause share>;
cvt.u64.u32 %__wic_y, %__wic_r;
min.u64 %__wic_x, %__wic_x, %__wic_y;
cvt.u32.u64 %__wic_e, %__wic_x;
setp.lt.u32 %__wic_p, %__wic_e, <first pause>;
@%__wic_p bra $__wic_store_<k>;
or.b32 %__wic_w, %__wic_w, %__wic_e;
mov.b32 %__wic_m, 1;
)";

constexpr const char* kStore = R"(
$__wic_store_<k>:
st.local.u32 [__wic_state+<flags>], %__wic_w;
$__wic_go_on_<k>:
}
)";

// The device's clock may go on in steps of a microsecond.
constexpr std::uint32_t kShortestPaceNs = 1024;
// 2^20, as PTX writes a float.
constexpr const char* kMostRoundsAtOnce = "0f49800000";

// The program has waited for this moment: a wait that is not recorded costs it a comparison. The clock is never 0; but
// for the branch back ptxas would execute the reading always, and the program's fence would wait for it.
constexpr const char* kExitOf = R"(setp.ne.u32 %__wic_p, %__wic_s, <own>;
@%__wic_p bra $__wic_other_<label>_<own>;
$__wic_over_<label>_<own>:
mov.u64 %__wic_a, %globaltimer;
st.local.u64 [__wic_state+<ended>], %__wic_a;
st.local.u32 [__wic_state+<rounds>], %__wic_n;
<value>or.b32 %__wic_s, %__wic_s, <over>;
setp.eq.u64 %__wic_p, %__wic_a, 0;
@%__wic_p bra $__wic_over_<label>_<own>;
$__wic_other_<label>_<own>:
)";

constexpr const char* kExit = R"(
{
.reg .pred %__wic_p;
.reg .b32 %__wic_e;
.reg .b64 %__wic_a;
<ends>mov.b32 %__wic_m, 0;
}
)";

std::string round_text(const BackEdge& back) {
  const std::string guard(back.guard);
  const char* const no = back.guard_negated ? "@" : "@!";
  const char* const yes = back.guard_negated ? "!" : "";
  return fill(back.label.empty() ? kGoAround : kGoBack,
              {{"leave", guard.empty() ? "" : no + guard + " bra $__wic_go_on_<k>;\n"},
               {"and", guard.empty() ? "" : ".and"},
               {"condition", guard.empty() ? "" : ", " + (yes + guard)},
               {"label", std::string(back.label)}});
}

}  // namespace

std::string arrive_text(const std::set<std::string_view>& addresses) {
  std::string adds;
  for (const std::string_view address : addresses) {
    const std::string name(address);
    adds += "add.s64 " + name + ", " + name + ", %__wic_a;\n";
  }
  return fill(kArrive, {{"keeps", adds.empty() ? "" : fill(kKeep, {{"adds", adds}})},
                        {"first rounds", std::to_string(kFirstRounds)}});
}

std::string registers_text() { return fill(kRegisters, {{"state bytes", std::to_string(sizeof(ThreadState))}}); }

std::string visit_text(const Site& site, const Table& table, const BackEdge& back) {
  const std::string k = std::to_string(site.number);
  const bool pauses = site.loop->pause != Pause::none;
  std::string text = std::string(kLook) + kFirst + kControl;
  if (site.records()) text += kBegin;
  if (pauses) text += kPark;
  if (site.watches()) text += watch_text(site, table);
  if (pauses) text += kPause;
  text += kStore;
  const std::size_t own = sizeof(ModuleWords) + site.number * sizeof(DeviceWords);
  const std::uint32_t longest = site.loop->pause == Pause::brief ? kLongestBriefPause : kLongestPause;
  return fill(text, {{"round", round_text(back)},
                     {"nap", pauses ? kNap : ""},
                     {"last wait", end_text(table, "look_" + k)},
                     {"record", begin_record_text(site, table)},
                     {"own", std::to_string(site.in_function + 1)},
                     {"table", table.name},
                     {"sites", std::to_string(offsetof(ModuleWords, sites))},
                     {"control", std::to_string(own + offsetof(DeviceWords, control))},
                     {"look", std::to_string(own + offsetof(DeviceWords, look_ns))},
                     {"host control", std::to_string(site.number * sizeof(SiteWords) + offsetof(SiteWords, control))},
                     {"flags", std::to_string(offsetof(ThreadState, flags))},
                     {"begin", std::to_string(offsetof(ThreadState, begin_ns))},
                     {"pause bits", std::to_string(kPauseBits)},
                     {"not pause", std::to_string(~kPauseBits)},
                     {"control ns", std::to_string(kControlNs)},
                     {"control ns - 1", std::to_string(kControlNs - 1)},
                     {"first rounds", std::to_string(kFirstRounds)},
                     {"shortest pace", std::to_string(kShortestPaceNs)},
                     {"most rounds", kMostRoundsAtOnce},
                     {"look ns", std::to_string(kLookNs)},
                     {"first look ns", std::to_string(kFirstLookNs)},
                     {"longest", std::to_string(longest)},
                     {"pause share", std::to_string(kPauseShareLog2)},
                     {"first pause", std::to_string(kFirstPause)},
                     {"k", k}});
}

std::string exit_text(const std::vector<const Site*>& sites, const std::string& label) {
  std::string ends;
  for (const Site* const site : sites) {
    const std::optional<Word>& word = site->loop->word;
    std::string value;
    if (word) {
      value = std::string(word->is_64_bit ? "cvt.u32.u64" : "mov.b32") + " %__wic_e, " + std::string(word->value) +
              ";\nst.local.u32 [__wic_state+<last value>], %__wic_e;\n";
    }
    ends += fill(kExitOf, {{"value", value},
                           {"own", std::to_string(site->in_function + 1)},
                           {"ended", std::to_string(offsetof(ThreadState, ended_ns))},
                           {"rounds", std::to_string(offsetof(ThreadState, rounds))},
                           {"last value", std::to_string(offsetof(ThreadState, value))},
                           {"over", std::to_string(kEnded)}});
  }
  return fill(kExit, {{"ends", ends}, {"label", label}});
}

}  // namespace wicprof::rewriter
