#include <algorithm>

#include "base/error.h"
#include "base/printable.h"
#include "emulate/client/fetch.h"

namespace rooflua::emulate {

ServerAddress server_address(const std::string& url) {
  const auto refuse = [&url](const std::string& why) -> ServerAddress {
    throw Error("--url " + printable(url), why);
  };
  const std::string scheme = "http://";
  if (url.starts_with("https://"))
    return refuse("only http:// is asked; fetch the pages with curl, and give the files");
  if (!url.starts_with(scheme)) return refuse("expected http://HOST:PORT");
  ServerAddress out;
  out.text = url.ends_with('/') ? url.substr(0, url.size() - 1) : url;
  std::string rest = out.text.substr(scheme.size());
  const bool is_six = rest.starts_with('[');
  const std::size_t end = is_six ? rest.find(']') : std::string::npos;
  if (is_six && end == std::string::npos) return refuse("expected http://HOST:PORT");
  const std::size_t colon = is_six ? rest.find(':', end) : rest.find(':');
  out.host = is_six ? rest.substr(1, end - 1) : rest.substr(0, colon);
  if (out.host.empty() || rest.find_first_of("/?#@ \r\n\t") != std::string::npos)
    return refuse("expected http://HOST:PORT, without a path or a user");
  if (colon == std::string::npos) return out;
  const std::string port = rest.substr(colon + 1);
  const bool is_number =
      !port.empty() && port.size() <= 5 &&
      std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number || std::stoi(port) < 1 || std::stoi(port) > 65535)
    return refuse("a port is a number from 1 to 65535");
  out.port = std::stoi(port);
  return out;
}

}  // namespace rooflua::emulate
