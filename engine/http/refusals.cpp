#include "http/refusals.h"

#include <event2/buffer.h>

#include <cstdlib>
#include <string>

namespace rooflua::http {

namespace {

constexpr std::string_view page = "<HTML><HEAD>\n<TITLE>";  // no answer of ours begins so
constexpr std::string_view status_line = "HTTP/1.1 400";
constexpr std::size_t longest = 4096;  // of headers and a page

std::string sentence_of(int status) {
  if (status == 413) return "the request is too long";
  if (status == 417) return "100-continue is the one expectation";
  if (status == 501) return "this method is not known";
  return "the request is no HTTP/1.1";
}

}  // namespace

std::string refusal(int status, const Words& words) {
  const std::string body = words(status, sentence_of(status));
  return "HTTP/1.1 " + std::to_string(status) +
         " Refused\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + body;
}

void put_refusal(evbuffer* output, const evbuffer_cb_info* added, void* words) {
  const std::size_t size = evbuffer_get_length(output);
  if (added->n_added < page.size() || added->orig_size < status_line.size() || size > longest)
    return;
  std::string text(size, '\0');
  evbuffer_copyout(output, text.data(), size);
  if (text.compare(added->orig_size, page.size(), page) != 0 || !text.starts_with("HTTP/1."))
    return;
  const int status = std::atoi(text.c_str() + status_line.find(' '));
  const std::string answer =
      refusal(status < 400 ? 501 : status, *static_cast<const Words*>(words));
  evbuffer_drain(output, size);
  evbuffer_add(output, answer.data(), answer.size());
}

}  // namespace rooflua::http
