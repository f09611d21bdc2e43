#include "analyzer/stuck/view_text.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <tuple>
#include <type_traits>
#include <utility>

namespace wicprof::analyzer {

namespace {

using Json = nlohmann::ordered_json;

/// A field that is a process's number.
template <class Number>
struct ProcessField {
  Number& number;
};
/// A field that is a time; 0 = none.
template <class Time>
struct TimeField {
  Time& at;
};
template <class Number>
auto process(Number& number) {
  return ProcessField<Number>{number};
}
template <class Time>
auto time(Time& at) {
  return TimeField<Time>{at};
}

// Each type's fields, for all who go through them.

template <class Do>
void fields(Do&& f, auto& v, const OpenWait&) {
  f("source", v.source), f("memory", v.memory), f("names_wanted", v.names_wanted), f("releasing", v.releasing);
  f("device", v.device), f("block", v.block), f("blocks", v.blocks), f("warp", v.warp), f("sm", v.sm);
  f("iteration", v.iteration), f("address", v.address), f("value", v.value), f("wanted", v.wanted);
  f("word_tag", v.word_tag), f("relation", v.relation), f("is_64_bit", v.is_64_bit), f("wide_value", v.wide_value);
  f("wide_wanted", v.wide_wanted), f("wanted_mask", v.wanted_mask), f("begin", time(v.begin)), f("seen", time(v.seen));
  f("site", v.site);
}
template <class Do>
void fields(Do&& f, auto& v, const OpenCall&) {
  f("thread", v.thread), f("awaited", v.awaited), f("source", v.source), f("waits_for_word", v.waits_for_word);
  f("names_wanted", v.names_wanted), f("begin", time(v.begin)), f("handle", v.handle), f("stream", v.stream);
  f("iteration", v.iteration), f("wanted", v.wanted), f("name", v.name);
}
template <class Do>
void fields(Do&& f, auto& v, const OpenKernel&) {
  f("thread", v.thread), f("correlation", v.correlation), f("launched", time(v.launched)), f("stream", v.stream);
  f("context", v.context), f("grid", v.grid), f("block", v.block), f("name", v.name);
}
template <class Do>
void fields(Do&& f, auto& v, const OpenMpiRequest&) {
  f("communicator", v.communicator), f("posted", time(v.posted)), f("sequence", v.sequence), f("peer", v.peer);
  f("tag", v.tag), f("operation", v.operation);
}
template <class Do>
void fields(Do&& f, auto& v, const OpenMpiCall&) {
  f("begin", time(v.begin)), f("end", time(v.end)), f("communicator", v.communicator), f("bytes", v.bytes);
  f("thread", v.thread), f("sequence", v.sequence), f("peer", v.peer), f("tag", v.tag), f("requests", v.requests);
  f("operation", v.operation), f("awaited", v.awaited);
}
template <class Do>
void fields(Do&& f, auto& v, const OpenCommunicator&) {
  f("communicator", v.communicator), f("rank", v.rank), f("size", v.size), f("world_rank", v.world_rank);
  f("collectives", v.collectives), f("name", v.name);
}
template <class Do>
void fields(Do&& f, auto& v, const EnqueuedCollective&) {
  f("at", time(v.at)), f("bytes", v.bytes), f("root", v.root), f("operation", v.operation);
}
template <class Do>
void fields(Do&& f, auto& v, const OpenNccl&) {
  f("communicator", v.communicator), f("rank", v.rank), f("size", v.size), f("world_rank", v.world_rank);
  f("thread", v.thread), f("collectives", v.collectives), f("name", v.name), f("last", v.last);
}
template <class Do>
void fields(Do&& f, auto& v, const DumpedCall&) {
  f("communicator", v.communicator), f("number", v.number), f("peer", v.peer), f("sends", v.sends);
  f("started", v.started), f("completed", v.completed), f("at", time(v.at)), f("name", v.name), f("sizes", v.sizes);
  f("place", v.place);
}
template <class Do>
void fields(Do&& f, auto& v, const DumpedGroup&) {
  f("communicator", v.communicator), f("name", v.name), f("members", v.members), f("enqueued", v.enqueued);
}
template <class Do>
void fields(Do&& f, auto& v, const DumpedRank&) {
  f("rank", v.rank), f("knows_starts", v.knows_starts), f("groups", v.groups), f("calls", v.calls);
}
template <class Do>
void fields(Do&& f, auto& v, const analyzer::PythonLine&) {
  f("function", v.function), f("file", v.file), f("line", v.line);
}
template <class Do>
void fields(Do&& f, auto& v, const analyzer::NativeFrame&) {
  f("function", v.function), f("object", v.object);
}
template <class Do>
void fields(Do&& f, auto& v, const SeenThread&) {
  f("process", process(v.process)), f("thread", v.thread), f("name", v.name), f("state", v.state);
  f("kernel_place", v.kernel_place), f("python", v.python), f("native", v.native);
}
template <class Do>
void fields(Do&& f, auto& v, const SeenProcess&) {
  f("pid", process(v.pid)), f("name", v.name), f("rank", v.rank), f("ranks", v.ranks), f("alive", v.alive);
  f("shares_memory", v.shares_memory), f("host", v.host), f("own_pid", v.own_pid), f("seen", v.seen);
  f("until", time(v.until)), f("parent", process(v.parent));
}
template <class Do>
void fields(Do&& f, auto& v, const SeenMessages&) {
  f("process", process(v.process)), f("received", v.received), f("communicator", v.communicator), f("peer", v.peer);
  f("tag", v.tag), f("count", v.count), f("at", time(v.at));
}
template <class Do>
void fields(Do&& f, auto& v, const LastSignal&) {
  f("process", process(v.process)), f("at", time(v.at));
}
template <class Do, class Value>
void fields(Do&& f, auto& v, const OfProcess<Value>&) {
  f("process", process(v.process)), f("value", v.value);
}
template <class Do>
void fields(Do&& f, auto& v, const StuckView&) {
  f("now", time(v.now)), f("by", v.by), f("hung", v.hung), f("has_all_ranks", v.has_all_ranks), f("waits", v.waits);
  f("calls", v.calls), f("call_values", v.call_values), f("kernels", v.kernels), f("mpi_calls", v.mpi_calls);
  f("communicators", v.communicators), f("nccl", v.nccl), f("dumps", v.dumps), f("threads", v.threads),
      f("processes", v.processes);
  f("messages", v.messages), f("signals", v.signals);
  f("sees_calls", v.sees_calls), f("sees_launches", v.sees_launches), f("left_out", v.left_out);
}

template <class Value>
constexpr bool kIsNumber = std::is_arithmetic_v<Value> || std::is_enum_v<Value>;
template <class Value>
constexpr bool kIsText = std::is_same_v<Value, std::string> ||
                         (std::is_array_v<Value> && std::is_same_v<std::remove_extent_t<Value>, char>);
template <class Value>
constexpr bool kIsList = requires(Value& v) {
  std::begin(v), std::end(v);
}
&&!kIsText<Value>;
template <class Value>
constexpr bool kIsOptional = requires(Value v) {
  v.has_value(), *v;
};

/// A value as JSON, without the fields that have their usual values.
class Writer {
 public:
  template <class Value>
  static Json json(const Value& value) {
    if constexpr (std::is_enum_v<Value>) {
      return static_cast<std::underlying_type_t<Value>>(value);
    } else if constexpr (kIsNumber<Value>) {
      return value;
    } else if constexpr (kIsText<Value>) {
      return std::string(std::data(value));
    } else if constexpr (kIsOptional<Value>) {
      return value ? json(*value) : Json(nullptr);
    } else if constexpr (kIsList<Value>) {
      Json list = Json::array();
      for (const auto& each : value) list.push_back(json(each));
      if constexpr (requires { std::tuple_size<Value>::value; }) {
        while (!list.empty() && list.back() == Json::object()) list.erase(list.size() - 1);
      }
      return list;
    } else {
      static const Json usual = all(Value());
      Json object = all(value);
      for (const auto& [name, field] : usual.items()) {
        if (object[name] == field) object.erase(name);
      }
      return object;
    }
  }

