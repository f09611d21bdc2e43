// The tool analyses a damaged trace or refuses it with an error, but never crashes. Damage comes from fixed random
// seeds: a failure names its seed, and WICPROF_SEEDS=FIRST[:COUNT] tries given seeds.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/analysis.h"
#include "analyzer/figures/list.h"
#include "reports/json/answers.h"
#include "reports/render.h"
#include "reports/text/answers.h"
#include "store/sqlite/sqlite.h"
#include "tests/store/support.h"

namespace wicprof::analyzer {
namespace {

using store::contents;
using store::write_contents;

/// The bytes of a valid trace file, created once.
const std::string& valid_trace() {
  static const std::string bytes = [] {
    const store::TempFolder folder;
    const std::string path = folder / "valid.wicprof";
    if (std::system((WICPROF_MAKE_TRACE " '" + path + "' 24").c_str()) != 0) std::abort();
    return contents(path);
  }();
  return bytes;
}

class Damage {
 public:
  explicit Damage(std::uint64_t seed) : random_(seed) {}

  /// Writes a damaged trace to `path` and returns a description of the damage.
  std::string at(const std::string& path) {
    std::string bytes = valid_trace();
    switch (below(6)) {
      case 0: {
        bytes.resize(below(bytes.size()));
        write_contents(path, bytes);
        return "cut to " + std::to_string(bytes.size()) + " bytes";
      }
      case 1: {
        const std::size_t count = 1 + below(64);
        for (std::size_t i = 0; i < count; ++i) bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
        write_contents(path, bytes);
        return std::to_string(count) + " bits turned";
      }
      default:
        break;
    }
    write_contents(path, bytes);
    store::Database database;
    if (database.open(path, store::OpenMode::read_write) != 0) return "nothing";
    std::string done;
    const std::size_t count = 1 + below(4);
    for (std::size_t i = 0; i < count; ++i) {
      const std::string sql = statement(database);
      database.execute(sql);  // a constraint may refuse it
      done += sql + "; ";
    }
    return done;
  }

 private:
  std::size_t below(std::size_t bound) { return bound == 0 ? 0 : static_cast<std::size_t>(random_() % bound); }
  template <class T, std::size_t N>
  const T& any(const std::array<T, N>& list) {
    return list[below(N)];
  }

  std::string column_of(store::Database& database, const std::string& table) {
    const auto count = database.integer("SELECT count(*) FROM pragma_table_info('" + table + "')");
    return database.text("SELECT name FROM pragma_table_info('" + table + "') LIMIT 1 OFFSET " +
                         std::to_string(below(static_cast<std::size_t>(count))));
  }

  std::string statement(store::Database& database) {
    static constexpr std::array kTables{"meta",   "string",        "stat",     "device",    "site",         "wait",
                                        "signal", "kernel",        "copy",     "host_wait", "uvm",          "nvtx",
                                        "call",   "thread_sample", "clock",    "process",   "intervention", "wait",
                                        "signal", "kernel",        "host_wait"};
    static constexpr std::array kPairs{
        std::array{"wait", "arrived_ns", "resumed_ns"}, std::array{"kernel", "start_ns", "end_ns"},
        std::array{"copy", "start_ns", "end_ns"},       std::array{"host_wait", "begin_ns", "end_ns"},
        std::array{"nvtx", "start_ns", "end_ns"},       std::array{"call", "start_ns", "end_ns"},
        std::array{"uvm", "start_ns", "end_ns"}};
    static constexpr std::array<std::int64_t, 16> kValues{0,
                                                          -1,
                                                          1,
                                                          2,
                                                          255,
                                                          65'536,
                                                          0x7fffffff,
                                                          0x80000000,
                                                          0xffffffff,
                                                          0x100000000,
                                                          -(std::int64_t{1} << 40),
                                                          std::int64_t{1} << 53,
                                                          std::int64_t{1} << 62,
                                                          std::numeric_limits<std::int64_t>::max(),
                                                          std::numeric_limits<std::int64_t>::min(),
                                                          std::numeric_limits<std::int64_t>::min() + 1};
    static constexpr std::array kWords{
        "''", "'<b>|`x`'", "x'ff00fe'", "char(27, 10, 7)", "printf('%.70000c', 'x')", "'wic-prof'", "'{'"};
    const std::string table = any(kTables);
    const std::string rows = " WHERE id % " + std::to_string(1 + below(9)) + " = 0";
    const std::string column = column_of(database, table);
    switch (below(7)) {
      case 0:
        return "DELETE FROM " + table + rows;
      case 1:
        return "UPDATE " + table + " SET " + column + " = NULL" + rows;
      case 2: {
        const auto& pair = any(kPairs);
        return std::string("UPDATE ") + pair[0] + " SET " + pair[1] + " = " + pair[2] + ", " + pair[2] + " = " +
               pair[1] + rows;
      }
      case 3:
        return below(8) == 0 ? "DROP TABLE " + table
                             : "UPDATE " + table + " SET " + column + " = abs(random()) % 1000000000" + rows;
      case 4:
        return std::string("UPDATE ") + (below(2) == 0 ? "string" : "meta") + " SET value = " + any(kWords) + rows;
      default:
        return "UPDATE " + table + " SET " + column + " = " + std::to_string(any(kValues)) + rows;
    }
  }

