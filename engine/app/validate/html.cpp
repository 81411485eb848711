#include "app/validate/html.h"

#include "measure/html/page.h"
#include "measure/html/sections.h"

namespace rooflua::app {

std::string validation_page(const Json& described) {
  HtmlPage page(described.find("title")->text());
  page.lead(described.find("lead")->text());
  html::add_sections(page, *described.find("sections"));
  return page.text();
}

}  // namespace rooflua::app
