#include "analyzer/words/change.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/words/format.h"

namespace wicprof::analyzer {
namespace {

/// Percentages from here on are written without decimals.
constexpr double kWholePercent = 5;
constexpr int kMostDecimals = 2;
/// An end of an interval that is so many times smaller or larger is told as a factor, and the other end with it.
constexpr double kFactorsFrom = 10;

bool is_ratio(double ratio) { return ratio > 0 && std::isfinite(ratio); }

double percent_of(double ratio) { return (ratio - 1) * 100; }

/// The factor by which the larger of both values exceeds the smaller one.
double factor_of(double ratio) { return std::max(ratio, 1 / ratio); }

/// A hair below the limit, so that a factor that is written as "2" is one.
bool is_factor(double ratio) { return factor_of(ratio) >= kFactorFrom * (1 - 1e-9); }

std::string_view word_of(double ratio, ChangeWords words) { return ratio < 1 ? words.less : words.more; }

/// "-6", "+1.4", "+2", "0".
std::string signed_number(double percent, int decimals) {
  std::string number = fmt::format("{:+.{}f}", percent, decimals);
  if (number.find_first_not_of("+-0.") == std::string::npos) return "0";
  if (decimals > 0) number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

int decimals_of(double percent) { return std::fabs(percent) < kWholePercent ? 1 : 0; }

/// "121", "4.93", "1,360".
std::string factor_number(double factor) {
  if (factor >= 999.5) return format_count(static_cast<std::uint64_t>(std::min(std::round(factor), 1e18)));
  return fmt::format("{:.3g}", factor);
}

std::string factor_words(double ratio, ChangeWords words) {
  return fmt::format("{} times {}", factor_number(factor_of(ratio)), word_of(ratio, words));
}

}  // namespace

std::string change_text(double ratio, ChangeWords words) {
  if (!is_ratio(ratio)) return "unknown";
  if (is_factor(ratio)) return factor_words(ratio, words);
  const double percent = percent_of(ratio);
  return signed_number(percent, decimals_of(percent)) + " %";
}

std::string change_interval_text(const ChangeRange& change, ChangeWords words) {
  if (!is_ratio(change.value)) return "unknown";
  const bool low_known = is_ratio(change.low) && change.value / change.low < kNoBound;
  const bool high_known = is_ratio(change.high) && change.high / change.value < kNoBound;
  if (!low_known && !high_known) return fmt::format("no bound, neither {} nor {}", words.less, words.more);
  if (!low_known) return fmt::format("{} to {}, no upper bound", change_text(change.high, words), words.less);
  if (!high_known) return fmt::format("{} to {}, no upper bound", change_text(change.low, words), words.more);
  // Both ends are told as the value is.
  if (is_factor(change.value) || change.low < 1 / kFactorsFrom || change.high > kFactorsFrom) {
    const bool less = change.high <= 1, more = change.low >= 1;
    if (!less && !more)
      return fmt::format("{} to {}", factor_words(change.low, words), factor_words(change.high, words));
    // The smaller factor comes first.
    const double first = less ? change.high : change.low, last = less ? change.low : change.high;
    return fmt::format("{} to {}", factor_number(factor_of(first)), factor_words(last, words));
  }
  // Enough decimals for two different ends to look different.
  const auto end = [](double ratio, int decimals) {
    return signed_number(percent_of(ratio), std::max(decimals, decimals_of(percent_of(ratio)))) + " %";
  };
  int decimals = 0;
  while (decimals < kMostDecimals && end(change.low, decimals) == end(change.high, decimals)) ++decimals;
  return fmt::format("{} to {}", end(change.low, decimals), end(change.high, decimals));
}

std::string comparative_text(double ratio, ChangeWords words, std::string_view same) {
  if (!is_ratio(ratio)) return "unknown";
  if (is_factor(ratio)) return factor_words(ratio, words);
  const double percent = percent_of(ratio);
  const std::string number = signed_number(percent, decimals_of(percent));
  if (number == "0") return std::string(same);
  return fmt::format("{} % {}", number.substr(1), word_of(ratio, words));
}

std::string comparative_interval_text(double low, double high, ChangeWords words) {
  if (!is_ratio(low) || !is_ratio(high)) return "unknown";
  if (is_factor(low) && is_factor(high)) return change_interval_text({low, low, high}, words);
  // The smaller change comes first.
  std::string first = comparative_text(low, words), last = comparative_text(high, words);
  if (high <= 1) std::swap(first, last);
  const std::string word = fmt::format(" {}", low < 1 ? words.less : words.more);
  const bool same_unit = is_factor(low) == is_factor(high);
  if (same_unit && first.ends_with(word) && last.ends_with(word)) first.resize(first.size() - word.size());
  return first == last ? first : fmt::format("{} to {}", first, last);
}

}  // namespace wicprof::analyzer
