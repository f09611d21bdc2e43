// Times are in microseconds since the begin of the picture. A wait takes some 170 bytes and its arrow as much again.
#include <fmt/format.h>

#include <iterator>

#include "reports/parts/json.h"
#include "reports/perfetto/picture.h"

namespace wicprof::reports {
namespace {

/// Without the zeros at its end.
std::string us(TimeNs ns) {
  const bool negative = ns < 0;
  const TimeNs size = negative ? -ns : ns;
  std::string text = fmt::format("{}{}", negative ? "-" : "", size / 1000);
  if (size % 1000 == 0) return text;
  text += fmt::format(".{:03}", size % 1000);
  text.erase(text.find_last_not_of('0') + 1);
  return text;
}

std::string arguments_json(const Arguments& arguments) {
  std::string text;
  for (const Argument& each : arguments) {
    text += fmt::format("{}\"{}\":", text.empty() ? "" : ",", each.key);
    if (const auto* whole = std::get_if<std::uint64_t>(&each.value)) text += std::to_string(*whole);
    if (const auto* number = std::get_if<double>(&each.value)) text += fmt::format("{:.3f}", *number);
    if (const auto* words = std::get_if<std::string>(&each.value)) text += dump_json(*words);
  }
  return text;
}

class Document {
 public:
  template <class... Values>
  void line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  std::string close(const std::string& note) && {
    text_ += "\n],";
    if (!note.empty()) text_ += fmt::format(R"("otherData":{{"left_out":{}}},)", dump_json(note));
    text_ += "\"displayTimeUnit\":\"ns\"}\n";
    return std::move(text_);
  }

 private:
  std::string text_ = "{\"traceEvents\":[";
  bool first_ = true;
};

}  // namespace

std::string chrome_json(const Picture& picture) {
  Document to;
  const auto at = [&](TimeNs time) { return us(time - picture.begin); };
  for (std::size_t i = 0; i < picture.processes.size(); ++i) {
    const auto& [process, name] = picture.processes[i];
    to.line(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", process, dump_json(name));
    to.line(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})", process, i);
  }
  for (const auto& [track, name] : picture.tracks) {
    to.line(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", track.process, track.thread,
            dump_json(name));
    to.line(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", track.process,
            track.thread, track.thread);
  }
  // Names repeat; quoting a name costs more than the rest of its event.
  std::vector<std::string> names;
  for (const std::string& name : picture.names) names.push_back(dump_json(name));
  for (const Picture::Slice& slice : picture.slices) {
    to.line(R"({{"ph":"X","cat":"{}","name":{},"pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", slice.category,
            names[slice.name], slice.track.process, slice.track.thread, at(slice.begin), us(slice.end - slice.begin),
            arguments_json(slice.arguments));
  }
  // After the slices: Perfetto ties an arrow to the slice that is open when the arrow is read.
  for (std::size_t i = 0; i < picture.arrows.size(); ++i) {
    const Picture::Arrow& arrow = picture.arrows[i];
    const Track &from = picture.slices[arrow.from].track, &to_track = picture.slices[arrow.to].track;
    to.line(R"({{"ph":"s","cat":"wake","name":"wake","id":{},"pid":{},"tid":{},"ts":{}}})", i + 1, from.process,
            from.thread, at(arrow.sent));
    to.line(R"({{"ph":"f","bp":"e","cat":"wake","name":"wake","id":{},"pid":{},"tid":{},"ts":{}}})", i + 1,
            to_track.process, to_track.thread, at(arrow.received));
  }
  for (const Picture::Mark& mark : picture.marks) {
    to.line(R"({{"ph":"i","s":"g","cat":"intervention","name":{},"pid":{},"tid":1,"ts":{},"args":{{{}}}}})",
            dump_json(mark.name), kProgram, at(mark.at), arguments_json(mark.arguments));
  }
  for (const Picture::Count& count : picture.counts) {
    const Picture::Counter& counter = picture.counters[count.counter];
    to.line(R"({{"ph":"C","name":{},"pid":{},"ts":{},"args":{{{}:{:.3f}}}}})", dump_json(counter.name), counter.process,
            at(count.at), dump_json(counter.unit), count.value);
  }
  return std::move(to).close(picture.left_out);
}

}  // namespace wicprof::reports
