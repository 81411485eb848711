// What a plan's page computes again where a reader changes a price: costs, order, reasons and the verdict, in the words
// of scripts/lib/rooflua/plan/page. It reads the data of each plan (page/items.lua). The page is complete without it.
(function () {
  "use strict";
  var plan = {};
  // As string.format prints it in LuaJIT.
  plan.fixed = (v, decimals) => v.toFixed(decimals);
  plan.significant = (v, digits) => {
    if (v === 0) return "0";
    var e = +v.toExponential(digits - 1).split("e")[1], decimals = Math.min(Math.max(digits - 1 - e, 0), 12);
    if (e >= digits) return plan.fixed(+v.toPrecision(digits), 0);
    var text = plan.fixed(v, decimals);
    return decimals > 0 ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  };
  plan.dollars = (v) => {
    if (v >= 1000) return "$" + plan.fixed(v, 0).replace(/\B(?=(\d{3})+$)/g, ",");
    return "$" + (v >= 1 ? plan.fixed(v, 2) : plan.significant(v, 3));
  };
  function known(v) { return v !== null && v !== undefined; }
  function cost(item, prices) { return known(prices[item.gpu]) ? item.paid * prices[item.gpu] : null; }
  function score(item, prices) {
    var f = item.form, c = cost(item, prices);
    if (!f || !f.slope || c === null) return item.score;
    return f.at + f.slope * (f.form === "log" ? Math.log(Math.max(c, 1e-300)) : c);
  }
  function rounded(v) { return +v.toPrecision(12); }
  // The cost at which an item has that score; null where prices do not decide it.
  function costAt(item, value) {
    var f = item.form;
    if (!f || f.slope <= 0) return null;
    var c = (value - f.at) / f.slope;
    if (f.form === "log") c = Math.exp(c);
    return c > 0 && isFinite(c) ? c : null;
  }
  // Scores, then what decides between equal ones, as answer.lua compares them.
  plan.order = (data, prices) => {
    var scores = data.items.map((i) => rounded(score(i, prices)));
    function before(a, b) {
      var x = data.items[a].tie, y = data.items[b].tie;
      return scores[a] - scores[b] || y.p - x.p || y.low - x.low || x.margin - y.margin || x.gpus - y.gpus ||
        (x.name < y.name ? -1 : x.name > y.name ? 1 : 0);
    }
    var all = data.items.map((_, i) => i);
    var sure = all.filter((i) => data.items[i].is_sure).sort(before);
    var first = sure[0], rest = all.filter((i) => !data.items[i].is_sure).sort(before);
    function isBetter(i) { return first !== undefined && scores[i] < scores[first]; }
    function isRank(i) { return data.items[i].is_rank && !isBetter(i); }
    return { scores, first, ranked: sure.concat(rest.filter(isRank)), better: rest.filter(isBetter),
      others: rest.filter((i) => !isRank(i)) };
  };
  function million(item, prices) {
    var c = cost(item, prices);
    if (c === null || !item.outputs.length) return null;
    var texts = item.outputs.map((o) => {
      return plan.dollars(c / 3600 / o.tokens_per_s * 1e6) + (o.load ? " at " + o.load : "");
    });
    return texts.join(", ");
  }
  function terms(item, best, prices) {
    var a = prices[item.gpu], b = prices[best.gpu];
    if (!(item.holds_to > 0 && best.holds_to > 0 && a > 0 && b > 0)) return {};
    if (item.holds_more || best.holds_more) return { price: a / b, "number of GPUs": item.paid / best.paid };
    return { price: a / b, "GPUs per replica": item.paid / item.replicas / (best.paid / best.replicas),
      capacity: best.holds_to / best.replicas / (item.holds_to / item.replicas),
      rounding: item.holds_to / best.holds_to };
  }
  // The names of terms in the order of their keys in answer.lua, which decides between equal factors.
  var keys = { "number of GPUs": "all_gpus", "GPUs per replica": "gpus" };
  function factors(data, item, best, prices) {
    var of = data.figure === "cost_per_hour" ? terms(item, best, prices) : {}, names = Object.keys(of);
    names.sort((a, b) => of[b] - of[a] || ((keys[a] || a) < (keys[b] || b) ? -1 : 1));
    var parts = names.map((n, i) => Math.abs(of[n] - 1) > 0.005 ?
      (i ? n + " x " + plan.fixed(of[n], 2) : "lost by " + n + " (x " + plan.fixed(of[n], 2) + ")") : "");
    return parts.filter(Boolean).join(", ") || data.words.more;
  }
  function same(data, item, best) {
    var a = item.tie, b = best.tie;
    if (item.has_sure && best.has_sure && (a.p < b.p || (a.p === b.p && a.low < b.low)))
      return data.words.same + "; less sure";
    if (a.margin > b.margin) return data.words.same + "; closer to the limits";
    return data.words.same + (a.gpus > b.gpus ? "; more GPUs" : "");
  }
  function evenAt(item, best, bestScore, prices) {
    if (item.gpu === best.gpu || !(cost(item, prices) > 0)) return null;
    var c = costAt(item, bestScore);
    return c === null ? null : c / item.paid;
  }
  function decides(item) { return !!item.form && item.form.slope !== 0; }
  function lost(data, i, o, prices) {
    var item = data.items[i], best = data.items[o.first], text = item.lost;
    if (decides(item) || o.first !== 0) {
      text = o.scores[i] === o.scores[o.first] ? same(data, item, best) : factors(data, item, best, prices);
      var even = evenAt(item, best, o.scores[o.first], prices);
      if (o.scores[i] > o.scores[o.first] && even !== null)
        text += ". Wins below " + plan.dollars(even) + " per " + data.gpus[item.gpu].label + " and hour";
    }
    return (item.is_sure ? "" : "not sure enough: " + data.asked + " is asked; ") + text;
  }
  function difference(data, i, o, prices) {
    if (o.first === undefined || i === o.first) return "";
    if (!data.figure) {
      var more = data.items[i].score_now - data.items[o.first].score_now;
      return "score " + (more < 0 ? "-" : "+") + plan.significant(Math.abs(more), 3);
    }
    var a = cost(data.items[i], prices), b = cost(data.items[o.first], prices);
    if (!(b > 0)) return "";
    var part = 100 * (a / b - 1);
    return (part < 0 ? "-" : "+") + plan.fixed(Math.abs(part), 1) + " %";
  }
  function lead(data, item, prices) {
    var parts = [item.figure, known(prices[item.gpu]) ? plan.dollars(cost(item, prices)) + " per hour" : "",
      million(item, prices) ? million(item, prices) + " per 1M output tokens" : ""];
    return "Run " + data.model + " on " + item.where + ": " + parts.filter(Boolean).join("; ") + ".";
  }
  function changes(data, o, prices, before) {
    var best = data.items[o.first], out = [], least = Infinity, told = 0;
    function now(item) { return " (now " + plan.dollars(prices[item.gpu]) + ")."; }
    var sure = o.ranked.filter((i) => data.items[i].is_sure && i !== o.first);
    sure.forEach((i) => {
      if (data.items[i].gpu === best.gpu) return;
      var c = costAt(best, score(data.items[i], prices));
      if (c !== null && c < least) least = c;
    });
    if (isFinite(least)) out.push(data.gpus[best.gpu].label + " stays first up to " + plan.dollars(least / best.paid) +
      " per GPU and hour" + now(best));
    sure.forEach((i) => {
      var even = evenAt(data.items[i], best, score(best, prices), prices);
      if (even === null || told++ >= 3) return;
      out.push(data.items[i].where + " wins below " + plan.dollars(even) + " per " +
        data.gpus[data.items[i].gpu].label + " and hour" + now(data.items[i]));
    });
    o.better.forEach((i) => {
      var item = data.items[i];
      out.push(item.where + " is " + data.better + " and not sure enough: " +
        (item.figure || plan.dollars(cost(item, prices)) + "/h") + ", " + item.met + ".");
    });
    return best && decides(best) && out.length ? out : before;
  }
  // {key: lines} of everything that prices touch, and the order of the deployments.
  plan.told = (data, prices, before) => {
    var o = plan.order(data, prices), out = {};
    data.items.forEach((item) => { item.score_now = score(item, prices); });
    o.ranked.forEach((i, place) => {
      out["rank " + i] = [String(place + 1)];
      out["lost " + i] = [place ? lost(data, i, o, prices) : ""];
    });
    o.others.forEach((i) => {
      out["rank " + i] = ["-"];
      out["lost " + i] = [(o.better.indexOf(i) < 0 ? "" : data.better + " and ") + "not sure enough: " + data.asked +
        " is asked"];
    });
    data.items.forEach((item, i) => {
      var c = cost(item, prices);
      out["cost " + i] = [c === null ? "-" : plan.dollars(c)];
      out["million " + i] = [million(item, prices) || "-"];
      if (decides(item)) out["difference " + i] = [difference(data, i, o, prices)];
    });
    data.candidates.forEach((each) => {
      var c = cost(each, prices);
      out["candidate " + each.index] = [c === null ? "-" : plan.dollars(c)];
    });
    data.curves.forEach((points, i) => points.forEach((p, k) => {
      var price = prices[data.items[i].gpu];
      out["curve " + i + " " + k] = [known(price) ? plan.dollars(p.per_dollar * price) : "-"];
    }));
    if (o.first !== undefined) {
      out.lead = [before.prefix + lead(data, data.items[o.first], prices)];
      ["sure", "limits", "rests", "holds"].forEach((k) => { out[k] = data.items[o.first].told[k]; });
      out.changes = changes(data, o, prices, before.changes);
    }
    return { order: o.ranked.concat(o.others), texts: out };
  };
  if (typeof document === "undefined") { module.exports = plan; return; }

  function all(what, from) { return [...from.querySelectorAll(what)]; }
  function write(e, lines) {
    e.textContent = "";
    lines.forEach((line, i) => {
      if (i) e.appendChild(document.createElement("br"));
      e.appendChild(document.createTextNode(line));
    });
  }
  function linesOf(e) { return e ? [...e.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data) : []; }
  // Costs against load again, on an axis from 0 to what the dearest point costs.
  function redraw(svg, data, prices) {
    var axis = rooflua.axis(svg.dataset.y), x = rooflua.axis(svg.dataset.x), most = 0, ns = svg.namespaceURI;
    var marks = all(".mark", svg), m = 0, drawn = []; // a deployment without a price has no line
    data.curves.forEach((points, i) => {
      var line = all("polyline", svg).filter((l) => l.dataset.name === data.names[i])[0];
      if (line) drawn.push({ line, ys: points.map((p) => p.per_dollar * prices[data.items[i].gpu]) });
    });
    drawn.forEach((each) => each.ys.forEach((y) => { most = Math.max(most, y); }));
    axis.low = 0; axis.high = 1.03 * most || 1;
    var step = rooflua.ticks(axis, 5), by = step.length > 1 ? step[1] - step[0] : axis.high;
    axis.high = Math.ceil(axis.high / by - 1e-9) * by;
    svg.dataset.y = ["linear", 0, axis.high, axis.from, axis.to, axis.unit, axis.label].join("|");
    drawn.forEach((each) => {
      var places = each.line.getAttribute("points").split(" ").map((p) => p.split(",")[0]);
      each.line.setAttribute("points", each.ys.map((y, k) => {
        var at = +rooflua.pixel(axis, y).toFixed(2);
        if (marks[m]) marks[m++].setAttribute("transform", "translate(" + places[k] + " " + at + ")");
        return places[k] + "," + at;
      }).join(" "));
    });
    var levels = svg.querySelector(".levels");
    levels.textContent = "";
    rooflua.ticks(axis, 5).forEach((v) => {
      var l = document.createElementNS(ns, "line"), t = document.createElementNS(ns, "text");
      var at = rooflua.pixel(axis, v);
      function set(e, values) { values.forEach((a) => { e.setAttribute(a[0], a[1]); }); }
      set(l, [["class", "grid"], ["x1", x.from], ["x2", x.to], ["y1", at], ["y2", at]]);
      set(t, [["x", x.from - 6], ["y", at + 4], ["text-anchor", "end"]]);
      t.textContent = String(v);
      levels.appendChild(l);
      levels.appendChild(t);
    });
  }
  all(".plan", document).forEach((part) => {
    var data = JSON.parse(part.querySelector("script").textContent), fields = all("[data-field]", part), places = {};
    all("[data-key]", part).forEach((e) => { places[e.dataset.key] = e; });
    var said = places.lead ? places.lead.textContent : "", at = said.indexOf("Run " + data.model);
    var before = { prefix: at > 0 ? said.slice(0, at) : "", changes: linesOf(places.changes) };
    var prices = data.gpus.map((g) => known(g.price) ? g.price : null);
    function again() {
      fields.forEach((f) => {
        var v = parseFloat(f.value);
        if (v >= 0 && isFinite(v)) prices[+f.dataset.field] = v;
      });
      var told = plan.told(data, prices, before);
      Object.keys(told.texts).forEach((k) => { if (places[k]) write(places[k], told.texts[k]); });
      told.order.forEach((i) => {
        var row = places["rank " + i].closest("tr");
        row.parentNode.appendChild(row);
      });
      all("svg.chart", part).forEach((svg) => {
        if (svg.getAttribute("aria-label") === data.chart) redraw(svg, data, prices);
      });
    }
    fields.forEach((f) => {
      f.disabled = false;
      f.addEventListener("input", again);
    });
  });
})();
