-- Parts of a run in the schema of results (docs/schema/result.json), for tests/generated.lua.
local json = require "rooflua.json"
local parts = require("rooflua.measure.metrics").declared.parts

local schema_of_parts = {}

local schema_types = { text = { type = "string" }, list = { type = "array", items = { ["$ref"] = "#/$defs/figure" } },
  distribution = { ["$ref"] = "#/$defs/statistics" }, figure = { ["$ref"] = "#/$defs/figure" },
  count = { ["$ref"] = "#/$defs/count" } }

--- The keys of a summary in the schema of results that parts of a run have.
function schema_of_parts.keys()
  local lines = {}
  for _, part in ipairs(parts) do
    local figures = { ["$ref"] = "#/$defs/" .. part.name }
    lines[#lines + 1] = ("        %s: %s,"):format(json.encode(part.name),
      json.encode(part.many and { type = "array", items = figures } or figures))
  end
  return table.concat(lines, "\n")
end

--- The figures of parts in the schema of results. All of them are written: what does not exist is null.
function schema_of_parts.figures()
  local lines = {}
  for _, part in ipairs(parts) do
    local required, properties = {}, {}
    for i, metric in ipairs(part.metrics) do
      required[i] = json.encode(metric.name)
      local described = { description = metric.help }
      for key, value in pairs(schema_types[metric.kind]) do described[key] = value end
      properties[i] = ("        %s: %s"):format(required[i], json.encode(described))
    end
    lines[#lines + 1] = ('    %s: {\n      "description": %s,\n      "type": "object", "additionalProperties": false,')
      :format(json.encode(part.name), json.encode(part.help))
    lines[#lines + 1] = ('      "required": [%s],\n      "properties": {\n%s\n      }\n    },')
      :format(table.concat(required, ", "), table.concat(properties, ",\n"))
  end
  return table.concat(lines, "\n")
end

return schema_of_parts
