#include "rewriter/patch/records.h"

#include <cstddef>

#include "rewriter/patch/counts.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

// Few registers at a time: the program has its own values in the others. The check grows in %__wic_i, each word comes
// into %__wic_x.
constexpr const char* kRecord = R"(ld.volatile.global.u64 %__wic_a, [<table>+<records>];
setp.eq.b64 %__wic_p, %__wic_a, 0;
@%__wic_p bra $__wic_<skip>;
atom.global.add.u64 %__wic_i, [<table>+<written>], 1;
cvt.u32.u64 %__wic_h, %__wic_i;
and.b32 %__wic_h, %__wic_h, <mask>;
mad.wide.u32 %__wic_a, %__wic_h, 64, %__wic_a;
add.u64 %__wic_i, %__wic_i, 1;
st.volatile.global.u64 [%__wic_a], %__wic_i;
<time>st.volatile.global.u64 [%__wic_a+8], %__wic_x;
xor.b64 %__wic_i, %__wic_i, %__wic_x;
<address>st.volatile.global.u64 [%__wic_a+16], %__wic_x;
xor.b64 %__wic_i, %__wic_i, %__wic_x;
<value>st.volatile.global.u64 [%__wic_a+24], %__wic_x;
xor.b64 %__wic_i, %__wic_i, %__wic_x;
mov.u32 %__wic_h, %tid.z;
mov.u32 %__wic_g, %ntid.y;
mul.lo.u32 %__wic_h, %__wic_h, %__wic_g;
mov.u32 %__wic_g, %tid.y;
add.u32 %__wic_h, %__wic_h, %__wic_g;
mov.u32 %__wic_g, %ntid.x;
mul.lo.u32 %__wic_h, %__wic_h, %__wic_g;
mov.u32 %__wic_g, %tid.x;
add.u32 %__wic_h, %__wic_h, %__wic_g;
mov.u32 %__wic_g, %smid;
shl.b32 %__wic_g, %__wic_g, 16;
or.b32 %__wic_g, %__wic_g, %__wic_h;
<site>mov.b64 %__wic_x, {%__wic_e, %__wic_g};
st.volatile.global.u64 [%__wic_a+32], %__wic_x;
xor.b64 %__wic_i, %__wic_i, %__wic_x;
mov.u32 %__wic_h, %ctaid.z;
mov.u32 %__wic_g, %nctaid.y;
mul.lo.u32 %__wic_h, %__wic_h, %__wic_g;
mov.u32 %__wic_g, %ctaid.y;
add.u32 %__wic_h, %__wic_h, %__wic_g;
mov.u32 %__wic_g, %nctaid.x;
mul.lo.u32 %__wic_h, %__wic_h, %__wic_g;
mov.u32 %__wic_g, %ctaid.x;
add.u32 %__wic_h, %__wic_h, %__wic_g;
mov.u64 %__wic_x, %gridid;
cvt.u32.u64 %__wic_g, %__wic_x;
mov.b64 %__wic_x, {%__wic_h, %__wic_g};
st.volatile.global.u64 [%__wic_a+40], %__wic_x;
xor.b64 %__wic_i, %__wic_i, %__wic_x;
<rounds>and.b32 %__wic_h, %__wic_h, <round bits>;
cvt.u64.u32 %__wic_x, %__wic_h;
st.volatile.global.u64 [%__wic_a+48], %__wic_x;
xor.b64 %__wic_i, %__wic_i, %__wic_x;
st.volatile.global.u64 [%__wic_a+56], %__wic_i;
$__wic_<skip>:
)";

