-- Names that would be commands, markup, formulas or line breaks in the files that leave the program. A case writes a
-- hundred drawn names in every format, and the readers of these formats read them again: a shell, Python's csv, json,
-- html and sqlite3, and PyYAML where it is installed. The names are labels of variants and quoted words.
local fuzzer = dofile "tests/fuzz/fuzzer.lua"
local json = require "rooflua.json"
local native = require "rooflua.native"
local quoting = require "rooflua.text.quoting"

local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
local pipe = io.popen "pwd"
local here = pipe:read "*l"
pipe:close()
if program:sub(1, 1) ~= "/" then program = here .. "/" .. program end

local pieces = { "a", "b", "Z", "0", "9", " ", "  ", "'", '"', "`", "\\", "$", "$(touch PWNED)",
  "`touch PWNED`", "${x}", ";", "; touch PWNED", "&", "&&", "|", "||", ">", "> PWNED", "<", "<script>",
  "</script>", "<!--", "-->", "]]", "[[", "--[[", "#", "!", "*", "?", "~", "%s", "%n", "%d", "%", "=", "=1+1",
  "+1", "-1", "@x", ",", ",,", "'';", "' OR 1=1 --", '","', ": ", "- ", "{", "}", "{a: b}", "[x", "*y", "&z",
  "!!x", "null", "true", "~", "1e3", "0x10", ".5", "---", "...", "%YAML", "\\n", "\\x41", "&amp;", "&#39;",
  "\195\169", "\230\151\165", "\226\128\168", "\226\128\169", "\239\187\191", "\194\133", "\240\159\152\128",
  "/", "../", "-rf", "--help", "=", "long long ", "\t", "\n", "\r", "\27[31m", "\127", "\1", "\255",
  "\192\128" }

local function drawn(random)
  local out = {}
  for i = 1, random:whole(1, 9) do out[i] = random:pick(pieces) end
  return table.concat(out)
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local function lua_text(text)
  return '"' .. text:gsub('[%c"\\\127-\255]', function(c) return ("\\%03d"):format(c:byte()) end) .. '"'
end

--- Runs a command in the folder; an error where it fails.
local function must(folder, command)
  local out = io.popen(("cd '%s' && { %s ; } 2>&1; echo \"status $?\""):format(folder, command))
  local text = out:read "*a"
  out:close()
  local said, status = text:match "^(.-)status (%d+)\n$"
  if status ~= "0" then error(command .. ": " .. said:sub(-800), 0) end
  return said
end

