// SPDX-License-Identifier: BSD-3-Clause
//
// kloom completion: scripts that let shells complete kloom's words. They know no word themselves: at every press of the
// tab key they ask `kloom complete-words`, which answers from the options as the commands declare them.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>

#include "commands.h"
#include "completions.h"
#include "exit_code.h"
#include "kloom/error.h"
#include "text.h"

namespace kloom::cli {
namespace {

constexpr std::string_view kBashScript =
    R"(# bash completion of kloom: source this, or put it where bash-completion looks
_kloom() {
  local word
  COMPREPLY=()
  while IFS=$'\t' read -r word _; do
    if [[ $word == :files ]]; then
      compopt -o default 2>/dev/null
    else
      COMPREPLY+=("$word")
    fi
  done < <("${COMP_WORDS[0]}" complete-words "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _kloom kloom
)";

constexpr std::string_view kZshScript = R"(#compdef kloom
# zsh completion of kloom: source this after compinit, or call it _kloom in a folder of $fpath
_kloom() {
  local word text files=no
  local -a candidates
  while IFS=$'\t' read -r word text; do
    if [[ $word == :files ]]; then
      files=yes
    else
      candidates+=("${word//:/\\:}:$text")
    fi
  done < <("${words[1]}" complete-words "${(@)words[2,CURRENT]}" 2>/dev/null)
  (( $#candidates )) && _describe kloom candidates
  [[ $files == yes ]] && _files
}
if [[ $funcstack[1] == _kloom ]]; then
  _kloom "$@"
else
  compdef _kloom kloom
fi
)";

constexpr std::string_view kFishScript =
    R"(# fish completion of kloom: source this, or call it kloom.fish in a folder of $fish_complete_path
function __kloom_candidates
    set -l words (commandline -opc) (commandline -ct)
    for line in ($words[1] complete-words $words[2..] 2>/dev/null)
        if string match -q ':files*' -- $line
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c kloom -f -a '(__kloom_candidates)'
)";

struct ShellScript {
  std::string_view shell;
  std::string_view script;
};

constexpr std::array<ShellScript, 3> kShellScripts{
    {{"bash", kBashScript}, {"zsh", kZshScript}, {"fish", kFishScript}}};

std::vector<Completion> first_word_candidates(const std::string& word) {
  if (!word.starts_with('-')) return command_candidates(word);
  std::vector<Completion> options;
  for (const char* option : {"--help", "--version"}) {
    if (std::string_view(option).starts_with(word)) options.push_back({option, ""});
  }
  return options;
}

}  // namespace

int run_completion(const Arguments& arguments) {
  std::string shell;
  std::vector<std::string> shells;
  shells.reserve(std::size(kShellScripts));
  for (const ShellScript& entry : kShellScripts) shells.emplace_back(entry.shell);
  CommandLine line("completion", "Prints a script that makes a shell complete commands, options and methods.",
                   "  source <(kloom completion bash)\n  kloom completion zsh >~/.zfunc/_kloom\n"
                   "  kloom completion fish >~/.config/fish/completions/kloom.fish");
  line.app()
      .add_option("shell", shell, "The shell: bash, zsh or fish")
      ->required()
      ->type_name(fmt::format("{}", fmt::join(shells, "|")));
  if (!line.parse(arguments)) return kDone;
  for (const ShellScript& entry : kShellScripts) {
    if (entry.shell != shell) continue;
    write_stdout(entry.script);
    return kDone;
  }
  throw InvalidArgument(fmt::format("there is no completion for the shell '{}'{}; there is one for: {}", shell,
                                    did_you_mean(shell, shells), list_of(shells, 5)));
}

int run_complete_words(const Arguments& arguments) {
  const std::string word = arguments.empty() ? "" : arguments.back();
  if (arguments.size() < 2) {
    write_stdout(candidates_text(first_word_candidates(word)));
    return kDone;
  }
  Arguments earlier(arguments.begin() + 1, arguments.end() - 1);
  // Bash cuts --method=be into three words; the sign says nothing that the words beside it do not.
  std::erase(earlier, "=");
  try {
    const Command& command = find_command(arguments.front());
    Arguments request;
    if (!command.next.empty()) {
      if (earlier.empty() && command.next.starts_with(word))
        write_stdout(candidates_text({{std::string(command.next), std::string(command.summary)}}));
      if (earlier.empty() || earlier.front() != command.next) return kDone;
      earlier.erase(earlier.begin());
      request.emplace_back(command.next);
    }
    request.emplace_back(kWordsRequest);
    request.push_back(word);
    request.insert(request.end(), earlier.begin(), earlier.end());
    return command.run(request);
  } catch (const InvalidArgument&) {
    return kDone;  // a command or method that does not exist has no words; the tab key is no place for complaints
  }
}

}  // namespace kloom::cli
