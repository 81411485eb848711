-- What no output shows: values of keys, tokens and passwords. Their names are kept.
local secrets = {}

local mask = "***"
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

--- A line without the values of secrets: those behind a name ('api_key': [...], --api-key X, HF_TOKEN=X), and words
--- that look like tokens of known services.
function secrets.masked(text)
  text = text:gsub("([%w_%-]+)(['\"]?%s*[:=]%s*)(%b[])", function(name, between)
    return secrets.is_named(name) and name .. between .. mask or nil
  end)
  for _, form in ipairs { "'[^']*'?", '"[^"]*"?', "[^%s,'\"%[%]{}()*]+" } do
    text = text:gsub("([%w_%-]+)(['\"]?%s*[:=]%s*)(" .. form .. ")", function(name, between, value)
      if value == "None" or value == "null" or not secrets.is_named(name) then return nil end
      return name .. between .. mask
    end)
  end
  text = text:gsub("(%-%-[%w_%-]+)(%s+)([^%s%-]%S*)", function(name, between)
    return secrets.is_named(name:sub(3)) and name .. between .. mask or nil
  end)
  text = text:gsub("[Bb]earer%s+%S+", "Bearer " .. mask)
  text = text:gsub("%f[%w]hf_%w+", function(word) return #word > 12 and mask or nil end)
  return (text:gsub("%f[%w]sk%-[%w_%-]+", function(word) return #word > 12 and mask or nil end))
end

secrets.mask = mask

return secrets
