#include "import/flight/pickle.h"

#include <gtest/gtest.h>

#include <string>

namespace wicprof::imports {
namespace {

using namespace std::string_literals;

TEST(ImportPickle, ReadsPlainValues) {
  // {"a": [1, -2, (None, True), 1 << 40]}
  const std::string bytes = "\x80\x02}q\x00X\x01\x00\x00\x00"s +
                            "aq\x01]q\x02(K\x01J\xfe\xff\xff\xffN\x88\x86q\x03\x8a\x06\x00\x00\x00\x00\x00\x01"s +
                            "es."s;
  const Result<Pickle> read = Pickle::read(bytes);
  ASSERT_TRUE(read) << read.error().message;
  const auto& parts = read->parts(read->at(read->root(), "a"));
  ASSERT_EQ(parts.size(), 4u);
  EXPECT_EQ(read->integer(parts[0]), 1);
  EXPECT_EQ(read->integer(parts[1]), -2);
  EXPECT_EQ(read->parts(parts[2]).size(), 2u);
  EXPECT_EQ(read->integer(read->parts(parts[2])[1]), 1);
  EXPECT_EQ(read->integer(parts[3]), std::int64_t{1} << 40);
  EXPECT_FALSE(read->at(read->root(), "b"));
  EXPECT_FALSE(read->integer(std::nullopt));
}

TEST(ImportPickle, AListInItselfIsRead) {
  const Result<Pickle> read = Pickle::read("\x80\x02]q\x00h\x00"s + "a."s);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->parts(read->root()), std::vector<Pickle::Id>{read->root()});
}

TEST(ImportPickle, RefusesWhatRunsCodeAndWhatIsDamaged) {
  const struct {
    std::string bytes;
    const char* word;
  } cases[] = {
      {"\x80\x02"s + "cos\nsystem\n."s, "0x63"},
      {"\x80\x02R."s, "0x52"},
      {"\x80\x04\x93."s, "0x93"},
      {"\x80\x02"s, "ends early"},
      {"X\xff\xff\xff\xff."s, "ends early"},
      {"."s, "not there"},
      {"(e."s, "not there"},
      {"N(u."s, "another kind"},
      {"}(Nu."s, "without a value"},
      {"Na."s, "not there"},
      {"h\x05."s, "not there"},
      {"q\x00."s, "not there"},
      {"e"s, "no mark"},
      {"(\x85."s, "not there"},
  };
  for (const auto& one : cases) {
    const Result<Pickle> read = Pickle::read(one.bytes);
    ASSERT_FALSE(read) << one.word;
    EXPECT_NE(read.error().message.find(one.word), std::string::npos) << read.error().message;
    EXPECT_NE(read.error().message.find("byte "), std::string::npos) << read.error().message;
  }
}

}  // namespace
}  // namespace wicprof::imports
