#include "rewriter/patch/visit.h"

#include <cstddef>

#include "rewriter/patch/call.h"
#include "rewriter/patch/counts.h"
#include "rewriter/patch/look.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

constexpr const char* kRegisters = R"(
.local .align 16 .b8 __wic_state[<state bytes>];
.reg .pred %__wic_b;
.reg .b32 %__wic_n, %__wic_l, %__wic_s;
.reg .b64 %__wic_c;
mov.b32 %__wic_s, 0;
<no wait>)";
constexpr const char* kNoWait = R"(mov.b32 %__wic_n, 0;
mov.b32 %__wic_l, 0;
setp.ne.b32 %__wic_b, %__wic_n, 0;
)";

// Times are read with 64 bits everywhere: a reading of 32 bits takes 30 cycles longer on an H100. In the first round of
// a wait the first look is still far away; nothing stands before the loop.
constexpr const char* kReadClock = "mov.u64 %__wic_c, %globaltimer;\n";
constexpr const char* kCount = R"(add.u32 %__wic_n, %__wic_n, 1;
<note>cvt.u32.u64 %__wic_t, %__wic_c;
<first look>)";
// The time of a wait that is recorded is noted in each round, since at the exit the program's next fence would wait for
// the reading of the clock.
constexpr const char* kNote = "@%__wic_b st.local.u64 [__wic_state+<ended>], %__wic_c;\n";
// With the rounds and the value, behind the look: the exit is free then. In CUB's sort, whose waits mostly find their
// word ready, a store there that is not executed is two thirds of what the patch costs.
constexpr const char* kNoteAll = R"(<value>mov.b64 {%__wic_d, %__wic_t}, %__wic_c;
@%__wic_b st.local.v4.u32 [__wic_state+<ended>], {%__wic_d, %__wic_t, %__wic_n, %__wic_e};
)";

// Beside the poll the way out of the loop stays as the program has it. At a back edge, a round without a look goes back
// by a branch of its own: a branch around the look would cost it more.
constexpr const char* kGoBack = R"(<no look><and condition>@%__wic_p bra <label>;
<leave>)";
constexpr const char* kGoAround = R"(<no look>@%__wic_p bra $__wic_go_on_<k>;
)";

constexpr const char* kVisit = R"(
{
<registers><round><sample><look><fence>$__wic_go_on_<k>:
<note>}
)";
// A fence takes longer if the thread has used other memory than the polled word since the last one, and the program's
// fence may stand behind the wait: a chain of 132 blocks took 1.03 of its time for one local store per wait, 100 us
// before the wait's end. So the look has one itself, unless the thread looks again in the next round.
constexpr const char* kFence = R"(mov.u64 %__wic_x, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_x;
sub.u32 %__wic_e, %__wic_l, %__wic_t;
setp.gt.s32 %__wic_p, %__wic_e, 0;
@%__wic_p membar.gl;
)";

// The program has waited for this moment: a few instructions without a branch. Nothing but stores stands under the
// predicate, so that ptxas executes nothing in vain.
constexpr const char* kExitOf = R"(<value>@%__wic_b st.local.v2.u32 [__wic_state+<rounds>], {%__wic_n, %__wic_e};
)";
// Where several waits end at one place. Whether the wait is timed does not count: kTimed is shifted out.
constexpr const char* kExitOfOne = R"(shl.b32 %__wic_e, %__wic_s, 1;
setp.eq.and.u32 %__wic_p, %__wic_e, <own>, %__wic_b;
<value>@%__wic_p st.local.v2.u32 [__wic_state+<rounds>], {%__wic_n, %__wic_e};
)";

constexpr const char* kExit = R"(
{
.reg .pred %__wic_p;
.reg .b32 %__wic_e;
<ends><no wait>}
)";

/// The low 32 bits of what the poll has read, into %__wic_e.
std::string value_text(const Site& site) {
  const std::optional<Word>& word = site.loop->word;
  if (!word) return "mov.b32 %__wic_e, 0;\n";
  return std::string(word->is_64_bit ? "cvt.u32.u64" : "mov.b32") + " %__wic_e, " + std::string(word->value) + ";\n";
}

std::string count_text(const Site& site, const Table& table) {
  return fill(kCount, {{"note", site.records() && !site.rounds_note_all() ? kNote : ""},
                       {"ended", std::to_string(offsetof(ThreadState, ended_ns))},
                       {"first look", first_look_text(table)}});
}

std::string note_all_text(const Site& site) {
  return fill(kNoteAll, {{"value", value_text(site)}, {"ended", std::to_string(offsetof(ThreadState, ended_ns))}});
}

/// `round`: what comes before the look.
std::string visit_of(const Site& site, const Table& table, const std::string& round) {
  return fill(kVisit, {{"registers", look_registers_text()},
                       {"sample", sample_text(site, table)},
                       {"look", site.calls ? call_text(site, table) : look_text(site, table, in_the_loop(site, table))},
                       {"round", round},
                       {"fence", kFence},
                       {"note", site.rounds_note_all() ? note_all_text(site) : ""},
                       {"k", std::to_string(site.number)}});
}

}  // namespace

std::string registers_text() {
  return fill(kRegisters, {{"state bytes", std::to_string(sizeof(ThreadState))}, {"no wait", kNoWait}});
}

std::string arrive_text() { return std::string("\n") + kNoWait; }

std::string clock_text() { return kReadClock; }

std::string visit_behind_clock_text(const Site& site, const Table& table) {
  return visit_of(site, table, count_text(site, table) + fill(kGoAround, {{"no look", no_look_text(table)}}));
}

std::string visit_text(const Site& site, const Table& table, const BackEdge& back) {
  const std::string guard(back.guard);
  const char* const no = back.guard_negated ? "@" : "@!";
  const std::string condition = back.guard_negated
                                    ? "not.pred %__wic_q, " + guard + ";\nand.pred %__wic_p, %__wic_p, %__wic_q;\n"
                                    : "and.pred %__wic_p, %__wic_p, " + guard + ";\n";
  const std::string leave = guard.empty() ? "" : no + guard + " bra $__wic_go_on_<k>;\n";
  const std::string round = kReadClock + count_text(site, table);
  return visit_of(site, table,
                  fill(back.label.empty() ? leave + round + kGoAround : round + kGoBack,
                       {{"leave", leave},
                        {"no look", no_look_text(table)},
                        {"and condition", guard.empty() ? "" : condition},
                        {"label", std::string(back.label)}}));
}

std::string exit_text(const std::vector<const Site*>& sites) {
  std::string ends;
  for (const Site* const site : sites) {
    if (!site->records() || site->rounds_note_all()) continue;
    ends += fill(sites.size() > 1 ? kExitOfOne : kExitOf, {{"value", value_text(*site)},
                                                           {"own", std::to_string(site->code() << 1)},
                                                           {"rounds", std::to_string(offsetof(ThreadState, rounds))}});
  }
  return fill(kExit, {{"ends", ends}, {"no wait", kNoWait}});
}

}  // namespace wicprof::rewriter