local reader = [=[
import csv, html.parser, json, pathlib, sqlite3, sys
words = json.load(open("words.json"))
hexed = [bytes.fromhex(each) for each in words]
shell = pathlib.Path("shell.out").read_bytes().split(b"\0")[:-1]
assert shell == hexed, "shell: %r" % [(a, b) for a, b in zip(shell, hexed) if a != b][:3]
comments = pathlib.Path("comments.sh").read_bytes().split(b"\n")
assert len(comments) == len(hexed) + 1 and all(each.startswith(b"# ") for each in comments[:-1]), "comments"
class Seen(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.values = [], [], []
    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.values += [value for _, value in attrs]
    def handle_data(self, data):
        self.texts.append(data)
shown = json.load(open("shown.json"))
try:
    import yaml
    loaded, texts = yaml.safe_load(pathlib.Path("words.yaml").read_bytes().decode()), json.load(open("texts.json"))
    assert loaded == texts, "yaml: %r" % [(a, b) for a, b in zip(loaded, texts) if a != b][:3]
except ImportError:
    pass
labels = json.load(open("labels.json"))
names = ["case=" + each for each in labels]
document = json.load(open("result.json"))
assert [each["name"] for each in document["variants"]] == names, "json"
rows = list(csv.reader(open("export.csv", newline="", encoding="utf-8")))
at = rows[0].index("name")
found = {row[at] for row in rows[1:]}
formula = ("=", "+", "-", "@")
expected = {("'" + each if each.startswith(formula) else each) for each in names}
assert found == expected, "csv: %r" % sorted(found ^ expected)[:4]
at = rows[0].index("case")
def is_number(text):
    try:
        return float(text) == float(text)
    except ValueError:
        return False
for row in rows[1:]:
    assert not row[at].startswith(formula) or is_number(row[at]), "csv: a formula: %r" % row[at]
stored = {row[0] for row in sqlite3.connect("r.sqlite").execute("select name from members")}
assert stored == set(names), "sqlite"
page = Seen()
text = pathlib.Path("page.html").read_text(errors="strict")
page.feed(text)
page.close()
assert page.tags.count("script") == text.count("<script") == 2, "page: %d scripts" % page.tags.count("script")
]=]

local function hex(text)
  return (text:gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end

--- The words through the functions of quoting.lua.
local function write_words(folder, words)
  local shell, comments, yaml = { "printf '%s\\0'" }, {}, {}
  local hexed, shown, texts = json.array {}, json.array {}, json.array {}
  for i, word in ipairs(words) do
    shell[i + 1] = quoting.shell(word)
    comments[i] = quoting.comment(word)
    yaml[i] = "- " .. quoting.yaml(word)
    hexed[i] = hex(word)
    shown[i] = native.printable(word)
    local is_text = pcall(json.encode, word)
    texts[i] = is_text and word or native.printable(word)
  end
  write(folder .. "/words.sh", table.concat(shell, " ") .. "\n")
  write(folder .. "/comments.sh", table.concat(comments, "\n") .. "\n")
  write(folder .. "/words.yaml", table.concat(yaml, "\n") .. "\n")
  write(folder .. "/words.json", json.encode(hexed))
  write(folder .. "/shown.json", json.encode(shown))
  write(folder .. "/texts.json", json.encode(texts))
end

--- Labels of variants: texts without control characters that are not alike.
local function write_scenario(folder, random)
  local labels, list, seen = json.array {}, {}, {}
  while #labels < 50 do
    local text = drawn(random)
    if native.is_plain(text) and not seen[text] then
      seen[text] = true
      labels[#labels + 1] = text
      list[#list + 1] = ("{ label = %s, set = { seed = %d } }"):format(lua_text(text), #labels)
    end
  end
  write(folder .. "/s.lua", ([[return { rooflua = 1, kind = "price", model = "llama-3.1-8b", hardware = "h100-sxm",
    price = { { decodes = 1, decode_context_tokens = 10 } }, vary = { case = { %s } } }]]):format(
    table.concat(list, ", ")))
  write(folder .. "/labels.json", json.encode(labels))
end

if os.execute "command -v python3 > /dev/null" ~= 0 then
  print "SKIPPED: the files are read again by Python, which is not installed"
  os.exit(0)
end

fuzzer.main(function(random, folder)
  must(folder, "rm -rf ./* && mkdir work")
  folder = folder .. "/work"
  local words = {}
  for i = 1, 50 do words[i] = drawn(random) end
  write_words(folder, words)
  write_scenario(folder, random)
  write(folder .. "/read.py", reader)
  must(folder, "sh words.sh > shell.out && sh comments.sh")
  must(folder, ("'%s' run s.lua --quiet --results r.sqlite --json result.json --html page.html > report.txt"):format(
    program))
  must(folder, ("'%s' results export r.sqlite --format csv > export.csv"):format(program))
  must(folder, "/usr/bin/env python3 read.py")
  local report = fuzzer.read(folder .. "/report.txt")
  if report:find "[%z\1-\8\11-\31\127]" then error("the report has a control character", 0) end
  local expected = { ["words.sh"] = true }
  for name in ("comments.sh words.yaml words.json shown.json texts.json s.lua labels.json read.py "
    .. "shell.out r.sqlite result.json page.html report.txt export.csv"):gmatch "%S+" do expected[name] = true end
  for name in must(folder, "ls -A"):gmatch "[^\n]+" do
    if not expected[name] and not name:find "^r%.sqlite%-" then error("a name made the file " .. name, 0) end
  end
  fuzzer.count("names", #words + 50)
end)
