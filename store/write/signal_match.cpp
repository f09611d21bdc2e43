#include "store/write/signal_match.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "protocol/bit_value.h"
#include "protocol/time.h"

namespace wicprof::store {

namespace {

struct Signal {
  TimeNs at;
  std::optional<std::uint32_t> value;  // empty: any
  std::optional<std::int64_t> word;
  bool by_program;  // else a copy or another write, which knows no iteration
};

struct Wait {
  std::int64_t site, iteration;
  std::uint32_t value;
  TimeNs arrived, resumed;
  std::optional<std::int64_t> word;
};

std::optional<std::int64_t> integer_or_null(const Values& values, int column) {
  return values.is_null(column) ? std::nullopt : std::optional(values.integer(column));
}

/// Signals of one site and iteration: all, those of one word, or those without a word.
enum class Which : std::uint8_t { all, of_word, without_word };

class Matcher {
 public:
  explicit Matcher(Database& database) : clock_error_(database.integer("SELECT max(clock_error_ns) FROM device")) {
    const auto make = [&](Which which, const char* more) {
      int code = 0;
      queries_[static_cast<std::size_t>(which)] = database.prepare(
          std::string("SELECT at_ns, value, word_tag, writer FROM signal WHERE site_id = ? AND iteration = ? AND at_ns "
                      "<= ?") +
              more + " ORDER BY at_ns DESC",
          code, true);
      if (code != 0) code_ = code;
    };
    make(Which::all, "");
    make(Which::of_word, " AND word_tag = ?");
    make(Which::without_word, " AND word_tag IS NULL");
    if (code_ == 0) find_tagged(database);
  }

  int code() const { return code_; }

  std::optional<TimeNs> ready(const Wait& wait) {
    if (!wait.word || !tagged_.contains(wait.site)) return latest(wait, Which::all);
    const std::optional<TimeNs> of_word = latest(wait, Which::of_word);
    return of_word ? of_word : latest(wait, Which::without_word);
  }

 private:
  static constexpr std::size_t kSlots = 1024;  // lists of signals that are kept
  static constexpr std::size_t kMost = 256;    // signals in a list; longer ones are not kept

  struct Key {
    std::int64_t site, iteration, word;
    Which which;
    bool operator==(const Key&) const = default;
  };
  struct Slot {
    std::optional<Key> key;
    std::vector<Signal> signals;  // the latest first
    bool whole = true;
  };

  /// Tags identify a site's words where both sides see a word at one address: there, at least half of the words waited
  /// on are also signalled (by chance, a few in a hundred would be).
  void find_tagged(Database& database) {
    const auto words_in = [&](const char* sql) {
      std::map<std::int64_t, std::unordered_set<std::int64_t>> words;
      std::pair<std::int64_t, std::int64_t> last{-1, -1};
      Statement rows = database.prepare(sql, code_);
      while (code_ == 0 && rows.next(code_)) {
        const std::pair word{rows.integer(0), rows.integer(1)};
        if (word != std::exchange(last, word)) words[word.first].insert(word.second);
      }
      return words;
    };
    const auto waited =
        words_in("SELECT site_id, word_tag FROM wait WHERE word_tag IS NOT NULL AND site_id IS NOT NULL");
    auto signalled =
        words_in("SELECT site_id, word_tag FROM signal WHERE word_tag IS NOT NULL AND site_id IS NOT NULL");
    for (const auto& [site, words] : waited) {
      const auto& others = signalled[site];
      const auto both = std::count_if(words.begin(), words.end(), [&](auto word) { return others.contains(word); });
      if (2 * static_cast<std::size_t>(both) >= words.size()) tagged_.insert(site);
    }
  }

  std::optional<TimeNs> latest(const Wait& wait, Which which) {
    const TimeNs until = later(wait.resumed, clock_error_);
    const Key key{wait.site, wait.iteration, which == Which::of_word ? *wait.word : 0, which};
    Slot& slot = slots_[hash(key) % kSlots];
    if (slot.key != key) fill(slot, key);
    if (!slot.whole) return search(key, wait, until);
    const auto begin = std::partition_point(slot.signals.begin(), slot.signals.end(),
                                            [&](const Signal& signal) { return signal.at > until; });
    const auto found = std::find_if(begin, slot.signals.end(), [&](const Signal& s) { return ends(s, wait); });
    return found == slot.signals.end() ? std::nullopt : std::optional(found->at);
  }

