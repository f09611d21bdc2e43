#include "rewriter/text/module.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "code/toolkit_files.h"

namespace wicprof::rewriter {

namespace {

int number_of(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

const std::set<std::string_view> kLinkage = {".visible", ".weak", ".extern", ".common"};
const std::set<std::string_view> kVariables = {".global", ".const",      ".shared",  ".tex",
                                               ".texref", ".samplerref", ".surfref", ".alias"};
const std::set<std::string_view> kDeclarations = {".reg", ".param", ".local", ".shared", ".const", ".global"};

class Reader {
 public:
  Reader(std::string_view text, std::vector<Token> tokens) : text_(text), tokens_(std::move(tokens)) {
    module_.text = text;
  }

  Result<Module> read() {
    // nvcc writes the names of files last.
    while (at_ < tokens_.size()) {
      if (is(".file")) {
        read_file();
      } else {
        ++at_;
      }
    }
    at_ = 0;
    while (at_ < tokens_.size() && error_.empty()) read_part();
    if (!error_.empty()) return bad_input(error_);
    if (module_.version_major == 0 || module_.target.empty()) {
      return bad_input("no .version or no .target: this is not a PTX module");
    }
    return std::move(module_);
  }

 private:
  bool done() const { return at_ >= tokens_.size(); }
  const Token& now() const { return tokens_[at_]; }
  bool is(std::string_view text) const { return !done() && now().text == text; }
  bool is_word() const { return !done() && now().kind == TokenKind::word; }
  std::size_t end_of_last() const {
    const std::size_t read = std::min(at_, tokens_.size());
    return read == 0 ? 0 : tokens_[read - 1].range.end;
  }

  void refuse(const std::string& what) {
    if (!error_.empty()) return;
    const std::size_t byte = done() ? text_.size() : now().range.begin;
    error_ = "line " + std::to_string(line_of(text_, byte)) + ": " + what;
    if (!done()) error_ += " ('" + std::string(now().text.substr(0, 40)) + "')";
  }
  /// Skips the token; refuses the module if another token stands here.
  bool expect(std::string_view text) {
    if (is(text)) {
      ++at_;
      return true;
    }
    refuse("expected '" + std::string(text) + "'");
    return false;
  }
  std::string_view take_word() {
    if (!is_word()) {
      refuse("expected a name");
      return {};
    }
    return tokens_[at_++].text;
  }
  /// Skips up to and with the semicolon that ends a statement; those inside braces do not.
  void skip_statement() {
    int depth = 0;
    for (; !done(); ++at_) {
      if (is("{")) ++depth;
      if (is("}") && --depth < 0) break;
      if (is(";") && depth == 0) {
        ++at_;
        return;
      }
    }
    refuse("a statement has no end");
  }
  void skip_braces() {
    int depth = 0;
    for (; !done(); ++at_) {
      if (is("{")) ++depth;
      if (is("}") && --depth == 0) {
        ++at_;
        return;
      }
    }
    refuse("a brace has no counterpart");
  }

  void read_part() {
    const std::size_t begin = now().range.begin;
    if (is(".version")) return read_version();
    if (is(".target")) return read_target();
    if (is(".address_size")) {
      ++at_;
      module_.is_64_bit = is("64");
      ++at_;
      module_.after_header = end_of_last();
    } else if (is(".file")) {
      read_file();
    } else if (is(".section")) {
      at_ += 2;
      skip_braces();
    } else if (is(";")) {
      ++at_;
    } else if (is(".pragma") || (is_word() && kVariables.contains(now().text))) {
      skip_statement();
    } else {
      while (is_word() && kLinkage.contains(now().text)) ++at_;
      if (is(".entry") || is(".func")) return read_function(begin);
      if (is_word() && kVariables.contains(now().text)) return skip_statement();
      refuse("unknown syntax");
    }
  }
  void read_version() {
    ++at_;
    if (done()) return refuse("no version");
    const std::string_view version = now().text;
    module_.version_major = number_of(version);
    const std::size_t dot = version.find('.');
    if (dot != std::string_view::npos) module_.version_minor = number_of(version.substr(dot + 1));
    ++at_;
    module_.after_header = end_of_last();
  }
  void read_target() {
    ++at_;
    while (is_word() && now().text.front() != '.') {
      if (now().text.starts_with("sm_")) {
        module_.target = now().text;
        module_.target_architecture = number_of(now().text.substr(3));
      }
      ++at_;
      if (!is(",")) break;
      ++at_;
    }
    module_.after_header = end_of_last();
  }
  void read_file() {
    ++at_;
    if (done() || now().kind != TokenKind::number) return refuse("a .file without a number");
    const int number = number_of(now().text);
    ++at_;
    if (done() || now().kind != TokenKind::string) return refuse("a .file without a name");
    std::string& name = module_.files[number] = std::string(now().text.substr(1, now().text.size() - 2));
    if (is_toolkit_file(name)) toolkit_files_.insert(number);
    ++at_;
    while (is(",")) at_ += 2;  // time and size of the file
  }

  std::vector<Parameter> read_parameters() {
    std::vector<Parameter> parameters;
    if (!expect("(")) return parameters;
    std::string_view last;
    while (!done() && !is(")")) {
      if (is("[")) {
        while (!done() && !is("]")) ++at_;
      } else if (is(",")) {
        parameters.push_back({last});
        last = {};
      } else if (is_word()) {
        last = now().text;
      }
      if (!done()) ++at_;
    }
    if (!last.empty()) parameters.push_back({last});
    expect(")");
    return parameters;
  }

  void read_function(std::size_t begin) {
    Function function;
    function.is_entry = is(".entry");
    ++at_;
    while (is(".attribute")) {
      ++at_;
      read_parameters();
    }
    if (is("(")) function.results = read_parameters();
    function.name = take_word();
    if (is("(")) function.parameters = read_parameters();
    // Directives about performance; each .pragma has a semicolon of its own.
    while (!done() && !is("{") && !is(";")) {
      if (is(".pragma")) {
        skip_statement();
      } else if (is("}")) {
        return refuse("unknown syntax");
      } else {
        ++at_;
      }
    }
    function.header = {begin, end_of_last()};
    if (is(";")) {
      ++at_;
    } else if (is("{")) {
      function.has_body = true;
      read_body(function);
    } else {
      return refuse("a function has no end");
    }
    if (function.has_body) module_.bodies.try_emplace(function.name, module_.functions.size());
    module_.functions.push_back(std::move(function));
  }

  void read_body(Function& function) {
    function.body.begin = now().range.begin;
    ++at_;
    function.scopes = {-1};
    places_.clear();
    newest_.clear();
    int scope = 0, place = -1;
    while (error_.empty()) {
      if (done()) return refuse("a function has no end");
      Statement statement;
      statement.range.begin = now().range.begin;
      statement.scope = scope;
      if (is("{")) {
        ++at_;
        statement.kind = StatementKind::open;
        function.scopes.push_back(scope);
        scope = static_cast<int>(function.scopes.size()) - 1;
        statement.scope = scope;
      } else if (is("}")) {
        ++at_;
        if (scope == 0) {
          function.body.end = end_of_last();
          return;
        }
        statement.kind = StatementKind::close;
        scope = function.scopes[static_cast<std::size_t>(scope)];
      } else if (is(";")) {
        ++at_;
      } else if (is(".loc")) {
        read_loc(function, place);
      } else if (is(".file")) {
        read_file();
      } else {
        read_statement(statement);
      }
      statement.range.end = end_of_last();
      statement.place = place;
      function.statements.push_back(std::move(statement));
    }
  }

  /// A place as .loc has it: file, line, column.
  using Location = std::array<int, 3>;

  /// .loc FILE LINE COLUMN [, function_name NAME [+ N], inlined_at FILE LINE COLUMN]
  /// The last place is that of an earlier .loc, which may be inlined itself.
  void read_loc(Function& function, int& place) {
    ++at_;
    Location here{};
    if (!read_location(here)) return;
    Location caller = here;
    while (is(",")) {
      ++at_;
      if (is("function_name")) {
        at_ += 2;
        if (is("+")) at_ += 2;
      } else if (is("inlined_at")) {
        ++at_;
        if (!read_location(caller)) return;
      } else {
        return refuse("unknown syntax in .loc");
      }
    }
    int called_at = -1;
    if (caller != here) {
      const auto [known, is_new] = newest_.try_emplace(caller, -1);
      if (is_new) known->second = add_place(function, caller, -1);
      called_at = known->second;
    }
    const int found = add_place(function, here, called_at);
    newest_[here] = found;
    if (found >= 0) place = found;
  }
  /// Line 0 is code that the compiler added: the caller's place, or the place before, tells more.
  int add_place(Function& function, const Location& at, int caller) {
    if (at[1] == 0) return caller;
    const auto [known, is_new] = places_.try_emplace({at, caller}, static_cast<int>(function.places.size()));
    if (is_new) {
      const bool is_outside = caller >= 0 && toolkit_files_.contains(at[0]);
      function.places.push_back({is_outside ? function.place_at(caller) : SourcePlace{at[0], at[1]}, caller});
    }
    return known->second;
  }
  bool read_location(Location& location) {
    for (int& number : location) {
      if (done() || now().kind != TokenKind::number) {
        refuse("a .loc without its numbers");
        return false;
      }
      number = number_of(now().text);
      ++at_;
    }
    return true;
  }

  void read_statement(Statement& statement) {
    if (is("@")) {
      ++at_;
      if (is("!")) {
        statement.guard_negated = true;
        ++at_;
      }
      statement.guard = take_word();
      if (!is_word()) return refuse("a predicate without an instruction");
    }
    if (!is_word()) return refuse("unknown syntax");
    if (statement.guard.empty() && at_ + 1 < tokens_.size() && tokens_[at_ + 1].text == ":" &&
        now().text.front() != '.') {
      statement.kind = StatementKind::label;
      statement.tokens.push_back(now());
      at_ += 2;
      return;
    }
    const std::string_view first = now().text;
    if (first.front() != '.') {
      statement.kind = StatementKind::instruction;
    } else if (kDeclarations.contains(first)) {
      statement.kind = StatementKind::declaration;
    } else if (first == ".branchtargets") {
      statement.kind = StatementKind::targets;
    } else if (first != ".pragma" && first != ".callprototype" && first != ".calltargets") {
      return refuse("unknown syntax");
    }
    const std::size_t begin = at_;
    skip_statement();
    if (!error_.empty()) return;
    statement.tokens.assign(tokens_.begin() + static_cast<std::ptrdiff_t>(begin),
                            tokens_.begin() + static_cast<std::ptrdiff_t>(at_) - 1);
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::string error_;
  std::set<int> toolkit_files_;
  // Of the function, in Function::places: each place by its caller, and the last one of a location.
  std::map<std::pair<Location, int>, int> places_;
  std::map<Location, int> newest_;
  Module module_;
};

}  // namespace

Result<Module> read_module(std::string_view text) {
  Result<std::vector<Token>> tokens = tokens_of(text);
  if (!tokens) return tokens.error();
  return Reader(text, *std::move(tokens)).read();
}

}  // namespace wicprof::rewriter
