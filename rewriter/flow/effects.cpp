#include "rewriter/flow/effects.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <set>

namespace wicprof::rewriter {

namespace {

const std::set<std::string_view> kCompute = {
    "abs",   "add",  "addc",  "and",        "bfe",      "bfi",   "bfind",    "bmsk",      "brev",
    "clz",   "cnot", "cos",   "copysign",   "cvt",      "cvta",  "div",      "dp2a",      "dp4a",
    "ex2",   "fma",  "fns",   "getctarank", "isspacep", "lg2",   "lop3",     "mad",       "mad24",
    "madc",  "mapa", "max",   "min",        "mov",      "mul",   "mul24",    "neg",       "not",
    "or",    "popc", "prmt",  "rcp",        "rem",      "rsqrt", "sad",      "selp",      "set",
    "setp",  "shf",  "shl",   "shr",        "sin",      "slct",  "sqrt",     "sub",       "subc",
    "szext", "tanh", "testp", "vadd",       "vadd2",    "vadd4", "vabsdiff", "vabsdiff2", "vabsdiff4",
    "vmad",  "vmax", "vmax2", "vmax4",      "vmin",     "vmin2", "vmin4",    "vset",      "vset2",
    "vset4", "vshl", "vshr",  "vsub",       "vsub2",    "vsub4", "vavrg2",   "vavrg4",    "xor"};

const std::map<std::string_view, Effect> kOthers = {
    {"ld", Effect::load},
    {"ldu", Effect::load},
    {"st", Effect::store},
    {"atom", Effect::atomic},
    {"red", Effect::reduction},
    {"membar", Effect::fence},
    {"fence", Effect::fence},
    {"nanosleep", Effect::sleep},
    {"vote", Effect::warp},
    {"shfl", Effect::warp},
    {"activemask", Effect::warp},
    {"match", Effect::warp},
    {"redux", Effect::warp},
    {"elect", Effect::warp},
    {"bar", Effect::barrier},
    {"barrier", Effect::barrier},
    {"bra", Effect::branch},
    {"brx", Effect::indexed},
    {"ret", Effect::leave},
    {"exit", Effect::leave},
    {"trap", Effect::leave},
    {"call", Effect::call},
    {"mbarrier", Effect::reduction},
    {"griddepcontrol", Effect::hardware_wait},
    {"cp", Effect::asynchronous},
    {"wgmma", Effect::asynchronous},
    {"tcgen05", Effect::asynchronous},
    {"mma", Effect::asynchronous},
    {"wmma", Effect::asynchronous},
    {"ldmatrix", Effect::other_memory},
    {"stmatrix", Effect::store},
    {"multimem", Effect::store},
    {"setmaxnreg", Effect::asynchronous},
    {"tensormap", Effect::store},
    {"tex", Effect::other_memory},
    {"tld4", Effect::other_memory},
    {"txq", Effect::other_memory},
    {"suld", Effect::other_memory},
    {"suq", Effect::other_memory},
    {"sust", Effect::store},
    {"sured", Effect::reduction},
    {"prefetch", Effect::other_memory},
    {"prefetchu", Effect::other_memory},
    {"createpolicy", Effect::other_memory},
    {"istypep", Effect::other_memory},
    {"applypriority", Effect::store},
    {"discard", Effect::store},
    {"alloca", Effect::store},
    {"stacksave", Effect::store},
    {"stackrestore", Effect::store},
    {"brkpt", Effect::store},
    {"pmevent", Effect::store},
};

const std::set<std::string_view> kWritesNothing = {
    "st",    "red",     "membar",     "fence",          "nanosleep", "bra",     "brx",
    "ret",   "exit",    "trap",       "call",           "prefetch",  "discard", "applypriority",
    "cp",    "wgmma",   "setmaxnreg", "griddepcontrol", "sust",      "sured",   "stmatrix",
    "brkpt", "pmevent", "prefetchu",  "stackrestore",   "tensormap", "tcgen05"};

bool has_one_of(std::string_view opcode, std::initializer_list<std::string_view> modifiers) {
  return std::ranges::any_of(modifiers, [&](std::string_view each) { return has_modifier(opcode, each); });
}

}  // namespace

std::string_view mnemonic_of(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

bool has_modifier(std::string_view opcode, std::string_view modifier) {
  for (std::size_t dot = opcode.find('.'); dot != std::string_view::npos;) {
    const std::size_t next = opcode.find('.', dot + 1);
    const std::string_view part = opcode.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1);
    if (part.substr(0, part.find("::")) == modifier) return true;
    dot = next;
  }
  return false;
}

Effect effect_of(std::string_view opcode) {
  const std::string_view mnemonic = mnemonic_of(opcode);
  if (kCompute.contains(mnemonic)) return Effect::compute;
  const auto found = kOthers.find(mnemonic);
  if (found == kOthers.end()) return Effect::unknown;
  if (mnemonic == "bar" && has_modifier(opcode, "warp")) return Effect::warp;
  if (mnemonic == "multimem" && has_modifier(opcode, "ld_reduce")) return Effect::load;
  if (mnemonic == "mbarrier" && has_one_of(opcode, {"test_wait", "try_wait"})) return Effect::hardware_wait;
  if (mnemonic == "mbarrier" && has_modifier(opcode, "pending_count")) return Effect::compute;
  return found->second;
}

bool is_block_vote(std::string_view opcode) {
  const std::string_view mnemonic = mnemonic_of(opcode);
  return (mnemonic == "bar" || mnemonic == "barrier") && has_modifier(opcode, "red") && has_modifier(opcode, "pred");
}

bool writes_first_operand(std::string_view opcode) {
  const std::string_view mnemonic = mnemonic_of(opcode);
  if (mnemonic == "bar" || mnemonic == "barrier") return has_modifier(opcode, "red");
  if (mnemonic == "mbarrier") {
    return has_modifier(opcode, "arrive") || has_modifier(opcode, "test_wait") || has_modifier(opcode, "try_wait") ||
           has_modifier(opcode, "pending_count") || has_modifier(opcode, "arrive_drop");
  }
  if (mnemonic == "multimem") return has_modifier(opcode, "ld_reduce");
  return !kWritesNothing.contains(mnemonic);
}

bool is_floating(std::string_view opcode) {
  return has_one_of(opcode, {"f16", "f16x2", "bf16", "bf16x2", "f32", "f64", "tf32"});
}

bool is_strong(std::string_view opcode) {
  return has_one_of(opcode, {"volatile", "relaxed", "acquire", "mmio", "cv", "cg"});
}

int bytes_of_type(std::string_view opcode) {
  const std::string_view type = opcode.substr(opcode.rfind('.') + 1);
  if (type.ends_with("128")) return 16;
  if (type.ends_with("64")) return 8;
  if (type.ends_with("32") || type.ends_with("16x2")) return 4;
  if (type.ends_with("16")) return 2;
  if (type.ends_with("8")) return 1;
  return 0;
}

}  // namespace wicprof::rewriter