// The end of the wait before, under a predicate. The site is one of the function: the host knows it from the begin.
constexpr const char* kEndTime = "<if>ld.local.u64 %__wic_x, [<state>+<ended>];\n";
constexpr const char* kEndValue = R"(<if>ld.local.u32 %__wic_h, [<state>+<value>];
<if>cvt.u64.u32 %__wic_x, %__wic_h;
)";
constexpr const char* kEndSite = R"(<if>ld.local.u32 %__wic_h, [<state>+<flags>];
<if>and.b32 %__wic_h, %__wic_h, <paused>;
<if>setp.ne.b32 %__wic_p, %__wic_h, 0;
<if>selp.b32 %__wic_e, <paused end>, <plain end>, %__wic_p;
)";
constexpr const char* kEndRounds = "<if>ld.local.u32 %__wic_h, [<state>+<rounds>];\n";

constexpr const char* kEndOfWait = R"({
.reg .pred %__wic_p;
.reg .b32 %__wic_e, %__wic_g, %__wic_h;
.reg .b64 %__wic_a, %__wic_i, %__wic_x;
setp.eq.b32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_ended_<label>;
<timed><record>$__wic_written_end_<label>:
mov.b32 %__wic_s, 0;
$__wic_ended_<label>:
}
)";

constexpr const char* kLastOfTimed = R"(setp.ge.s32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_record_<label>;
<add timed>bra $__wic_written_end_<label>;
$__wic_record_<label>:
)";

struct RecordTexts {
  std::string time, address, value, site, rounds;
};

/// `guard`: "" or "@p ".
RecordTexts end_texts(const std::string& guard) {
  return {fill(kEndTime, {{"if", guard}, {"ended", std::to_string(offsetof(ThreadState, ended_ns))}}),
          guard + "mov.b64 %__wic_x, 0;\n",
          fill(kEndValue, {{"if", guard}, {"value", std::to_string(offsetof(ThreadState, value))}}),
          fill(kEndSite, {{"if", guard},
                          {"flags", std::to_string(offsetof(ThreadState, flags))},
                          {"paused", std::to_string(kSlow | kPauseBits)},
                          {"plain end", std::to_string(std::uint32_t{Record::kEnd})},
                          {"paused end", std::to_string(Record::kEnd | Record::kPaused)}}),
          fill(kEndRounds, {{"if", guard}, {"rounds", std::to_string(offsetof(ThreadState, rounds))}})};
}

std::string text_of(const Table& table, const RecordTexts& texts, const std::string& skip) {
  return fill(kRecord, {{"time", texts.time},
                        {"address", texts.address},
                        {"value", texts.value},
                        {"site", texts.site},
                        {"rounds", texts.rounds},
                        {"round bits", std::to_string(kRoundBits)},
                        {"table", table.name},
                        {"records", std::to_string(offsetof(ModuleWords, records))},
                        {"written", std::to_string(offsetof(ModuleWords, written))},
                        {"mask", std::to_string(kRecords - 1)},
                        {"skip", skip}});
}

}  // namespace

std::string record_text(const Site& site, const Table& table, const std::string& number) {
  const std::optional<Word>& word = site.loop->word;
  const std::string flags = std::to_string(word ? std::uint32_t{Record::kKnowsValue} : 0u);
  const RecordTexts end = end_texts("@%__wic_q ");
  return text_of(
      table,
      {"ld.local.u64 %__wic_x, [<state>+" + std::to_string(offsetof(ThreadState, begin_ns)) + "];\n" + end.time,
       (word ? address_text(*word, "%__wic_x") : "mov.b64 %__wic_x, 0;\n") + end.address,
       (word ? seen_text(*word, "%__wic_x") : "mov.b64 %__wic_x, 0;\n") + end.value,
       number + "or.b32 %__wic_e, %__wic_h, " + flags + ";\n" + end.site, "mov.b32 %__wic_h, %__wic_n;\n" + end.rounds},
      "written_" + std::to_string(site.number));
}

std::string end_text(const Table& table, const std::string& label) {
  return fill(kEndOfWait, {{"record", text_of(table, end_texts(""), "written_" + label)},
                           {"timed", table.counts_waits ? kLastOfTimed : ""},
                           {"add timed", add_timed_text(table, "__wic_state")},
                           {"state", "__wic_state"},
                           {"label", label}});
}

}  // namespace wicprof::rewriter
