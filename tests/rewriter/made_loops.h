// Modules with many waiting loops, in the forms that compilers write, for what must not grow faster than the code.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace wicprof::rewriter {

inline constexpr std::array<std::string_view, 4> kMadeForms = {"one_kernel", "kernels", "nested", "calls"};

/// `one_kernel`: one loop after the other in one kernel. `kernels`: a kernel each. `nested`: all inside one outer loop.
/// `calls`: each loop calls a function for its load, and keeps its value in local memory, as code without optimization
/// does. Each loop polls a word of its own, and the values of each are used behind it.
inline std::string made_loops(std::string_view form, int loops) {
  std::string text = ".version 8.0\n.target sm_90\n.address_size 64\n";
  const auto begin = [&](const std::string& name) {
    text += ".visible .entry " + name + "(.param .u64 word, .param .u64 out)\n{\n.local .align 8 .b8 __local_depot" +
            name + "[16];\n.reg .pred %p<" + std::to_string(2 * loops + 3) + ">;\n.reg .b32 %r<" +
            std::to_string(4 * loops + 4) + ">;\n.reg .b64 %rd<" + std::to_string(2 * loops + 9) +
            ">;\nld.param.u64 %rd1, [word];\ncvta.to.global.u64 %rd2, %rd1;\nld.param.u64 %rd3, [out];\n"
            "mov.u32 %r1, 0;\nmov.u64 %rd6, __local_depot" +
            name + ";\n";
  };
  const auto end = [&] { text += "st.global.u32 [%rd3], %r1;\nret;\n}\n"; };
  if (form == "calls") {
    text +=
        ".func (.param .b32 result) read(.param .b64 from)\n{\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
        "ld.param.u64 %rd1, [from];\nld.volatile.u32 %r1, [%rd1];\nst.param.b32 [result], %r1;\nret;\n}\n";
  }
  if (form != "kernels") begin("made");
  if (form == "nested") text += "$OUTER:\n";
  for (int i = 0; i < loops; ++i) {
    if (form == "kernels") begin("made" + std::to_string(i));
    const std::string n = std::to_string(i), value = "%r" + std::to_string(4 * i + 2),
                      sum = "%r" + std::to_string(4 * i + 3), address = "%rd" + std::to_string(2 * i + 7),
                      predicate = "%p" + std::to_string(2 * i + 1);
    text += "add.s64 " + address + ", %rd2, " + std::to_string(4 * i) + ";\n$LOOP" + n + ":\n";
    if (form == "calls") {
      text += "{\n.param .b64 given;\nst.param.b64 [given], " + address +
              ";\n.param .b32 got;\ncall.uni (got), read, (given);\nld.param.b32 " + value +
              ", [got];\n}\nst.u32 [%rd6], " + value + ";\nld.u32 " + value + ", [%rd6];\n";
    } else {
      text += "ld.volatile.global.u32 " + value + ", [" + address + "];\n";
    }
    text += "setp.eq.s32 " + predicate + ", " + value + ", 0;\n@" + predicate + " bra $LOOP" + n + ";\nmul.lo.s32 " +
            sum + ", " + value + ", 3;\nadd.s32 %r1, %r1, " + sum + ";\n";
    if (form == "kernels") end();
  }
  if (form == "nested")
    text += "setp.lt.s32 %p" + std::to_string(2 * loops + 1) + ", %r1, 1000;\n@%p" + std::to_string(2 * loops + 1) +
            " bra $OUTER;\n";
  if (form != "kernels") end();
  return text;
}

}  // namespace wicprof::rewriter