  void operator()(const char* name, const auto& field) { to_[name] = json(field); }
  template <class Number>
  void operator()(const char* name, ProcessField<Number> field) {
    to_[name] = field.number;
  }
  template <class Time>
  void operator()(const char* name, TimeField<Time> field) {
    to_[name] = field.at;
  }

 private:
  template <class Value>
  static Json all(const Value& value) {
    Writer writer;
    fields(writer, value, value);
    return std::move(writer.to_);
  }
  Json to_ = Json::object();
};

/// Fields that the JSON does not have stay as they are. Exceptions of nlohmann::json.
class Parser {
 public:
  explicit Parser(const Json& from) : from_(from) {}

  template <class Value>
  static void parse(const Json& from, Value& to) {
    if constexpr (std::is_enum_v<Value>) {
      to = static_cast<Value>(from.get<std::underlying_type_t<Value>>());
    } else if constexpr (std::is_array_v<Value> && kIsText<Value>) {
      copy_name(to, from.get_ref<const std::string&>());
    } else if constexpr (kIsNumber<Value> || kIsText<Value>) {
      from.get_to(to);
    } else if constexpr (kIsOptional<Value>) {
      if (!from.is_null()) parse(from, to.emplace());
    } else if constexpr (requires { to.emplace_back(); }) {
      for (const Json& each : from) parse(each, to.emplace_back());
    } else if constexpr (kIsList<Value>) {
      for (std::size_t i = 0; i < std::min(from.size(), std::size(to)); ++i) parse(from.at(i), to[i]);
    } else {
      (void)from.get_ref<const Json::object_t&>();  // an exception for anything else
      Parser parser(from);
      fields(parser, to, to);
    }
  }

