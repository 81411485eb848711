#include "base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace rooflua::log {

namespace {

spdlog::logger& logger() {
  static const std::shared_ptr<spdlog::logger> instance = [] {
    // Not by spdlog's factory: its registry belongs to the whole process, which may have other
    // users.
    auto made = std::make_shared<spdlog::logger>(
        "rooflua", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
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
