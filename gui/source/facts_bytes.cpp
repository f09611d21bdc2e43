// Facts as bytes: each member in turn, by the same walk for writing and reading.
#include <cstring>
#include <map>
#include <type_traits>
#include <utility>

#include "gui/source/facts.h"
#include "gui/source/members.h"

namespace wicprof::gui {

namespace {

template <class Base, class T>
auto& as_base(T& value) {
  return static_cast<std::conditional_t<std::is_const_v<T>, const Base, Base>&>(value);
}

template <class Archive, class T>
void visit(Archive& archive, T& value);

template <class Archive, class... Part>
void visit_all(Archive& archive, Part&... part) {
  (visit(archive, part), ...);
}

template <class T>
constexpr bool kIsContainer = false;
template <>
constexpr bool kIsContainer<std::string> = true;
template <class T>
constexpr bool kIsContainer<std::vector<T>> = true;
template <class T>
constexpr bool kIsContainer<std::optional<T>> = true;
template <class Key, class T>
constexpr bool kIsContainer<std::map<Key, T>> = true;
template <class A, class B>
constexpr bool kIsContainer<std::pair<A, B>> = true;

template <class Archive, class T>
void visit(Archive& archive, T& value) {
  using Plain = std::remove_const_t<T>;
  if constexpr (std::is_arithmetic_v<Plain> || std::is_enum_v<Plain>) {
    archive.raw(value);
  } else if constexpr (kIsContainer<Plain>) {
    archive.container(value);
  } else if constexpr (std::is_same_v<Plain, std::shared_ptr<const analyzer::TraceModel>>) {
    // Not sent: facts from another process have no model.
  } else if constexpr (std::is_same_v<Plain, analyzer::FigureCell>) {
    // visit_members() takes aggregates without bases only: this one, and those below, are written out.
    visit_all(archive, value.is_text, value.is_number, value.text, value.number);
  } else if constexpr (std::is_same_v<Plain, analyzer::PairAnswer>) {
    visit_all(archive, as_base<analyzer::CommunicationAnswer>(value), value.first, value.second, value.forth,
              value.back);
  } else if constexpr (std::is_same_v<Plain, analyzer::SiteAnswer>) {
    visit_all(archive, as_base<analyzer::CommunicationAnswer>(value), value.site, value.name, value.messages);
  } else if constexpr (std::is_same_v<Plain, analyzer::Classification>) {
    visit_all(archive, as_base<analyzer::CommunicationAnswer>(value), value.pairs, value.sites);
  } else if constexpr (std::is_same_v<Plain, analyzer::Difference>) {
    visit_all(archive, as_base<analyzer::JudgedRatio>(value), value.before_count, value.after_count,
              value.before_p50_ns, value.after_p50_ns);
  } else if constexpr (std::is_same_v<Plain, analyzer::SiteDifference>) {
    visit_all(archive, as_base<analyzer::Difference>(value), value.site, value.place, value.before_cpu,
              value.after_cpu);
  } else if constexpr (std::is_same_v<Plain, analyzer::EdgeDifference>) {
    visit_all(archive, as_base<analyzer::Difference>(value), value.from, value.to, value.site, value.clock_error_ns);
  } else if constexpr (std::is_same_v<Plain, analyzer::MeterDifference>) {
    visit_all(archive, as_base<analyzer::JudgedRatio>(value), value.meter, value.before_windows, value.after_windows,
              value.before_watts, value.after_watts);
  } else {
    visit_members(value, [&archive](auto&... member) { (visit(archive, member), ...); });
  }
}

class Packer {
 public:
  std::string bytes;

  template <class T>
  void raw(const T& value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void container(const std::string& text) {
    raw(text.size());
    bytes += text;
  }
  template <class T>
  void container(const std::vector<T>& list) {
    raw(list.size());
    for (const T& one : list) visit(*this, one);
  }
  template <class Key, class T>
  void container(const std::map<Key, T>& map) {
    raw(map.size());
    for (const auto& one : map) visit(*this, one);
  }
  template <class T>
  void container(const std::optional<T>& value) {
    raw(value.has_value());
    if (value) visit(*this, *value);
  }
  template <class A, class B>
  void container(const std::pair<A, B>& value) {
    visit(*this, value.first);
    visit(*this, value.second);
  }
};

class Unpacker {
 public:
  explicit Unpacker(std::string_view bytes) : bytes_(bytes) {}
  bool good = true;
  bool at_end() const { return at_ == bytes_.size(); }

  template <class T>
  void raw(T& value) {
    if (bytes_.size() - at_ < sizeof value) {
      good = false;
      value = {};
      return;
    }
    if constexpr (std::is_same_v<T, bool>) {  // a bool with another byte is undefined behaviour
      good = good && (bytes_[at_] == 0 || bytes_[at_] == 1);
      value = bytes_[at_] == 1;
    } else {
      std::memcpy(&value, bytes_.data() + at_, sizeof value);
    }
    at_ += sizeof value;
  }
  void container(std::string& text) {
    const std::size_t size = size_of_list();
    text = bytes_.substr(at_, size);
    at_ += size;
  }
  template <class T>
  void container(std::vector<T>& list) {
    const std::size_t size = size_of_list();
    for (std::size_t i = 0; i < size && good; ++i) visit(*this, list.emplace_back());
  }
  template <class Key, class T>
  void container(std::map<Key, T>& map) {
    const std::size_t size = size_of_list();
    for (std::size_t i = 0; i < size && good; ++i) {
      std::pair<Key, T> one;
      visit(*this, one);
      map.insert(std::move(one));
    }
  }
  template <class T>
  void container(std::optional<T>& value) {
    bool has_value = false;
    raw(has_value);
    if (has_value) visit(*this, value.emplace());
  }
  template <class A, class B>
  void container(std::pair<A, B>& value) {
    visit(*this, value.first);
    visit(*this, value.second);
  }

 private:
  /// A list's size; refuses more elements than bytes are left, since each takes at least one.
  std::size_t size_of_list() {
    std::size_t size = 0;
    raw(size);
    if (size > bytes_.size() - at_) {
      good = false;
      return 0;
    }
    return size;
  }
  std::string_view bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::string pack_facts(const Facts& facts) {
  Packer packer;
  visit(packer, facts);
  return std::move(packer.bytes);
}

std::optional<Facts> unpack_facts(std::string_view bytes) {
  Unpacker unpacker(bytes);
  Facts facts;
  visit(unpacker, facts);
  if (!unpacker.good || !unpacker.at_end()) return std::nullopt;
  return facts;
}

}  // namespace wicprof::gui
