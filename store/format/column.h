// The columns of a table. Each column is stated once: its name and SQL type, the member of the event that it is written
// from, and the member of the row that it is read into. One table per file: store/format/tables/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "protocol/events/header.h"
#include "protocol/time.h"
#include "store/format/name.h"
#include "store/format/optional_time.h"
#include "store/sqlite/value.h"

namespace wicprof::store {

using RowId = std::int64_t;
using ProcessId = std::uint32_t;  ///< a pid; 0 = not known

/// What the conversion of an event to a row needs besides the event.
class Lookup {
 public:
  virtual Value text(TextId id) const = 0;                     ///< the id in `string`; NULL for no text or a lost one
  virtual Value host_time(std::uint64_t device_ns) const = 0;  ///< from the clock of the event's device
  virtual Value process() const = 0;                           ///< the owner of the ring that carried the event
  /// The trace's number for a device or site: processes number theirs independently.
  virtual Value device(DeviceId id) const = 0;
  virtual Value site(SiteId id) const = 0;  ///< NULL for 0

 protected:
  ~Lookup() = default;
};

inline constexpr const char* kInteger = "INTEGER";  ///< may be NULL
inline constexpr const char* kKnown = "INTEGER NOT NULL";
inline constexpr const char* kId = "INTEGER PRIMARY KEY";  ///< where the event carries the id; else the row's number
/// The first column of every table whose events do not carry their id.
inline constexpr const char* kProcessColumn = "process_id";

/// The columns that say when a row's event began and ended (the same column twice for an instant). Rows of a table that
/// has them can be cut to windows of time (store/write/retention.h). A table without them holds declarations, or
/// changes with a lasting effect: all of them are kept.
struct RowTime {
  const char* begin;
  const char* end;
};

struct NotRead {};  ///< in place of a row's member: the column is written and not read back

/// `write(event, lookup)` gives the value; `target` is the row's member.
template <class Write, class Target, bool kText, bool kDeviceTime>
struct Column {
  static constexpr bool kIsRead = !std::is_same_v<Target, NotRead>;
  static constexpr bool kIsDeviceTime = kDeviceTime;
  static constexpr bool kIsText = kText;  ///< refers to `string`
  const char* name;
  const char* type;
  Write write;
  Target target;
  std::int64_t since = 0;  ///< the version of the trace file that has the column; 0 = as long as its table

