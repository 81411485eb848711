// What a page can do where scripts run: tables are sorted by a click on a head, a filter reaches tables and
// charts, differences to a baseline, series switched off and on by their legend, values under the pointer, zoom
// by dragging, and the data as CSV and JSON. A page is complete without it; choice.js adds the choice among many
// variants.
// Its pure functions are the exports of a module in node (tests/measure/page_script.js).
// page.cpp leaves out lines of comments and spaces that mean nothing.
(function () {
  "use strict";
  var page = {};
  var scales = { u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15 };
  // The number of a cell, whatever its unit: "1,234", "12 %", "<0.1 %", "x3", "15 ms", "3.2 GB/s".
  page.number = (text) => {
    var p = /^([<>x+-]*)(\d[\d,]*\.?\d*(?:e[+-]?\d+)?)\s*([a-zA-Z%]*)/.exec(text.trim());
    if (!p) return NaN;
    var v = +p[2].replace(/,/g, "");
    if (p[1][0] === "x") return 100 * (v - 1);
    if (p[1][0] === "-") v = -v;
    v += p[1][0] === "<" ? -v / 1e6 : p[1][0] === ">" ? v / 1e6 : 0;
    if (p[3] === "min") return 60 * v;
    return p[3].length > 1 && scales[p[3][0]] ? v * scales[p[3][0]] : v;
  };
  // Numbers before texts, what is empty last; equal cells keep their order.
  page.order = (cells, down) => {
    var keys = cells.map(page.number), sign = down ? -1 : 1;
    return cells.map((_, i) => i).sort((a, b) => {
      var x = keys[a], y = keys[b];
      if (x === x && y === y) return sign * (x - y) || a - b;
      if (x === x || y === y) return x === x ? -1 : 1;
      return /^-?$/.test(cells[a]) - /^-?$/.test(cells[b]) ||
        sign * cells[a].localeCompare(cells[b], "en", { numeric: true }) || a - b;
    });
  };
  page.difference = (text, base) => {
    var a = page.number(text), b = page.number(base);
    if (!(b !== 0 && a === a && b === b) || /^[+x-]/.test(text)) return "";
    if (a === b) return "0 %";
    var r = a / b;
    a = (100 * (r - 1)).toFixed(1);
    return r >= 3 ? "x" + +r.toPrecision(3) : (+a > 0 ? "+" + a : +a ? a : "0.0") + " %";
  };
  page.axis = (text) => {
    var p = text.split("|");
    return { kind: p[0], low: +p[1], high: +p[2], from: +p[3], to: +p[4], unit: p[5], label: p[6] };
  };
  page.place = (a, v) => {
    return a.kind === "log" ? Math.log10(v) : a.kind === "percentile" ? -Math.log10(1 - v) : v;
  };
  page.value = (a, px) => {
    var low = page.place(a, a.low), high = page.place(a, a.high);
    var v = low + (px - a.from) / (a.to - a.from) * (high - low);
    return a.kind === "log" ? Math.pow(10, v) : a.kind === "percentile" ? 1 - Math.pow(10, -v) : v;
  };
  page.pixel = (a, v) => {
    var low = page.place(a, a.low), high = page.place(a, a.high);
    return a.from + (page.place(a, v) - low) / (high - low) * (a.to - a.from);
  };
  // Whether a variant's name holds every word of the filter.
  page.matches = (name, filter) => filter.split(" ").every((word) => name.indexOf(word) >= 0);
  // About `count` round values between the ends of an axis.
  page.ticks = (a, count) => {
    var out = [], i, v;
    if (a.kind === "percentile") {
      out = [0, 0.5, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999].filter((q) => q >= a.low && q <= a.high);
      if (out.length > 1) return out;
    }
    if (a.kind === "log" && a.high >= 10 * a.low) {
      var marks = a.high < 1e3 * a.low ? [1, 3] : [1];
      for (i = Math.floor(Math.log10(a.low)); Math.pow(10, i) <= a.high; i++)
        marks.forEach((m) => { out.push(+(m * Math.pow(10, i)).toPrecision(1)); });
      return out.filter((v) => v >= a.low * (1 - 1e-9) && v <= a.high * (1 + 1e-9));
    }
    var raw = (a.high - a.low) / count, unit = Math.pow(10, Math.floor(Math.log10(raw)));
    var step = [1, 2, 5, 10].find((m) => m * unit >= raw * 0.999) * unit;
    for (out = [], i = Math.ceil(a.low / step - 1e-9); (v = i * step) <= a.high + step * 1e-9; i++)
      out.push(+v.toPrecision(12));
    return out;
  };
  page.shown = (a, v) => {
    if (a.kind === "percentile") return "p" + +(100 * v).toFixed(v > 0.99 ? 2 : 1);
    return +v.toPrecision(3) + (a.unit ? " " + a.unit : "");
  };
  page.at = (points, x) => {
    for (var i = 1; i < points.length; i++) {
      var a = points[i - 1].split(",").map(Number), b = points[i].split(",").map(Number);
      if (x >= a[0] && x <= b[0]) return b[0] === a[0] ? b[1] : a[1] + (x - a[0]) / (b[0] - a[0]) * (b[1] - a[1]);
    }
    return null;
  };
  // A document's variants as CSV: a column per parameter and number of the summary.
  page.csv = (doc) => {
    function flat(at, value, out) {
      if (value !== null && typeof value === "object" && !Array.isArray(value))
        Object.keys(value).forEach((k) => { flat(at ? at + "_" + k : k, value[k], out); });
      else if (!Array.isArray(value)) out[at] = value;
      return out;
    }
    var rows = doc.variants.map((v) => {
      return flat("", v.summary || {}, flat("", v.parameters || {}, { name: v.name }));
    }), keys = [];
    rows.forEach((r) => {
      Object.keys(r).forEach((k) => { if (keys.indexOf(k) < 0) keys.push(k); });
    });
    function cell(v) {
      var t = v === undefined || v === null ? "" : String(v);
      return /[\x22,\n]/.test(t) ? "\x22" + t.replace(/\x22/g, "\x22\x22") + "\x22" : t;
    }
    return [keys].concat(rows.map((r) => keys.map((k) => r[k])))
      .map((r) => r.map(cell).join(",")).join("\n") + "\n";
  };
  if (typeof document === "undefined") { module.exports = page; return; }
  window.rooflua = page;

  function all(what, from) { return [...(from || document).querySelectorAll(what)]; }
  function make(tag, text, where) {
    var e = document.createElement(tag);
    e.textContent = text;
    if (where) where.appendChild(e);
    return e;
  }
  function set(e, values) { Object.keys(values).forEach((k) => { e.setAttribute(k, values[k]); }); }
  function on(e, what, does) { e.addEventListener(what, does); }
  function words(e) { return e.textContent; }
  function act(e, does) {
    e.tabIndex = 0;
    on(e, "click", does);
    on(e, "keydown", (k) => {
      if (k.key === "Enter" || k.key === " ") { k.preventDefault(); does(k); }
    });
  }
  var names = [], off = {}, filter = "", base = "", kept = [];
  function rowsOf(t) { return all("tr", t).slice(1); }

  all("table:not(.cells)").forEach((t) => {
    var heads = all("th", t), rows = rowsOf(t);
    if (heads[0] && words(heads[0]) === "variant")
      rows.forEach((r) => {
        var n = words(r.cells[0]);
        if (names.indexOf(n) < 0) names.push(n);
      });
    if (rows.length < 2) return;
    heads.forEach((h, c) => {
      h.setAttribute("aria-sort", "none");
      act(h, () => {
        var down = h.getAttribute("aria-sort") === "ascending", now = rowsOf(t);
        heads.forEach((o) => { o.setAttribute("aria-sort", "none"); });
        h.setAttribute("aria-sort", down ? "descending" : "ascending");
        page.order(now.map((r) => {
          var cell = r.cells[c];
          return cell && cell.firstChild ? words(cell.firstChild) : "";
        }), down).forEach((i) => { now[i].parentNode.appendChild(now[i]); });
      });
    });
  });

  function styleOf(e) {
    return all("*", e).concat(e).map((x) =>
      [...x.classList].filter((c) => /^(s\d|e-.*|again)$/.test(c)).join(" ")).filter(Boolean)[0];
  }
  function filtered(name) { return filter && names.indexOf(name) >= 0 && !page.matches(name, filter); }
  // Points, bars and cells of the variants that the filter leaves; lines go through the points that are left.
  function sift() {
    all("[data-v]").forEach((e) => {
      e.classList.toggle(e.tagName === "TD" ? "dim" : "gone", !!filtered(names[e.dataset.v]));
    });
    all("figure").forEach((f) => {
      var gone = {}, above = 0;
      all(".mark.gone", f).forEach((m) => {
        gone[styleOf(m) + m.getAttribute("transform").slice(10, -1).replace(" ", ",")] = 1;
      });
      if (f.querySelector(".mark[data-v]")) all("polyline", f).forEach((p) => {
        p.every = p.every || p.getAttribute("points").split(" ");
        p.setAttribute("points", p.every.filter((at) => !gone[styleOf(p) + at]).join(" "));
      });
      all("g[data-v]", f).forEach((g) => {
        if (g.classList.contains("gone")) above++;
        else g.setAttribute("transform", "translate(0 " + -38 * above + ")");
      });
    });
  }
  function apply() {
    sift();
    all("figure").forEach((f) => {
      all(".legend li:not(.fixed)", f).forEach((li) => {
        var name = words(li), gone = !!(off[name] || filtered(name)), style = styleOf(li);
        li.classList.toggle("off", gone);
        li.setAttribute("aria-pressed", String(!gone));
        all("svg.chart .line, svg.chart .mark, svg.chart .fill", f).forEach((e) => {
          if (styleOf(e) !== style) return;
          e.style.display = gone ? "none" : "";
          e.classList.toggle("base", name === base && base !== "");
        });
      });
    });
    all("table:not(.cells)").forEach((t) => {
      var rows = rowsOf(t), from = rows.filter((r) => words(r.cells[0]) === base)[0];
      rows.forEach((r) => {
        var name = words(r.cells[0]);
        r.style.display = filtered(name) ? "none" : "";
        all("small.d", r).forEach((s) => { s.remove(); });
        if (from && r !== from) all("td.n", r).forEach((c) => {
          var d = page.difference(words(c), words(from.cells[c.cellIndex]));
          if (d) make("small", " " + d, c).className = "d";
        });
      });
    });
    var gone = Object.keys(off).filter((n) => off[n]);
    var hash = gone.length || filter || base || page.chosen ?
      "#" + encodeURIComponent(JSON.stringify([gone, filter, base, page.chosen])) : "";
    try { history.replaceState(null, "", hash || location.pathname + location.search); } catch (e) { }
  }
  function legend(li) {
    li.setAttribute("role", "button");
    act(li, () => { off[words(li)] = !off[words(li)]; apply(); });
    on(li, "dblclick", () => {
      all("li", li.parentNode).forEach((o) => { off[words(o)] = o !== li; });
      apply();
    });
  }
  all(".legend li:not(.fixed)").forEach(legend);
  try {
    kept = JSON.parse(decodeURIComponent(location.hash.slice(1)));
    kept[0].forEach((n) => { off[n] = true; });
    filter = kept[1]; base = kept[2];
  } catch (e) { }
  var bar = document.getElementById("controls"), data = document.getElementById("data");
  if (names.length > 1) {
    var box = make("label", "variants with ", bar), field = make("input", "", box);
    field.value = filter; field.type = "search";
    on(field, "input", () => {
      filter = field.value;
      if (page.choose) page.choose(filter);
      apply();
    });
    var choice = make("select", "", make("label", " baseline ", bar));
    ["none"].concat(names).forEach((n) => { make("option", n, choice); });
    if (base) choice.value = base;
    on(choice, "change", () => { base = choice.selectedIndex ? choice.value : ""; apply(); });
  }
  if (data) ["CSV", "JSON"].forEach((kind) => {
    act(make("button", kind, bar), () => {
      var text = kind === "JSON" ? words(data) : page.csv(JSON.parse(words(data)));
      var a = make("a", "");
      a.href = URL.createObjectURL(new Blob([text]));
      a.download = "rooflua." + kind.toLowerCase();
      a.click();
    });
  });

  var note = document.getElementById("readout");
  function state(svg) {
    var inner = svg.querySelector("svg"), view = inner.getAttribute("viewBox").split(" ").map(Number);
    return { svg, inner, view, x: page.axis(svg.dataset.x), y: page.axis(svg.dataset.y),
      whole: page.axis(svg.dataset.x),
      group: svg.dataset.x.replace(/\|[^|]*\|[^|]*(\|[^|]*\|[^|]*)$/, "$1"), old: all(".ticks", svg) };
  }
  var charts = all("svg.chart[data-x]").map(state);
  function show(c, low, high) {
    var w = c.whole, a = page.pixel(w, low), b = page.pixel(w, high), zoomed = low !== w.low || high !== w.high;
    c.x.low = low; c.x.high = high;
    set(c.inner, { preserveAspectRatio: "none", viewBox: [a, c.view[1], b - a, c.view[3]].join(" ") });
    all("[data-new]", c.svg).forEach((e) => { e.remove(); });
    c.old.forEach((e) => { e.style.display = zoomed ? "none" : ""; });
    if (zoomed) page.ticks(c.x, 5).forEach((v) => {
      var ns = c.svg.namespaceURI, t = document.createElementNS(ns, "text"), l = document.createElementNS(ns, "line");
      var px = page.pixel(c.x, v);
      set(t, { x: px, y: c.y.from + 16, "text-anchor": "middle", "data-new": "" });
      t.textContent = c.x.kind === "percentile" ? page.shown(c.x, v) : String(v);
      set(l, { "class": "grid", x1: px, x2: px, y1: c.y.to, y2: c.y.from, "data-new": "" });
      c.svg.insertBefore(l, c.inner);
      c.svg.insertBefore(t, c.inner);
    });
  }
  charts.forEach((c) => {
    var svg = c.svg, start = null;
    var cursor = svg.querySelector("line").cloneNode(false);
    set(cursor, { "class": "cursor" });
    function pointer(event) {
      var frame = svg.getBoundingClientRect();
      return (event.clientX - frame.left) / frame.width * svg.viewBox.baseVal.width;
    }
    function group(low, high) {
      charts.forEach((o) => { if (o.group === c.group) show(o, low, high); });
    }
    on(svg, "pointerdown", (e) => { start = pointer(e); });
    on(svg, "pointerup", (e) => {
      var x = c.x, end = pointer(e);
      var a = Math.max(x.from, Math.min(start, end)), b = Math.min(x.to, Math.max(start, end));
      if (start !== null && b - a > 8) group(page.value(x, a), page.value(x, b));
      start = null;
    });
    on(svg, "dblclick", () => { group(c.whole.low, c.whole.high); });
    on(svg, "pointermove", (event) => {
      var x = pointer(event), ax = c.x, ay = c.y;
      if (x < ax.from || x > ax.to) { leave(); return; }
      var lines = [page.shown(ax, page.value(ax, x))], first = page.pixel(c.whole, page.value(ax, x));
      all("polyline[data-name]", svg).forEach((each) => {
        if (each.style.display === "none") return;
        var y = page.at(each.getAttribute("points").split(" "), first);
        if (y !== null) lines.push((each.dataset.name || ay.label) + "  " + page.shown(ay, page.value(ay, y)));
      });
      note.textContent = lines.join("\n");
      note.style.display = "block";
      var right = event.clientX + 14 + note.offsetWidth > window.innerWidth;
      note.style.left = Math.max(0, right ? event.clientX - 14 - note.offsetWidth : event.clientX + 14) + "px";
      note.style.top = event.clientY + 14 + "px";
      set(cursor, { x1: start === null ? x : start, x2: x, y1: ay.to, y2: ay.from });
      svg.appendChild(cursor);
    });
    function leave() { note.style.display = "none"; cursor.remove(); start = null; }
    on(svg, "pointerleave", leave);
  });
  // For choice.js.
  page.tools = { all, make, set, on, act, words, legend, apply, bar, kept, filter,
    renew: (svg) => { charts.forEach((c) => { if (c.svg === svg) Object.assign(c, state(svg)); }); } };
  window.page = page;
  if (!document.getElementById("choices")) apply();
})();
