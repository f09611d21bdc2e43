// One row of a query, column by column, with the texts that the row refers to by number.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "store/format/name.h"
#include "store/format/rows.h"
#include "store/sqlite/sqlite.h"
#include "store/sqlite/text_table.h"

namespace wicprof::store {

/// The texts that rows refer to by number: each is looked up once.
class Texts {
 public:
  explicit Texts(Database& database) : database_(database) {}

  Name name(std::int64_t id) {
    if (id == last_id_) return last_;
    const auto [at, added] = known_.try_emplace(id);
    if (added) at->second = look_up(id);
    last_id_ = id;
    return last_ = at->second;
  }

  /// SQLite's code of the first failure, 0 without one. The connection then has the message that belongs to it.
  int outcome() {
    if (code_ != 0) look_up(failed_);
    return code_;
  }

 private:
  Name look_up(std::int64_t id) {
    int code = 0;
    if (!select_) select_ = database_.prepare("SELECT value FROM string WHERE id = ?", code);
    Name name;
    if (code == 0) {
      select_.bind(1, id);
      if (select_.next(code)) name = clipped(select_.text(0));
      select_.reset();
    }
    if (code != 0 && code_ == 0) {
      code_ = code;
      failed_ = id;
    }
    return name;
  }

  Database& database_;
  Statement select_;
  std::unordered_map<std::int64_t, Name> known_;
  std::int64_t last_id_ = 0;  // no text's number
  Name last_;
  int code_ = 0;
  std::int64_t failed_ = 0;
};

/// Reads a row column by column, in the order of the SELECT.
class RowReader {
 public:
  explicit RowReader(const Statement& statement) : statement_(&statement) {}
  RowReader(const Values& values, Texts& texts) : values_(&values), texts_(&texts) {}

  template <class Number>
  RowReader& operator>>(Number& to) {
    to = static_cast<Number>(values_ != nullptr ? values_->integer(column_) : statement_->integer(column_));
    ++column_;
    return *this;
  }
  RowReader& operator>>(std::string& to) {
    to = clipped(values_ != nullptr ? values_->text(column_) : statement_->text(column_));
    ++column_;
    return *this;
  }
  /// A text that programs read, of any length up to `most` bytes; of a longer one the begin.
  void whole_text(std::string& to, std::size_t most) {
    to = (values_ != nullptr ? values_->text(column_) : statement_->text(column_)).substr(0, most);
    ++column_;
  }
  /// The text whose number the column has. Only for rows of Database::scan().
  template <class Text>
  void text(Text& to) {
    to = is_null() ? Name() : texts_->name(values_->integer(column_));
    ++column_;
  }
  template <class Number>
  RowReader& operator>>(std::optional<Number>& to) {
    if (is_null()) {
      to.reset();
      ++column_;
    } else {
      *this >> to.emplace();
    }
    return *this;
  }
  RowReader& operator>>(OptionalTime& to) {
    if (is_null()) {
      to.reset();
      ++column_;
    } else {
      *this >> *to;
    }
    return *this;
  }

 private:
  bool is_null() const { return values_ != nullptr ? values_->is_null(column_) : statement_->is_null(column_); }

  const Statement* statement_ = nullptr;  // either this or values_
  const Values* values_ = nullptr;
  Texts* texts_ = nullptr;
  int column_ = 0;
};

}  // namespace wicprof::store
