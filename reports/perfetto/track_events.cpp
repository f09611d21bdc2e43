// Descriptors of tracks first, then two packets per slice, its begin and its end. Texts that repeat are interned; a
// string of protobuf is UTF-8. The viewer reads packets in order of time, and those of equal time in the document's
// order.
#include <protozero/pbf_builder.hpp>

#include "protocol/plain_text.h"
#include "reports/perfetto/picture.h"

namespace wicprof::reports {
namespace {

// The messages of perfetto/trace/*.proto, with the fields that are written here.
enum class Trace : protozero::pbf_tag_type { packet = 1 };
enum class Packet : protozero::pbf_tag_type {
  timestamp = 8,
  sequence = 10,  // trusted_packet_sequence_id
  event = 11,
  interned = 12,
  flags = 13,  // sequence_flags
  track = 60,
};
enum class TrackDescriptor : protozero::pbf_tag_type {
  uuid = 1,
  name = 2,
  process = 3,
  parent = 5,
  counter = 8,
  ordering = 11,  // child_ordering
  rank = 12,      // sibling_order_rank
};
enum class Process : protozero::pbf_tag_type { pid = 1, name = 6 };
enum class Counter : protozero::pbf_tag_type { unit_name = 6 };
enum class Event : protozero::pbf_tag_type {
  categories = 3,   // category_iids
  annotations = 4,  // debug_annotations
  type = 9,
  name = 10,  // name_iid
  track = 11,
  own_name = 23,  // name
  double_counter = 44,
  flows = 47,
  ending_flows = 48,  // terminating_flow_ids
};
enum class Annotation : protozero::pbf_tag_type { key = 1, whole = 3, number = 5, text = 6 };
enum class Interned : protozero::pbf_tag_type { categories = 1, names = 2, keys = 3 };
enum class Text : protozero::pbf_tag_type { id = 1, text = 2 };

constexpr std::int32_t kBegin = 1, kEnd = 2, kInstant = 3, kCount = 4;  // TrackEvent::Type
constexpr std::uint32_t kCleared = 1, kNeedsInterned = 2;               // SequenceFlags
constexpr std::int32_t kInGivenOrder = 3;                               // ChildTracksOrdering::EXPLICIT
constexpr std::uint32_t kSequence = 1;

// Tracks of a process and counters share its numbers: no track's number needs more than 32 bits.
constexpr int kProcessShift = 34;
constexpr std::uint64_t kIsTrack = 1, kIsCounter = 1ull << 33;
std::uint64_t uuid_of(std::uint64_t process) { return process << kProcessShift; }
std::uint64_t uuid_of(const Track& track) { return uuid_of(track.process) | track.thread << 1 | kIsTrack; }

template <class Tag>
using Builder = protozero::pbf_builder<Tag>;

class Document {
 public:
  explicit Document(TimeNs begin) : begin_(begin) {}

  /// `fill(packet)` writes the packet's content.
  template <class Fill>
  void packet(std::uint32_t flags, const Fill& fill) {
    Builder<Packet> packet(trace_, Trace::packet);
    packet.add_uint32(Packet::sequence, kSequence);
    packet.add_uint32(Packet::flags, flags);
    fill(packet);
  }
  template <class Fill>
  void event(TimeNs at, std::int32_t type, std::uint64_t track, const Fill& fill) {
    packet(kNeedsInterned, [&](Builder<Packet>& packet) {
      packet.add_uint64(Packet::timestamp, static_cast<std::uint64_t>(at - begin_));
      Builder<Event> event(packet, Packet::event);
      event.add_enum(Event::type, type);
      event.add_uint64(Event::track, track);
      fill(event);
    });
  }
  std::string text() && { return std::move(text_); }

 private:
  TimeNs begin_;
  std::string text_;
  Builder<Trace> trace_{text_};
};

/// Numbers of texts, from 1 on in order of their first use.
class Texts {
 public:
  std::uint64_t id(std::string_view text) { return ids_.try_emplace(text, ids_.size() + 1).first->second; }
  void write(Builder<Interned>& to, Interned field) const {
    for (const auto& [text, id] : ids_) {
      Builder<Text> entry(to, field);
      entry.add_uint64(Text::id, id);
      entry.add_string(Text::text, plain_text(text));
    }
  }

