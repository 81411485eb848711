#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace rooflua::log {

namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    auto made = spdlog::stderr_color_mt("rooflua");
    made->set_pattern("%n: %^%l%$: %v");
    return made;
  }();
  return *instance;
}

}  // namespace

void warn(std::string_view message) {
  logger().warn("{}", message);
}
void info(std::string_view message) {
  logger().info("{}", message);
}
void set_quiet(bool quiet) {
  logger().set_level(quiet ? spdlog::level::warn : spdlog::level::info);
}

}  // namespace rooflua::log
