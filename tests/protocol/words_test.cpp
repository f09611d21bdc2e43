// Plain texts, and words of commands for a shell.
#include <gtest/gtest.h>

#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "protocol/plain_text.h"
#include "protocol/shell_words.h"

namespace wicprof {
namespace {

const std::string kMark = "\xef\xbf\xbd";  // U+FFFD

TEST(PlainText, LeavesLettersLinesAndTabsAndReplacesWhatControlsATerminal) {
  for (const char* text : {"", "a\tb\nc\r\n", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"}) {
    EXPECT_TRUE(is_plain(text));
    EXPECT_EQ(plain_text(text), text);
  }
  EXPECT_EQ(plain_text("a\x1b[31m"), "a" + kMark + "[31m");
  EXPECT_EQ(plain_text("\xc2\x9b"), kMark);                  // U+009B
  EXPECT_EQ(plain_text("\x9b\xff"), kMark + kMark);          // no UTF-8
  EXPECT_EQ(plain_text("\xe2\x80\xae\x7f"), kMark + kMark);  // right to left
  EXPECT_EQ(plain_text("\ra"), kMark + "a");
  for (const char* invalid :
       {"\xc0\xaf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xe2\x82"}) {
    EXPECT_EQ(utf8_length(invalid), 0u) << invalid;
  }
}

TEST(PlainText, OnlyColoursPassAndOnlyWhereTheyAreWanted) {
  EXPECT_TRUE(is_plain("\x1b[1;31mbad\x1b[0m", Colours::ours));
  EXPECT_FALSE(is_plain("\x1b[1;31mbad\x1b[0m"));
  EXPECT_FALSE(is_plain("\x1b[2J", Colours::ours));
}

// As a shell reads a command.
std::vector<std::string> read_by_shell(const std::string& command) {
  std::string script = "bash -c " + shell_word("printf '%s\\0' " + command);
  std::FILE* const out = popen(script.c_str(), "r");
  std::string all;
  for (int c; out != nullptr && (c = std::fgetc(out)) != EOF;) all += static_cast<char>(c);
  if (out != nullptr) pclose(out);
  std::vector<std::string> words;
  for (std::size_t at = 0; at < all.size(); at = all.find('\0', at) + 1) words.emplace_back(all.c_str() + at);
  return words;
}

TEST(ShellWords, MeanTheSameToAShellAndToUs) {
  std::vector<std::string> words{"plain",
                                 "",
                                 "a b",
                                 "'",
                                 "\\",
                                 "$(touch x)",
                                 "`x`",
                                 "\n",
                                 "=ls",
                                 "~",
                                 "\x1b[31m",
                                 "\xff"
                                 "7",
                                 "\xc3\xa9",
                                 "a'b\n'c",
                                 "{a,b}",
                                 "*",
                                 "!x",
                                 "#",
                                 "a;b|c&d<e>f"};
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string word;
    for (std::size_t length = random() % 12; length > 0; --length) word += static_cast<char>(1 + random() % 255);
    words.push_back(word);
  }
  const std::string command = shell_command(words);
  EXPECT_TRUE(is_plain(command));
  EXPECT_EQ(words_of(command), words);
  EXPECT_EQ(safe_command(command), command);
  if (read_by_shell("a") != std::vector<std::string>{"a"}) GTEST_SKIP() << "bash is missing";
  EXPECT_EQ(read_by_shell(command), words);
}

TEST(ShellWords, ACommandFromAFileIsNotRun) {
  EXPECT_EQ(safe_command("./app $(touch x) ; y"), "./app '$(touch' 'x)' ';' y");
  EXPECT_EQ(safe_command("'open"), "open");
  EXPECT_EQ(safe_command("$'\\"), "'\\'");
  EXPECT_EQ(safe_command(""), "");
}

}  // namespace
}  // namespace wicprof
