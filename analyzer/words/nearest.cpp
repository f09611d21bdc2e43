#include "analyzer/words/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <utility>

namespace wicprof::analyzer {
namespace {

/// More edits than this part of a word make another word. Not calibrated.
constexpr std::size_t kLettersPerEdit = 3;
/// Parts of words that are shorter occur in too many words.
constexpr std::size_t kShortestPart = 3;
constexpr std::size_t kMost = 3;

/// How many characters have to be inserted, deleted, replaced, or swapped with their neighbour, to turn one word into
/// the other (Damerau 1964; no part is changed twice).
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> before_last, last(other.size() + 1), row(other.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    row[0] = i + 1;
    for (std::size_t j = 0; j < other.size(); ++j) {
      row[j + 1] = std::min({last[j] + (one[i] == other[j] ? 0 : 1), row[j] + 1, last[j + 1] + 1});
      if (i > 0 && j > 0 && one[i] == other[j - 1] && one[i - 1] == other[j])
        row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
    }
    before_last = std::exchange(last, row);
  }
  return last.back();
}

}  // namespace

std::string plain_word(std::string_view word) {
  std::string text;
  for (const char c : word) {
    const bool separates = c == '_' || c == '-' || c == ' ';
    if (separates && (text.empty() || text.back() == ' ')) continue;
    text += separates ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::vector<std::string_view> nearest(std::string_view word, const std::vector<std::string_view>& known) {
  const std::string wanted = plain_word(word);
  std::vector<std::pair<std::size_t, std::string_view>> near;  // by the number of edits
  for (const std::string_view each : known) {
    const std::string plain = plain_word(each);
    const std::size_t edits = edits_between(wanted, plain);
    const bool similar = edits <= std::max<std::size_t>(1, std::max(wanted.size(), plain.size()) / kLettersPerEdit);
    const bool part = (wanted.size() >= kShortestPart && plain.find(wanted) != plain.npos) ||
                      (plain.size() >= kShortestPart && wanted.find(plain) != wanted.npos);
    const bool named = std::any_of(near.begin(), near.end(), [&](const auto& n) { return n.second == each; });
    if ((similar || part) && !named) near.emplace_back(edits, each);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < std::min(kMost, near.size()); ++i) words.push_back(near[i].second);
  return words;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string_view>& known) {
  const std::vector<std::string_view> near = nearest(word, known);
  return near.empty() ? std::string() : fmt::format("did you mean {}? ", fmt::join(near, " or "));
}

}  // namespace wicprof::analyzer
