// Device code in programs, fat binaries and cubins: what is found in them, and that damaged ones are refused.
#include "rewriter/images/device_code.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstddef>

#include "rewriter/images/bytes.h"
#include "tests/rewriter/made_fat_binary.h"

namespace wicprof::rewriter {
namespace {

using made::container, made::entry, made::kPtx;

const std::string kText(kPtx);

TEST(Images, PtxIsFoundHoweverItIsCompressed) {
  for (const Compression compression : {Compression::none, Compression::lz4, Compression::zstd}) {
    const std::string bytes = container(entry(1, kText, compression, 90, "-maxrregcount=64"));
    const auto code = read_device_code(bytes);
    ASSERT_TRUE(code) << code.error().message;
    ASSERT_EQ(code->entries.size(), 1u);
    EXPECT_FALSE(code->is_text);
    EXPECT_EQ(code->entries[0].kind, ImageKind::ptx);
    EXPECT_EQ(code->entries[0].architecture, 90);
    EXPECT_EQ(code->entries[0].options, "-maxrregcount=64");
    const auto text = ptx_of(code->entries[0]);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_EQ(*text, kText);
  }
}

TEST(Images, AProgramHasPtxToRunAndPtxToLink) {
  const std::string bytes = made::program(
      container(entry(2, made::cubin({"waits", "works"}), Compression::zstd)) + std::string(8, '\0') + container(""),
      container(entry(1, kText, Compression::lz4)) + container(entry(1, kText, Compression::none, 80)));
  const auto code = read_device_code(bytes);
  ASSERT_TRUE(code) << code.error().message;
  ASSERT_EQ(code->entries.size(), 3u);
  EXPECT_FALSE(code->entries[0].relocatable);
  const auto cubin = contents_of_cubin(code->entries[0]);
  ASSERT_TRUE(cubin) << cubin.error().message;
  EXPECT_EQ(cubin->kernels, (std::vector<std::string>{"waits", "works"}));
  EXPECT_TRUE(code->entries[1].relocatable);
  EXPECT_EQ(code->entries[2].architecture, 80);
}

TEST(Images, ACubinSaysItsArchitecture) {
  const std::string bytes = made::cubin({"k"}, 103);
  const auto code = read_device_code(bytes);
  ASSERT_TRUE(code) << code.error().message;
  ASSERT_EQ(code->entries.size(), 1u);
  EXPECT_EQ(code->entries[0].kind, ImageKind::cubin);
  EXPECT_EQ(code->entries[0].architecture, 103);
}

TEST(Images, ACubinToBeLinkedHasSharedMemoryWithoutBytes) {
  // As nvcc -rdc writes it: the section's size is that of the memory, and the file has no byte of it.
  std::string bytes = made::elf(190, 90 << 8, {{".nv.shared.k", SHT_LOPROC + 0xa, ""}});
  const auto sections = value_at<Elf64_Ehdr>(bytes, 0)->e_shoff;
  made::put<std::uint64_t>(bytes, sections + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size), 1 << 20);
  EXPECT_TRUE(read_device_code(bytes)) << read_device_code(bytes).error().message;
  made::put<std::uint32_t>(bytes, sections + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_type), SHT_PROGBITS);
  EXPECT_FALSE(read_device_code(bytes)) << "a section that is cut off";
}

TEST(Images, ACubinSaysWhatItWasCompiledWith) {
  const std::string bytes = made::cubin({"k"}, 90, "-arch sm_90 -dlcm cg -m 64 ");
  const auto code = read_device_code(bytes);
  ASSERT_TRUE(code) << code.error().message;
  EXPECT_EQ(contents_of_cubin(code->entries[0])->options, "-arch sm_90 -dlcm cg -m 64 ");
}

TEST(Images, OtherFilesAreRefusedWithAReason) {
  const auto message = [](const std::string& bytes) {
    const auto code = read_device_code(bytes);
    return code ? std::string("read") : code.error().message;
  };
  EXPECT_NE(message(made::elf(EM_X86_64, 0, {{".text", SHT_PROGBITS, "x"}})).find("no device code"), std::string::npos);
  EXPECT_NE(message("!<arch>\nx").find("archive"), std::string::npos);
  EXPECT_NE(message(made::program("not a fat binary")).find("byte 0"), std::string::npos);
  EXPECT_NE(message("\x7f"
                    "ELF")
                .find("cut off"),
            std::string::npos);
}

TEST(Images, SizesThatAreNotTrueAreRefused) {
  for (const Compression compression : {Compression::lz4, Compression::zstd}) {
    for (const std::uint64_t said :
         {std::uint64_t{1}, std::uint64_t{kText.size() + 7}, kLargestImage + 1, ~std::uint64_t{0}}) {
      std::string bytes = container(entry(1, kText, compression));
      made::put<std::uint64_t>(bytes, 16 + 56, said);
      const auto code = read_device_code(bytes);
      ASSERT_TRUE(code) << code.error().message;
      EXPECT_FALSE(ptx_of(code->entries[0])) << said;
    }
  }
  // Sizes whose sum is too large for its type.
  std::string bytes = container(entry(1, kText, Compression::none));
  made::put<std::uint64_t>(bytes, 8, ~std::uint64_t{0} - 3);
  EXPECT_FALSE(read_device_code(bytes));
  bytes = container(entry(1, kText, Compression::none));
  made::put<std::uint64_t>(bytes, 16 + 8, ~std::uint64_t{0} - 3);
  EXPECT_FALSE(read_device_code(bytes));
}

TEST(Images, AFileThatIsCutOffIsRefusedAtEachByte) {
  const std::string whole = made::program(container(entry(1, kText, Compression::zstd, 90, "-G")) +
                                          container(entry(2, made::cubin({"k"}), Compression::none)));
  ASSERT_TRUE(read_device_code(whole));
  for (std::size_t size = 4; size < whole.size(); ++size) {
    EXPECT_FALSE(read_device_code(std::string_view(whole).substr(0, size))) << size;
  }
}

// Each byte is changed in turn: the reader says what it finds, or why it does not.
TEST(Images, AChangedByteNeverBreaksTheReader) {
  const std::string whole = made::program(container(entry(1, kText, Compression::lz4, 90, "-G")) +
                                          container(entry(2, made::cubin({"k"}), Compression::zstd)));
  std::size_t refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char changed : {'\0', '\x7f', '\xff'}) {
      std::string bytes = whole;
      bytes[at] = changed;
      const auto code = read_device_code(bytes);
      if (!code) {
        ++refused;
        continue;
      }
      for (const FatEntry& each : code->entries) {
        if (each.kind == ImageKind::ptx) (void)ptx_of(each);
        if (each.kind == ImageKind::cubin) (void)contents_of_cubin(each);
      }
    }
  }
  EXPECT_GT(refused, 0u);
}

}  // namespace
}  // namespace wicprof::rewriter
