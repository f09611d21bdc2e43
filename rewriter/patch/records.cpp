#include "rewriter/patch/records.h"

#include <cstddef>

#include "rewriter/patch/template.h"
#include "rewriter/patch/visit.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

// Writes a Record with the time %__wic_f and the site and flags %__wic_e.
constexpr const char* kRecord = R"(
ld.volatile.global.u64 %__wic_a, <records>;
setp.eq.b64 %__wic_p, %__wic_a, 0;
@%__wic_p bra $__wic_<skip>;
atom.global.add.u64 %__wic_i, <written>, 1;
and.b64 %__wic_x, %__wic_i, <mask>;
shl.b64 %__wic_x, %__wic_x, 6;
add.u64 %__wic_a, %__wic_a, %__wic_x;
add.u64 %__wic_i, %__wic_i, 1;
st.volatile.global.v2.u64 [%__wic_a], {%__wic_i, %__wic_f};
xor.b64 %__wic_i, %__wic_i, %__wic_f;
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
mov.b64 %__wic_x, {%__wic_e, %__wic_g};
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
xor.b64 %__wic_i, %__wic_i, %__wic_x;
xor.b64 %__wic_i, %__wic_i, %__wic_y;
cvt.u64.u32 %__wic_x, <rounds>;
xor.b64 %__wic_i, %__wic_i, %__wic_x;
st.volatile.global.v2.u64 [%__wic_a+48], {%__wic_x, %__wic_i};
)";

// The high bit of %__wic_r: waits are recorded. %__wic_t has units of 1024 ns.
constexpr const char* kBegin = R"(
setp.ge.s32 %__wic_p, %__wic_r, 0;
@%__wic_p bra $__wic_begun_<k>;
and.b32 %__wic_e, %__wic_w, <begun>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
@%__wic_p bra $__wic_begun_<k>;
mov.u64 %__wic_f, %globaltimer;
shr.u64 %__wic_x, %__wic_f, 10;
cvt.u32.u64 %__wic_g, %__wic_x;
sub.u32 %__wic_g, %__wic_g, %__wic_t;
mul.wide.u32 %__wic_x, %__wic_g, 1024;
sub.u64 %__wic_f, %__wic_f, %__wic_x;
mov.u32 %__wic_e, <site>;
<record>or.b32 %__wic_w, %__wic_w, <begun>;
$__wic_begun_<k>:
)";

// Few instructions and no branch: the program has waited for this moment.
constexpr const char* kExitOf = R"(and.b32 %__wic_e, %__wic_w, <site, ended>;
setp.eq.u32 %__wic_p, %__wic_e, <own>;
@%__wic_p mov.u32 %__wic_e0, %globaltimer_lo;
@%__wic_p mov.u32 %__wic_t, %globaltimer_hi;
@%__wic_p mov.b32 %__wic_e1, %__wic_n;
<value>@%__wic_p or.b32 %__wic_w, %__wic_w, <ended>;
)";

constexpr const char* kExit = R"(
{
.reg .pred %__wic_p;
.reg .b32 %__wic_e;
<ends>mov.b32 %__wic_m, 0;
}
)";

// The site is one of the function: the host knows it from the begin.
constexpr const char* kEndOfWait = R"({
.reg .pred %__wic_p;
.reg .b32 %__wic_e, %__wic_g, %__wic_h;
.reg .b64 %__wic_a, %__wic_f, %__wic_i, %__wic_x, %__wic_y;
and.b32 %__wic_e, %__wic_w, <begun, ended>;
setp.ne.u32 %__wic_p, %__wic_e, <begun, ended>;
@%__wic_p bra $__wic_ended_<label>;
and.b32 %__wic_e, %__wic_w, <paused>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
selp.b32 %__wic_e, <paused end>, <end>, %__wic_p;
mov.b64 %__wic_f, {%__wic_e0, %__wic_t};
<record>$__wic_ended_<label>:
}
)";

std::string record_text(const Table& table, const std::string& address, const std::string& value,
                        const std::string& rounds, const std::string& skip) {
  return fill(kRecord, {{"records", table.word(offsetof(ModuleWords, records))},
                        {"written", table.word(offsetof(ModuleWords, written))},
                        {"mask", std::to_string(kRecords - 1)},
                        {"skip", skip},
                        {"address", address},
                        {"value", value},
                        {"rounds", rounds}});
}

}  // namespace

std::string begin_text(const Site& site, const Table& table) {
  const std::string k = std::to_string(site.number);
  const std::optional<Word>& word = site.loop->word;
  return fill(kBegin, {{"record", record_text(table, word ? address_text(*word, "%__wic_x") : "mov.b64 %__wic_x, 0;\n",
                                              word ? seen_text(*word, "%__wic_y") : "mov.b64 %__wic_y, 0;\n",
                                              "%__wic_n", "begun_" + k)},
                       {"site", std::to_string(site.number | (word ? Record::kKnowsValue : 0u))},
                       {"begun", std::to_string(kBegun)},
                       {"k", k}});
}

std::string exit_text(const std::vector<const Site*>& sites) {
  std::string ends;
  for (const Site* const site : sites) {
    const std::optional<Word>& word = site->loop->word;
    const std::string value = !word ? ""
                                    : std::string(word->is_64_bit ? "@%__wic_p cvt.u32.u64" : "@%__wic_p mov.b32") +
                                          " %__wic_e2, " + std::string(word->value) + ";\n";
    ends += fill(kExitOf, {{"site, ended", std::to_string(kSiteBits | kEnded)},
                           {"own", std::to_string(site->in_function + 1)},
                           {"value", value},
                           {"ended", std::to_string(kEnded)}});
  }
  return fill(kExit, {{"ends", ends}});
}

std::string end_text(const Table& table, const std::string& label) {
  return fill(kEndOfWait, {{"record", record_text(table, "mov.b64 %__wic_x, 0;\n", "cvt.u64.u32 %__wic_y, %__wic_e2;\n",
                                                  "%__wic_e1", "ended_" + label)},
                           {"begun, ended", std::to_string(kBegun | kEnded)},
                           {"paused", std::to_string(kSlow | kPauseBits)},
                           {"end", std::to_string(std::uint32_t{Record::kEnd})},
                           {"paused end", std::to_string(Record::kEnd | Record::kPaused)},
                           {"label", label}});
}

}  // namespace wicprof::rewriter
