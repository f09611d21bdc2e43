#include "rewriter/patch/visit.h"

#include <cstddef>

#include "rewriter/patch/records.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/watch.h"

namespace wicprof::rewriter {

namespace {

constexpr const char* kRegisters = R"(
.reg .b32 %__wic_n, %__wic_m, %__wic_w, %__wic_t, %__wic_l, %__wic_e0, %__wic_e1, %__wic_e2;
mov.b32 %__wic_n, 0;
mov.b32 %__wic_m, 0;
mov.b32 %__wic_w, 0;
mov.b32 %__wic_t, 0;
mov.b32 %__wic_l, 0;
mov.b32 %__wic_e0, 0;
mov.b32 %__wic_e1, 0;
mov.b32 %__wic_e2, 0;
)";

constexpr const char* kArrive = R"(
<anew>mov.b32 %__wic_n, 0;
mov.b32 %__wic_m, <first look ns>;
mov.u32 %__wic_l, %globaltimer_lo;
)";

// A round without a look goes back by a branch of its own: a branch around the look would cost it more.
constexpr const char* kGoBack = R"(add.u32 %__wic_n, %__wic_n, 1;
mov.u32 %__wic_now, %globaltimer_lo;
sub.u32 %__wic_d, %__wic_now, %__wic_l;
setp.lt<and>.u32 %__wic_p, %__wic_d, %__wic_m<condition>;
@%__wic_p bra <label>;
<leave>)";
constexpr const char* kGoAround = R"(<leave>add.u32 %__wic_n, %__wic_n, 1;
mov.u32 %__wic_now, %globaltimer_lo;
sub.u32 %__wic_d, %__wic_now, %__wic_l;
setp.lt.u32 %__wic_p, %__wic_d, %__wic_m;
@%__wic_p bra $__wic_go_on_<k>;
)";

// The first look of a wait. A thread that has come to the loop by a branch has no time of arrival: its wait begins now.
// %__wic_d: the time since the last look, or since the arrival.
constexpr const char* kLook = R"(
{
.reg .pred %__wic_p, %__wic_q;
.reg .b32 %__wic_r, %__wic_e, %__wic_g, %__wic_h, %__wic_d, %__wic_now;
.reg .b64 %__wic_a, %__wic_f, %__wic_i, %__wic_x, %__wic_y;
<round>and.b32 %__wic_e, %__wic_w, <site, ended>;
setp.eq.u32 %__wic_p, %__wic_e, <own>;
@%__wic_p bra $__wic_again_<k>;
<last>mov.b32 %__wic_w, <own>;
setp.ne.b32 %__wic_p, %__wic_m, 0;
mov.b32 %__wic_m, <first look ns>;
@%__wic_p bra $__wic_again_<k>;
mov.b32 %__wic_l, %__wic_now;
mov.b32 %__wic_n, 1;
bra $__wic_go_on_<k>;
$__wic_again_<k>:
<nap>and.b32 %__wic_e, %__wic_w, <timed>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
@%__wic_p bra $__wic_timed_<k>;
cvt.u64.u32 %__wic_f, %__wic_d;
mov.u64 %__wic_x, %globaltimer;
sub.u64 %__wic_x, %__wic_x, %__wic_f;
shr.u64 %__wic_x, %__wic_x, 10;
cvt.u32.u64 %__wic_t, %__wic_x;
$__wic_timed_<k>:
and.b32 %__wic_w, %__wic_w, <not pause>;
or.b32 %__wic_w, %__wic_w, <timed>;
mov.b32 %__wic_l, %__wic_now;
mov.b32 %__wic_m, <look ns>;
)";

// While the thread sleeps in each round, it looks by the clock.
constexpr const char* kNap = R"(and.b32 %__wic_e, %__wic_w, <pause bits>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
setp.lt.and.u32 %__wic_p, %__wic_d, <look ns>, %__wic_p;
@!%__wic_p bra $__wic_look_on_<k>;
shr.u32 %__wic_e, %__wic_e, <pause shift>;
nanosleep.u32 %__wic_e;
bra $__wic_go_on_<k>;
$__wic_look_on_<k>:
)";

