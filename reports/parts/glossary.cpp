#include "reports/parts/glossary.h"

#include "analyzer/rules/list.h"
#include "analyzer/words/nearest.h"
#include "reports/parts/columns.h"
#include "reports/parts/terms.h"

namespace wicprof::reports {

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
    if (analyzer::plain_word(entry.word) == analyzer::plain_word(word)) found.push_back(entry);
  }
  return found;
}

std::vector<std::string_view> glossary_words() {
  std::vector<std::string_view> words;
  for (const Word& entry : glossary()) words.push_back(entry.word);
  return words;
}

}  // namespace wicprof::reports
