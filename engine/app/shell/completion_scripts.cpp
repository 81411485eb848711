// The scripts of `rooflua completion`.

#include "app/shell/completion.h"
#include "base/error.h"

namespace rooflua::app {

namespace {

// bash ends words at "=" and ":", and replaces what is after the last of them. So the words are
// taken from the line, and of an answer only that part is given.
constexpr const char* bash =
    R"(# bash completion for rooflua. Use: source <(rooflua completion bash)
_rooflua() {
  local text="${COMP_LINE:0:COMP_POINT}" words word line current kept
  read -ra words <<< "$text"
  [[ "$text" == *[[:space:]] ]] && words+=("")
  current="${words[${#words[@]}-1]}"
  kept="${current%"${current##*[=:]}"}"
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ "$line" == ":files" ]]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "${current##*=}")
      continue
    fi
    word="${line%%$'\t'*}"
    COMPREPLY+=("${word#"$kept"}")
    [[ "$word" == *= ]] && compopt -o nospace 2>/dev/null
  done < <("${words[0]}" __complete "${words[@]:1}" 2>/dev/null)
}
complete -F _rooflua rooflua
)";

constexpr const char* zsh = R"(#compdef rooflua
# zsh completion for rooflua. Use: source <(rooflua completion zsh), or this file on the fpath.
_rooflua() {
  local -a lines full full_docs open open_docs
  local line word doc want_files=0
  lines=("${(@f)$(${words[1]} __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
  for line in $lines; do
    if [[ $line == :files ]]; then want_files=1; continue; fi
    word=${line%%$'\t'*}
    doc=$word
    [[ $line == *$'\t'* ]] && doc="$word  -- ${line#*$'\t'}"
    if [[ $word == *= ]]; then
      open+=("$word"); open_docs+=("$doc")
    else
      full+=("$word"); full_docs+=("$doc")
    fi
  done
  (( $#open )) && compadd -S '' -l -d open_docs -a open
  (( $#full )) && compadd -l -d full_docs -a full
  (( want_files )) && _files
  return 0
}
if [[ $funcstack[1] == _rooflua ]]; then _rooflua "$@"; else compdef _rooflua rooflua; fi
)";

constexpr const char* fish = R"(# fish completion for rooflua. Use: rooflua completion fish | source
function __rooflua_complete
    set -l before (commandline -opc)
    set -l current (commandline -ct)
    for line in ($before[1] __complete $before[2..-1] "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            printf '%s\n' "$line"
        end
    end
end
complete -c rooflua -f -a '(__rooflua_complete)'
)";

}  // namespace

std::string completion_script(const std::string& shell) {
  if (shell == "bash") return bash;
  if (shell == "zsh") return zsh;
  if (shell == "fish") return fish;
  const std::vector<std::string> known{"bash", "zsh", "fish"};
  throw Error("completion", unknown_name("shell", shell, known));
}

}  // namespace rooflua::app
