#include "rewriter/patch/visit.h"

#include <cstddef>

#include "rewriter/patch/call.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

constexpr const char* kRegisters = R"(
.local .align 16 .b8 __wic_state[<state bytes>];
.reg .b32 %__wic_n, %__wic_l, %__wic_c;
mov.b32 %__wic_n, <none>;
mov.b32 %__wic_l, 0;
mov.b32 %__wic_c, 0;
)";
// The first look is due.
constexpr const char* kPast = R"({
.reg .b64 %__wic_a;
mov.u64 %__wic_a, %globaltimer;
cvt.u32.u64 %__wic_l, %__wic_a;
}
)";

// Times are read with 64 bits everywhere: a reading of 32 bits takes 30 cycles longer on an H100.
constexpr const char* kArrive = R"(
and.b32 %__wic_n, %__wic_n, <pending>;
mov.b32 %__wic_l, <first look ns>;
)";
// From now on.
constexpr const char* kFromNow = R"({
.reg .b32 %__wic_t;
.reg .b64 %__wic_a;
mov.u64 %__wic_a, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_a;
add.u32 %__wic_l, %__wic_l, %__wic_t;
}
)";

constexpr const char* kCount = R"(
{
.reg .b64 %__wic_y;
add.u32 %__wic_n, %__wic_n, 1;
mov.u64 %__wic_y, %globaltimer;
cvt.u32.u64 %__wic_c, %__wic_y;
}
)";

constexpr const char* kVisit = R"({
.reg .pred %__wic_p;
.reg .b32 %__wic_d;
sub.u32 %__wic_d, %__wic_c, %__wic_l;
<go on><call>$__wic_go_on_<k>:
}
)";
constexpr const char* kGoOn = R"(setp.lt.s32 %__wic_p, %__wic_d, 0;
@%__wic_p bra $__wic_go_on_<k>;
)";
// At a back edge, a round without a look goes back by a branch of its own: a branch around the look would cost it more.
constexpr const char* kGoBack = R"(setp.lt<and>.s32 %__wic_p, %__wic_d, 0<condition>;
@%__wic_p bra <label>;
<leave>)";

// Behind the loop, a thread whose wait is recorded notes its end: the program has waited for that moment. Nothing but
// loads and stores stand under the predicate, so that ptxas executes nothing in vain.
constexpr const char* kExitOf =
    R"(<if><value>@%__wic_p st.local.v4.u32 [__wic_state+<rounds>], {%__wic_n, %__wic_e, %__wic_c, %__wic_c};
)";
constexpr const char* kOnlyExit = R"(and.b32 %__wic_e, %__wic_n, <begun>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
)";
// Where several waits end at one place.
constexpr const char* kOwnExit = R"(and.b32 %__wic_e, %__wic_n, <begun>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
@%__wic_p ld.local.u32 %__wic_e, [__wic_state+<site>];
setp.eq.and.u32 %__wic_p, %__wic_e, <own>, %__wic_p;
)";
constexpr const char* kNoWaitAfter = R"(and.b32 %__wic_n, %__wic_n, <pending>;
or.b32 %__wic_n, %__wic_n, <no wait>;
)";

constexpr const char* kExit = R"(
{
.reg .pred %__wic_p;
.reg .b32 %__wic_e;
<ends>}
)";

// %__wic_n has kPending then, and perhaps kLooked and kBegun.
constexpr const char* kBeforeLeaving = R"(
{
.reg .pred %__wic_p;
setp.ge<and>.u32 %__wic_p, %__wic_n, <pending><guard>;
@%__wic_p bra <last>;
}
)";
constexpr const char* kLeaveAtOnce = R"(
{
.reg .pred %__wic_p;
setp.lt.u32 %__wic_p, %__wic_n, <pending>;
@%__wic_p bra $__wic_kept_<label>;
<call>and.b32 %__wic_n, %__wic_n, <not pending>;
$__wic_kept_<label>:
}
)";

}  // namespace

std::string registers_text(bool by_branch) {
  return fill(kRegisters, {{"state bytes", std::to_string(sizeof(ThreadState))},
                           {"none", std::to_string(by_branch ? kNoWait : 0)}}) +
         (by_branch ? kPast : "");
}

std::string arrive_text() {
  return fill(kArrive, {{"pending", std::to_string(kPending)}, {"first look ns", std::to_string(kFirstLookNs)}}) +
         kFromNow;
}

std::string count_text() { return kCount; }

std::string visit_text(const Site& site, const Table& table) {
  return fill(kVisit,
              {{"go on", kGoOn}, {"call", call_text(site, table) + kFromNow}, {"k", std::to_string(site.number)}});
}

std::string visit_back_text(const Site& site, const Table& table, const BackEdge& back) {
  const std::string guard(back.guard);
  const char* const no = back.guard_negated ? "@" : "@!";
  const char* const yes = back.guard_negated ? "!" : "";
  const std::string leave = guard.empty() ? "" : no + guard + " bra $__wic_go_on_<k>;\n";
  const std::string visit =
      fill(kVisit, {{"go on", back.label.empty() ? kGoOn : kGoBack}, {"call", call_text(site, table) + kFromNow}});
  return fill("\n{\n" + (back.label.empty() ? leave : std::string()) + kCount + visit + "}\n",
              {{"leave", leave},
               {"and", guard.empty() ? "" : ".and"},
               {"condition", guard.empty() ? "" : ", " + (yes + guard)},
               {"label", std::string(back.label)},
               {"k", std::to_string(site.number)}});
}

std::string exit_text(const std::vector<const Site*>& sites, bool by_branch) {
  std::string ends;
  for (const Site* const site : sites) {
    if (!site->records()) continue;
    const std::optional<Word>& word = site->loop->word;
    const std::string value = !word ? "mov.b32 %__wic_e, 0;\n"
                                    : std::string(word->is_64_bit ? "cvt.u32.u64" : "mov.b32") + " %__wic_e, " +
                                          std::string(word->value) + ";\n";
    ends += fill(kExitOf, {{"value", value},
                           {"if", sites.size() > 1 ? kOwnExit : kOnlyExit},
                           {"begun", std::to_string(kBegun)},
                           {"own", std::to_string(site->in_function)},
                           {"site", std::to_string(offsetof(ThreadState, site))},
                           {"rounds", std::to_string(offsetof(ThreadState, rounds))}});
  }
  if (by_branch)
    ends += fill(kNoWaitAfter, {{"pending", std::to_string(kPending)}, {"no wait", std::to_string(kNoWait)}});
  return ends.empty() ? std::string() : fill(kExit, {{"ends", ends}});
}

std::string before_leaving_text(const std::string& guard, const std::string& last) {
  return fill(kBeforeLeaving, {{"and", guard.empty() ? "" : ".and"},
                               {"guard", guard.empty() ? "" : ", " + guard},
                               {"pending", std::to_string(kPending)},
                               {"last", last}});
}

std::string leave_at_once_text(const Table& table, const std::string& label) {
  return fill(kLeaveAtOnce, {{"pending", std::to_string(kPending)},
                             {"not pending", std::to_string(~kPending)},
                             {"call", leave_text(table, label)},
                             {"label", label}});
}

}  // namespace wicprof::rewriter
