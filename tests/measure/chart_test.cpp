#include "measure/html/chart/chart.h"

#include <cmath>
#include <limits>
#include <random>

#include "measure/html/text.h"
#include "tests/catch.h"
#include "tests/measure/well_formed.h"

using namespace rooflua;
using rooflua::test::count_of;
using rooflua::test::ill_formed;

namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

Axis axis(Axis::Kind kind) {
  return {"label", "ms", kind, {}, {}};
}

LineChart one_line(std::vector<ChartPoint> points) {
  LineChart chart;
  chart.title = "title";
  chart.series = {{"series", std::move(points), 0}};
  return chart;
}

/// The numbers of the first attribute of that name: "12.5,3 7,8" -> 12.5, 3, 7, 8.
std::vector<double> numbers(const std::string& text, const std::string& attribute,
                            std::size_t from = 0) {
  const std::size_t begin = text.find(attribute + "=\"", from) + attribute.size() + 2;
  std::string list = text.substr(begin, text.find('"', begin) - begin);
  std::vector<double> out;
  for (char& c : list) c = c == ',' ? ' ' : c;
  for (std::size_t used = 0, at = 0; at < list.size(); at += used + 1) {
    out.push_back(std::stod(list.substr(at), &used));
  }
  return out;
}

}  // namespace

TEST_CASE("ticks are round numbers inside the axis") {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> exponent(-9, 9), wide(0.01, 4);
  for (int trial = 0; trial < 2000; ++trial) {
    const double low = std::pow(10, exponent(random)), high = low * std::pow(10, wide(random));
    for (const Axis::Kind kind : {Axis::Kind::linear, Axis::Kind::log}) {
      const Scale scale(axis(kind), low, high, 0, 100);
      INFO("from " << low << " to " << high << " kind " << static_cast<int>(kind));
      int texts = 0;
      for (const Tick& tick : scale.ticks(5)) {
        REQUIRE(tick.value >= scale.low() * (1 - 1e-9));
        REQUIRE(tick.value <= scale.high() * (1 + 1e-9));
        texts += tick.major;
        if (tick.value < 10000 && tick.major)
          REQUIRE(std::stod(tick.text) == Approx(tick.value).epsilon(1e-12));
      }
      REQUIRE(texts >= 1);
      REQUIRE(texts <= 12);
    }
  }
}

TEST_CASE("an axis knows the way back") {
  for (const Axis::Kind kind : {Axis::Kind::linear, Axis::Kind::log, Axis::Kind::percentile}) {
    const Scale scale(axis(kind), 0.001, 0.999, 400, 20);
    for (const double value : {0.001, 0.2, 0.5, 0.9, 0.99, 0.999})
      CHECK(scale.at(scale(value)) == Approx(value).epsilon(1e-9));
  }
}

TEST_CASE("p90, p99 and p99.9 are a step apart, and 1 is at the end") {
  const Scale scale(axis(Axis::Kind::percentile), 0, 0.9999, 0, 100);
  CHECK(scale(0.99) - scale(0.9) == Approx(scale(0.999) - scale(0.99)));
  CHECK(scale(1) == Approx(100));
  CHECK(scale(0) == Approx(0));
}

TEST_CASE("a linear axis of positive values begins at 0, a log axis does not") {
  CHECK(Scale(axis(Axis::Kind::linear), 80, 92, 0, 1).low() == 0);
  CHECK(Scale(axis(Axis::Kind::linear), -3, 92, 0, 1).low() == -3);
  CHECK(Scale(axis(Axis::Kind::log), 80, 92, 0, 1).low() == 80);
}

TEST_CASE("one value, no value and equal values have an axis too") {
  for (const Axis::Kind kind : {Axis::Kind::linear, Axis::Kind::log, Axis::Kind::percentile}) {
    using Ends = std::pair<double, double>;
    for (const auto& [low, high] : {Ends{none, none}, {0.0, 0.0}, {5.0, 5.0}, {-2.0, -2.0}}) {
      const Scale scale(axis(kind), low, high, 0, 100);
      CHECK(scale.high() > scale.low());
      CHECK(std::isfinite(scale(scale.high())));
      CHECK(!scale.ticks(5).empty());
    }
  }
  CHECK(ill_formed(svg(one_line({}))).empty());
  CHECK(ill_formed(svg(ScatterChart{"", {}, {}, {}, true, {0.1}})).empty());
  CHECK(ill_formed(svg(BarChart{})).empty());
}