  constexpr Column of_type(const char* other) const { return {name, other, write, target, since}; }
  /// NULL in files of older versions. Such a column comes after those that all versions have.
  constexpr Column since_version(std::int64_t version) const { return {name, type, write, target, version}; }
  template <class RowReader, class Row>
  void read(RowReader& from, Row& to) const;
};

template <std::size_t I, class Column>
struct ColumnAt {
  Column column;
};
template <class Indices, class... Each>
struct ColumnList;
template <std::size_t... I, class... Each>
struct ColumnList<std::index_sequence<I...>, Each...> : ColumnAt<I, Each>... {
  constexpr explicit ColumnList(Each... each) : ColumnAt<I, Each>{each}... {}
  static constexpr std::size_t kSize = sizeof...(Each);
  /// Calls visit(column) for each.
  template <class Visit>
  constexpr void for_each(Visit&& visit) const {
    (visit(static_cast<const ColumnAt<I, Each>&>(*this).column), ...);
  }
};
/// The columns of one table, in their order. Not a std::tuple, which would add a second to the compilation of every
/// file that includes this header.
template <class... Each>
struct Columns : ColumnList<std::index_sequence_for<Each...>, Each...> {
  constexpr Columns(Each... each) : ColumnList<std::index_sequence_for<Each...>, Each...>(each...) {}
};
template <std::size_t I, class Column>
constexpr const Column& column_at(const ColumnAt<I, Column>& list) {
  return list.column;
}

namespace column {

/// A member of an object, given as a pointer to member or as a function of the object.
template <class Member, class Object>
constexpr decltype(auto) member_of(const Member& member, Object& object) {
  if constexpr (std::is_member_pointer_v<Member>) {
    return (object.*member);
  } else {
    return member(object);
  }
}

template <class Array>
struct Element {
  Array array;
  std::size_t index;
  constexpr auto& operator()(auto& object) const { return (object.*array)[index]; }
};
/// One element of a member that is an array.
template <class Array>
constexpr Element<Array> element(Array array, std::size_t index) {
  return {array, index};
}

template <bool kText = false, bool kDeviceTime = false, class Write, class Target>
constexpr Column<Write, Target, kText, kDeviceTime> make(const char* name, const char* type, Write write, Target to) {
  return {name, type, write, to, 0};
}

/// A number that every event has.
template <class Field, class Target = NotRead>
constexpr auto known(const char* name, Field field, Target to = {}) {
  return make(
      name, kKnown, [field](const auto& event, const Lookup&) { return number(member_of(field, event)); }, to);
}

/// A number that is NULL where the event has `kUnknown`.
template <auto kUnknown = 0, class Field, class Target = NotRead>
constexpr auto nullable(const char* name, Field field, Target to = {}) {
  return make(
      name, kInteger,
      [field](const auto& event, const Lookup&) {
        const auto value = member_of(field, event);
        return number_or_null(value, static_cast<std::remove_const_t<decltype(value)>>(kUnknown));
      },
      to);
}

/// A number that is NULL where the event's is negative.
template <class Field, class Target = NotRead>
constexpr auto unless_negative(const char* name, Field field, Target to = {}) {
  return make(
      name, kInteger,
      [field](const auto& event, const Lookup&) {
        const auto value = member_of(field, event);
        return value < 0 ? kNull : number(value);
      },
      to);
}

/// A number that is NULL where the event's `condition` is 0.
template <class Condition, class Field, class Target = NotRead>
constexpr auto known_if(const char* name, Condition condition, Field field, Target to = {}) {
  return make(
      name, kInteger,
      [condition, field](const auto& event, const Lookup&) {
        const auto known = member_of(condition, event);
        return known == std::remove_const_t<decltype(known)>{} ? kNull : number(member_of(field, event));
      },
      to);
}

/// The number of a text; the row gets the text.
template <class Field, class Target = NotRead>
constexpr auto text(const char* name, Field field, Target to = {}) {
  return make<true>(
      name, kInteger, [field](const auto& event, const Lookup& lookup) { return lookup.text(member_of(field, event)); },
      to);
}

template <class Field, class Target = NotRead>
constexpr auto device(const char* name, Field field, Target to = {}) {
  return make(
      name, kKnown, [field](const auto& event, const Lookup& lookup) { return lookup.device(member_of(field, event)); },
      to);
}

template <class Field, class Target = NotRead>
constexpr auto site(const char* name, Field field, Target to = {}) {
  return make(
      name, kInteger, [field](const auto& event, const Lookup& lookup) { return lookup.site(member_of(field, event)); },
      to);
}

/// A time on the clock of the event's device. Events of such a table wait for the first reading of that clock.
template <class Field, class Target = NotRead>
constexpr auto device_time(const char* name, Field field, Target to = {}) {
  return make<false, true>(
      name, kKnown,
      [field](const auto& event, const Lookup& lookup) { return lookup.host_time(member_of(field, event)); }, to);
}

/// Any other value, from `write(event, lookup)`.
template <class Write, class Target = NotRead>
constexpr auto special(const char* name, Write write, Target to = {}) {
  return make(name, kInteger, write, to);
}

/// NULL when the row is written; filled in while recording or at completion.
template <class Target>
constexpr auto filled_in_later(const char* name, Target to) {
  return make(
      name, kInteger, [](const auto&, const Lookup&) { return kNull; }, to);
}

}  // namespace column

template <class Write, class Target, bool kText, bool kDeviceTime>
template <class RowReader, class Row>
void Column<Write, Target, kText, kDeviceTime>::read(RowReader& from, Row& to) const {
  if constexpr (kText) {
    from.text(column::member_of(target, to));
  } else {
    from >> column::member_of(target, to);
  }
}

// Properties that follow from a table's columns.

/// Whether the event carries its id, so that a second declaration adds to the first.
template <class Table>
constexpr bool has_own_id() {
  return std::string_view(column_at<0>(Table::kColumns).type) == kId;
}

/// Whether the recorder may leave out rows, which it does for rows outside the captured time.
template <class Table>
constexpr bool has_time() {
  return requires { Table::kTime; };
}

/// A recording in segments repeats in each segment what still holds: the rows of `earlier.TABLE` for which this SQL is
/// true. The table's kLasting, else all rows of tables without kTime, and none of the others (nullptr).
template <class Table>
constexpr const char* lasting_rows() {
  if constexpr (requires { Table::kLasting; }) {
    return Table::kLasting;
  } else {
    return has_time<Table>() ? nullptr : "1";
  }
}

/// Whether rows are read one by one.
template <class Table>
constexpr bool is_read() {
  return requires { typename Table::Row; };
}

/// Whether rows name the process that they come from.
template <class Table>
constexpr bool has_process() {
  return !has_own_id<Table>() && requires(typename Table::Row & row) { row.process; };
}

/// Whether a column is a time of the event's device.
template <class Table>
constexpr bool has_device_time() {
  bool any = false;
  Table::kColumns.for_each([&](const auto& column) { any = any || column.kIsDeviceTime; });
  return any;
}

/// The process of an event: the one that the event names, else the owner of its ring.
template <class Event>
Value process_of(const Event& event, const Lookup& lookup) {
  if constexpr (requires { event.pid; }) {
    return number(event.pid);
  } else {
    return lookup.process();
  }
}

/// The index of a column in kColumns.
template <class Table>
constexpr std::size_t column_index(std::string_view name) {
  std::size_t index = 0;
  bool found = false;
  Table::kColumns.for_each([&](const auto& column) {
    found = found || column.name == name;
    if (!found) ++index;
  });
  return index;
}

template <class Table>
inline constexpr std::size_t kColumnCount = Table::kColumns.kSize;

}  // namespace wicprof::store
