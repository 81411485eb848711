-- A stub: constants.
local encoder = {}
function encoder.of(model) return { name = model.name } end
function encoder.item(_, item)
  local tokens = math.max(1, math.floor((item.width or 640) * (item.height or 640) / 1024))
  return { kind = item.kind, tokens = tokens, rows = { tokens * 4 } }
end
function encoder.host_s() return 0 end
function encoder.pricer()
  return function(items)
    local time_s = 1e-3
    for _, item in ipairs(items) do time_s = time_s + 2e-6 * item.tokens end
    return { time_s = time_s, evidence_s = { modelled = time_s },
      operations = { { name = "encoder", evidence = "modelled", time_s = time_s } } }
  end
end
return encoder