  void operator()(const char* name, auto& field) const {
    if (const auto found = from_.find(name); found != from_.end()) parse(*found, field);
  }
  template <class Number>
  void operator()(const char* name, ProcessField<Number> field) const {
    (*this)(name, field.number);
  }
  template <class Time>
  void operator()(const char* name, TimeField<Time> field) const {
    (*this)(name, field.at);
  }

 private:
  const Json& from_;
};

class Mover {
  static constexpr TimeNs kMostTime = std::numeric_limits<TimeNs>::max() / 2;

 public:
  Mover(TimeNs shift, const ProcessNumbers& number) : shift_(shift), number_(number) {}

  template <class Value>
  void operator()(const char* /*name*/, Value& field) const {
    if constexpr (kIsNumber<Value> || kIsText<Value> || kIsOptional<Value>) {
      return;
    } else if constexpr (kIsList<Value>) {
      for (auto& each : field) (*this)("", each);
    } else {
      fields(*this, field, field);
    }
  }
  template <class Number>
  void operator()(const char* /*name*/, ProcessField<Number> field) const {
    field.number = number_(field.number);
  }
  template <class Time>
  void operator()(const char* /*name*/, TimeField<Time> field) const {
    // Somebody may have changed the trace: no sum may be out of range.
    if (field.at != 0)
      field.at = std::clamp(field.at, -kMostTime, kMostTime) + std::clamp(shift_, -kMostTime, kMostTime);
  }

 private:
  const TimeNs shift_;
  const ProcessNumbers& number_;
};

}  // namespace

std::string view_text(const StuckView& view) {
  return Writer::json(view).dump(-1, ' ', true, Json::error_handler_t::replace);
}

Result<StuckView> view_of(const std::string& text) {
  constexpr int kDeepest = 8;  // who reads a document goes into it level by level
  const Json json = Json::parse(
      text, [](int depth, Json::parse_event_t, Json&) { return depth <= kDeepest; }, false);
  StuckView view;
  try {
    if (!json.is_object()) return bad_input("no JSON");
    Parser::parse(json, view);
  } catch (const nlohmann::json::exception& damage) {
    return bad_input(damage.what());
  }
  // Somebody may have changed the trace.
  view.call_values.resize(view.calls.size());
  constexpr std::int32_t kMostRanks = 1 << 22;
  for (auto& [process, of] : view.communicators) of.size = std::clamp(of.size, 0, kMostRanks);
  for (auto& [process, of] : view.nccl) of.size = std::clamp(of.size, 0, kMostRanks);
  return view;
}

void move_view(StuckView& view, TimeNs shift, const ProcessNumbers& number) { Mover(shift, number)("", view); }

void append_view(StuckView& to, StuckView&& from) {
  const auto append = [](auto& all, auto& more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  };
  append(to.waits, from.waits);
  append(to.calls, from.calls);
  append(to.call_values, from.call_values);
  append(to.kernels, from.kernels);
  append(to.mpi_calls, from.mpi_calls);
  append(to.communicators, from.communicators);
  append(to.nccl, from.nccl);
  append(to.dumps, from.dumps);
  append(to.messages, from.messages);
  append(to.threads, from.threads);
  append(to.processes, from.processes);
  append(to.signals, from.signals);
  append(to.candidates, from.candidates);
  append(to.samples, from.samples);
  to.by = from.by;
  to.has_all_ranks = to.has_all_ranks && from.has_all_ranks;
  to.sees_calls = to.sees_calls || from.sees_calls;
  to.sees_launches = to.sees_launches || from.sees_launches;
  to.left_out += from.left_out;
  to.now = std::max(to.now, from.now);
}

}  // namespace wicprof::analyzer
