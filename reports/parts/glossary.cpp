#include "reports/parts/glossary.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <numeric>
#include <utility>

#include "analyzer/rules/list.h"
#include "reports/parts/columns.h"
#include "reports/parts/terms.h"

namespace wicprof::reports {
namespace {

/// Lower case, with one space in place of each separator.
std::string plain(std::string_view word) {
  std::string text;
  for (const char c : word) {
    const bool separates = c == '_' || c == '-' || c == ' ';
    if (separates && (text.empty() || text.back() == ' ')) continue;
    text += separates ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

/// How many characters have to be inserted, deleted or replaced to turn one word into the other (Levenshtein 1966).
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = diagonal + (one[i] == other[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// More edits than this part of a word make another word. Not calibrated.
constexpr std::size_t kLettersPerEdit = 3;
/// Parts of words that are shorter occur in too many words.
constexpr std::size_t kShortestPart = 3;

}  // namespace

std::string_view word_kind_name(WordKind kind) {
  switch (kind) {
    case WordKind::term:
      return "term";
    case WordKind::strategy:
      return "strategy";
    case WordKind::finding:
      return "finding";
    case WordKind::column:
      break;
  }
  return "column";
}

std::vector<Word> glossary() {
  std::vector<Word> all;
  for (const Term& term : kTerms) all.push_back({term.word, WordKind::term, term.meaning});
  for (const Term& term : kStrategyTerms) all.push_back({term.word, WordKind::strategy, term.meaning});
  for (const analyzer::Rule& rule : analyzer::kRules) all.push_back({rule.name, WordKind::finding, rule.what});
  for (const Column& column : kColumns) all.push_back({column.head, WordKind::column, column.meaning});
  for (const Term& term : kFigureColumns) all.push_back({term.word, WordKind::column, term.meaning});
  return all;
}

std::vector<Word> entries_of(std::string_view word) {
  std::vector<Word> found;
  for (const Word& entry : glossary()) {
    if (plain(entry.word) == plain(word)) found.push_back(entry);
  }
  return found;
}

std::vector<std::string_view> nearest_words(std::string_view word, std::size_t most) {
  const std::string wanted = plain(word);
  std::vector<std::pair<std::size_t, std::string_view>> near;  // by the number of edits
  for (const Word& entry : glossary()) {
    const std::string known = plain(entry.word);
    const std::size_t edits = edits_between(wanted, known);
    const bool similar = edits <= std::max<std::size_t>(1, std::max(wanted.size(), known.size()) / kLettersPerEdit);
    const bool part = (wanted.size() >= kShortestPart && known.find(wanted) != known.npos) ||
                      (known.size() >= kShortestPart && wanted.find(known) != wanted.npos);
    const bool named = std::any_of(near.begin(), near.end(), [&](const auto& n) { return n.second == entry.word; });
    if ((similar || part) && !named) near.emplace_back(edits, entry.word);
  }
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < std::min(most, near.size()); ++i) words.push_back(near[i].second);
  return words;
}

}  // namespace wicprof::reports
