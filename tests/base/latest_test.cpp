// Values that were made are kept by their whole key, the latest ones.

#include "base/latest.h"

#include <fstream>
#include <stdexcept>
#include <string>

#include "base/json.h"
#include "base/toml.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;

namespace {

struct Made {
  Latest<std::string, std::string> latest{10};
  int times = 0;
  std::string of(const std::string& key, std::size_t bytes = 1) {
    return *latest.of(key, bytes, [&] {
      ++times;
      if (key == "broken") throw std::runtime_error("no value");
      return std::make_shared<const std::string>("value of " + key);
    });
  }
};

}  // namespace

TEST_CASE("a value is made once per key, again after others took its place") {
  Made made;
  CHECK(made.of("a") == "value of a");
  CHECK(made.of("a") == "value of a");
  CHECK(made.times == 1);
  made.of("b", 5);
  made.of("a");  // is later than b now
  made.of("c", 7);
  CHECK(made.times == 3);
  made.of("a");
  CHECK(made.times == 3);
  made.of("b");  // made room for c
  CHECK(made.times == 4);
  CHECK(made.of("large", 1000) == "value of large");
  made.of("large", 1000);
  CHECK(made.times == 5);
}

TEST_CASE("a value that could not be made is tried again, and the others stay") {
  Made made;
  made.of("a");
  CHECK_THROWS(made.of("broken"));
  CHECK_THROWS(made.of("broken"));
  made.of("a");
  CHECK(made.times == 3);
}

TEST_CASE("a TOML file that was changed is read again, whatever its time and length") {
  const auto path = test::scratch() / "changed.toml";
  const auto written = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    std::filesystem::last_write_time(path, std::filesystem::file_time_type{});
    return read_toml(path).find("a")->integer();
  };
  CHECK(written("a = 1\n") == 1);
  CHECK(written("a = 1\n") == 1);
  CHECK(written("a = 2\n") == 2);
  CHECK_THROWS(written("a = \n"));
  CHECK(written("a = 1\n") == 1);
}