  std::mt19937_64 random_;
};

/// Runs everything that the tool does with a trace. Returns the error if the trace is refused, else "".
std::string use(const std::string& path, const TraceModel& good) {
  const Result<store::Reader> reader = store::Reader::open(path);
  if (!reader) return reader.error().message;
  const Result<TraceModel> model = load(*reader, "damaged.wicprof");
  if (!model) return model.error().message;
  const Analysis analysis = analyze(*model);
  const Comparison inside = compare(*model), between = compare(good, *model);
  for (const reports::Format& format : reports::formats()) {
    EXPECT_FALSE(format.render({*model, analysis, &inside}).empty());
  }
  EXPECT_FALSE(reports::analysis_text(*model, analysis).empty());
  EXPECT_FALSE(reports::analysis_text(*model, analysis, {.verbose = true}).empty());
  EXPECT_FALSE(reports::summary_text(*model, analysis).empty());
  EXPECT_FALSE(reports::comparison_text(between).empty());
  EXPECT_TRUE(nlohmann::json::accept(reports::analysis_json(*model, analysis)));
  EXPECT_TRUE(nlohmann::json::accept(reports::comparison_json(between)));
  const FigureInput input = figure_input({&*model});
  for (const FigureInfo& figure : figures()) figure.make(input);
  EXPECT_GE(analysis.classification.model_confidence, 0);
  EXPECT_LE(analysis.classification.model_confidence, 1);
  return {};
}

void try_seeds(std::uint64_t first, std::uint64_t count) {
  const store::TempFolder folder;
  const std::string path = folder / "damaged.wicprof", whole = folder / "good.wicprof";
  write_contents(whole, valid_trace());
  const auto reader = store::Reader::open(whole);
  ASSERT_TRUE(reader);
  const Result<TraceModel> good = load(*reader, "good.wicprof");
  ASSERT_TRUE(good);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const std::string damage = Damage(seed).at(path);
    std::cerr << "seed " << seed << ": " << damage.substr(0, 300)
              << std::endl;  // names the seed if this process crashes
    SCOPED_TRACE(seed);
    const std::string refused = use(path, *good);
    EXPECT_TRUE(refused.empty() || refused.find("damaged.wicprof") != std::string::npos) << refused;
  }
}

class DamagedTrace : public testing::TestWithParam<int> {};

TEST_P(DamagedTrace, GivesAnAnswerOrAnError) {
  constexpr std::uint64_t kSeeds = 40;
  if (const char* wanted = std::getenv("WICPROF_SEEDS")) {
    char* rest = nullptr;
    const auto first = std::strtoull(wanted, &rest, 10);
    try_seeds(first + static_cast<std::uint64_t>(GetParam()), *rest == ':' ? std::strtoull(rest + 1, nullptr, 10) : 1);
    return;
  }
  try_seeds(static_cast<std::uint64_t>(GetParam()) * kSeeds, kSeeds);
}
INSTANTIATE_TEST_SUITE_P(Seeds, DamagedTrace, testing::Range(0, 10));

TEST(DamagedTrace, ImpossibleTimesAreRemovedAndReported) {
  const store::TempFolder folder;
  const std::string path = folder / "damaged.wicprof";
  write_contents(path, valid_trace());
  store::Database database;
  ASSERT_EQ(database.open(path, store::OpenMode::read_write), 0);
  ASSERT_EQ(database.execute("UPDATE wait SET resumed_ns = 9223372036854775807 WHERE id % 100 = 1"), 0);
  const auto touched = database.changes();
  const auto all = database.integer("SELECT count(*) FROM wait");
  database.close();
  const auto reader = store::Reader::open(path);
  ASSERT_TRUE(reader);
  const Result<TraceModel> model = load(*reader, "damaged.wicprof");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->waits.size(), static_cast<std::size_t>(all - touched));
  const std::vector<Loss> lost = losses(*model);
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].name, "impossible_rows");
  EXPECT_EQ(lost[0].count, touched);
  EXPECT_LT(model->span(), kSecond);
}

}  // namespace
}  // namespace wicprof::analyzer
