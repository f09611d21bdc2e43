#include "rewriter/patch/records.h"

#include <cstddef>

#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"

namespace wicprof::rewriter {

namespace {

// The check grows in %i, each word comes into %x.
constexpr const char* kFunction = R"(
.func <name>(.param .b64 __wic_time, .param .b64 __wic_word, .param .b64 __wic_value, .param .b32 __wic_site,
.param .b32 __wic_rounds)
{
.reg .pred %p;
.reg .b32 %g, %h;
.reg .b64 %a, %i, %x;
ld.volatile.global.u64 %a, [<table>+<records>];
setp.eq.b64 %p, %a, 0;
@%p bra written;
atom.global.add.u64 %i, [<table>+<written>], 1;
cvt.u32.u64 %h, %i;
and.b32 %h, %h, <mask>;
mad.wide.u32 %a, %h, 64, %a;
add.u64 %i, %i, 1;
st.volatile.global.u64 [%a], %i;
ld.param.u64 %x, [__wic_time];
st.volatile.global.u64 [%a+8], %x;
xor.b64 %i, %i, %x;
ld.param.u64 %x, [__wic_word];
st.volatile.global.u64 [%a+16], %x;
xor.b64 %i, %i, %x;
ld.param.u64 %x, [__wic_value];
st.volatile.global.u64 [%a+24], %x;
xor.b64 %i, %i, %x;
mov.u32 %h, %tid.z;
mov.u32 %g, %ntid.y;
mul.lo.u32 %h, %h, %g;
mov.u32 %g, %tid.y;
add.u32 %h, %h, %g;
mov.u32 %g, %ntid.x;
mul.lo.u32 %h, %h, %g;
mov.u32 %g, %tid.x;
add.u32 %h, %h, %g;
mov.u32 %g, %smid;
shl.b32 %g, %g, 16;
or.b32 %g, %g, %h;
ld.param.u32 %h, [__wic_site];
mov.b64 %x, {%h, %g};
st.volatile.global.u64 [%a+32], %x;
xor.b64 %i, %i, %x;
mov.u32 %h, %ctaid.z;
mov.u32 %g, %nctaid.y;
mul.lo.u32 %h, %h, %g;
mov.u32 %g, %ctaid.y;
add.u32 %h, %h, %g;
mov.u32 %g, %nctaid.x;
mul.lo.u32 %h, %h, %g;
mov.u32 %g, %ctaid.x;
add.u32 %h, %h, %g;
mov.u64 %x, %gridid;
cvt.u32.u64 %g, %x;
mov.b64 %x, {%h, %g};
st.volatile.global.u64 [%a+40], %x;
xor.b64 %i, %i, %x;
ld.param.u32 %h, [__wic_rounds];
cvt.u64.u32 %x, %h;
st.volatile.global.u64 [%a+48], %x;
xor.b64 %i, %i, %x;
st.volatile.global.u64 [%a+56], %i;
written:
ret;
}
)";

constexpr const char* kCall = R"({
.param .b64 __wic_0, __wic_1, __wic_2;
.param .b32 __wic_3, __wic_4;
st.param.b64 [__wic_0], %x;
st.param.b64 [__wic_1], %w;
st.param.b64 [__wic_2], %v;
st.param.b32 [__wic_3], %g;
st.param.b32 [__wic_4], %h;
call <name>, (__wic_0, __wic_1, __wic_2, __wic_3, __wic_4);
}
)";

constexpr const char* kOfBegin = R"(ld.local.u64 %x, [%s+<begin>];
ld.param.u64 %w, [__wic_word];
ld.param.u64 %v, [__wic_value];
and.b32 %h, %n, <round bits>;
and.b32 %g, %i, <knows word>;
setp.ne.b32 %p, %g, 0;
selp.b32 %g, <knows value>, 0, %p;
bfi.b32 %g, %i, %g, 0, 16;
)";

// The low 32 bits of the last round's time are known: it lies near the last look. The site is one of the function: the
// host knows it from the begin.
constexpr const char* kOfEnd = R"(ld.local.u64 %x, [%s+<looked at>];
ld.local.u32 %h, [%s+<ended>];
cvt.u32.u64 %g, %x;
sub.u32 %h, %h, %g;
cvt.s64.s32 %v, %h;
add.u64 %x, %x, %v;
mov.b64 %w, 0;
ld.local.u32 %h, [%s+<value>];
cvt.u64.u32 %v, %h;
ld.local.u32 %h, [%s+<flags>];
and.b32 %h, %h, <paused>;
setp.ne.b32 %p, %h, 0;
selp.b32 %g, <paused end>, <plain end>, %p;
ld.local.u32 %h, [%s+<rounds>];
and.b32 %h, %h, <round bits>;
)";

std::string name_of(const Table& table) { return "__wic_record" + table.hash(); }

}  // namespace

std::string record_function_text(const Table& table) {
  return fill(kFunction, {{"name", name_of(table)},
                          {"table", table.name},
                          {"records", std::to_string(offsetof(ModuleWords, records))},
                          {"written", std::to_string(offsetof(ModuleWords, written))},
                          {"mask", std::to_string(kRecords - 1)}});
}

std::string begin_text(const Table& table) {
  return fill(kOfBegin, {{"begin", std::to_string(offsetof(ThreadState, begin_ns))},
                         {"round bits", std::to_string(kRoundBits)},
                         {"knows word", std::to_string(SiteBits::kKnowsWord)},
                         {"knows value", std::to_string(std::uint32_t{Record::kKnowsValue})}}) +
         fill(kCall, {{"name", name_of(table)}});
}

std::string end_text(const Table& table) {
  return fill(kOfEnd, {{"looked at", std::to_string(offsetof(ThreadState, looked_ns))},
                       {"ended", std::to_string(offsetof(ThreadState, ended_ns))},
                       {"value", std::to_string(offsetof(ThreadState, value))},
                       {"flags", std::to_string(offsetof(ThreadState, flags))},
                       {"rounds", std::to_string(offsetof(ThreadState, rounds))},
                       {"round bits", std::to_string(kRoundBits)},
                       {"paused", std::to_string(kSlow | kPauseBits)},
                       {"plain end", std::to_string(std::uint32_t{Record::kEnd})},
                       {"paused end", std::to_string(Record::kEnd | Record::kPaused)}}) +
         fill(kCall, {{"name", name_of(table)}});
}

}  // namespace wicprof::rewriter
