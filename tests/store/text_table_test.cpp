#include "store/sqlite/text_table.h"

#include <gtest/gtest.h>

namespace wicprof::store {
namespace {

TEST(TextTable, EqualTextsShareAnEntry) {
  TextTable texts;
  TextTable::Entry& first = texts.intern("halo");
  EXPECT_EQ(&texts.intern("halo"), &first);
  EXPECT_NE(&texts.intern(""), &first);
  EXPECT_EQ(texts.size(), 2u);
}

TEST(TextTable, ATextGetsItsIdWithItsFirstRow) {
  TextTable texts;
  TextTable::Entry& unused = texts.intern("unused");
  TextTable::Entry& used = texts.intern("used");
  EXPECT_EQ(texts.next(), 1);
  EXPECT_TRUE(texts.give_id(used));
  EXPECT_EQ(used.second, 1);
  EXPECT_FALSE(texts.give_id(used));  // has its row
  EXPECT_EQ(unused.second, 0);
  texts.forget_ids();
  EXPECT_TRUE(texts.give_id(used));
  EXPECT_EQ(used.second, 2);  // no id is used twice
}

TEST(TextTable, NumbersBelongToTheirRing) {
  TextTable texts;
  texts.bind(0, 7, texts.intern("zero"), 4);
  texts.bind(1, 7, texts.intern("one"), 3);
  for (int i = 0; i < 10'000; ++i) texts.intern(std::to_string(i));  // the table is rehashed
  ASSERT_NE(texts.find(0, 7), nullptr);
  ASSERT_NE(texts.find(1, 7), nullptr);
  EXPECT_EQ(texts.find(0, 7)->first, "zero");
  EXPECT_EQ(texts.find(1, 7)->first, "one");
  EXPECT_EQ(texts.find(2, 7), nullptr);
  EXPECT_EQ(texts.find(0, 8), nullptr);
  texts.forget_ring(0);
  EXPECT_EQ(texts.find(0, 7), nullptr);
  EXPECT_NE(texts.find(1, 7), nullptr);
}

TEST(TextTable, KeepsTheNewestNumbersOfAProducerThatNamesEverything) {
  TextTable table;
  constexpr TextId kLast = 3 * TextTable::kMaxNumbers;
  for (TextId number = 1; number <= kLast; ++number) {
    table.bind(0, number, table.intern("text " + std::to_string(number)), 10);
  }
  EXPECT_EQ(table.find(0, kLast - TextTable::kMaxNumbers), nullptr);
  ASSERT_NE(table.find(0, kLast - TextTable::kMaxNumbers + 1), nullptr);
  const std::size_t all = table.bytes();
  table.forget_unbound();
  EXPECT_EQ(table.size(), TextTable::kMaxNumbers);
  EXPECT_LT(table.bytes(), all / 2);
  EXPECT_EQ(table.find(0, kLast)->first, "text " + std::to_string(kLast));
}

// As many texts of 2 KiB would take a quarter of a gigabyte per ring.
TEST(TextTable, LongTextsTakeNoMoreThanTheirBytes) {
  TextTable table;
  constexpr std::size_t kBytes = 2000;
  constexpr TextId kLast = 3 * TextTable::kMaxNumberBytes / kBytes;
  for (TextId number = 1; number <= kLast; ++number) {
    std::string text = std::to_string(number);
    text.resize(kBytes, 'x');
    table.bind(0, number, table.intern(text), kBytes);
    if (number % 1000 == 0) table.forget_unbound();
  }
  table.forget_unbound();
  EXPECT_LT(table.bytes(), TextTable::kMaxNumberBytes * 5 / 4);
  constexpr TextId kReferred = TextTable::kMaxNumberBytes / 2 / kBytes;  // to which a producer may refer
  for (TextId number = kLast - kReferred; number <= kLast; ++number) ASSERT_NE(table.find(0, number), nullptr);
}

TEST(TextTable, ANumberThatIsBoundAgainKeepsItsNewText) {
  TextTable table;
  for (std::size_t i = 0; i < 2 * TextTable::kMaxNumbers; ++i) {
    table.bind(0, 1 + i % 2, table.intern(i % 2 == 0 ? "even" : "odd"), 4);
  }
  EXPECT_EQ(table.find(0, 1)->first, "even");
  EXPECT_EQ(table.find(0, 2)->first, "odd");
}

TEST(TextTable, ForgetsIdsOfRemovedRows) {
  TextTable table;
  TextTable::Entry& bound = table.intern("bound");
  table.bind(0, 1, bound, 5);
  TextTable::Entry& kept = table.intern("kept");
  for (TextTable::Entry* entry : {&bound, &kept, &table.intern("removed")}) table.give_id(*entry);
  table.forget_ids_but({kept.second});
  EXPECT_EQ(table.size(), 2u);  // neither row nor number: forgotten
  EXPECT_EQ(bound.second, 0);   // to be written again with the next row that refers to it
  EXPECT_EQ(table.find(0, 1), &bound);
  EXPECT_EQ(kept.second, 2);
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
