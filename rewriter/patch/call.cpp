#include "rewriter/patch/call.h"

#include <map>

#include "rewriter/patch/look.h"
#include "rewriter/patch/template.h"
#include "rewriter/patch/thread_state.h"
#include "rewriter/patch/word_text.h"

namespace wicprof::rewriter {

namespace {

constexpr const char* kCall = R"({
.reg .b64 %__wic_x;
.param .align 4 .b8 __wic_7[12];
.param .b64 __wic_0, __wic_5, __wic_6;
.param .b32 __wic_1, __wic_2, __wic_3, __wic_4;
mov.u64 %__wic_x, __wic_state;
st.param.b64 [__wic_0], %__wic_x;
st.param.b32 [__wic_1], <rounds>;
st.param.b32 [__wic_2], %__wic_l;
st.param.b32 [__wic_3], %__wic_s;
st.param.b32 [__wic_4], <site>;
<seen>st.param.b64 [__wic_5], %__wic_x;
<address>st.param.b64 [__wic_6], %__wic_x;
ld.global.u64 %__wic_x, [<pointer>];
$__wic_look_<k>: .callprototype (.param .align 4 .b8 _[12]) _ (.param .b64 _, .param .b32 _, .param .b32 _,
.param .b32 _, .param .b32 _, .param .b64 _, .param .b64 _);
call (__wic_7), %__wic_x, (__wic_0, __wic_1, __wic_2, __wic_3, __wic_4, __wic_5, __wic_6), $__wic_look_<k>;
ld.param.b32 %__wic_n, [__wic_7];
ld.param.b32 %__wic_l, [__wic_7+4];
ld.param.b32 %__wic_s, [__wic_7+8];
}
)";
constexpr const char* kHasBegun = R"(and.b32 %__wic_e, %__wic_n, <begun>;
setp.ne.b32 %__wic_b, %__wic_e, 0;
)";
constexpr const char* kFunction = R"(
.func (.param .align 4 .b8 __wic_7[12]) <name>(.param .b64 __wic_0, .param .b32 __wic_1, .param .b32 __wic_2,
.param .b32 __wic_3, .param .b32 __wic_4, .param .b64 __wic_5, .param .b64 __wic_6)
{
.reg .b32 %__wic_n, %__wic_l, %__wic_s, %__wic_own;
.reg .b64 %__wic_at, %__wic_words, %__wic_word;
.reg <value type> %__wic_seen;
<registers>ld.param.u64 %__wic_at, [__wic_0];
ld.param.u32 %__wic_n, [__wic_1];
ld.param.u32 %__wic_l, [__wic_2];
ld.param.u32 %__wic_s, [__wic_3];
ld.param.u32 %__wic_own, [__wic_4];
ld.param<value type> %__wic_seen, [__wic_5];
ld.param.u64 %__wic_word, [__wic_6];
mov.u64 %__wic_y, %globaltimer;
cvt.u32.u64 %__wic_t, %__wic_y;
sub.u32 %__wic_d, %__wic_t, %__wic_l;
<look>st.param.b32 [__wic_7], %__wic_n;
st.param.b32 [__wic_7+4], %__wic_l;
st.param.b32 [__wic_7+8], %__wic_s;
ret;
}
.global .u64 <pointer> = <name>;
)";
// Computed where they are needed: each register that lives through the function costs a kernel with few values one.
constexpr const char* kNumber = "and.b32 %__wic_h, %__wic_own, 0xffff;\n";
constexpr const char* kWords = R"(mov.u64 %__wic_words, <table>+<device words>;
mad.wide.u32 %__wic_words, %__wic_h, <bytes>, %__wic_words;
)";
constexpr const char* kHostWords = "mad.wide.u32 %__wic_a, %__wic_h, <bytes>, %__wic_a;\n";

/// What the functions of two sites differ in, as a number.
int kind_of(const Site& site) {
  const LoopVerdict& loop = *site.loop;
  int kind = static_cast<int>(loop.pause);
  for (const bool is : {site.records(), site.watches(), loop.word.has_value(), loop.word && loop.word->is_64_bit}) {
    kind = 2 * kind + (is ? 1 : 0);
  }
  return kind;
}

std::string name_of(const Site& site, const Table& table, const char* what) {
  return what + table.hash() + "_" + std::to_string(kind_of(site));
}
std::string pointer_to(const Site& site, const Table& table) { return name_of(site, table, "__wic_look_at_"); }

std::string function_text(const Site& site, const Table& table) {
  LoopVerdict loop = *site.loop;
  const bool is_64_bit = loop.word && loop.word->is_64_bit;
  if (loop.word) {
    loop.word->address = "%__wic_word";
    loop.word->offset = 0;
    loop.word->value = "%__wic_seen";
    loop.word->is_global = false;
  }
  Site any = site;
  any.loop = &loop;
  any.number = 0;
  LookPlace place;
  place.state = "%__wic_at";
  place.number = kNumber;
  place.own = "%__wic_own";
  place.find_words = fill(kNumber + std::string(kWords), {{"table", table.name},
                                                          {"device words", std::to_string(Table::device_words(0))},
                                                          {"bytes", std::to_string(sizeof(DeviceWords))}});
  place.words = "%__wic_words";
  place.host_words = fill(kNumber + std::string(kHostWords), {{"bytes", std::to_string(sizeof(SiteWords))}});
  return fill(kFunction, {{"registers", look_registers_text()},
                          {"look", look_text(any, table, place)},
                          {"name", name_of(site, table, "__wic_look_")},
                          {"pointer", pointer_to(site, table)},
                          {"value type", is_64_bit ? ".b64" : ".b32"},
                          {"k", "0"}});
}

constexpr const char* kGeneric = "cvta.global.u64 %__wic_x, %__wic_x;\n";
constexpr const char* kNothing = "mov.b64 %__wic_x, 0;\n";

}  // namespace

std::string call_text(const Site& site, const Table& table) {
  const std::optional<Word>& word = site.loop->word;
  const std::string begun = site.records() ? fill(kHasBegun, {{"begun", std::to_string(kBegun)}}) : "";
  return fill(kCall + begun,
              {{"rounds", "%__wic_n"},
               {"seen", word ? seen_text(*word, "%__wic_x") : kNothing},
               {"address", word ? address_text(*word, "%__wic_x") + (word->is_global ? kGeneric : "") : kNothing},
               {"site", std::to_string(site.code())},
               {"pointer", pointer_to(site, table)},
               {"k", std::to_string(site.number)}});
}

std::string leave_text(const Site& site, const Table& table) {
  return fill(kCall, {{"rounds", "0"},
                      {"seen", kNothing},
                      {"address", kNothing},
                      {"site", "0"},
                      {"pointer", pointer_to(site, table)},
                      {"k", "and_leave_" + std::to_string(site.number)}});
}

std::string functions_text(const std::vector<Site>& sites, const Table& table) {
  std::map<int, std::string> functions;
  for (const Site& site : sites) {
    if (site.calls) functions.try_emplace(kind_of(site), function_text(site, table));
  }
  std::string text;
  for (const auto& [kind, function] : functions) text += function;
  return text;
}

}  // namespace wicprof::rewriter
