-- Runs the program as a user does, for fuzzers of command lines and of prompt sessions, and judges how it ended.
return function(fuzzer)
  local program = {}

  local path = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
  local sanitized = path:find("/ci/", 1, true) ~= nil
  local cwd = io.popen("pwd"):read "*l"
  if path:sub(1, 1) ~= "/" then path = cwd .. "/" .. path end

  --- CPU seconds after which a run counts as hanging. Sanitizers make the program slower.
  program.hang_s = sanitized and 20 or 2

  local function quoted(word) return "'" .. word:gsub("%z", ""):gsub("'", "'\\''") .. "'" end

  local faults = { "AddressSanitizer", "runtime error:", "LeakSanitizer", "terminate called", "internal error",
    "Sanitizer:DEADLYSIGNAL", "PANIC: unprotected" }

  --- How a command line reads, to be pasted into a shell.
  function program.line(words)
    local out = {}
    for i, word in ipairs(words) do out[i] = quoted(word) end
    return "rooflua " .. table.concat(out, " ")
  end

  --- Runs the program in `folder`. Raises an error if it crashed, hung, or said what no user may see.
  ---@param words string[] of the command line
  ---@param input string? a file for its standard input
  ---@return number status
  ---@return string said stdout and stderr together
  function program.run(words, folder, input)
    fuzzer.count "processes"
    local command = ("cd %s && ulimit -t %d && %s%s < %s 2>&1; echo \"status $?\""):format(quoted(folder),
      program.hang_s, quoted(path), program.line(words):sub(8), quoted(input or "/dev/null"))
    local pipe = io.popen("bash -c " .. quoted(command) .. " 2>&1")
    local said = pipe:read "*a"
    pipe:close()
    local text, status = said:match "^(.*)status (%d+)\n$"
    local what = program.line(words)
    if not status then error(what .. ": has no status:\n" .. said:sub(-2000), 0) end
    status = tonumber(status)
    local shown = text:sub(-3000)
    if status == 137 or status == 152 then
      error(("%s: ran for more than %d s:\n%s"):format(what, program.hang_s, shown), 0)
    end
    if status > 128 and status ~= 130 then error(("%s: died with %d:\n%s"):format(what, status, shown), 0) end
    for _, fault in ipairs(faults) do
      if text:find(fault, 1, true) then error(("%s: %s:\n%s"):format(what, fault, shown), 0) end
    end
    if status ~= 0 and status ~= 1 and status ~= 2 then
      error(("%s: ended with status %d:\n%s"):format(what, status, shown), 0)
    end
    if status ~= 0 and not text:find "%S" then error(what .. ": failed without a word", 0) end
    for line in text:gmatch "[^\n]+" do -- a line of a traceback begins with a tab
      if line:sub(1, 1) ~= "\t" then fuzzer.check_message(line, what) end
    end
    return status, text
  end

  return program
end
