// A web server for one page, on a thread of its own.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cli/metrics/address.h"
#include "protocol/result.h"

namespace wicprof::cli {

class MetricsServer {
 public:
  /// Listens, and answers from now on. `page` makes the text of /metrics, on the server's thread.
  /// Errors: the address is in use or not allowed, or names a file that is no socket.
  static Result<MetricsServer> start(const MetricsAddress& address, std::function<std::string()> page);
  MetricsServer(MetricsServer&&) noexcept;
  /// Whatever clients do: ends at once.
  ~MetricsServer();

  /// For people: the page's address, with the port that the system picked, or the command that reads the socket.
  const std::string& where() const;

 private:
  struct State;
  explicit MetricsServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace wicprof::cli
