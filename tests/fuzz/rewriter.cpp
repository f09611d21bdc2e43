// Device code of any kind, from the file to the patched text.
#include "rewriter/images/device_code.h"
#include "rewriter/load/compile_options.h"
#include "rewriter/load/replacement.h"
#include "rewriter/patch/patch.h"
#include "tests/fuzz/target.h"
#include "tests/rewriter/made_fat_binary.h"

namespace wicprof::fuzz {

void run(std::string_view input) {
  using namespace rewriter;
  const Replacement replacement = replacement_of(input, 90);
  require(replacement.text.empty() || !replacement.sites.empty(), "an image is replaced for its sites");
  const auto code = read_device_code(input);
  if (!code) return require(!code.error().message.empty(), "an error says why");
  for (const FatEntry& entry : code->entries) {
    if (entry.kind == ImageKind::cubin) {
      if (const auto cubin = contents_of_cubin(entry)) (void)changing_option(cubin->options);
    }
    if (entry.kind != ImageKind::ptx) continue;
    const auto text = ptx_of(entry);
    if (!text) continue;
    const auto module = read_module(*text);
    if (!module) continue;
    const std::vector<FunctionVerdicts> verdicts = recognize(*module);
    const auto patched = patch(*module, verdicts);
    if (!patched) continue;
    require(strip(patched->text) == *text, "taking the patch out gives the original");
    require(patched->sites.empty() == (patched->text == *text), "a module without a wait stays as it is");
    if (!patched->sites.empty()) require(bool(read_module(patched->text)), "a patched module can be read");
  }
}

std::vector<std::string> seeds() {
  using namespace rewriter;
  using made::container, made::entry;
  const std::string ptx(made::kPtx);
  const std::string calls =
      ".version 8.0\n.target sm_90a, debug\n.address_size 64\n.file 1 \"a.cu\"\n"
      ".func (.param .b32 r) look(.param .b64 p)\n{\n.reg .b64 %d;\n.reg .b32 %r;\nld.param.u64 %d, [p];\n"
      "ld.acquire.sys.b32 %r, [%d];\nst.param.b32 [r], %r;\nret;\n}\n"
      ".visible .entry k(.param .u64 f)\n.maxntid 32, 1, 1\n{\n.reg .pred %p<3>;\n.reg .b32 %r<4>;\n.reg .b64 %d<4>;\n"
      ".loc 1 7 3\nld.param.u64 %d1, [f];\nmov.u32 %r3, 8;\n$A: nanosleep.u32 %r3;\nshl.b32 %r3, %r3, 1;\n"
      "{ .param .b64 a; .param .b32 b; st.param.b64 [a], %d1; call.uni (b), look, (a); ld.param.b32 %r1, [b]; }\n"
      "setp.ne.s32 %p1, %r1, 1;\n@!%p1 bra $B;\nbra.uni $A;\n$B: atom.global.cas.b32 %r2, [%d1], 0, 1;\n"
      "setp.ne.u32 %p2, %r2, 0;\n@%p2 bra $B;\nret;\n}\n";
  return {ptx,
          calls,
          container(entry(1, ptx, Compression::zstd)),
          container(entry(1, calls, Compression::lz4, 90, "-maxrregcount=32")),
          made::cubin({"k"}, 90, "-arch sm_90 -dlcm cg"),
          made::program(container(entry(2, made::cubin({"k", "l"}), Compression::none)),
                        container(entry(1, ptx, Compression::none)))};
}

}  // namespace wicprof::fuzz
