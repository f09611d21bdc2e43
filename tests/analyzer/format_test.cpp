#include "analyzer/words/format.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "analyzer/rules/remedy.h"
#include "analyzer/words/runtime_names.h"

namespace wicprof::analyzer {
namespace {

TEST(Format, Durations) {
  EXPECT_EQ(format_duration(0), "0 ns");
  EXPECT_EQ(format_duration(950), "950 ns");
  EXPECT_EQ(format_duration(-150), "-150 ns");
  EXPECT_EQ(format_duration(1'234), "1.23 us");
  EXPECT_EQ(format_duration(12'345'000), "12.3 ms");
  EXPECT_EQ(format_duration(999'999), "1.00 ms");  // never "1000 us"
  EXPECT_EQ(format_duration(123'456'789'000), "123 s");
  EXPECT_EQ(format_duration(-2'500'000), "-2.50 ms");
}

TEST(Format, Counts) {
  EXPECT_EQ(format_count(0), "0");
  EXPECT_EQ(format_count(999), "999");
  EXPECT_EQ(format_count(9'999), "9,999");
  EXPECT_EQ(format_count(12'345), "12.3 k");
  EXPECT_EQ(format_count(4'560'000), "4.56 M");
  EXPECT_EQ(count_of(1, "wait"), "1 wait");
  EXPECT_EQ(count_of(0, "wait"), "0 waits");
}

TEST(Format, NumbersPercentAndBytes) {
  EXPECT_EQ(format_number(7), "7");
  EXPECT_EQ(format_number(0.5), "0.50");
  EXPECT_EQ(format_number(4'560), "4.56 k");
  EXPECT_EQ(format_percent(0), "0.0 %");
  EXPECT_EQ(format_percent(0.0003), "<0.1 %");
  EXPECT_EQ(format_percent(0.4567), "45.7 %");
  EXPECT_EQ(format_bytes(512), "512 B");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
}

TEST(Format, ShortenKeepsBothEndsAndWholeCharacters) {
  EXPECT_EQ(function_name("(anonymous namespace)::wait_for(unsigned int const*, int (*)(int))"), "wait_for");
  EXPECT_EQ(function_name("void at::(anonymous namespace)::fill<4, at::(anonymous namespace)::F<int>(int) >(int, F)"),
            "at::fill<4, at::F<int>(int) >");
  EXPECT_EQ(function_name("sm80_gemm"), "sm80_gemm");
  EXPECT_EQ(function_name(")"), ")");
  EXPECT_EQ(function_name("(x)"), "(x)");
  EXPECT_EQ(shorten("short", 10), "short");
  EXPECT_EQ(shorten("abcdefghij", 5), "ab\u2026ij");
  EXPECT_EQ(shorten("\u00e4\u00e4\u00e4\u00e4\u00e4\u00e4", 3), "\u00e4\u2026\u00e4");
  EXPECT_EQ(shorten("abc", 0), "");
}

// The names are those of samples/traces, as recorded and as the compiler mangles them.
TEST(Format, TheKernelOfTheProgramReplacesTheRuntimesWrapper) {
  EXPECT_EQ(function_name("void wic::detail::bounded_gpu_entry<sample::HotFlagKernel>(sample::HotFlagKernel)"),
            "sample::HotFlagKernel");
  EXPECT_EQ(function_name("void wic::detail::gpu_entry<sample::h3d::Boundary>(sample::h3d::Boundary)"),
            "sample::h3d::Boundary");
  EXPECT_EQ(function_name("_ZN3wic6detail17bounded_gpu_entryIN6sample13HotFlagKernelEEEvT_"), "sample::HotFlagKernel");
  EXPECT_EQ(function_name("void wic::detail::gpu_entry<app::Step<app::Pair<int> > >(app::Step<app::Pair<int> >)"),
            "app::Step<app::Pair<int> >");
  EXPECT_EQ(function_name("void wic::detail::gpu_entry<(anonymous namespace)::Own>((anonymous namespace)::Own)"),
            "Own");
  EXPECT_EQ(function_name("_ZN7program4stepEPfi"), "program::step");
  EXPECT_EQ(function_name("_Zbroken"), "_Zbroken");
}

TEST(Format, KnowsTheRuntimesOwnKernelsAndThreads) {
  EXPECT_TRUE(
      is_runtime_kernel("wic::cuda::(anonymous namespace)::answer_pings(wic::cuda::ClockMailbox*, unsigned int)"));
  EXPECT_FALSE(is_runtime_kernel("void wic::detail::bounded_gpu_entry<sample::bfs::Level>(sample::bfs::Level)"));
  EXPECT_FALSE(is_runtime_kernel("wicked::step(int)"));
  for (const char* own : {"wicprof-flush", "wicprof-drain", "wic-prof", "wic-drain", "wic-control", "wic-monitor",
                          "wic-watch", "cuda-EvtHandlr", "cuda00001400006"})
    EXPECT_TRUE(is_runtime_thread(own)) << own;
  for (const char* program : {"", "hot_flag", "wic-solver", "loader", "cudaloader"})
    EXPECT_FALSE(is_runtime_thread(program));
}

TEST(Format, OneLineReplacesControlCharacters) {
  EXPECT_EQ(one_line("a\nb\x1b[31mc\x7f"), "a b [31mc ");
  EXPECT_EQ(one_line("a\xc2\x9b"), "a  ");
  EXPECT_EQ(one_line("gr\u00fcn"), "gr\u00fcn");
}

TEST(Format, WrapBreaksAtSpacesAndLosesNothing) {
  const std::string text = "one two three four five six seven eight nine ten";
  const std::string wrapped = wrap(text, 12, 2);
  std::string joined;
  for (const char c : wrapped) joined += c == '\n' ? ' ' : c;
  std::size_t line = 0;
  for (std::size_t i = 0; i <= wrapped.size(); ++i) {
    if (i == wrapped.size() || wrapped[i] == '\n') {
      EXPECT_LE(line, 14u);
      line = 0;
    } else {
      ++line;
    }
  }
  EXPECT_EQ(wrap(joined, 1000, 0), text);
}

TEST(Format, AUnitStaysWithItsNumber) {
  for (std::size_t width = 1; width < 60; ++width) {
    const std::string wrapped = wrap("took 33.3 % of 659 us (1.67 times), 308 k polls, +-0 ns; 2 MiB.", width, 0);
    for (const char* unit : {"33.3 %", "659 us", "(1.67 times),", "308 k", "+-0 ns;", "2 MiB."}) {
      if (std::string_view(unit).size() > width) continue;
      EXPECT_NE(wrapped.find(unit), std::string::npos) << wrapped;
    }
  }
  EXPECT_EQ(wrap("up to 528 waiters", 9, 0), "up to 528\nwaiters");
}

TEST(Format, AWordThatFitsNoLineIsCut) {
  EXPECT_EQ(wrap("see abcdefghij now", 4, 0), "see\nabcd\nefgh\nij\nnow");
  EXPECT_EQ(wrap("\u00e4\u00e4\u00e4", 2, 1), "\u00e4\u00e4\n \u00e4");
}

TEST(Format, APathStaysWhole) { EXPECT_EQ(wrap("see /tmp/abcdef.txt now", 4, 1), "see\n /tmp/abcdef.txt\n now"); }

TEST(Format, ACommandStaysACommandWhenItIsWrapped) {
  EXPECT_EQ(wrap_command("wic-prof run -- ./app", 80, 4), "wic-prof run -- ./app");
  EXPECT_EQ(wrap_command("wic-prof run -- ./app --long", 17, 2), "wic-prof run -- \\\n  ./app --long");
  EXPECT_EQ(wrap_command("a bbbbbbbbbbbb c", 5, 0), "a \\\nbbbbbbbbbbbb \\\nc");
}

TEST(Format, EscapesHtmlAndMarkdown) {
  EXPECT_EQ(escape_html("<script>\"&'"), "&lt;script&gt;&quot;&amp;&#39;");
  EXPECT_EQ(escape_markdown("a|b*c_[d](e)`"), "a\\|b\\*c\\_\\[d\\](e)\\`");
  EXPECT_EQ(escape_markdown("<b>\n# x"), "&lt;b&gt; \\# x");
}

TEST(Format, TableColumnsLineUp) {
  TextTable table("lr", {"name", "n"});
  table.add({"a", "100"});
  table.add({"l\u00e4nger", "1"});
  EXPECT_EQ(table.str(0), "name      n\na       100\nl\u00e4nger    1\n");
}

TEST(Format, ATableFitsTheWidth) {
  TextTable table("lrl", {"wait site", "wake latency", "memory"});
  table.add({"a.rather.long.name.of.a.site", "100 us", "pinned host memory"});
  table.add({"b", "1 us", "-"});
  EXPECT_EQ(table.str(0, 80),
            "wait site                     wake latency  memory\n"
            "a.rather.long.name.of.a.site        100 us  pinned host memory\n"
            "b                                     1 us  -\n");
  // The head breaks first; then the widest names are shortened; numbers stay.
  EXPECT_EQ(table.str(0, 57),
            "                                 wake\n"
            "wait site                     latency  memory\n"
            "a.rather.long.name.of.a.site   100 us  pinned host memory\n"
            "b                                1 us  -\n");
  EXPECT_EQ(table.str(2, 40),
            "                    wake\n"
            "  wait site      latency  memory\n"
            "  a.rath\u2026a.site   100 us  pinned \u2026memory\n"
            "  b                 1 us  -\n");
  // Numbers that do not fit beside each other become sentences.
  EXPECT_EQ(table.str(0, 20),
            "a.rather.long.name\n"
            "  .of.a.site: wake\n"
            "  latency 100 us,\n"
            "  memory pinned host\n"
            "  memory\n"
            "b: wake latency\n"
            "  1 us, memory -\n");
  for (std::size_t width = 10; width < 80; ++width) {
    const std::string text = table.str(0, width);
    EXPECT_NE(text.find("100 us"), std::string::npos);
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const auto columns = std::count_if(text.begin() + static_cast<std::ptrdiff_t>(begin),
                                         text.begin() + static_cast<std::ptrdiff_t>(end),
                                         [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) != 0x80u; });
      EXPECT_LE(columns, static_cast<std::ptrdiff_t>(width)) << text;
    }
  }
}

TEST(Format, ProseInATableIsWrapped) {
  TextTable table("lw", {"name", "what"});
  table.add({"one", "a b c d e f"});
  EXPECT_EQ(table.str(0, 11), "name  what\none   a b c\n      d e f\n");
}

TEST(Trial, IsWhatACommandSwitches) {
  const auto options = [](std::string_view command) {
    const std::optional<Trial> trial = trial_of(command);
    return trial ? trial_options(*trial, "--ab") : std::string("none");
  };
  EXPECT_EQ(options("wic-prof run --ab -- app --side host --rewrite"), "--ab");
  EXPECT_EQ(options("wic-prof run --ab --side host --strategy block -- app"), "--ab --side host --strategy block");
  EXPECT_EQ(options("wic-prof run --rewrite --schedule poll:2s,park:2s -- app"), "--rewrite --ab");
  EXPECT_EQ(options("wic-prof toggle park --site a --strategy shared_watch; park b too"),
            "--ab --strategy shared_watch");
  EXPECT_EQ(options("wic-prof toggle park --side host"), "--ab --side host");
  EXPECT_EQ(options("wic-prof run --trace=cuda,pcsampling -- app --ab"), "none");
  EXPECT_EQ(options("leave this site as it is"), "none");
}

TEST(ParkCommand, QuotesTheSiteForAShell) {
  EXPECT_EQ(park_command("halo.left"), "wic-prof toggle park --site halo.left");
  EXPECT_EQ(park_command("a b; rm -r $HOME"), "wic-prof toggle park --site 'a b; rm -r $HOME'");
}

}  // namespace
}  // namespace wicprof::analyzer
