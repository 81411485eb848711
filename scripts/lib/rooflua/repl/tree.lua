--- A priced step as a tree: kinds of work, then operations, each with its time, share and bound.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local units = require "rooflua.text.units"

local tree = {}

--- "step of 21.59 ms, 30.10 s to 30.12 s: 12 decodes, 1 prefill of 512 tokens"
---@param name string? of its replica, where there are several
function tree.headline(last, name)
  local parts = {}
  if last.decodes > 0 then
    parts[#parts + 1] = units.counted(last.decodes, "decode")
    if last.decode_tokens then
      parts[#parts] = parts[#parts] .. (" with %s drafts (%s accepted)"):format(
        units.grouped(last.decode_tokens - last.decodes), units.grouped(last.accepted))
    end
  end
  if last.prefills > 0 then
    parts[#parts + 1] = ("%s of %s tokens"):format(units.counted(last.prefills, "prefill"),
      units.grouped(last.prefill_tokens))
  end
  local group = last.group
  if #parts == 0 then parts[1] = "no tokens" end
  if group then
    parts[#parts + 1] = ("%s tokens of all %d ranks, its own work %s"):format(units.grouped(group.tokens), group.ranks,
      units.text(last.own_s, "s"))
  end
  return ("step%s from %.6f s, %s: %s"):format(name and " of " .. name or "", last.start_s,
    units.text(last.end_s - last.start_s, "s"), core.join(parts, ", "))
end

--- Groups rows by kind, the kind with the most time first. A correction stays with the row that it corrects.
local function grouped(rows)
  local groups, by_kind = {}, {}
  for _, row in ipairs(rows) do
    local kind = row.kind
    if kind == "correction" and row.of then kind = by_kind.last or kind else by_kind.last = kind end
    local group = by_kind[kind]
    if not group then
      group = { kind = kind, rows = {}, time_s = 0 }
      groups[#groups + 1], by_kind[kind] = group, group
    end
    group.rows[#group.rows + 1] = row
    group.time_s = group.time_s + row.time_s * row.count
  end
  for i, group in ipairs(groups) do group.place = i end
  table.sort(groups, function(x, y)
    if x.time_s ~= y.time_s then return x.time_s > y.time_s end
    return x.place < y.place
  end)
  return groups
end

local function cells(prefix, name, row, whole_s)
  local count = row.count or 1
  local time_s, shape = row.time_s * count, (row.shape or ""):gsub("(%d%.%d)%d+", "%1")
  return { prefix .. name, units.text(time_s, "s"), units.text(whole_s > 0 and time_s / whole_s or 0, "share"),
    row.bound and row.bound ~= "unknown" and row.bound or "",
    row.mfu and row.mfu > 0 and units.text(row.mfu, "share") or "",
    row.evidence or "", (count > 1 and count .. " x " or "") .. shape }
end

---@param priced table {time_s, rows, evidence}
function tree.text(priced)
  local out = { { "step", units.text(priced.time_s, "s"), "", "bound", "MFU", "rests on", "shape" } }
  local groups = grouped(priced.rows)
  for i, group in ipairs(groups) do
    local last_group = i == #groups
    local branch = last_group and "└─ " or "├─ "
    if #group.rows == 1 then
      out[#out + 1] = cells(branch, group.rows[1].name, group.rows[1], priced.time_s)
    else
      out[#out + 1] = cells(branch, group.kind, { time_s = group.time_s, shape = "" }, priced.time_s)
      for j, row in ipairs(group.rows) do
        local twig = (last_group and "   " or "│  ") .. (j == #group.rows and "└─ " or "├─ ")
        out[#out + 1] = cells(twig, row.name, row, priced.time_s)
      end
    end
  end
  local text = columns.text(out) .. "\nrests on " .. units.evidence(priced.evidence)
  return priced.noted_frac and text .. "; touched by notes " .. units.text(priced.noted_frac, "share") or text
end

return tree