// %__wic_r becomes the control word as the module has it. One thread at a time and per kControlNs reads the host's
// first: hundreds of readers of one host line wait for each other. Without a table, %__wic_r is 0.
constexpr const char* kControl = R"(
ld.volatile.global.u64 %__wic_a, <sites>;
ld.volatile.global.v2.u32 {%__wic_r, %__wic_e}, <control>;
setp.eq.b64 %__wic_p, %__wic_a, 0;
@%__wic_p bra $__wic_recorded_<k>;
sub.u32 %__wic_g, %__wic_e, %__wic_now;
setp.lt.u32 %__wic_p, %__wic_g, <control ns>;
@%__wic_p bra $__wic_known_<k>;
add.u32 %__wic_g, %__wic_now, <control ns - 1>;
atom.global.cas.b32 %__wic_g, <look>, %__wic_e, %__wic_g;
setp.ne.b32 %__wic_p, %__wic_g, %__wic_e;
@%__wic_p bra $__wic_known_<k>;
ld.volatile.global.u32 %__wic_r, [%__wic_a+<host control>];
st.volatile.global.u32 <control>, %__wic_r;
$__wic_known_<k>:
)";

// Goes on to what parks only if the control word allows a pause: %__wic_r is the longest one then.
constexpr const char* kPark = R"(
and.b32 %__wic_r, %__wic_r, 0x7fffffff;
min.u32 %__wic_r, %__wic_r, <longest>;
setp.eq.b32 %__wic_p, %__wic_r, 0;
@%__wic_p bra $__wic_go_on_<k>;
)";

// A 1024th of the wait so far, in ns, is its length in the unit of %__wic_t.
static_assert(kPauseShareLog2 == 10);
constexpr const char* kPause = R"(
mov.u64 %__wic_f, %globaltimer;
shr.u64 %__wic_f, %__wic_f, 10;
cvt.u32.u64 %__wic_g, %__wic_f;
sub.u32 %__wic_g, %__wic_g, %__wic_t;
min.u32 %__wic_g, %__wic_g, %__wic_r;
setp.lt.u32 %__wic_p, %__wic_g, <first pause>;
@%__wic_p bra $__wic_go_on_<k>;
shl.b32 %__wic_e, %__wic_g, <pause shift>;
or.b32 %__wic_w, %__wic_w, %__wic_e;
mov.b32 %__wic_m, 0;
)";

constexpr const char* kEnd = R"(
$__wic_go_on_<k>:
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

std::string arrive_text(bool anew) {
  return fill(kArrive,
              {{"anew", anew ? "mov.b32 %__wic_w, 0;\n" : ""}, {"first look ns", std::to_string(kFirstLookNs)}});
}

std::string registers_text() { return kRegisters; }

std::string visit_text(const Site& site, const Table& table, const BackEdge& back) {
  const std::string k = std::to_string(site.number);
  std::string text = std::string(kLook) + kControl;
  if (site.records()) text += begin_text(site, table);
  text += "$__wic_recorded_<k>:\n";
  const bool pauses = site.loop->pause != Pause::none;
  if (pauses) text += kPark;
  if (site.watches()) text += watch_text(site, table);
  if (pauses) text += kPause;
  text += kEnd;
  const std::uint32_t longest = site.loop->pause == Pause::brief ? kLongestBriefPause : kLongestPause;
  return fill(text, {{"round", round_text(back)},
                     {"nap", pauses ? kNap : ""},
                     {"last", end_text(table, "look_" + k)},
                     {"k", k},
                     {"own", std::to_string(site.in_function + 1)},
                     {"sites", table.word(offsetof(ModuleWords, sites))},
                     {"control", table.word(site, offsetof(DeviceWords, control))},
                     {"look", table.word(site, offsetof(DeviceWords, look_ns))},
                     {"host control", std::to_string(site.number * sizeof(SiteWords) + offsetof(SiteWords, control))},
                     {"site, ended", std::to_string(kSiteBits | kEnded)},
                     {"timed", std::to_string(kTimed)},
                     {"not pause", std::to_string(~kPauseBits)},
                     {"pause shift", std::to_string(kPauseShift)},
                     {"pause bits", std::to_string(kPauseBits)},
                     {"control ns", std::to_string(kControlNs)},
                     {"control ns - 1", std::to_string(kControlNs - 1)},
                     {"look ns", std::to_string(kLookNs)},
                     {"first look ns", std::to_string(kFirstLookNs)},
                     {"longest", std::to_string(longest)},
                     {"first pause", std::to_string(kFirstPause)}});
}

}  // namespace wicprof::rewriter
