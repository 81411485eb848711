-- Requests of plays, drawn without a run: for forecasts and plans, which ask for lengths only.
local drawn = {}

--- Calls use(arrival_s, prompt_tokens, output_tokens) for rows of the first plays.
--- @param source table what requests(rng) returned, with plays
--- @param most integer rows
function drawn.each(source, most, use)
  local count = 0
  while count < most do
    local play = source.plays(source)
    if type(play) ~= "table" or type(play.rows) ~= "table" then return end
    for _, row in ipairs(play.rows) do
      local ok = type(row) == "table" and type(row.prompt_tokens) == "number" and type(row.output_tokens) == "number"
      if not ok or count >= most then return end
      count = count + 1
      use(play.arrival_s or 0, row.prompt_tokens, row.output_tokens)
    end
  end
end

return drawn
