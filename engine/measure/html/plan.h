#pragma once
// The page of a plan (scripts/lib/rooflua/plan/page.lua describes it): a verdict, prices that a
// reader changes, deployments, cost against load, and what the figures rest on.
//
//     {title, sections: of measure/html/sections.h, data: what measure/html/plan.js reads}

#include <string>

#include "base/json.h"
#include "measure/html/page.h"

namespace rooflua::html {

/// @param name  of the variant, where several plans share a page; "" = it is the only one
void add_plan(HtmlPage& page, const Json& described, const std::string& name);

/// A page with one plan alone.
std::string plan_page(const Json& described);

}  // namespace rooflua::html
