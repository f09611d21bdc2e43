#include "store/sqlite/text_table.h"

#include <gtest/gtest.h>

namespace wicprof::store {
namespace {

TEST(TextTable, EqualTextsShareARow) {
  TextTable texts;
  bool is_new = false;
  const auto first = texts.intern("halo", is_new).second;
  EXPECT_TRUE(is_new);
  EXPECT_EQ(texts.intern("halo", is_new).second, first);
  EXPECT_FALSE(is_new);
  EXPECT_NE(texts.intern("", is_new).second, first);
  EXPECT_TRUE(is_new);
}

TEST(TextTable, NumbersBelongToTheirRing) {
  TextTable texts;
  bool is_new = false;
  texts.bind(0, 7, texts.intern("zero", is_new));
  texts.bind(1, 7, texts.intern("one", is_new));
  for (int i = 0; i < 10'000; ++i) texts.intern(std::to_string(i), is_new);  // the table is rehashed
  ASSERT_NE(texts.find(0, 7), nullptr);
  ASSERT_NE(texts.find(1, 7), nullptr);
  EXPECT_EQ(texts.find(0, 7)->first, "zero");
  EXPECT_EQ(texts.find(1, 7)->first, "one");
  EXPECT_EQ(texts.find(2, 7), nullptr);
  EXPECT_EQ(texts.find(0, 8), nullptr);
}

TEST(TextTable, ClearingContinuesWithNewIds) {
  TextTable texts;
  bool is_new = false;
  texts.bind(0, 1, texts.intern("lost", is_new));
  texts.clear(50);
  EXPECT_EQ(texts.find(0, 1), nullptr);
  EXPECT_EQ(texts.intern("lost", is_new).second, 50);
  EXPECT_TRUE(is_new);
}

TEST(TextTable, KeepsTheNewestNumbersOfAProducerThatNamesEverything) {
  TextTable table;
  bool is_new = false;
  constexpr TextId kLast = 5 * TextTable::kMaxNumbers;
  for (TextId number = 1; number <= kLast; ++number) {
    table.bind(0, number, table.intern("text " + std::to_string(number), is_new));
  }
  EXPECT_EQ(table.find(0, 1), nullptr);
  ASSERT_NE(table.find(0, kLast - TextTable::kMaxNumbers + 1), nullptr);
  EXPECT_LE(table.bound_ids().size(), 2 * TextTable::kMaxNumbers);
  table.forget_others(table.bound_ids());
  EXPECT_EQ(table.size(), table.bound_ids().size());
  EXPECT_EQ(table.find(0, kLast)->first, "text " + std::to_string(kLast));
  // A forgotten text is new again, with an id of its own.
  const std::int64_t next = table.next();
  EXPECT_EQ(table.intern("text 1", is_new).second, next);
  EXPECT_TRUE(is_new);
}

TEST(ValidUtf8, KeepsValidText) {
  for (const char* text : {"", "plain", "\xc3\xa9t\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x94\xa7"}) {
    EXPECT_EQ(valid_utf8(text), text);
  }
}

TEST(ValidUtf8, ReplacesEachInvalidSequence) {
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(valid_utf8("a\xc3"), "a" + mark);                        // cut inside a character
  EXPECT_EQ(valid_utf8("a\xe2\x82"), "a" + mark);                    // cut inside a character
  EXPECT_EQ(valid_utf8(std::string("\xff") + "b"), mark + "b");      // never a byte of UTF-8
  EXPECT_EQ(valid_utf8("\xc0\xaf"), mark);                           // overlong
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), mark);                       // a surrogate
  EXPECT_EQ(valid_utf8("\xf4\x90\x80\x80"), mark);                   // beyond Unicode
  EXPECT_EQ(valid_utf8(std::string("\xe2\x82") + "b"), mark + "b");  // interrupted
  EXPECT_EQ(valid_utf8(std::string_view("a\0b", 3)), "a" + mark + "b");
}

}  // namespace
}  // namespace wicprof::store
