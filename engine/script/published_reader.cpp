#include "script/published_reader.h"

#include <mutex>

#include "cost/tables/published.h"
#include "script/bind/table_files.h"
#include "script/vm/vm.h"

namespace rooflua::script {
namespace {

namespace fs = std::filesystem;

constexpr const char* reader_module = "rooflua.tables.reader";

/// The state is not that of a scenario: a lookup reads its tables where the scenario's Lua must not
/// run. One thread at a time is inside.
class PublishedReader {
 public:
  explicit PublishedReader(fs::path home) : home_(std::move(home)) {}

  std::vector<std::string> gpus(const fs::path& folder) {
    const std::lock_guard guard(lock_);
    std::vector<std::string> names;
    const Json found = vm().call(reader_module, "gpus", {folder.string()});
    for (const Json& each : list_of(found)) names.push_back(each.text());
    return names;
  }

  PublishedFolder list(const fs::path& folder, const std::string& gpu) {
    const std::lock_guard guard(lock_);
    const Json found = vm().call(reader_module, "list", {folder.string(), gpu});
    PublishedFolder all;
    for (const Json& each : list_of(*found.find("tables")))
      all.tables.push_back(published_file(each));
    for (const Json& each : list_of(*found.find("left_out")))
      all.left_out.push_back({each.find("path")->text(), each.find("reason")->text()});
    return all;
  }

  KernelTable read(const TableFile& file) {
    const std::lock_guard guard(lock_);
    KernelTable table;
    vm().protect([&](lua_State* L) {
      lua_getglobal(L, "require");
      lua_pushstring(L, reader_module);
      lua_call(L, 1, 1);
      lua_getfield(L, -1, "read");
      push_json(L, *file.published, false);
      lua_call(L, 1, 1);
      table = *check_object<KernelTable>(L, lua_gettop(L), "read");
    });
    return table;
  }

 private:
  Vm& vm() {
    if (!vm_) {
      VmOptions options;
      options.home = home_;
      options.trusted = true;  // of the program's own scripts
      options.interruptible = false;
      options.owns_process = false;
      vm_ = std::make_unique<Vm>(options);
    }
    return *vm_;
  }

  fs::path home_;
  std::mutex lock_;
  std::unique_ptr<Vm> vm_;
};

}  // namespace

void read_published_tables(const fs::path& home) {
  const auto reader = std::make_shared<PublishedReader>(home);
  set_published_tables({
      [reader](const fs::path& folder) { return reader->gpus(folder); },
      [reader](const fs::path& folder, const std::string& gpu) {
        return reader->list(folder, gpu);
      },
      [reader](const TableFile& file) { return reader->read(file); },
  });
}

}  // namespace rooflua::script
