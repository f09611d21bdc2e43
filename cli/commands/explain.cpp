// wic-prof explain: says what a word in the outputs means.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/words/format.h"
#include "analyzer/words/nearest.h"
#include "cli/commands/command.h"
#include "cli/commands/options.h"
#include "cli/files/output_file.h"
#include "cli/terminal/messages.h"
#include "cli/terminal/screen.h"
#include "reports/parts/glossary.h"

namespace wicprof::cli {

namespace {

using reports::Word;
using reports::WordKind;

struct ExplainOptions {
  std::vector<std::string> words;
  std::string format = "text";
};

std::string list_text(const std::vector<Word>& words, const reports::Screen& screen) {
  std::string text;
  for (const auto& [kind, title] :
       {std::pair{WordKind::term, "Terms"}, std::pair{WordKind::strategy, "Strategies: how park waits"},
        std::pair{WordKind::finding, "Findings"}, std::pair{WordKind::column, "Columns of tables"}}) {
    text += fmt::format("{}{}\n", text.empty() ? "" : "\n", title);
    for (const Word& word : words) {
      if (word.kind == kind) text += reports::paragraph(screen, fmt::format("{}: {}", word.word, word.meaning), 2, 4);
    }
  }
  return text;
}

std::string entry_text(const std::vector<Word>& entries, const reports::Screen& screen) {
  std::string text;
  for (const Word& entry : entries) {
    const std::string_view kind = reports::word_kind_name(entry.kind);
    text += reports::paragraph(screen, fmt::format("{} ({}): {}", entry.word, kind, entry.meaning), 0, 2);
  }
  return text;
}

std::string json_text(const std::vector<Word>& words) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Word& word : words) {
    list.push_back({{"word", word.word}, {"kind", reports::word_kind_name(word.kind)}, {"meaning", word.meaning}});
  }
  return nlohmann::ordered_json{{"words", list}}.dump(2) + "\n";
}

int explain(const ExplainOptions& options) {
  const std::string wanted = fmt::format("{}", fmt::join(options.words, " "));
  const std::vector<Word> words = wanted.empty() ? reports::glossary() : reports::entries_of(wanted);
  if (words.empty()) {
    return fail(
        bad_input(fmt::format("'{}' is no word of wic-prof; {}wic-prof explain lists all words",
                              analyzer::one_line(wanted), analyzer::did_you_mean(wanted, reports::glossary_words()))));
  }
  if (options.format == "json") return print_answer(json_text(words));
  const reports::Screen screen = screen_of(STDOUT_FILENO);
  return print_answer(wanted.empty() ? list_text(words, screen) : entry_text(words, screen));
}

}  // namespace

template <>
VerbBody declare<struct ExplainVerb>(CLI::App& verb, const ProgramWords&) {
  const auto options = std::make_shared<ExplainOptions>();
  verb.add_option("WORD", options->words,
                  "a column of a table, a term, a strategy or a finding; without it: all words");
  add_format(verb, options->format);
  add_example(verb, "wic-prof explain wake latency");
  return [options] { return explain(*options); };
}

}  // namespace wicprof::cli
