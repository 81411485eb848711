"""Results in a notebook: a table, what the time rests on, notes; a page."""

from __future__ import annotations

import html

# Origins of a price from good to bad, and their colours.
EVIDENCE = {"measured": "#2a7f3f", "interpolated": "#7fb069", "extrapolated": "#e6aa3c", "stand_in": "#d98032",
            "modelled": "#8a8fb5", "assumed": "#b3443c"}
COLUMNS = ("requests_per_s", "output_tokens_per_s", "ttft_s_p50", "ttft_s_p99", "tpot_s_p50", "tpot_s_p99",
           "e2e_s_p50", "time_s")


def _cell(value):
    return f"{value:.4g}" if isinstance(value, float) else html.escape(str(value))


def _table(rows, names):
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{_cell(row.get(name, ''))}</td>" for name in names) + "</tr>"
                   for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _bar(row):
    parts = [(name, row.get(f"evidence_{name}") or 0) for name in EVIDENCE]
    if not any(share for _, share in parts):
        return ""
    pieces = "".join(f'<span title="{name} {100 * share:.1f} %" style="display:inline-block;height:10px;'
                     f'width:{100 * share:.2f}%;background:{EVIDENCE[name]}"></span>' for name, share in parts if share)
    words = ", ".join(f"{name} {100 * share:.1f} %" for name, share in parts if share)
    return (f'<div style="width:400px;font-size:0;line-height:0">{pieces}</div>'
            f"<small>Time rests on: {words}</small>")


def _notes(document):
    seen = {}
    for variant in document["variants"]:
        for note in variant.get("notes") or []:
            text = note if isinstance(note, str) else " ".join(str(each) for each in note.values())
            seen[text] = True
    return "".join(f"<li>{html.escape(text)}</li>" for text in seen)


def _intervals(document):
    """What each kind of deployment says of its intervals, once; of one run its own lines."""
    found = [variant.get("intervals") or {} for variant in document["variants"]]
    lines = found[0].get("text", []) if len(found) == 1 else [each["about"] for each in found if "about" in each]
    return "".join(f"<div><small>{html.escape(line)}</small></div>" for line in dict.fromkeys(lines))


def html_of(result):
    """Table, evidence of the first variant, intervals and notes; at most 50 variants."""
    rows = result.rows[:50]
    parameters = [name for name in dict.fromkeys(key for row in rows for key in row) if "." in name]
    metrics = [name for name in COLUMNS if any(name in row for row in rows)]
    named = [] if len(rows) == 1 or parameters else ["name"]
    text = _table(rows, [*named, *parameters, *metrics])
    if len(result.rows) > len(rows):
        text += f"<small>{len(rows)} of {len(result.rows)} variants; .frame has all</small>"
    notes = _notes(result.document)
    return text + (_bar(rows[0]) if rows else "") + _intervals(result.document) + (f"<ul>{notes}</ul>" if notes else "")


class Page:
    """The page of --html, in a frame."""

    def __init__(self, text):
        self.html = text

    def _repr_html_(self):
        return (f'<iframe srcdoc="{html.escape(self.html, quote=True)}" width="100%" height="700" '
                f'style="border:0"></iframe>')
