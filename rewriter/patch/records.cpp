#include "rewriter/patch/records.h"

#include <cstddef>

#include "rewriter/patch/template.h"
#include "rewriter/patch/visit.h"

namespace wicprof::rewriter {

namespace {

constexpr const char* kRecordOf = R"({
.reg .b64 %__wic_rounds;
cvt.u64.u32 %__wic_rounds, %__wic_g;
ld.volatile.global.u64 %__wic_a, [<table>+<records>];
setp.eq.b64 %__wic_p, %__wic_a, 0;
@%__wic_p bra $__wic_<skip>;
atom.global.add.u64 %__wic_i, [<table>+<written>], 1;
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
mov.b64 %__wic_x, %__wic_rounds;
xor.b64 %__wic_i, %__wic_i, %__wic_x;
st.volatile.global.v2.u64 [%__wic_a+48], {%__wic_x, %__wic_i};
$__wic_<skip>:
}
)";

// The site is one of the function: the host knows it from the begin.
constexpr const char* kEndOfWait = R"({
.reg .pred %__wic_p;
.reg .b32 %__wic_e, %__wic_g, %__wic_h;
.reg .b64 %__wic_a, %__wic_f, %__wic_i, %__wic_x, %__wic_y;
setp.ge.s32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_ended_<label>;
ld.local.u64 %__wic_f, [__wic_state+<ended>];
ld.local.u32 %__wic_g, [__wic_state+<rounds>];
ld.local.u32 %__wic_h, [__wic_state+<before>];
ld.local.u32 %__wic_e, [__wic_state+<flags>];
sub.u32 %__wic_g, %__wic_g, %__wic_h;
and.b32 %__wic_e, %__wic_e, <paused>;
setp.ne.b32 %__wic_p, %__wic_e, 0;
selp.b32 %__wic_e, <paused end>, <plain end>, %__wic_p;
<record>mov.b32 %__wic_s, 0;
$__wic_ended_<label>:
}
)";

constexpr const char* kLastValue = R"(ld.local.u32 %__wic_h, [__wic_state+<value>];
cvt.u64.u32 %__wic_y, %__wic_h;
)";

}  // namespace

std::string record_text(const Table& table, const std::string& address, const std::string& value,
                        const std::string& skip) {
  return fill(kRecordOf, {{"table", table.name},
                          {"records", std::to_string(offsetof(ModuleWords, records))},
                          {"written", std::to_string(offsetof(ModuleWords, written))},
                          {"mask", std::to_string(kRecords - 1)},
                          {"skip", skip},
                          {"address", address},
                          {"value", value}});
}

std::string end_text(const Table& table, const std::string& label) {
  const std::string value = fill(kLastValue, {{"value", std::to_string(offsetof(ThreadState, value))}});
  return fill(kEndOfWait, {{"record", record_text(table, "mov.b64 %__wic_x, 0;\n", value, "written_" + label)},
                           {"ended", std::to_string(offsetof(ThreadState, ended_ns))},
                           {"rounds", std::to_string(offsetof(ThreadState, rounds))},
                           {"before", std::to_string(offsetof(ThreadState, before))},
                           {"flags", std::to_string(offsetof(ThreadState, flags))},
                           {"paused", std::to_string(kSlow | kPauseBits)},
                           {"plain end", std::to_string(std::uint32_t{Record::kEnd})},
                           {"paused end", std::to_string(Record::kEnd | Record::kPaused)},
                           {"label", label}});
}

}  // namespace wicprof::rewriter
