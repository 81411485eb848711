// What a laboratory serves: its page, and the state, answers and pictures as JSON.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "base/json_text.h"
#include "base/printable.h"
#include "http/refused.h"
#include "lab/page_assets.h"
#include "lab/server.h"
#include "measure/html/page.h"

namespace rooflua::lab {

namespace {

using http::Headers;
using http::Refused;
namespace fs = std::filesystem;

constexpr const char* json_type = "application/json";

/// Nothing is loaded from elsewhere, and no script stands in the page.
Headers page_headers() {
  return {{"Content-Security-Policy",
           "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
           "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
          {"X-Content-Type-Options", "nosniff"},
          {"Referrer-Policy", "no-referrer"},
          {"Cache-Control", "no-store"}};
}

/// Without telling by its time how many characters are right.
bool is_equal(const std::string& a, const std::string& b) {
  unsigned char differs = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    differs |= static_cast<unsigned char>(a[i] ^ b[i]);
  return differs == 0;
}

std::int64_t whole_number(const std::optional<std::string>& text, std::int64_t otherwise) {
  if (!text) return otherwise;
  std::int64_t out = 0;
  const auto [end, problem] = std::from_chars(text->data(), text->data() + text->size(), out);
  if (problem != std::errc{} || end != text->data() + text->size())
    throw Refused(400, "after: expected a whole number, found '" + printable(*text) + "'", "after");
  return out;
}

std::string file_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Json parsed(const std::string& text) {
  try {
    return parse_json(text, "body");
  } catch (const Error& error) {
    throw Refused(400, error.what());
  }
}

}  // namespace

void Laboratory::send(Exchange& exchange, Json body, int status) const {
  exchange.answer(status, dump_json(body), json_type, page_headers());
}

bool Laboratory::guarded(Exchange& exchange, const std::function<bool()>& act) const {
  const auto fail = [&](int status, const std::string& what, const std::string& key = "") {
    Json out = Json::object();
    out["error"]["message"] = what;
    if (!key.empty()) out["error"]["key"] = key;
    send(exchange, std::move(out), status);
    return true;
  };
  try {
    return act();
  } catch (const Refused& refused) {
    return fail(refused.status(), refused.what(), refused.param());
  } catch (const Error& error) {
    return fail(400, error.what());
  } catch (const std::exception& defect) {
    return fail(500, message_of(defect));
  }
}

void Laboratory::serve_exchange(std::unique_ptr<Exchange> exchange) {
  Exchange& own = *exchange;
  guarded(own, [&] {
    serve_path(exchange);
    return true;
  });
}

/// A page of another site cannot ask: it sends its Origin, or came by another name.
void Laboratory::check_origin(const Exchange& exchange, const std::string& path) const {
  const std::string origin = exchange.header("Origin"), site = exchange.header("Sec-Fetch-Site");
  const bool is_own =
      exchange.count("Origin") == 0 ||
      (exchange.count("Origin") == 1 && origin == "http://" + exchange.header("Host"));
  const bool may_come = path == "/" || site.empty() || site == "same-origin" || site == "none";
  if (!exchange.is_from_here() || !exchange.is_to_here() || !is_own || !may_come)
    throw Refused(403, "a laboratory answers its own page and programs of this machine");
}

void Laboratory::check_token(const Exchange& exchange) const {
  if (!is_equal(exchange.query("token").value_or(""), token_))
    throw Refused(403, "the token is missing or wrong: use the address that rooflua lab printed");
}

bool Laboratory::serve_asset(Exchange& exchange, const std::string& path) const {
  for (const Asset& each : assets) {
    if (path != each.path) continue;
    exchange.answer(200, each.text, each.type, page_headers());
    return true;
  }
  if (path != "/charts.css") return false;
  exchange.answer(200, HtmlPage::style(), "text/css; charset=utf-8", page_headers());
  return true;
}

void Laboratory::serve_path(std::unique_ptr<Exchange>& exchange) {
  if (const auto [status, why] = exchange->malformed(); status != 0) throw Refused(status, why);
  const std::string path = exchange->path(), method = exchange->method();
  check_origin(*exchange, path);
  const bool is_get = method == "GET" || method == "HEAD";
  if (is_get && path != "/" && serve_asset(*exchange, path)) return;
  check_token(*exchange);
  if (is_get && serve_asset(*exchange, path)) return;
  if (path == "/api/state" && method == "PUT") return put_state(*exchange);
  if (path == "/api/save" && method == "POST") return save(*exchange);
  if (!is_get) {
    const bool is_known = path.starts_with("/api/");
    throw Refused(is_known ? 405 : 404, is_known ? "this path takes GET; /api/state also PUT"
                                                 : "there is nothing at " + printable(path));
  }
  if (path == "/api/text") return serve_text(*exchange);
  const bool now = exchange->query("now") == "1", brief = exchange->query("brief") == "1";
  const std::int64_t after = whole_number(exchange->query("after"), -1);
  if (path == "/api/state")
    return wait(exchange, [this](Exchange& to) { return answer_state(to); });
  if (path == "/api/answer") {
    return wait(exchange, [=, this](Exchange& to) { return answer_answer(to, now, after, brief); });
  }
  constexpr std::string_view pictures = "/api/picture/", exports = "/api/export/";
  if (path.starts_with(pictures)) {
    const std::string name = path.substr(pictures.size());
    return wait(exchange, [=, this](Exchange& to) { return answer_picture(to, name, now, after); });
  }
  if (path.starts_with(exports)) {
    const std::string what = path.substr(exports.size());
    return wait(exchange, [=, this](Exchange& to) { return answer_export(to, what); });
  }
  throw Refused(404, "there is nothing at " + printable(path));
}

/// Answers now or later. When the last one who waits has left, the question ends; the next one who
/// asks begins it again.
void Laboratory::wait(std::unique_ptr<Exchange>& exchange, std::function<bool(Exchange&)> answers) {
  if (!worker_ && !known_.is_over) start();
  if (guarded(*exchange, [&] { return answers(*exchange); })) return;
  Exchange* left = exchange.get();
  exchange->on_left = [this, left] {
    waiters_.remove_if([&](const Waiter& each) { return each.exchange.get() == left; });
    if (!waiters_.empty() || is_waking_) return;
    if (worker_ && !known_.is_over) worker_.reset(), opener_.reset();
    views_.clear();
  };
  waiters_.push_back({std::move(exchange), std::move(answers)});
}

void Laboratory::put_state(Exchange& exchange) {
  State asked = State::of(parsed(exchange.take_body()));
  ask(std::move(asked));
  Json out = Json::object();
  out["schema"] = 1;
  out["version"] = version_;
  out["sequence"] = known_.sequence;
  send(exchange, std::move(out));
}

/// Where the state is refused, the knobs are those of the last one that was not.
bool Laboratory::answer_state(Exchange& exchange) const {
  if (known_.opened.is_null() && known_.problem.empty()) return false;
  Json out = Json::object();
  out["schema"] = 1;
  out["version"] = version_;
  out["sequence"] = known_.sequence;
  out["scenario"] = subject_.file;
  out["state"] = state_.json();
  if (!known_.problem.empty()) {
    out["problem"] = known_.problem;
    out["keys"] = changed_keys();
  }
  if (good_opened_.is_object()) {
    for (const Json::Member& each : good_opened_.members())
      if (each.key == "export")
        out["exports_lua"] = true;
      else if (each.key != "frame" && each.key != "files")
        out[each.key] = each.value;
  }
  send(exchange, std::move(out));
  return true;
}

bool Laboratory::answer_answer(Exchange& exchange, bool now, std::int64_t after, bool brief) const {
  const bool is_over = known_.whole || !known_.problem.empty();
  const bool is_new = known_.sequence > after && (is_over || known_.answer.is_object());
  if (after >= 0 ? !is_new : !now && !is_over) return false;
  Json out = Json::object();
  out["schema"] = 1;
  out["version"] = version_;
  out["sequence"] = known_.sequence;
  out["whole"] = known_.whole;
  if (!known_.problem.empty()) {
    out["problem"] = known_.problem;
    out["keys"] = changed_keys();
  }
  if (known_.answer.is_object()) {
    for (const Json::Member& each : known_.answer.members()) {
      if (each.key == "frame" || each.key == "whole" || (brief && each.key == "document")) continue;
      out[each.key] = each.value;
    }
  }
  out["pictures"] = Json::array();
  for (const std::string& name : known_.sections) {
    Json one = Json::object();
    one["name"] = name;
    one["title"] = known_.pictures.at(name).title;
    out["pictures"].push_back(std::move(one));
  }
  out["pins"] = known_.pins;
  send(exchange, std::move(out), known_.problem.empty() || after >= 0 || now ? 200 : 422);
  return true;
}

bool Laboratory::answer_picture(Exchange& exchange, const std::string& name, bool now,
                                std::int64_t after) {
  if (!known_.problem.empty()) throw Refused(422, known_.problem);
  if (known_.opened.is_null()) return false;
  const Json* views = known_.opened.find("views");
  const std::string kind = name.substr(0, name.find('/'));  // "request/17" is a "request"
  std::string title;
  for (const Json& each : views == nullptr ? Json::Array() : views->items())
    if (text_of(each, "name") == kind) title = text_of(each, "title");
  Picture* own = nullptr;
  if (const auto found = known_.pictures.find(name); found != known_.pictures.end())
    own = &found->second;
  if (own == nullptr) {
    const bool may_come = known_.html.empty() && !known_.is_over;
    if (title.empty() && !may_come) throw Refused(404, "there is no picture " + printable(name));
    if (title.empty()) return false;
    own = &known_.pictures[name];
    own->title = title;
    start_view(name);
  }
  const bool is_new = after >= 0 && own->sequence > after;
  if (after >= 0 ? !is_new : !now && !own->whole) return false;
  Json out = Json::object();
  out["schema"] = 1;
  out["version"] = version_;
  out["name"] = name;
  out["title"] = own->title;
  out["sequence"] = own->sequence;
  out["whole"] = own->whole;
  if (!own->problem.empty()) out["problem"] = own->problem;
  out["sections"] = own->sections;
  send(exchange, std::move(out));
  return true;
}

/// The scenario's file with what was changed.
bool Laboratory::answer_scenario(Exchange& exchange) const {
  if (known_.opened.is_null()) return false;
  const Json* around = known_.opened.find("export");
  if (around == nullptr)
    throw Refused(404, "a launch command or files of a start are a part of it: take the command");
  const Json* own = state_.texts.find(fs::path(subject_.file).filename().string());
  const std::string text = own != nullptr ? own->text() : file_text(subject_.file);
  exchange.answer(200, text_of(*around, "before") + text + text_of(*around, "after"),
                  "text/plain; charset=utf-8",
                  {{"Content-Disposition", "attachment; filename=\"scenario.lua\""}});
  return true;
}

/// The bytes that the command gives.
bool Laboratory::answer_export(Exchange& exchange, const std::string& what) const {
  if (what != "json" && what != "html" && what != "lua")
    throw Refused(404, "there is no export " + printable(what) + "; json, html and lua are");
  if (!known_.problem.empty()) throw Refused(422, known_.problem);
  if (what == "lua") return answer_scenario(exchange);
  if (!known_.whole || (what == "html" && known_.html.empty())) return false;
  if (what == "json") {
    exchange.answer(200, dump_json(*known_.answer.find("document"), 2) + "\n", json_type,
                    {{"Content-Disposition", "attachment; filename=\"answer.json\""}});
  } else {
    exchange.answer(200, known_.html, "text/html; charset=utf-8",
                    {{"Content-Disposition", "attachment; filename=\"answer.html\""},
                     {"Content-Security-Policy", "sandbox allow-scripts"}});
  }
  return true;
}

/// The text of a file that the state is made of: the scenario, or a policy in force.
void Laboratory::serve_text(Exchange& exchange) const {
  const std::string path = exchange.query("path").value_or("");
  const Json* files = good_opened_.is_object() ? good_opened_.find("policies") : nullptr;
  for (const Json& each : files == nullptr ? Json::Array() : files->items()) {
    if (text_of(each, "path") != path) continue;
    Json out = Json::object();
    out["schema"] = 1;
    out["path"] = path;
    out["text"] = file_text(text_of(each, "file"));
    const Json* own = state_.texts.find(path);
    if (own != nullptr) out["edited"] = *own;
    return send(exchange, std::move(out));
  }
  throw Refused(404, "no file of this scenario is " + printable(path));
}

/// {path, text, replace}: a file below the scenario's folder. A file that is there is replaced only
/// where `replace` is true.
void Laboratory::save(Exchange& exchange) {
  const Json body = parsed(exchange.take_body());
  const std::string name = text_of(body, "path");
  const Json* text = body.find("text");
  const fs::path relative(name);
  bool is_plain =
      relative.extension() == ".lua" && relative.is_relative() && !subject_.file.empty();
  for (const fs::path& part : relative)
    is_plain = is_plain && part != ".." && !part.empty() && part.string()[0] != '.';
  if (!is_plain || text == nullptr || !text->is_text())
    throw Refused(400, "path: expected a file below the scenario's folder, as schedulers/mine.lua",
                  "path");
  const fs::path to = fs::path(subject_.file).parent_path() / relative;
  fs::create_directories(to.has_parent_path() ? to.parent_path() : ".");
  const bool replaces = is_true(body, "replace");
  const int file =
      ::open(to.c_str(),
             O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (replaces ? O_TRUNC : O_EXCL), 0644);
  if (file < 0 && errno == EEXIST)
    throw Refused(409, to.string() + " is there; it is replaced only where that is asked for");
  if (file < 0) throw Refused(400, to.string() + " cannot be written: " + std::strerror(errno));
  const ssize_t written = ::write(file, text->text().data(), text->text().size());
  const bool ok = ::close(file) == 0 && written == static_cast<ssize_t>(text->text().size());
  if (!ok) throw Refused(500, to.string() + " was not written completely");
  Json out = Json::object();
  out["schema"] = 1;
  out["saved"] = to.string();
  send(exchange, std::move(out));
}

}  // namespace rooflua::lab
