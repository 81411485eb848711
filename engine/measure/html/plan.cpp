#include "measure/html/plan.h"

#include "base/json_text.h"
#include "measure/html/sections.h"

namespace rooflua::html {

void add_plan(HtmlPage& page, const Json& described, const std::string& name) {
  page.open_plan();
  if (!name.empty()) page.heading(name);
  if (!name.empty()) page.paragraph(text_of(described, "title"));
  add_sections(page, *described.find("sections"), {}, !name.empty());
  page.close_plan(dump_json(*described.find("data")));
}

std::string plan_page(const Json& described) {
  HtmlPage page(text_of(described, "title"));
  add_plan(page, described, "");
  return page.text();
}

}  // namespace rooflua::html
