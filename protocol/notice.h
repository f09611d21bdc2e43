// What the collector has to say to the user, in the trace.
#pragma once

#include <string_view>

#include "protocol/event_sink.h"
#include "protocol/events/notice.h"
#include "protocol/time.h"

namespace wicprof {

/// Any thread. A notice that does not fit the ring is sent later.
inline void write_notice(EventSink& sink, NoticeSeverity severity, std::string_view text) {
  auto event = make_event<NoticeEvent>();
  event.at_ns = now_ns();
  event.text = sink.text(text);
  event.severity = severity;
  sink.write_or_hold(event);
}

}  // namespace wicprof
