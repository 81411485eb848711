// The choice among more variants than a page draws: boxes to check, and the filter. The charts are drawn anew from the
// values of all variants, which the page holds as measure/html/choice.h describes.
(function () {
  "use strict";
  var page = typeof document === "undefined" ? module.exports : window.page;
  var left = 56, right = 464, top = 26, bottom = 248, row = 38;

  // The corners of a variant's curve, [[x, y], ...]; none where it has no value.
  page.points = (chart, variant) => {
    var curve = chart.curves[variant], out = [];
    if (!curve) return out;
    curve[2].forEach((y, i, ys) => {
      var last = i === ys.length - 1, x = curve[1] * i;
      if (!chart.steps) { out.push([last ? curve[0] : chart.xs[i], y]); return; }
      if (i && ys[i - 1] !== y) out.push([x, ys[i - 1]]);
      out.push([x, y]);
      if (last) out.push([Math.max(curve[0], x), y]);
    });
    return out.filter((p) => p[1] !== null && (chart.kind !== "log" || p[1] > 0));
  };
  // A round number that is not below the value.
  page.above = (low, high) => {
    var axis = { kind: "linear", low: low, high: high }, ticks = page.ticks(axis, 5);
    var step = ticks.length > 1 ? ticks[1] - ticks[0] : high - low;
    return +(Math.ceil(high / step - 1e-9) * step).toPrecision(12);
  };
  // The axes {x, y} of curves: both hold all points, and y the limits that are near.
  page.axes = (chart, curves) => {
    var points = [].concat(...curves), ys = points.map((p) => p[1]), xs = points.map((p) => p[0]);
    var low = Math.min(...ys), high = Math.max(...ys), data = [low, high];
    if (!points.length) { low = chart.kind === "log" ? 1 : 0; high = 10; }
    chart.limits.forEach((l) => {
      if (l[0] > 3 * data[1] || 3 * l[0] < data[0]) return;
      low = Math.min(low, l[0]); high = Math.max(high, l[0]);
    });
    if (chart.kind === "log") {
      var by = low < high ? Math.pow(high / low, 0.03) : Math.SQRT2;
      low /= by; high *= by;
    } else {
      low = Math.min(low, 0);
      high = high > low ? page.above(low, high) : low + 1;
    }
    return { x: { kind: chart.x.kind, low: 0, high: points.length ? Math.max(...xs) : 0.9, from: left, to: right,
      unit: chart.x.unit, label: chart.x.label },
      y: { kind: chart.kind, low, high, from: bottom, to: top, unit: chart.unit, label: chart.label } };
  };
  // The first variants that match, at most `most`.
  page.first = (names, filter, most) => {
    var out = [];
    names.forEach((name, i) => { if (out.length < most && page.matches(name, filter)) out.push(i); });
    return out;
  };
  page.style = (i) => "s" + (i % 8 + 1) + (i > 7 ? " again" : "");
  if (typeof document === "undefined") return;

  var t = page.tools, data = JSON.parse(t.words(document.getElementById("choices"))), names = data.variants;
  var filter = t.filter;
  function add(where, tag, values, text) {
    var e = document.createElementNS(t.all("svg")[0].namespaceURI, tag);
    t.set(e, values);
    if (text !== undefined) e.textContent = text;
    where.appendChild(e);
    return e;
  }
  function shown(axis, v) {
    if (axis.kind === "percentile") return v ? page.shown(axis, v) : "min";
    return v >= 1e4 ? v.toLocaleString("en") : String(v);
  }
  function titled(axis) {
    return axis.unit ? axis.label ? axis.label + " (" + axis.unit + ")" : axis.unit : axis.label;
  }
  function across(svg, axis, from, to) {
    var g = add(svg, "g", { "class": "ticks" });
    page.ticks(axis, 5).forEach((v) => {
      var x = page.pixel(axis, v);
      add(g, "line", { "class": "grid", x1: x, x2: x, y1: from, y2: to });
      add(g, "text", { x, y: to + 16, "text-anchor": "middle" }, shown(axis, v));
    });
    add(svg, "line", { "class": "axis", x1: axis.from, x2: axis.to, y1: to, y2: to });
    add(svg, "text", { x: (axis.from + axis.to) / 2, y: to + 35, "text-anchor": "middle" }, titled(axis));
  }
  function legendOf(figure, keys) {
    var list = figure.querySelector(".legend");
    if (!list) return;
    list.textContent = "";
    keys.forEach((key) => {
      var li = t.make("li", "", list), svg = add(li, "svg", { "class": "key", viewBox: "0 0 22 12" });
      add(svg, "line", { "class": "line " + key[1], x1: 1, y1: 6, x2: 21, y2: 6 });
      li.appendChild(document.createTextNode(key[0]));
      if (key[1] === "limit") li.className = "fixed"; else t.legend(li);
    });
  }
  function coded(axis) {
    return [axis.kind, axis.low, axis.high, axis.from, axis.to, axis.unit, axis.label].join("|");
  }
  function lines(figure, svg, chart, chosen) {
    var curves = chosen.map((i) => page.points(chart, i)), { x, y } = page.axes(chart, curves);
    page.ticks(y, 5).forEach((v) => {
      var at = page.pixel(y, v);
      add(svg, "line", { "class": "grid", x1: left, x2: right, y1: at, y2: at });
      add(svg, "text", { x: left - 6, y: at + 4, "text-anchor": "end" }, shown(y, v));
    });
    add(svg, "text", { x: 2, y: 14 }, titled(y));
    across(svg, x, top, bottom);
    var box = { x: left, y: top, width: right - left, height: bottom - top };
    var inner = add(svg, "svg", Object.assign({ viewBox: Object.values(box).join(" ") }, box));
    curves.forEach((points, i) => {
      add(inner, "polyline", { "class": "line " + page.style(i), "data-name": names[chosen[i]],
        points: points.map((p) => +page.pixel(x, p[0]).toFixed(2) + "," + +page.pixel(y, p[1]).toFixed(2)).join(" ") });
    });
    var keys = chosen.map((i, n) => [names[i], page.style(n)]);
    chart.limits.forEach((limit) => {
      var where = limit[0] > y.high ? " (above the axis)" : limit[0] < y.low ? " (below the axis)" : "";
      keys.push([limit[1] + where, "limit"]);
      var at = page.pixel(y, limit[0]);
      if (!where) add(inner, "line", { "class": "limit", x1: left, x2: right, y1: at, y2: at });
    });
    legendOf(figure, keys);
    svg.dataset.x = coded(x);
    svg.dataset.y = coded(y);
    t.renew(svg);
  }
  function bars(svg, chart, chosen) {
    var sums = chosen.map((i) => chart.values[i].reduce((a, v) => a + (v || 0), 0)), n = chosen.length;
    var low = Math.min(0, ...sums), high = Math.max(0, ...sums), end = 4 + row * n;
    var axis = { kind: "linear", low: chart.shares ? 0 : low, high: chart.shares ? 100 : high > low ?
      page.above(low, high) : 1, from: 4, to: right, unit: chart.shares ? "%" : chart.unit, label: chart.label };
    svg.setAttribute("viewBox", "0 0 480 " + (end + 42));
    across(svg, axis, 4, end);
    chosen.forEach((i, n) => {
      var y = 22 + row * n, g = add(svg, "g", { "data-v": i }), before = 0;
      add(g, "text", { x: 4, y: y - 5 }, names[i]);
      if (!chart.shares) add(g, "text", { "class": "value", x: right, y: y - 5, "text-anchor": "end" },
        chart.values[i].some((v) => v !== null) ? page.shown(axis, sums[n]) : "-");
      chart.values[i].forEach((v, part) => {
        if (!v) return;
        var unit = chart.shares ? 100 / sums[n] : 1, a = page.pixel(axis, before), b;
        before += v * unit;
        b = page.pixel(axis, before);
        add(add(g, "rect", { "class": "fill " + chart.parts[part][1], x: Math.min(a, b), y, width: Math.abs(b - a),
          height: 15 }), "title", {}, names[i] + ": " + chart.parts[part][0] + " " +
          page.shown(axis, v * unit));
      });
    });
  }
  function draw() {
    t.all("figure[data-draw]").forEach((figure) => {
      var chart = data.charts[figure.dataset.draw], svg = figure.querySelector("svg.chart");
      svg.textContent = "";
      if (chart.curves) lines(figure, svg, chart, page.chosen); else bars(svg, chart, page.chosen);
    });
    tell();
  }
  var panel = t.make("details", "", t.bar), head = t.make("summary", "", panel), list = t.make("div", "", panel);
  panel.id = "choice";
  var boxes = names.map((name, i) => {
    var label = t.make("label", "", list), box = document.createElement("input");
    box.type = "checkbox";
    label.appendChild(box);
    label.appendChild(document.createTextNode(name));
    t.on(box, "change", () => {
      var now = boxes.map((b, n) => b.checked ? n : -1).filter((n) => n >= 0);
      page.chosen = now;
      draw();
      t.apply();
    });
    return box;
  });
  function tell() {
    var chosen = page.chosen || page.first(names, "", data.drawn);
    boxes.forEach((box, i) => {
      box.checked = chosen.indexOf(i) >= 0;
      box.parentNode.style.display = page.matches(names[i], filter) ? "" : "none";
    });
    var many = chosen.length + " of " + names.length + " variants";
    head.textContent = many + " are drawn: choose";
    if (page.chosen) t.all("p.drawn").forEach((p) => {
      p.textContent = "Drawn are " + many + ", chosen at the top of the page.";
    });
  }
  // A new filter draws the first that match; boxes then add and remove.
  page.choose = (text) => {
    filter = text;
    page.chosen = page.first(names, filter, data.drawn);
    draw();
  };
  t.bar.className = "sticky";
  if (t.kept[3]) page.chosen = t.kept[3].filter((i) => i in names);
  else if (filter) page.chosen = page.first(names, filter, data.drawn);
  if (page.chosen) draw(); else tell();
  t.apply();
})();
