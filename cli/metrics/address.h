// Where metrics are served, which is never beyond this machine, and where they are sent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/result.h"

namespace wicprof::cli {

struct MetricsAddress {
  std::string host;        ///< a loopback address; empty: a Unix socket
  std::uint16_t port = 0;  ///< 0: the system picks one
  std::string socket;      ///< path

  bool picks_port() const { return socket.empty() && port == 0; }
};

/// PORT, 127.0.0.1:PORT, [::1]:PORT, or the path of a Unix socket, which has a slash.
Result<MetricsAddress> parse_metrics_address(const std::string& text);

/// Whether the value of a Host header names this machine's loopback, with or without a port. A web page of another
/// site, whose name was made to mean 127.0.0.1, sends its own name.
bool names_loopback(std::string_view host_header);

/// Who receives metrics by OTLP over HTTP.
struct OtlpReceiver {
  std::string host;  ///< an address: names are not resolved, because that can take any time
  std::uint16_t port = 0;
  std::string target;  ///< the path and the query
  std::string url;     ///< as the user wrote it
};

/// http://ADDRESS:PORT[/PATH]. Without a path: OTLP's usual one, /v1/metrics. "localhost" is 127.0.0.1.
Result<OtlpReceiver> parse_otlp_receiver(const std::string& url);

/// What becomes of the metrics of one run.
struct MetricsPlan {
  std::optional<MetricsAddress> served;
  std::optional<OtlpReceiver> sent;

  bool wanted() const { return served || sent; }
};

/// Of the options --metrics and --otlp; nothing: not given.
Result<MetricsPlan> parse_metrics_plan(const std::optional<std::string>& metrics,
                                       const std::optional<std::string>& otlp);

}  // namespace wicprof::cli
