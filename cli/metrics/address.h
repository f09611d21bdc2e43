// Where metrics are served: never beyond this machine.
#pragma once

#include <cstdint>
#include <string>

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

}  // namespace wicprof::cli