TEST_CASE("a line goes through its points, and breaks where there is none") {
  const std::string whole = svg(one_line({{0, 0, ""}, {1, 5, ""}, {2, 10, ""}}));
  const std::vector<double> at = numbers(whole, "points");
  REQUIRE(at.size() == 6);
  CHECK(at[2] - at[0] == Approx(at[4] - at[2]).margin(0.011));
  CHECK(at[1] - at[3] == Approx(at[3] - at[5]).margin(0.011));
  CHECK(at[1] > at[5]);  // y grows upwards
  CHECK(count_of(whole, "<polyline") == 1);
  const std::string broken =
      svg(one_line({{0, 0, ""}, {1, 1, ""}, {2, none, ""}, {3, 1, ""}, {4, 2, ""}}));
  CHECK(count_of(broken, "<polyline") == 2);
  LineChart log = one_line({{0, 1, ""}, {1, 0, ""}, {2, 100, ""}});
  log.y.kind = Axis::Kind::log;
  CHECK(count_of(svg(log), "<polyline") == 2);
}

TEST_CASE("a step line holds its value until the next point") {
  LineChart chart = one_line({{0, 0, ""}, {1, 4, ""}, {2, 4, ""}});
  chart.steps = true;
  const std::vector<double> at = numbers(svg(chart), "points");
  REQUIRE(at.size() == 8);  // one corner
  CHECK(at[2] == at[4]);    // up at the same x
  CHECK(at[1] == at[3]);
}

TEST_CASE("on a diagonal chart y = x is a straight line through both corners") {
  ScatterChart chart{"t", axis(Axis::Kind::log), axis(Axis::Kind::log), {}, true, {0.25}};
  chart.series = {{"", {{10, 10, "a"}, {1000, 700, "b"}}, 0}};
  const std::string drawn = svg(chart);
  const std::vector<double> ray = numbers(drawn, "points", drawn.find("\"diagonal\""));
  REQUIRE(ray.size() == 98);
  const double slope = (ray[97] - ray[1]) / (ray[96] - ray[0]);
  for (std::size_t i = 0; i < 98; i += 2)
    CHECK(ray[i + 1] == Approx(ray[1] + slope * (ray[i] - ray[0])).margin(0.03));
  CHECK(count_of(drawn, "class=\"mark") == 2);
  CHECK(count_of(drawn, "class=\"band\"") == 1);
}

TEST_CASE("a bar is as long as its values, and shares fill the width") {
  BarChart chart;
  chart.value = {"time", "ms", Axis::Kind::linear, {}, {}};
  chart.segments = {{"a", ""}, {"b", "e-assumed"}};
  chart.bars = {{"first", {2, 6}}, {"second", {1, 0}}};
  const auto widths = [](const std::string& drawn) {
    std::vector<double> out;
    for (std::size_t at = drawn.find("viewBox=\"0 0 480");; ++at) {
      at = drawn.find("<rect", at);
      if (at == std::string::npos) return out;
      out.push_back(numbers(drawn, "width", at)[0]);
    }
  };
  const std::vector<double> plain = widths(svg(chart));
  REQUIRE(plain.size() == 3);
  CHECK(plain[1] == Approx(3 * plain[0]).margin(0.02));
  CHECK(plain[2] == Approx(plain[0] / 2).margin(0.02));
  chart.shares = true;
  const std::vector<double> shares = widths(svg(chart));
  CHECK(shares[0] + shares[1] == Approx(shares[2]).margin(0.03));
}

TEST_CASE("charts are well-formed whatever they are called, and the same twice") {
  const std::string evil = "a<b> & \"c\" 'd' ]]> </svg><script>alert(1)</script>\x01";
  LineChart lines = one_line({{1, 2, ""}, {3, 4, ""}});
  lines.title = lines.x.label = lines.x.unit = lines.y.label = lines.series[0].name = evil;
  ScatterChart scatter{evil, {}, {}, {{evil, {{1, 2, evil}}, 0}}, true, {0.1}};
  BarChart bars{evil, {evil, evil, {}, {}, {}}, {{evil, ""}}, {{evil, {3}}}, false};
  for (const std::string& drawn : {svg(lines), svg(scatter), svg(bars)}) {
    CHECK(ill_formed(drawn).empty());
    CHECK(count_of(drawn, "<script") == 0);
    CHECK(count_of(drawn, "\x01") == 0);
  }
  CHECK(svg(lines) == svg(lines));
}

