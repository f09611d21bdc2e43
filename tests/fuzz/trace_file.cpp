// The readers of a trace with damaged bytes and damaged values, up to the analysis and every report.
#include <fstream>
#include <iterator>

#include "analyzer/analysis.h"
#include "analyzer/figures/list.h"
#include "reports/json/answers.h"
#include "reports/render.h"
#include "reports/text/answers.h"
#include "store/read/reader.h"
#include "store/sqlite/sqlite.h"
#include "tests/fuzz/made_records.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

namespace wicprof::fuzz {
namespace {

// A small valid trace: its bytes, its tables with their columns, and its model.
struct Valid {
  struct Table {
    std::string name;
    std::vector<std::string> columns;
  };
  Scratch folder;
  std::string path = folder / "valid.wicprof", damaged = folder / "damaged.wicprof";
  std::string bytes;
  std::vector<Table> tables;
  analyzer::TraceModel model;

  Valid() {
    store::RecorderOptions options;
    options.path = path;
    const std::string script = made_records(12);
    Result<store::Recorder> recorder = store::Recorder::create(options);
    require(static_cast<bool>(recorder), "a trace can be created");
    Bytes input(script);
    play(input, *recorder);
    require(static_cast<bool>(recorder->finish()), "a trace can be finished");
    std::ifstream file(path, std::ios::binary);
    bytes = {std::istreambuf_iterator<char>(file), {}};
    const Result<store::Reader> reader = store::Reader::open(path);
    require(static_cast<bool>(reader), "a valid trace can be opened");
    Result<analyzer::TraceModel> loaded = analyzer::load(*reader, "valid.wicprof");
    require(static_cast<bool>(loaded), "a valid trace can be loaded");
    model = *std::move(loaded);
    store::Database database;
    require(database.open(path, store::OpenMode::read_only) == 0, "a valid trace is a database");
    for (int code = 0; Table & table : names(database, "SELECT name FROM sqlite_schema WHERE type = 'table'", code)) {
      tables.push_back(std::move(table));
    }
    for (Table& table : tables) {
      int code = 0;
      for (Table& column : names(database, "SELECT name FROM pragma_table_info('" + table.name + "')", code)) {
        table.columns.push_back(std::move(column.name));
      }
      require(!table.columns.empty(), "a table has columns");
    }
  }
  static std::vector<Table> names(store::Database& database, const std::string& sql, int& code) {
    std::vector<Table> list;
    store::Statement statement = database.prepare(sql, code);
    while (code == 0 && statement.next(code)) list.push_back({std::string(statement.text(0)), {}});
    return list;
  }
};

const Valid& valid() {
  static const Valid one;
  return one;
}

// One change of values: the table, the rows, the column, the value.
void change(store::Database& database, Bytes& input) {
  const auto& tables = valid().tables;
  const Valid::Table& table = tables[input.take<std::uint8_t>() % tables.size()];
  const std::string& column = table.columns[input.take<std::uint8_t>() % table.columns.size()];
  const auto rows = input.take<std::uint8_t>();
  const std::string where = " WHERE rowid % " + std::to_string((rows & 7) + 1) + " = " + std::to_string(rows >> 3 & 7);
  int code = 0;
  switch (rows >> 6) {
    case 0:
    case 1: {
      store::Statement statement = database.prepare("UPDATE " + table.name + " SET " + column + " = ?" + where, code);
      if (code != 0) return;
      statement.bind(1, static_cast<std::int64_t>(input.number()));
      statement.run();
      return;
    }
    case 2: {
      store::Statement statement = database.prepare("UPDATE " + table.name + " SET " + column + " = ?" + where, code);
      if (code != 0) return;
      const std::string_view text = input.text(input.take<std::uint8_t>());
      if ((rows & 32) != 0) {
        statement.bind_bytes(1, text);
      } else if (!text.empty()) {
        statement.bind(1, text);
      }
      statement.run();
      return;
    }
    default:
      database.execute("DELETE FROM " + table.name + where);
  }
}

}  // namespace

void run(std::string_view text) {
  const std::string& path = valid().damaged;
  Bytes input(text);
  std::string bytes = valid().bytes;
  const auto choices = input.take<std::uint8_t>();
  for (int count = choices & 7; count > 0; --count) {
    const std::size_t at = input.take<std::uint32_t>() % bytes.size();
    const std::string_view other = input.text(input.take<std::uint8_t>() & 15);
    bytes.replace(at, std::min(other.size(), bytes.size() - at), other);
  }
  if ((choices & 0x48) == 0x48) bytes.resize(input.take<std::uint32_t>() % bytes.size());
  for (const char* log : {"-wal", "-shm", "-journal"}) std::filesystem::remove(path + log);  // of the input before
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  if (!input.empty()) {
    store::Database database;
    if (database.open(path, store::OpenMode::read_write) != 0) return;
    database.execute("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY");
    for (int count = 0; count < 8 && !input.empty(); ++count) change(database, input);
  }
  const Result<store::Reader> reader = store::Reader::open(path);
  if (!reader) {
    require(reader.error().message.find("damaged.wicprof") != std::string::npos, "an error names the file");
    return;
  }
  if (const Result<store::Overview> overview = reader->overview()) {
    for (const store::Lane& lane : overview->lanes()) {
      (void)overview->cover(lane.id, overview->begin(), overview->end(), 0);
    }
    (void)overview->range(overview->begin(), overview->end());
  }
  const Result<analyzer::TraceModel> model = analyzer::load(*reader, "damaged.wicprof");
  if (!model) {
    require(model.error().message.find("damaged.wicprof") != std::string::npos, "an error names the file");
    return;
  }
  const analyzer::Analysis analysis = analyzer::analyze(*model);
  const analyzer::Comparison inside = analyzer::compare(*model), between = analyzer::compare(valid().model, *model);
  for (const reports::Format& format : reports::formats()) {
    require(!format.render({*model, analysis, &inside}).empty(), "each report can be made");
  }
  require(!reports::analysis_text(*model, analysis).empty(), "the analysis has a text");
  require(!reports::summary_text(*model, analysis).empty(), "the summary has a text");
  require(!reports::comparison_text(between).empty(), "the comparison has a text");
  require(!reports::analysis_json(*model, analysis).empty(), "the analysis has a document");
  const analyzer::FigureInput figure_input = analyzer::figure_input({&*model});
  for (const analyzer::FigureInfo& figure : analyzer::figures()) figure.make(figure_input);
  const double confidence = analysis.classification.model_confidence;
  require(confidence >= 0 && confidence <= 1, "a confidence is from 0 to 1");
}

std::vector<std::string> seeds() {
  std::vector<std::string> all{std::string(1, '\0'), std::string("\1\x64\0\0\0\2\xff\xff", 8),
                               std::string("\x48\0\x10\0\0", 5)};
  // Each table once: a number, a text, removed rows.
  for (int table = 0; table < 40; ++table) {
    std::string seed(1, '\0');
    for (const std::string& change :
         {std::string("\1\0\x1f", 3), std::string("\2\x82\3abc", 6), std::string("\0\xc9", 2)}) {
      seed += static_cast<char>(table);
      seed += change;
    }
    all.push_back(seed);
  }
  return all;
}

}  // namespace wicprof::fuzz
