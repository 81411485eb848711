#include "app/python_path.h"

#include "app/commands.h"

namespace rooflua::app {

void add_python_path(CLI::App& app, const char* program) {
  app.add_flag_callback(
      "--python-path",
      [program] {
        throw CLI::CallForVersion((find_home(program) / "scripts" / "python").string(), 0);
      },
      "Print the folder of the Python package, for PYTHONPATH");
}

}  // namespace rooflua::app