TEST_CASE("whatever the values, a chart holds no nan and no inf, and counts what it left out") {
  const double inf = std::numeric_limits<double>::infinity();
  const double values[] = {none,   inf,   -inf,   0,      -0.0, 1,  -1,
                           1e-300, 1e300, -1e300, 5e-324, 1e15, 0.5};
  const auto sound = [](const std::string& drawn) {
    CHECK(ill_formed(drawn).empty());
    CHECK(count_of(drawn, "nan") == 0);
    CHECK(count_of(drawn, "inf") == 0);
  };
  for (const Axis::Kind x : {Axis::Kind::linear, Axis::Kind::log, Axis::Kind::percentile}) {
    for (const Axis::Kind y : {Axis::Kind::linear, Axis::Kind::log}) {
      for (const double a : values) {
        for (const double b : values) {
          INFO(a << ", " << b << " kinds " << static_cast<int>(x) << " " << static_cast<int>(y));
          LineChart lines = one_line({{a, b, ""}, {0.5, 2, ""}, {b, a, ""}});
          lines.x.kind = x, lines.y.kind = y;
          lines.x.min = a, lines.y.max = b;
          sound(svg(lines));
          ScatterChart scatter{"t", {}, {}, lines.series, true, {0.1}};
          scatter.x.kind = x, scatter.y.kind = y;
          sound(svg(scatter));
          BarChart bars{
              "t", {"l", "ms", y, {}, {}}, {{"p", ""}, {"q", ""}}, {{"one", {a, b}}}, false};
          sound(svg(bars));
          bars.shares = true;
          sound(svg(bars));
        }
      }
    }
  }
}

TEST_CASE("points without a place are counted below the chart") {
  LineChart lines = one_line({{1, 1, ""}, {2, 0, ""}, {3, none, ""}, {4, -1, ""}, {5, 10, ""}});
  CHECK(count_of(svg(lines), "1 value is left out") == 1);
  lines.y.kind = Axis::Kind::log;
  CHECK(count_of(svg(lines), "3 values are left out") == 1);
  lines.series[0].points = {{1, 1, ""}, {2, 10, ""}};
  CHECK(count_of(svg(lines), "left out") == 0);
  ScatterChart scatter{"t", {}, {}, {{"s", {{0, 1, ""}, {none, 2, ""}, {1, 2, ""}}, 0}}, false, {}};
  CHECK(count_of(svg(scatter), "1 value is left out") == 1);
  const BarChart bars{"t",
                      {"l", "ms", Axis::Kind::log, {}, {}},
                      {{"p", ""}, {"q", ""}},
                      {{"one", {3, 1}}, {"two", {-1, 1}}},
                      false};
  CHECK(count_of(svg(bars), "1 value is left out") == 1);
  CHECK(count_of(svg(bars), "<rect class=\"fill s1\"") == 2);  // one bar, and the key
}

TEST_CASE("a bar that is short beside another one is seen, and its value is said") {
  const BarChart bars{"t", {"l", "ms"}, {{"", ""}}, {{"one", {6000}}, {"two", {1}}}};
  const std::string drawn = svg(bars);
  CHECK(count_of(drawn, ">1.000 ms<") == 1);
  const std::size_t second = drawn.find("<rect", drawn.find("<rect") + 1);
  REQUIRE(second != std::string::npos);
  CHECK(drawn.find("width=\"2.5\"", second) != std::string::npos);
}

TEST_CASE("a bar of one part may point to the left, and says its value") {
  const BarChart bars{
      "t", {"l", "ms"}, {{"", ""}}, {{"one", {3}}, {"two", {-1}}, {"three", {none}}}};
  const std::string drawn = svg(bars);
  CHECK(count_of(drawn, "1 value is left out") == 1);
  CHECK(count_of(drawn, ">-1.000 ms<") == 1);
  CHECK(count_of(drawn, ">-</text>") == 1);
  const std::size_t first = drawn.find("<rect"), second = drawn.find("<rect", first + 1);
  REQUIRE(second != std::string::npos);
  const double zero = numbers(drawn, "x", first)[0];
  CHECK(numbers(drawn, "x", second)[0] + numbers(drawn, "width", second)[0] ==
        Approx(zero).margin(0.02));
  CHECK(numbers(drawn, "width", first)[0] ==
        Approx(3 * numbers(drawn, "width", second)[0]).margin(0.04));
}

