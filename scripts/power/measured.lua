--- Watts by what the GPU does, from what was measured on it (spec.power): a curve of busy share, MFU and share of
--- bandwidth that ends at the limit (power.model.curve). A GPU without rows has the curve of one of its
--- architecture, by the limits of both, and says so. The means of a run stand for its moments: where some moments are
--- at the limit and others below, the figure is too high.
local curve = require "power.model.curve"
local facility = require "power.model.facility"
local policy = require "rooflua.policy"
local spec = require "rooflua.spec"

---@class power.Measured
---@field facility_factor number
---@field host_w number
local Measured = policy.define {
  name = "measured",
  doc = "Watts by busy share, MFU and share of bandwidth, from readings of this GPU or of one of its architecture.",
  source = "docs/DATA.md, \"Power, and what it does to clocks\"",
  params = {
    facility_factor = facility.factor,
    host_w = facility.host_w,
  },
}

--- Runs are sampled for their MFU and their share of bandwidth.
Measured.reads_work = true

local unknown_frac = 0.2 -- the mean error on a GPU that was left out: docs/records/fitted.md, "Power"

--- The curve of a GPU from its own rows; nil where it has none.
local function own_curve(hardware)
  local rows, about = spec.power(hardware)
  if not rows then return nil end
  local limit_w = hardware.tdp_w
  if limit_w == 0 then for _, row in ipairs(rows) do limit_w = math.max(limit_w, row.watts) end end
  local found, problem = curve.fit(rows, limit_w)
  if not found then error(("power/measured: rows of %s: %s"):format(hardware.name, problem), 0) end
  found.about = about
  return found
end

--- The GPU whose curve stands in for one without rows: of its architecture, the one whose tables it borrows, else the
--- one whose limit is nearest; nil where there is none.
local function stand_in_of(hardware)
  if hardware.tdp_w == 0 then return nil end
  local best, least
  for _, name in ipairs(spec.gpus()) do
    local other = spec.hardware(name)
    if other.architecture == hardware.architecture and other.tdp_w > 0 and spec.power(other) then
      local apart = name == hardware.tables_from and -1 or math.abs(other.tdp_w - hardware.tdp_w)
      if not least or apart < least then best, least = other, apart end
    end
  end
  return best
end

local function curve_of(hardware)
  local own = own_curve(hardware)
  if own then return own end
  local other = stand_in_of(hardware)
  if not other then return false end
  local of = own_curve(other)
  local out = curve.scaled(of, hardware.tdp_w, unknown_frac)
  out.about = ("stand-in, scaled by the limits: the %s with %s"):format(other.name, of.about)
  return out
end

function Measured:curve(hardware)
  self.curves = self.curves or {}
  local key = ("%s %s %g"):format(hardware.source, hardware.name, hardware.tdp_w)
  local known = self.curves[key]
  if known == nil then
    known = curve_of(hardware)
    self.curves[key] = known
  end
  return known
end

--- Refuses a GPU that was not measured and that no other stands in for.
function Measured:check(hardware)
  if self:curve(hardware) then return end
  local measured = {}
  for _, name in ipairs(spec.gpus()) do if spec.power(name) then measured[#measured + 1] = name end end
  error(("power/measured: no watts were measured on %s or on a GPU of its architecture whose limit is known (measured: "
    .. "%s); say --power linear or tdp, or give its watts with --watts %s=WATTS"):format(hardware.name,
    table.concat(measured, ", "), hardware.name), 0)
end

--- What the watts of a GPU rest on.
function Measured:basis(hardware)
  local known = self:curve(hardware)
  return ("%s; %s"):format(known and known.about or "nothing that was measured", facility.text(self))
end

--- @param busy_frac number? share of the run in which steps ran; nothing: all of it
--- @param work {mfu: number, bandwidth_frac: number}? means of the whole run; nothing: any, so that the limit is drawn
--- @return number? watts of one GPU; nil of an idle one that was not measured
--- @return string bound what reports put in front
--- @return number? low
--- @return number? high
function Measured:watts(hardware, busy_frac, work)
  busy_frac = math.min(1, busy_frac or 1)
  local known = self:curve(hardware)
  if not known then
    if busy_frac == 0 then return nil, "at most" end
    self:check(hardware)
  end
  if not work and busy_frac > 0 then
    local most = known.idle_w + (known.limit_w - known.idle_w) * busy_frac
    local _, low, high = facility.with(self, most, known.idle_w, most)
    return high, "at most", low, high
  end
  local watts, low, high = facility.with(self, curve.watts(known, { busy_frac = busy_frac,
    mfu = work and work.mfu or 0, bandwidth_frac = work and work.bandwidth_frac or 0 }))
  return watts, "about", low, high
end

return Measured