 private:
  std::map<std::string_view, std::uint64_t> ids_;
};

void annotate(Builder<Event>& event, const Arguments& arguments, Texts& keys) {
  for (const Argument& each : arguments) {
    Builder<Annotation> annotation(event, Event::annotations);
    annotation.add_uint64(Annotation::key, keys.id(each.key));
    if (const auto* whole = std::get_if<std::uint64_t>(&each.value)) annotation.add_uint64(Annotation::whole, *whole);
    if (const auto* number = std::get_if<double>(&each.value)) annotation.add_double(Annotation::number, *number);
    if (const auto* words = std::get_if<std::string>(&each.value))
      annotation.add_string(Annotation::text, plain_text(*words));
  }
}

void describe_tracks(Document& to, const Picture& picture) {
  const auto describe = [&](std::uint64_t uuid, const auto& fill) {
    to.packet(0, [&](Builder<Packet>& packet) {
      Builder<TrackDescriptor> track(packet, Packet::track);
      track.add_uint64(TrackDescriptor::uuid, uuid);
      fill(track);
    });
  };
  for (const Picture::Process& process : picture.processes) {
    describe(uuid_of(process.number), [&](Builder<TrackDescriptor>& track) {
      track.add_enum(TrackDescriptor::ordering, kInGivenOrder);
      Builder<Process> described(track, TrackDescriptor::process);
      described.add_int32(Process::pid, static_cast<std::int32_t>(process.number));
      described.add_string(Process::name, plain_text(process.name));
    });
  }
  std::vector<std::pair<Track, std::string>> tracks = picture.tracks;
  std::sort(tracks.begin(), tracks.end());
  std::int32_t rank = 0;
  for (const auto& [track, name] : tracks) {
    describe(uuid_of(track), [&, &of = track, &called = name](Builder<TrackDescriptor>& described) {
      described.add_string(TrackDescriptor::name, plain_text(called));
      described.add_uint64(TrackDescriptor::parent, uuid_of(of.process));
      described.add_int32(TrackDescriptor::rank, rank++);
    });
  }
  for (std::size_t i = 0; i < picture.counters.size(); ++i) {
    const Picture::Counter& counter = picture.counters[i];
    describe(uuid_of(counter.process) | kIsCounter | i, [&](Builder<TrackDescriptor>& track) {
      track.add_string(TrackDescriptor::name, plain_text(counter.name));
      track.add_uint64(TrackDescriptor::parent, uuid_of(counter.process));
      track.add_int32(TrackDescriptor::rank, rank++);
      Builder<Counter>(track, TrackDescriptor::counter).add_string(Counter::unit_name, counter.unit);
    });
  }
}

}  // namespace

std::string track_events(const Picture& picture) {
  Texts categories, names, keys;
  for (const std::string& name : picture.names) names.id(name);
  for (const Picture::Slice& slice : picture.slices) {
    categories.id(slice.category);
    for (const Argument& each : slice.arguments) keys.id(each.key);
  }
  for (const Picture::Mark& mark : picture.marks) {
    for (const Argument& each : mark.arguments) keys.id(each.key);
  }
  Document to(picture.begin);
  to.packet(kCleared, [&](Builder<Packet>& packet) {
    Builder<Interned> interned(packet, Packet::interned);
    categories.write(interned, Interned::categories);
    names.write(interned, Interned::names);
    keys.write(interned, Interned::keys);
  });
  describe_tracks(to, picture);

  // A signal may wake several waits. A flow leaves the slice where it begins, and reaches the wait where that ends: in
  // order of time, as the viewer reads flows.
  std::map<std::size_t, std::vector<std::uint64_t>> leaving, reaching;
  for (std::size_t i = 0; i < picture.arrows.size(); ++i) {
    leaving[picture.arrows[i].from].push_back(i + 1);
    reaching[picture.arrows[i].to].push_back(i + 1);
  }
  const auto add_flows = [](Builder<Event>& event, Event field, const auto& of_slices, std::size_t slice) {
    const auto found = of_slices.find(slice);
    if (found == of_slices.end()) return;
    for (const std::uint64_t flow : found->second) event.add_fixed64(field, flow);
  };
  for (std::size_t i = 0; i < picture.slices.size(); ++i) {
    const Picture::Slice& slice = picture.slices[i];
    const std::uint64_t track = uuid_of(slice.track);
    to.event(slice.begin, kBegin, track, [&](Builder<Event>& event) {
      event.add_uint64(Event::categories, categories.id(slice.category));
      event.add_uint64(Event::name, names.id(picture.names[slice.name]));
      annotate(event, slice.arguments, keys);
      add_flows(event, Event::flows, leaving, i);
    });
    to.event(slice.end, kEnd, track,
             [&](Builder<Event>& event) { add_flows(event, Event::ending_flows, reaching, i); });
  }
  for (const Picture::Mark& mark : picture.marks) {
    to.event(mark.at, kInstant, uuid_of(kProgram), [&](Builder<Event>& event) {
      event.add_string(Event::own_name, mark.name);
      annotate(event, mark.arguments, keys);
    });
  }
  for (const Picture::Count& count : picture.counts) {
    const std::uint64_t process = picture.counters[count.counter].process;
    to.event(count.at, kCount, uuid_of(process) | kIsCounter | count.counter,
             [&](Builder<Event>& event) { event.add_double(Event::double_counter, count.value); });
  }
  return std::move(to).text();
}

}  // namespace wicprof::reports
