#pragma once
// What a server answers to a GET: for `rooflua attach --url`. Needs libevent, as the emulated
// server does.

#include <optional>
#include <string>

namespace rooflua::emulate {

/// A server that a person names: "http://host:8000", without a path behind it.
struct ServerAddress {
  std::string text, host;
  int port = 80;
};

/// @throws Error for another scheme, a path, user names, or a port that is none
ServerAddress server_address(const std::string& url);

/// The body of the answer to GET `path`; nothing where the server has no such page (another status
/// than 200). A redirection is not followed: no other address is asked.
/// @param most_bytes  of the body
/// @param timeout_s   of the whole exchange
/// @throws Error where nobody answers there, or with a longer body
std::optional<std::string> fetch(const ServerAddress& server, const std::string& path,
                                 std::size_t most_bytes, int timeout_s);

}  // namespace rooflua::emulate
