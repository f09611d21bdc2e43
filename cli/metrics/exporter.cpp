#include "cli/metrics/exporter.h"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "cli/metrics/otlp.h"
#include "cli/terminal/messages.h"
#include "protocol/thread.h"

namespace wicprof::cli {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using ErrorCode = boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr seconds kInterval{10};
constexpr seconds kPatience{10};            // with a receiver, for one request and its answer
constexpr milliseconds kLastPatience{500};  // the same at the end of the run
constexpr seconds kLongestPause{300};       // that a receiver can ask for
constexpr std::uint32_t kMaxAnswer = 64 << 10;

/// The pause that a busy receiver asks for, if it names seconds.
seconds wanted_pause(const http::response<http::string_body>& answer) {
  const beast::string_view text = answer[http::field::retry_after];
  std::uint32_t pause = 0;
  std::from_chars(text.data(), text.data() + text.size(), pause);
  return std::clamp(seconds(pause), kInterval, kLongestPause);
}

}  // namespace

struct MetricsExporter::State {
  State(const OtlpReceiver& to, std::function<std::string()> the_page)
      : receiver(to), page(std::move(the_page)), endpoint(asio::ip::make_address(to.host), to.port) {}
  ~State();

  /// One attempt, all of it within the stream's deadline.
  void send();
  std::string open();
  void write();
  void read();
  void judge();
  void fail(const ErrorCode& error);
  void done(const std::string& failure, seconds pause = kInterval);
  void end();
  void serve();

  const OtlpReceiver receiver;
  const std::function<std::string()> page;
  const asio::ip::tcp::endpoint endpoint;
  asio::io_context context{1};
  asio::steady_timer timer{context};
  std::optional<beast::tcp_stream> stream;  // during an attempt
  beast::flat_buffer buffer;
  http::request<http::string_body> request;
  std::optional<http::response_parser<http::string_body>> answer;
  bool ending = false, is_last = false, named = false;
  std::thread thread;
};

MetricsExporter::State::~State() {
  if (!thread.joinable()) return;
  asio::post(context, [this] { end(); });
  thread.join();
}

void MetricsExporter::State::send() {
  is_last = ending;
  stream.emplace(context);
  stream->expires_after(is_last ? milliseconds(kLastPatience) : milliseconds(kPatience));
  if (const std::string failure = open(); !failure.empty()) return done(failure);
  stream->async_connect(endpoint, [this](const ErrorCode& error) { error ? fail(error) : write(); });
}

/// The program must not inherit the socket, and Asio's own can be inherited. Returns the failure.
std::string MetricsExporter::State::open() {
  const asio::ip::tcp protocol = endpoint.protocol();
  const int fd = socket(protocol.family(), protocol.type() | SOCK_CLOEXEC, protocol.protocol());
  if (fd < 0) return std::strerror(errno);
  stream->socket().assign(protocol, fd);
  return {};
}

void MetricsExporter::State::write() {
  request = {http::verb::post, receiver.target, 11};
  const bool version_6 = endpoint.address().is_v6();
  request.set(http::field::host,
              fmt::format("{}{}{}:{}", version_6 ? "[" : "", receiver.host, version_6 ? "]" : "", receiver.port));
  request.set(http::field::user_agent, "wic-prof/" WICPROF_VERSION);
  request.set(http::field::content_type, "application/json");
  request.keep_alive(false);
  request.body() = page();
  request.prepare_payload();
  http::async_write(*stream, request, [this](const ErrorCode& error, std::size_t) { error ? fail(error) : read(); });
}

void MetricsExporter::State::read() {
  buffer.clear();
  answer.emplace();
  answer->body_limit(kMaxAnswer);
  http::async_read(*stream, buffer, *answer,
                   [this](const ErrorCode& error, std::size_t) { error ? fail(error) : judge(); });
}

void MetricsExporter::State::judge() {
  const http::response<http::string_body>& got = answer->get();
  if (got.result_int() == 200) return done(rejection(got.body()));
  done(fmt::format("it answered {}", got.result_int()), wanted_pause(got));
}

void MetricsExporter::State::fail(const ErrorCode& error) {
  done(error == beast::error::timeout ? "it did not answer in time" : error.message());
}

void MetricsExporter::State::done(const std::string& failure, seconds pause) {
  stream.reset();
  if (ending && !is_last) return send();
  if (!failure.empty() && !named) {
    named = true;
    warn(fmt::format("metrics do not get to {}: {}{}", receiver.url, failure,
                     is_last ? "" : "; the recording goes on, and wic-prof goes on trying"));
  }
  if (is_last) return;  // nothing is left to do, so that the thread ends
  timer.expires_after(pause);
  timer.async_wait([this](const ErrorCode&) { send(); });
}

/// Ends a pause or an attempt: the last one follows.
void MetricsExporter::State::end() {
  ending = true;
  timer.cancel();
  if (stream) stream->close();
}

void MetricsExporter::State::serve() {
  pthread_setname_np(pthread_self(), "wicprof-otlp");
  try {
    send();
    context.run();
  } catch (const std::exception& e) {
    warn(fmt::format("no more metrics are sent to {}: {}", receiver.url, e.what()));
  }
}

MetricsExporter::MetricsExporter(std::unique_ptr<State> state) : state_(std::move(state)) {}
MetricsExporter::MetricsExporter(MetricsExporter&&) noexcept = default;
MetricsExporter::~MetricsExporter() = default;

Result<MetricsExporter> MetricsExporter::start(const OtlpReceiver& receiver, std::function<std::string()> page) try {
  auto state = std::make_unique<State>(receiver, std::move(page));
  state->thread = start_thread([s = state.get()] { s->serve(); });
  if (!state->thread.joinable()) return unavailable(refused_thread("no metrics would be sent to " + receiver.url));
  return MetricsExporter(std::move(state));
} catch (const std::exception& e) {
  return unavailable(fmt::format("cannot send metrics to {}: {}", receiver.url, e.what()));
}

}  // namespace wicprof::cli
