#include <charconv>

#include "base/error.h"
#include "emulate/kv/publisher.h"

namespace rooflua::emulate {

namespace {

constexpr int last_port = 65535;

/// -1: it is none.
int port_of(std::string_view text) {
  int out = -1;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool whole = problem == std::errc() && end == text.data() + text.size();
  return whole && out >= 0 && out <= last_port ? out : -1;
}

}  // namespace

std::string tcp_address(const std::string& given, int more, const char* option) {
  static constexpr std::string_view scheme = "tcp://";
  std::string_view host = "127.0.0.1", port = given;
  if (given.starts_with(scheme)) {
    const std::string_view rest = std::string_view(given).substr(scheme.size());
    const std::size_t colon = rest.rfind(':');
    host = rest.substr(0, colon == std::string_view::npos ? 0 : colon);
    port = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  }
  const int number = port_of(port);
  if (number < 0 || host.empty())
    throw Error(option, "expected a port or tcp://HOST:PORT, found '" + given + "'");
  if (number > 0 && number + more > last_port)
    throw Error(option, "replica " + std::to_string(more + 1) + " would have port " +
                            std::to_string(number + more) + ", and the last one is 65535");
  return std::string(scheme) + std::string(host) + ":" +
         std::to_string(number == 0 ? 0 : number + more);
}

}  // namespace rooflua::emulate
