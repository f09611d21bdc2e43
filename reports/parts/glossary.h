// All words that the outputs use, each with what it means: columns, terms, strategies and findings.
#pragma once

#include <string_view>
#include <vector>

namespace wicprof::reports {

enum class WordKind { term, strategy, finding, column };
/// "term", ...
std::string_view word_kind_name(WordKind kind);

struct Word {
  std::string_view word;
  WordKind kind = WordKind::term;
  std::string_view meaning;
};

/// By kind, and as their lists order them. A word has several entries if tables use it differently.
std::vector<Word> glossary();

/// The entries of a word, whatever its case and whether it is written with spaces, '_' or '-'.
std::vector<Word> entries_of(std::string_view word);

/// The words of glossary().
std::vector<std::string_view> glossary_words();

}  // namespace wicprof::reports
