// rooflua new NAME: copies scripts/templates/scenario.lua and fills in the file name.

#include <cstdio>
#include <fstream>
#include <sstream>

#include "app/commands.h"
#include "app/output.h"
#include "base/error.h"

namespace rooflua::app {

namespace fs = std::filesystem;

int write_template(const std::string& name, const fs::path& home) {
  fs::path file(name);
  if (file.extension() != ".lua") file += ".lua";
  const std::string stem = file.stem().string();
  if (stem.empty() || stem.front() == '.' || name.front() == '-')
    throw Error(name, "expected a name: rooflua new my_question");
  if (fs::exists(fs::symlink_status(file)))
    throw Error(file.string(), "is there already, and is left as it is");
  if (!file.parent_path().empty() && !fs::is_directory(file.parent_path()))
    throw Error(file.string(), "there is no folder " + file.parent_path().string());
  const fs::path source = home / "scripts" / "templates" / "scenario.lua";
  std::ifstream in(source, std::ios::binary);
  std::ostringstream text;
  if (!(text << in.rdbuf())) throw Error(source.string(), "cannot be read");
  std::string written = text.str();
  for (std::size_t at; (at = written.find("@FILE@")) != std::string::npos;)
    written.replace(at, 6, file.generic_string());
  write_text(written, file.string());
  const std::string word = file.string().find_first_of(" '\"$&;()") == std::string::npos
                               ? file.string()
                               : "'" + file.string() + "'";
  std::printf("wrote %s; next:\n  rooflua check %s\n  rooflua run %s\n", file.c_str(), word.c_str(),
              word.c_str());
  return 0;
}

}  // namespace rooflua::app
