--- Published tables for the engine, which reads a table when a question first asks for it (script/published_reader.h).
local folder = require "rooflua.tables.folder"
local rows = require "rooflua.tables.rows"

local reader = {}

local newest = { engine_version = "", all_rows = false }

function reader.gpus(path) return folder.gpus(path) end

function reader.list(path, gpu) return folder.list(path, gpu, newest) end

function reader.read(file) return rows.read(file, rows.memory()).table end

return reader
