-- pcall and xpcall of scripts. Where the script is stopped (Ctrl-C, --timeout, the limit on loading) they catch
-- nothing: the error goes on, however many levels catch it. A handler does not run then either. The hook that stops a
-- script raises an error, and LuaJIT calls the handler of that error inside of the hook, where no hook is called: a
-- handler with a loop could not be stopped. What they catch names a line of the user.
local native = require "rooflua.native"
local stock_pcall, stock, type = pcall, xpcall, type

local handlers = {}

--- Of the library, which ends what it began: it catches a stop, whose limit it then takes away.
handlers.stock_xpcall = stock

local function caught(ok, problem, ...)
  if ok then return ok, problem, ... end
  native.stop_again(problem)
  return false, native.user_words(problem), ...
end

--- Results of a call that catches, such as coroutine.resume, for the script.
handlers.caught = caught

function handlers.pcall(...) return caught(stock_pcall(...)) end

function handlers.xpcall(call, handler, ...)
  if type(handler) ~= "function" then return stock(call, handler, ...) end
  return caught(stock(call, function(problem)
    if native.is_stopped() then return problem end
    return handler(native.user_words(problem))
  end, ...))
end

return handlers
