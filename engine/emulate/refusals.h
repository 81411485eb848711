#pragma once
// What evhttp refuses itself is said in the words of the API, as every other refusal.

#include <string>

struct evbuffer;
struct evbuffer_cb_info;

namespace rooflua::emulate {

/// A whole answer that refuses. @param status  of HTTP
std::string refusal(int status);

/// Called when something is added to what a connection sends: a page of HTML that evhttp has made
/// becomes a JSON of the same status.
void put_refusal(evbuffer* output, const evbuffer_cb_info* added, void*);

}  // namespace rooflua::emulate
