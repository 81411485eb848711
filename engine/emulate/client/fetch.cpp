#include "emulate/client/fetch.h"

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include <memory>

#include "base/error.h"

namespace rooflua::emulate {

namespace {

struct Answer {
  event_base* loop = nullptr;
  int status = 0;  // 0: none came
  std::string body;
};

void on_answer(evhttp_request* request, void* data) {
  auto& answer = *static_cast<Answer*>(data);
  event_base_loopbreak(answer.loop);
  if (request == nullptr) return;
  answer.status = evhttp_request_get_response_code(request);
  evbuffer* input = evhttp_request_get_input_buffer(request);
  answer.body.resize(evbuffer_get_length(input));
  evbuffer_remove(input, answer.body.data(), answer.body.size());
}

}  // namespace

std::optional<std::string> fetch(const ServerAddress& server, const std::string& path,
                                 std::size_t most_bytes, int timeout_s) {
  const auto fail = [&](const std::string& why) -> std::optional<std::string> {
    throw Error("--url " + server.text, "GET " + path + ": " + why);
  };
  Answer answer;  // outlives the connection, whose end may still report to it
  const std::unique_ptr<event_base, decltype(&event_base_free)> loop(event_base_new(),
                                                                     event_base_free);
  const std::unique_ptr<evhttp_connection, decltype(&evhttp_connection_free)> connection(
      evhttp_connection_base_new(loop.get(), nullptr, server.host.c_str(),
                                 static_cast<std::uint16_t>(server.port)),
      evhttp_connection_free);
  if (connection == nullptr) return fail("no connection");
  evhttp_connection_set_timeout(connection.get(), timeout_s);
  evhttp_connection_set_max_body_size(connection.get(), static_cast<ev_ssize_t>(most_bytes));
  answer.loop = loop.get();
  evhttp_request* request = evhttp_request_new(on_answer, &answer);  // the connection owns it
  evkeyvalq* headers = evhttp_request_get_output_headers(request);
  const std::string host = server.text.substr(server.text.find("//") + 2);
  evhttp_add_header(headers, "Host", host.c_str());
  evhttp_add_header(headers, "Connection", "close");
  if (evhttp_make_request(connection.get(), request, EVHTTP_REQ_GET, path.c_str()) != 0)
    return fail("no connection");
  const timeval limit{timeout_s, 0};
  event_base_loopexit(loop.get(), &limit);
  event_base_dispatch(loop.get());
  if (answer.status == 0)
    return fail("no answer: nobody listens there, it took more than " + std::to_string(timeout_s) +
                " s, or it has more than " + std::to_string(most_bytes >> 20) + " MiB");
  if (answer.status != 200) return std::nullopt;
  return std::move(answer.body);
}

}  // namespace rooflua::emulate
