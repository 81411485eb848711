#pragma once
// What evhttp refuses itself is said in the words of the server's API, as every other refusal.

#include <functional>
#include <string>

struct evbuffer;
struct evbuffer_cb_info;

namespace rooflua::http {

/// The body of a refusal, JSON, from its status and a sentence.
using Words = std::function<std::string(int status, const std::string& sentence)>;

/// A whole answer that refuses. @param status  of HTTP
std::string refusal(int status, const Words& words);

/// Called when something is added to what a connection sends: a page of HTML that evhttp has made
/// becomes a JSON of the same status. @param words  a Words that outlives the connection
void put_refusal(evbuffer* output, const evbuffer_cb_info* added, void* words);

}  // namespace rooflua::http