TEST_CASE("a point with an interval is a line between its ends, which the axis shows") {
  ScatterChart chart;
  chart.title = "title";
  chart.x = axis(Axis::Kind::linear), chart.y = axis(Axis::Kind::log);
  chart.series = {{"interval", {{1, 2, "", 1, 4}, {2, 2, "", 0.5, 8}}, 3},
                  {"other", {{1, 3, ""}}, 1}};
  const std::string text = svg(chart);
  CHECK(ill_formed(text) == "");
  CHECK(count_of(text, "class=\"line whisker s3\"") == 2);
  CHECK(count_of(text, "class=\"mark s3\"") == 0);
  CHECK(count_of(text, "class=\"mark s1\"") == 2);  // and the key
  chart.series[0].points[1].high = 80;
  CHECK(svg(chart) != text);
}

TEST_CASE("coordinates are short and never -0") {
  CHECK(pixels(12.5) == "12.5");
  CHECK(pixels(-0.001) == "0");
  CHECK(pixels(3) == "3");
  CHECK(pixels(1.0 / 3) == "0.33");
  CHECK(pixels(0.1 + 0.2) == "0.3");
}

TEST_CASE("a limit is a line across the chart, and its name stands in the legend") {
  LineChart chart;
  chart.y.min = 0, chart.y.unit = "ms";
  chart.series = {{"a", {{0, 1, ""}, {1, 10, ""}}, 0}};
  CHECK(count_of(svg(chart), "class=\"limit\"") == 0);
  chart.limits = {{5, "SLO"}};
  CHECK(count_of(svg(chart), "class=\"limit\"") == 1);
  CHECK(count_of(svg(chart), ">SLO 5 ms</li>") == 1);
  CHECK(count_of(svg(chart), "SLO 5 ms</text>") == 0);  // text in the plot would lie over lines
  chart.limits = {{500, "SLO"}};
  CHECK(count_of(svg(chart), "class=\"limit\"") == 0);
  CHECK(count_of(svg(chart), ">SLO 500 ms (above the axis)</li>") == 1);
  chart.limits = {{5, "simulated", false}};
  CHECK(count_of(svg(chart), ">simulated</li>") == 1);
  chart.series[0].name = "";  // the only series has no entry of its own
  CHECK(count_of(svg(chart), "</li>") == 1);
  chart.limits = {};
  CHECK(count_of(svg(chart), "</li>") == 0);
}

TEST_CASE(
    "a mark stands at its value, with its label above the frame and on the side that has room") {
  LineChart chart = one_line({{0, 1, ""}, {10, 2, ""}});
  chart.x = axis(Axis::Kind::linear);
  chart.y = axis(Axis::Kind::linear);
  chart.dots = true;
  chart.marks = {{2, "asked"}, {9, "most"}, {50, "nowhere"}};
  const std::string text = svg(chart);
  CHECK(ill_formed(text) == "");
  CHECK(count_of(text, "nowhere") == 0);
  CHECK(count_of(text, "text-anchor=\"start\">asked<") == 1);
  CHECK(count_of(text, "text-anchor=\"end\">most<") == 1);
  const std::size_t label = text.rfind("<text", text.find(">asked<"));
  const std::vector<double> places = numbers(text, "points");
  CHECK(numbers(text, "y", label)[0] < std::min(places[1], places[3]));
  const double left = places[0], right = places[2];
  CHECK(numbers(text, "x", label)[0] == Approx(left + 0.2 * (right - left) + 4).margin(0.02));
}

TEST_CASE("the frame cuts no dot") {
  for (const double highest : {1.0, 8.0, 10.0, 0.15}) {
    LineChart chart = one_line({{0, 0, ""}, {1, highest, ""}});
    chart.y = axis(Axis::Kind::linear);
    chart.dots = true;
    const std::string text = svg(chart);
    const std::size_t window = text.find("<svg x=");
    CHECK(numbers(text, "points")[3] - numbers(text, "y", window)[0] > 2);
  }
}
