#include "rewriter/patch/counts.h"

#include <cstddef>

#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"

namespace wicprof::rewriter {

namespace {

// The lowest lane of those that come here together counts for all. No value is waited for: the sum is added where it
// lies, by an operation without a result.
constexpr const char* kCountWait = R"({
.reg .b32 %__wic_j, %__wic_k;
.reg .b64 %__wic_u;
setp.ge.u32 %__wic_p, %__wic_n, <counted>;
@%__wic_p bra $__wic_due_<k>;
or.b32 %__wic_n, %__wic_n, <counted>;
add.u32 %__wic_l, %__wic_l, <rest>;
activemask.b32 %__wic_j;
mov.u32 %__wic_k, %lanemask_lt;
and.b32 %__wic_j, %__wic_j, %__wic_k;
setp.ne.b32 %__wic_p, %__wic_j, 0;
@%__wic_p bra $__wic_go_on_<k>;
mov.u32 %__wic_j, %smid;
and.b32 %__wic_j, %__wic_j, <slot mask>;
mov.u64 %__wic_u, <table>+<counts>;
mad.wide.u32 %__wic_u, %__wic_j, <slot bytes>, %__wic_u;
red.global.add.u64 [%__wic_u+<waits>], 1;
setp.lt.s32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_due_<k>;
<sample>bra $__wic_go_on_<k>;
}
$__wic_due_<k>:
)";

// A wait is one of the sample if it is counted in one of some windows of time: a barrier's threads are so together, and
// the program pays for the sample in few of its rounds. %__wic_d: how late this round is; the wait began `first` before
// it was due.
constexpr const char* kSample = R"(setp.ne.b32 %__wic_p, %__wic_s, 0;
@%__wic_p bra $__wic_go_on_<k>;
cvt.u32.u64 %__wic_j, %__wic_c;
shr.u32 %__wic_j, %__wic_j, <window>;
mul.lo.u32 %__wic_j, %__wic_j, 0x7feb352d;
shr.u32 %__wic_k, %__wic_j, 15;
xor.b32 %__wic_j, %__wic_j, %__wic_k;
mul.lo.u32 %__wic_j, %__wic_j, 0x846ca68b;
setp.ge.u32 %__wic_p, %__wic_j, <share>;
@%__wic_p bra $__wic_go_on_<k>;
add.u32 %__wic_j, %__wic_d, <first>;
cvt.u64.u32 %__wic_u, %__wic_j;
sub.u64 %__wic_u, %__wic_c, %__wic_u;
st.local.u64 [__wic_state+<begin>], %__wic_u;
st.local.u64 [__wic_state+<ended>], %__wic_c;
mov.b32 %__wic_s, <own>;
or.b32 %__wic_n, %__wic_n, <begun>;
setp.eq.b32 %__wic_b, %__wic_n, %__wic_n;
)";

constexpr const char* kCountsAddress = R"(mov.u64 %__wic_a, <table>+<counts>;
mad.wide.u32 %__wic_a, %__wic_h, <site bytes>, %__wic_a;
mov.u32 %__wic_h, %smid;
and.b32 %__wic_h, %__wic_h, <slot mask>;
mad.wide.u32 %__wic_a, %__wic_h, <slot bytes>, %__wic_a;
)";

constexpr const char* kAddSample = R"(and.b32 %__wic_h, %__wic_s, 0xffff;
<address>ld.local.u32 %__wic_h, [<state>+<rounds>];
and.b32 %__wic_h, %__wic_h, <round bits>;
cvt.u64.u32 %__wic_x, %__wic_h;
red.global.add.u64 [%__wic_a+<sampled rounds>], %__wic_x;
ld.local.u64 %__wic_x, [<state>+<ended>];
ld.local.u64 %__wic_i, [<state>+<begin>];
sub.u64 %__wic_x, %__wic_x, %__wic_i;
red.global.add.u64 [%__wic_a+<sampled ns>], %__wic_x;
red.global.add.u64 [%__wic_a+<sampled>], 1;
)";

std::string offset(std::size_t bytes) { return std::to_string(bytes); }

}  // namespace

std::uint32_t first_count_ns(const Site& site) { return site.beside_poll ? 1 : 0; }

std::string count_wait_text(const Site& site, const Table& table) {
  const std::uint32_t first = first_count_ns(site);
  return fill(kCountWait, {{"sample", site.records() ? kSample : ""},
                           {"counted", std::to_string(kCounted)},
                           {"rest", std::to_string(kFirstLookNs - first)},
                           {"first", std::to_string(first)},
                           {"window", std::to_string(kSampleWindowLog2)},
                           {"share", std::to_string(1u << (32 - kSampleShareLog2))},
                           {"begin", offset(offsetof(ThreadState, begin_ns))},
                           {"ended", offset(offsetof(ThreadState, ended_ns))},
                           {"own", std::to_string(kSampled | site.code())},
                           {"begun", std::to_string(kBegun)},
                           {"slot mask", std::to_string(kCountSlots - 1)},
                           {"slot bytes", offset(sizeof(SiteCounts))},
                           {"waits", offset(offsetof(SiteCounts, waits))},
                           {"table", table.name},
                           {"counts", offset(table.counts(site.number))},
                           {"k", std::to_string(site.number)}});
}

std::string counts_address_text(const Table& table) {
  return fill(kCountsAddress, {{"table", table.name},
                               {"counts", offset(table.counts(0))},
                               {"site bytes", offset(kCountSlots * sizeof(SiteCounts))},
                               {"slot mask", std::to_string(kCountSlots - 1)},
                               {"slot bytes", offset(sizeof(SiteCounts))}});
}

std::string add_sample_text(const Table& table, const std::string& state) {
  return fill(kAddSample, {{"address", counts_address_text(table)},
                           {"state", state},
                           {"rounds", offset(offsetof(ThreadState, rounds))},
                           {"round bits", std::to_string(kRoundBits)},
                           {"ended", offset(offsetof(ThreadState, ended_ns))},
                           {"begin", offset(offsetof(ThreadState, begin_ns))},
                           {"sampled rounds", offset(offsetof(SiteCounts, sampled_rounds))},
                           {"sampled ns", offset(offsetof(SiteCounts, sampled_ns))},
                           {"sampled", offset(offsetof(SiteCounts, sampled))}});
}

}  // namespace wicprof::rewriter
