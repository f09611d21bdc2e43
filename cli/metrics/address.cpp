#include "cli/metrics/address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <strings.h>
#include <sys/un.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace wicprof::cli {

namespace {

constexpr std::string_view kAddresses =
    "a port such as 9464, 127.0.0.1:9464, [::1]:9464, or the path of a Unix socket with a slash, such as "
    "./metrics.sock";

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return port;
}

struct HostAndPort {
  std::string host;        // without the brackets of IPv6
  std::string_view port;   // empty: none
  bool version_6 = false;  // had brackets
};

/// Nothing: a bracket without its other one, or text between the last bracket and the port's colon.
std::optional<HostAndPort> split(std::string_view text) {
  if (!text.starts_with('[')) {
    const std::size_t colon = std::min(text.rfind(':'), text.size());
    return HostAndPort{std::string(text.substr(0, colon)), text.substr(std::min(colon + 1, text.size())), false};
  }
  const std::size_t end = text.find(']');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(end + 1);
  if (!rest.empty() && rest.front() != ':') return std::nullopt;
  return HostAndPort{std::string(text.substr(1, end - 1)), rest.substr(rest.empty() ? 0 : 1), true};
}

/// Whether an address is one of this machine alone; nothing: it is no address.
std::optional<bool> is_loopback(const std::string& host, bool version_6) {
  if (version_6) {
    in6_addr address{};
    if (inet_pton(AF_INET6, host.c_str(), &address) != 1) return std::nullopt;
    return IN6_IS_ADDR_LOOPBACK(&address);
  }
  in_addr address{};
  if (inet_pton(AF_INET, host.c_str(), &address) != 1) return std::nullopt;
  return ntohl(address.s_addr) >> 24 == 127;
}

}  // namespace

Result<MetricsAddress> parse_metrics_address(const std::string& text) {
  if (text.find('/') != std::string::npos) {
    if (text.size() >= sizeof sockaddr_un::sun_path)
      return bad_input(
          fmt::format("the socket path {} of --metrics is too long: {} bytes at most; choose a shorter one", text,
                      sizeof sockaddr_un::sun_path - 1));
    if (text.back() == '/') return bad_input("--metrics " + text + " is a folder; name a socket in it");
    return MetricsAddress{{}, 0, text};
  }
  const bool has_host = text.find(':') != std::string::npos;
  const std::optional<HostAndPort> parts = has_host ? split(text) : HostAndPort{"127.0.0.1", text, false};
  const std::optional<std::uint16_t> port = parts ? parse_port(parts->port) : std::nullopt;
  const std::optional<bool> loopback = parts ? is_loopback(parts->host, parts->version_6) : std::nullopt;
  if (loopback == false) {
    return bad_input(fmt::format(
        "--metrics {} is not on loopback: others in the network could read it, too. Name {}; what runs on another "
        "machine reads through an agent or a proxy on this one",
        text, kAddresses));
  }
  if (!loopback || !port) return bad_input(fmt::format("--metrics {} is no address: name {}", text, kAddresses));
  return MetricsAddress{parts->host, *port, {}};
}

bool names_loopback(std::string_view host_header) {
  const std::optional<HostAndPort> parts = split(host_header);
  if (!parts || (!parts->port.empty() && !parse_port(parts->port))) return false;
  const bool is_local_name = !parts->version_6 && strcasecmp(parts->host.c_str(), "localhost") == 0;
  return is_local_name || is_loopback(parts->host, parts->version_6) == true;
}

Result<OtlpReceiver> parse_otlp_receiver(const std::string& url) {
  constexpr std::string_view kScheme = "http://";
  const std::string example = "name a receiver such as http://127.0.0.1:4318/v1/metrics";
  if (url.starts_with("https:"))
    return bad_input(
        fmt::format("--otlp {}: wic-prof speaks http alone; name an OpenTelemetry Collector on this machine, which "
                    "can pass metrics on by https",
                    url));
  if (!url.starts_with(kScheme)) return bad_input(fmt::format("--otlp {} is no http address; {}", url, example));
  const std::string_view rest = std::string_view(url).substr(kScheme.size());
  const std::size_t slash = std::min(rest.find_first_of("/?#"), rest.size());
  const std::string_view path = rest.substr(slash);
  const auto is_plain = [](char c) { return c > ' ' && c < 127 && c != '#'; };
  std::optional<HostAndPort> parts = split(rest.substr(0, slash));
  const std::optional<std::uint16_t> port = parts ? parse_port(parts->port) : std::nullopt;
  if (!port || *port == 0 || path.starts_with('?') || !std::all_of(path.begin(), path.end(), is_plain))
    return bad_input(fmt::format("--otlp {} lacks a port, or is no address that wic-prof can use; {}", url, example));
  if (parts->host == "localhost") parts->host = "127.0.0.1";
  if (!is_loopback(parts->host, parts->version_6))
    return bad_input(fmt::format("--otlp {}: '{}' is no IP address, and wic-prof asks no name server; {}", url,
                                 parts->host, example));
  return OtlpReceiver{parts->host, *port, std::string(path.size() > 1 ? path : "/v1/metrics"), url};
}

Result<MetricsPlan> parse_metrics_plan(const std::optional<std::string>& metrics,
                                       const std::optional<std::string>& otlp) {
  MetricsPlan plan;
  if (metrics) {
    Result<MetricsAddress> address = parse_metrics_address(*metrics);
    if (!address) return address.error();
    plan.served = *std::move(address);
  }
  if (otlp) {
    Result<OtlpReceiver> receiver = parse_otlp_receiver(*otlp);
    if (!receiver) return receiver.error();
    plan.sent = *std::move(receiver);
  }
  return plan;
}

}  // namespace wicprof::cli
