#include "rewriter/patch/records.h"

#include <cstddef>

#include "rewriter/patch/template.h"
#include "rewriter/patch/visit.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

// Few registers: the program has its own values in the others. The time and the value come into %__wic_y, the address and
// the rounds into %__wic_x, the site with the flags into %__wic_e, when they are needed.
constexpr const char* kRecordOf = R"(ld.volatile.global.u64 %__wic_a, [<table>+<records>];
setp.eq.b64 %__wic_p, %__wic_a, 0;
@%__wic_p bra $__wic_<skip>;
atom.global.add.u64 %__wic_i, [<table>+<written>], 1;
cvt.u32.u64 %__wic_h, %__wic_i;
and.b32 %__wic_h, %__wic_h, <mask>;
mad.wide.u32 %__wic_a, %__wic_h, 64, %__wic_a;
add.u64 %__wic_i, %__wic_i, 1;
<time>st.volatile.global.v2.u64 [%__wic_a], {%__wic_i, %__wic_y};
xor.b64 %__wic_i, %__wic_i, %__wic_y;
<address><value>st.volatile.global.v2.u64 [%__wic_a+16], {%__wic_x, %__wic_y};
xor.b64 %__wic_i, %__wic_i, %__wic_x;
xor.b64 %__wic_i, %__wic_i, %__wic_y;
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
mov.u64 %__wic_y, %gridid;
cvt.u32.u64 %__wic_g, %__wic_y;
mov.b64 %__wic_y, {%__wic_h, %__wic_g};
st.volatile.global.v2.u64 [%__wic_a+32], {%__wic_x, %__wic_y};
xor.b64 %__wic_i, %__wic_i, %__wic_y;
<rounds>xor.b64 %__wic_i, %__wic_i, %__wic_x;
st.volatile.global.v2.u64 [%__wic_a+48], {%__wic_x, %__wic_i};
$__wic_<skip>:
)";

// The site is one of the function: the host knows it from the begin.
constexpr const char* kEndOfWait = R"({
.reg .pred %__wic_p;
.reg .b32 %__wic_e, %__wic_g, %__wic_h;
.reg .b64 %__wic_a, %__wic_i, %__wic_x, %__wic_y;
setp.ge.s32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_ended_<label>;
<record>mov.b32 %__wic_s, 0;
$__wic_ended_<label>:
}
)";

// Of the end of the thread's last wait, from its state.
constexpr const char* kEndTime = "ld.local.u64 %__wic_y, [__wic_state+<ended>];\n";
constexpr const char* kEndAddress = "mov.b64 %__wic_x, 0;\n";
constexpr const char* kEndValue =
    "ld.local.u32 %__wic_h, [__wic_state+<value>];\ncvt.u64.u32 %__wic_y, %__wic_h;\n";
constexpr const char* kEndSite = R"(ld.local.u32 %__wic_e, [__wic_state+<flags>];
and.b32 %__wic_e, %__wic_e, <paused>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
selp.b32 %__wic_e, <paused end>, <plain end>, %__wic_p;
)";
constexpr const char* kEndRounds =
    "ld.local.u32 %__wic_h, [__wic_state+<rounds>];\ncvt.u64.u32 %__wic_x, %__wic_h;\n";

struct RecordTexts {
  std::string time, address, value, site, rounds;
};

std::string record_text(const Table& table, const RecordTexts& texts, const std::string& skip) {
  return fill(kRecordOf, {{"time", texts.time},
                          {"address", texts.address},
                          {"value", texts.value},
                          {"site", texts.site},
                          {"rounds", texts.rounds},
                          {"table", table.name},
                          {"records", std::to_string(offsetof(ModuleWords, records))},
                          {"written", std::to_string(offsetof(ModuleWords, written))},
                          {"mask", std::to_string(kRecords - 1)},
                          {"skip", skip}});
}

}  // namespace

std::string begin_record_text(const Site& site, const Table& table) {
  const std::optional<Word>& word = site.loop->word;
  const std::uint32_t number = static_cast<std::uint32_t>(site.number) | (word ? Record::kKnowsValue : 0u);
  return record_text(table,
                     {"ld.local.u64 %__wic_y, [__wic_state+" + std::to_string(offsetof(ThreadState, begin_ns)) + "];\n",
                      word ? address_text(*word, "%__wic_x") : "mov.b64 %__wic_x, 0;\n",
                      word ? seen_text(*word, "%__wic_y") : "mov.b64 %__wic_y, 0;\n",
                      "mov.b32 %__wic_e, " + std::to_string(number) + ";\n", "cvt.u64.u32 %__wic_x, %__wic_n;\n"},
                     "begun_" + std::to_string(site.number));
}

std::string end_text(const Table& table, const std::string& label) {
  const std::string site =
      fill(kEndSite, {{"flags", std::to_string(offsetof(ThreadState, flags))},
                      {"paused", std::to_string(kSlow | kPauseBits)},
                      {"plain end", std::to_string(std::uint32_t{Record::kEnd})},
                      {"paused end", std::to_string(Record::kEnd | Record::kPaused)}});
  return fill(kEndOfWait,
              {{"record",
                record_text(table,
                            {fill(kEndTime, {{"ended", std::to_string(offsetof(ThreadState, ended_ns))}}), kEndAddress,
                             fill(kEndValue, {{"value", std::to_string(offsetof(ThreadState, value))}}), site,
                             fill(kEndRounds, {{"rounds", std::to_string(offsetof(ThreadState, rounds))}})},
                            "written_" + label)},
               {"label", label}});
}

}  // namespace wicprof::rewriter
