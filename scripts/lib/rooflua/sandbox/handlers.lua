-- xpcall, whose handler does not run where the script is stopped (Ctrl-C, --timeout, the limit on loading). The hook
-- that stops a script raises an error, and LuaJIT calls the handler of that error inside of the hook, where no hook is
-- called: a handler with a loop could not be stopped.
local native = require "rooflua.native"
local stock, type = xpcall, type

return {
  xpcall = function(call, handler, ...)
    if type(handler) ~= "function" then return stock(call, handler, ...) end
    return stock(call, function(problem)
      if native.is_stopped() then return problem end
      return handler(problem)
    end, ...)
  end,
}
