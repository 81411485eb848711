-- What no output shows: values of keys, tokens and passwords. Their names are kept.
local secrets = {}

local mask, most_masked = "***", 4000
local parts = { "api_?key", "password", "passwd", "secret", "credential", "private_?key", "access_?key", "auth_?token",
  "hf_?token", "hugging_?face_?hub_?token", "bearer", "^token$", "_token$", "ssl_?key" }

--- Whether a name is that of a secret.
function secrets.is_named(name)
  local low = name:lower():gsub("%-", "_")
  for _, part in ipairs(parts) do
    if low:find(part) then return true end
  end
  return false
end

local closing = { ["["] = "]", ["("] = ")", ["{"] = "}" }

--- The place behind a value: behind its last bracket, its quote or its word; behind the line where it has no end.
local function behind_value(text, at)
  local first = text:sub(at, at)
  if closing[first] then return text:match("^%b" .. first .. closing[first] .. "()", at) or #text + 1 end
  if first == "'" or first == '"' then return text:match("^" .. first .. "[^" .. first .. "]*" .. first .. "()", at)
    or #text + 1 end
  return text:match("^[^%s,%])}'\"]*()", at)
end

--- A text without what stands behind names of secrets: 'api_key': [...], HF_TOKEN=X.
local function without_named(text)
  local out, at = {}, 1
  for from, name, behind in text:gmatch "()%f[%w_%-]([%w_%-]+)['\"]?%s*[:=]%s*()" do
    if from >= at and secrets.is_named(name) then
      local stop = behind_value(text, behind)
      local value = text:sub(behind, stop - 1)
      if value ~= "None" and value ~= "null" and value ~= "" then
        out[#out + 1] = text:sub(at, behind - 1) .. mask
        at = stop
      end
    end
  end
  out[#out + 1] = text:sub(at)
  return table.concat(out)
end

--- A line without the values of secrets: those behind a name ('api_key': [...], --api-key X, HF_TOKEN=X), and words
--- that look like tokens of known services. At most so many bytes of it.
function secrets.masked(text, most)
  text = without_named(text:sub(1, most_masked))
  text = text:gsub("%f[%S](%-%-[%w_%-]+)(%s+)([^%s%-]%S*)", function(name, between)
    return secrets.is_named(name:sub(3)) and name .. between .. mask or nil
  end)
  text = text:gsub("[Bb]earer%s+%S+", "Bearer " .. mask)
  text = text:gsub("%f[%w]hf_%w+", function(word) return #word > 12 and mask or nil end)
  text = text:gsub("%f[%w]sk%-[%w_%-]+", function(word) return #word > 12 and mask or nil end)
  return text:sub(1, most or #text)
end

secrets.mask = mask

return secrets