  /// At the end of all times where the sum is beyond: producers report any time, and any error of a clock.
  static TimeNs later(TimeNs at, TimeNs by) {
    TimeNs sum = 0;
    return __builtin_add_overflow(at, by, &sum) ? std::numeric_limits<TimeNs>::max() : sum;
  }

  static std::size_t hash(const Key& key) {
    std::uint64_t mixed = 0;
    for (const std::int64_t part : {key.site, key.iteration, key.word, static_cast<std::int64_t>(key.which)})
      mixed = (mixed ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15ull;
    return static_cast<std::size_t>(mixed >> 32);
  }

  Statement& begin(const Key& key, TimeNs until) {
    Statement& rows = queries_[static_cast<std::size_t>(key.which)];
    rows.bind(1, key.site);
    rows.bind(2, key.iteration);
    rows.bind(3, until);
    if (key.which == Which::of_word) rows.bind(4, key.word);
    return rows;
  }

  void fill(Slot& slot, const Key& key) {
    slot.key = key;
    slot.signals.clear();
    Statement& rows = begin(key, INT64_MAX);
    while (code_ == 0 && slot.signals.size() <= kMost && rows.next(code_)) slot.signals.push_back(signal_of(rows));
    rows.reset();
    slot.whole = slot.signals.size() <= kMost;
  }

  std::optional<TimeNs> search(const Key& key, const Wait& wait, TimeNs until) {
    std::optional<TimeNs> found;
    Statement& rows = begin(key, until);
    while (code_ == 0 && !found && rows.next(code_)) {
      if (const Signal signal = signal_of(rows); ends(signal, wait)) found = signal.at;
    }
    rows.reset();
    return found;
  }

  static Signal signal_of(const Statement& row) {
    Signal signal{row.integer(0), {}, {}, row.is_null(3)};
    if (!row.is_null(1)) signal.value = static_cast<std::uint32_t>(row.integer(1));
    if (!row.is_null(2)) signal.word = row.integer(2);
    return signal;
  }

  bool ends(const Signal& signal, const Wait& wait) const {
    const std::uint32_t value = signal.value.value_or(wait.value);
    // Copies and other writes of words that a program's own loops poll count for waits of the very word that were in
    // progress, and with the value that ended the wait.
    if (!signal.by_program && (!signal.word || signal.word != wait.word ||
                               later(signal.at, clock_error_) < wait.arrived || value != wait.value)) {
      return false;
    }
    return is_bit_value(wait.value) ? value == wait.value : value - wait.value < 0x80000000u;
  }

  const TimeNs clock_error_;
  int code_ = 0;
  std::array<Statement, 3> queries_;
  std::unordered_set<std::int64_t> tagged_;  // sites
  std::vector<Slot> slots_{kSlots};
};

}  // namespace

int match_signals(Database& database) {
  constexpr const char* kReady = "signalled_ns";
  const auto matcher = std::make_shared<Matcher>(database);
  if (matcher->code() != 0) return matcher->code();
  struct Answer {
    std::int64_t row = -1;
    std::optional<TimeNs> ready;
  };
  // A statement asks twice for each row: whether there is a time, and for the time.
  const auto ready = [matcher, last = std::make_shared<Answer>()](const Values& of) -> std::optional<std::int64_t> {
    if (of.integer(0) != last->row) {
      last->row = of.integer(0);
      const Wait wait{of.integer(1), of.integer(2), static_cast<std::uint32_t>(of.integer(3)),
                      of.integer(4), of.integer(5), integer_or_null(of, 6)};
      last->ready = matcher->ready(wait);
    }
    return last->ready;
  };
  int code = database.provide(kReady, 7, ready);
  if (code != 0) return code;
  // Without a subquery, SQLite changes rows while it reads them; with one, it would collect their numbers first.
  const std::string call = std::string(kReady) + "(id, site_id, iteration, value, arrived_ns, resumed_ns, word_tag)";
  code = database.execute("UPDATE wait SET ready_ns = " + call + " WHERE status = 0 AND site_id IS NOT NULL AND " +
                          call + " IS NOT NULL");
  const int removed = database.provide(kReady, 7, nullptr);
  return code != 0 ? code : matcher->code() != 0 ? matcher->code() : removed;
}

}  // namespace wicprof::store
