#include "app/deployment/visit.h"

#include <chrono>
#include <cstdio>
#include <thread>

#include "app/output.h"
#include "base/error.h"

namespace rooflua::app {

namespace {

constexpr std::size_t most_bytes = std::size_t{64} << 20;  // of a page
constexpr int timeout_s = 10;
constexpr int default_watch_s = 10;

}  // namespace

Visit::Visit(const std::string& url, std::optional<int> stated_s) {
  if (url.empty() && stated_s) throw Error("--watch", "watches a server: say which by --url");
  if (url.empty()) return;
  const int watched_s = stated_s.value_or(default_watch_s);
  server_ = emulate::server_address(url);
  folder_.emplace();
  const std::optional<std::string> metrics = page("/metrics");
  if (metrics) keep("metrics", *metrics);
  if (const auto models = page("/v1/models")) keep("models", *models);
  if (const auto version = page("/version")) keep("version", *version);
  auto info = page("/get_server_info");
  if (!info) info = page("/server_info");
  if (info) keep("server_info", *info);
  if (files_.empty())
    throw Error("--url " + url, "has none of /metrics, /v1/models, /version, /get_server_info");
  if (metrics && watched_s > 0) watch(*metrics, watched_s);
}

std::string Visit::named(std::string text) const {
  if (!folder_) return text;
  const std::string name = folder_->path.string();
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;
       at += server_.text.size())
    text.replace(at, name.size(), server_.text);
  return text;
}

Json Visit::named_in(const Json& document) const {
  return folder_ ? parse_json(named(dump_json(document)), server_.text) : document;
}

std::optional<std::string> Visit::page(const char* path) const {
  return emulate::fetch(server_, path, most_bytes, timeout_s);
}

void Visit::keep(const char* name, const std::string& text) {
  files_.push_back((folder_->path / name).string());
  write_text(text, files_.back());
}

/// Scrapes of a server that answered nobody meanwhile are the same, and no run.
void Visit::watch(const std::string& before, int watched_s) {
  std::fprintf(stderr, "rooflua: watching %s for %d s\n", server_.text.c_str(), watched_s);
  std::this_thread::sleep_for(std::chrono::seconds(watched_s));
  const auto after = page("/metrics");
  if (!after || *after == before) return;
  keep("load",
       before + "\n" + *after + "\n# rooflua duration_s " + std::to_string(watched_s) + "\n");
}

}  // namespace rooflua::app
