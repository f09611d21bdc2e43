// What a wait's signal is, as one statement of SQL per wait, against the code that remembers signals from wait to wait.
#include "store/write/signal_match.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "protocol/bit_value.h"
#include "store/format/schema.h"
#include "tests/store/support.h"

namespace wicprof::store {
namespace {

std::string latest_signal_sql(const std::string& of_the_word) {
  const std::string is_bit = "(wait.value & " + std::to_string(kBitValueMask) + ") = " + std::to_string(kBitValue);
  return "(SELECT s.at_ns FROM signal s WHERE s.site_id = wait.site_id AND s.iteration = wait.iteration" + of_the_word +
         " AND (s.writer IS NULL OR (s.word_tag = wait.word_tag AND s.at_ns >= wait.arrived_ns"
         " - ifnull((SELECT max(clock_error_ns) FROM device), 0) AND ifnull(s.value, wait.value) = wait.value))"
         " AND CASE WHEN " +
         is_bit +
         " THEN ifnull(s.value, wait.value) = wait.value"
         " ELSE ((ifnull(s.value, wait.value) - wait.value) & 0xffffffff) < 0x80000000 END"
         " AND s.at_ns <= wait.resumed_ns + ifnull((SELECT max(clock_error_ns) FROM device), 0)"
         " ORDER BY s.at_ns DESC LIMIT 1)";
}

std::string differences_sql() {
  return "WITH tagged(site_id) AS MATERIALIZED (SELECT w.site_id"
         " FROM (SELECT DISTINCT site_id, word_tag FROM wait WHERE word_tag IS NOT NULL) w"
         " LEFT JOIN (SELECT DISTINCT site_id, word_tag FROM signal WHERE word_tag IS NOT NULL) s"
         " ON s.site_id = w.site_id AND s.word_tag = w.word_tag"
         " GROUP BY w.site_id HAVING 2 * count(s.word_tag) >= count(*))"
         " SELECT count(*) FROM wait WHERE ready_ns IS NOT CASE"
         " WHEN status <> 0 THEN NULL"
         " WHEN word_tag IS NOT NULL AND site_id IN (SELECT site_id FROM tagged) THEN ifnull(" +
         latest_signal_sql(" AND s.word_tag = wait.word_tag") + ", " + latest_signal_sql(" AND s.word_tag IS NULL") +
         ") ELSE " + latest_signal_sql("") + " END";
}

/// Few sites, iterations, words and values, so that every case occurs; `signals` per site and iteration.
class RandomTrace {
 public:
  RandomTrace(Database& database, unsigned seed) : database_(database), random_(seed) {}

  void fill(int waits, int signals) {
    ASSERT_EQ(database_.execute(create_tables_sql()), 0);
    ASSERT_EQ(database_.execute("INSERT INTO device (id, kind, sm_count, memory_bytes, compute_major, compute_minor, "
                                "host_native_atomics, clock_error_ns) VALUES (0, 1, 1, 1, 1, 1, 1, 5)"),
              0)
        << database_.message();
    for (int i = 0; i < signals; ++i) {
      run("INSERT INTO signal (site_id, device_id, block, warp, sm, iteration, value, at_ns, word_tag, writer) VALUES "
          "(" +
          site() + ", 0, 0, 0, 0, " + iteration() + ", " + (one_in(10) ? "NULL" : value()) + ", " + at(1000) + ", " +
          word() + ", " + (one_in(4) ? "2" : "NULL") + ")");
    }
    for (int i = 0; i < waits; ++i) {
      const std::int64_t arrived = std::stoll(at(1000));
      run("INSERT INTO wait (site_id, device_id, block, warp, sm, iteration, arrived_ns, resumed_ns, polls, "
          "strategy_id, "
          "status, value, word_tag) VALUES (" +
          site() + ", 0, 0, 0, 0, " + iteration() + ", " + std::to_string(arrived) + ", " +
          std::to_string(arrived + std::stoll(at(200))) + ", 1, 0, " + (one_in(10) ? "1" : "0") + ", " + value() +
          ", " + word() + ")");
    }
  }

 private:
  void run(const std::string& sql) { ASSERT_EQ(database_.execute(sql), 0) << database_.message() << ": " << sql; }
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool one_in(int n) { return below(n) == 0; }
  // The words of sites 3 and 4 have other addresses at the waiters.
  std::string site() { return one_in(20) ? "NULL" : std::to_string(site_ = 1 + below(4)); }
  std::string iteration() { return std::to_string(below(3)); }
  std::string at(int most) { return std::to_string(below(most)); }
  std::string word() {
    if (one_in(5)) return "NULL";
    return std::to_string(site_ > 2 ? below(1'000'000) : below(6));
  }
  std::string value() {
    const std::uint32_t values[] = {0, 1, 2, 0x7fffffffu, 0x80000000u, 0xffffffffu, kBitValue, kBitValue + 1};
    return std::to_string(values[below(8)]);
  }

  Database& database_;
  std::mt19937 random_;
  int site_ = 1;
};

void agrees(int waits, int signals) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    const TempFolder folder;
    Database database;
    ASSERT_EQ(database.open(folder / "trace", OpenMode::create), 0);
    ASSERT_EQ(database.execute("BEGIN"), 0);
    RandomTrace(database, seed).fill(waits, signals);
    ASSERT_EQ(database.execute(create_signal_index_sql()), 0);
    ASSERT_EQ(match_signals(database), 0) << database.message();
    EXPECT_EQ(database.integer(differences_sql(), -1), 0) << "seed " << seed;
    EXPECT_GT(database.integer("SELECT count(*) FROM wait WHERE ready_ns IS NOT NULL"), 0);
  }
}

TEST(SignalMatch, FewSignals) { agrees(400, 60); }

// More than the code remembers of one site and iteration.
TEST(SignalMatch, ManySignals) { agrees(200, 6'000); }

}  // namespace
}  // namespace wicprof::store
