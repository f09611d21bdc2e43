#include "rewriter/patch/call.h"

#include "rewriter/patch/look.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

constexpr const char* kCall = R"({
.reg .b32 %__wic_e;
.reg .b64 %__wic_x;
.param .b64 __wic_0, __wic_4, __wic_5, __wic_6;
.param .b32 __wic_1, __wic_2, __wic_3;
mov.u64 %__wic_x, __wic_state;
st.param.b64 [__wic_0], %__wic_x;
mov.b32 %__wic_e, <site>;
st.param.b32 [__wic_1], %__wic_e;
st.param.b32 [__wic_2], %__wic_n;
st.param.b32 [__wic_3], %__wic_l;
<value>st.param.b64 [__wic_4], %__wic_x;
<word>st.param.b64 [__wic_5], %__wic_x;
ld.global.u64 %__wic_x, [<look>];
$__wic_look_<k>: .callprototype (.param .b64 _) _ (.param .b64 _, .param .b32 _, .param .b32 _, .param .b32 _,
.param .b64 _, .param .b64 _);
call (__wic_6), %__wic_x, (__wic_0, __wic_1, __wic_2, __wic_3, __wic_4, __wic_5), $__wic_look_<k>;
ld.param.b64 %__wic_x, [__wic_6];
mov.b64 {%__wic_n, %__wic_l}, %__wic_x;
}
)";

std::string call(const Table& table, const std::string& k, std::uint32_t site, const std::string& value,
                 const std::string& word) {
  return fill(
      kCall,
      {{"value", value}, {"word", word}, {"look", look_pointer(table)}, {"site", std::to_string(site)}, {"k", k}});
}

std::uint32_t bits_of(const Site& site) {
  const LoopVerdict& loop = *site.loop;
  std::uint32_t bits = static_cast<std::uint32_t>(site.number | site.in_function << kInFunctionShift);
  if (site.records()) bits |= SiteBits::kRecords;
  if (loop.pause != Pause::none) bits |= SiteBits::kPauses;
  if (loop.pause == Pause::brief) bits |= SiteBits::kBriefly;
  if (site.watches()) bits |= SiteBits::kWatches;
  if (loop.word) bits |= SiteBits::kKnowsWord;
  if (loop.word && loop.word->is_64_bit) bits |= SiteBits::kIs64Bit;
  return bits;
}

}  // namespace

std::string call_text(const Site& site, const Table& table) {
  const std::optional<Word>& word = site.loop->word;
  const std::string nothing = "mov.b64 %__wic_x, 0;\n";
  return call(table, std::to_string(site.number), bits_of(site), word ? seen_text(*word, "%__wic_x") : nothing,
              word ? address_text(*word, "%__wic_x") : nothing);
}

std::string leave_text(const Table& table, const std::string& label) {
  return call(table, label, SiteBits::kLeaves, "mov.b64 %__wic_x, 0;\n", "");
}

}  // namespace wicprof::rewriter
