# SPDX-License-Identifier: BSD-3-Clause
"""The tab key in bash, zsh and fish: the scripts that `kloom completion` prints, run by the shells themselves."""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import pytest
from conftest import MISTAKE, PROGRAM

COMMANDS = ["train", "predict", "compare", "cv", "stream", "tasks", "check", "view", "kernels", "info", "methods"]
# The option tables of methods are compared through what `kloom methods --json` says of them.
WITH_METHODS = ["train", "cv"]


def shell(name, script, cwd):
    """Runs the script in the shell, with this program as kloom; returns its lines."""
    if shutil.which(name) is None:
        pytest.skip(f"there is no {name} here, so its completion was not tried; 'tools/install-packages shells' installs it")
    folder = cwd / "bin"
    if not folder.exists():
        folder.mkdir()
        (folder / "kloom").symlink_to(PROGRAM)
    plain = {"bash": ["--norc", "--noprofile"], "zsh": ["-f"], "fish": ["--no-config"]}[name]
    environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(cwd)}
    done = subprocess.run([name, *plain, "-c", script], cwd=cwd, env=environment, text=True, capture_output=True, timeout=120,
                          check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout.splitlines()


def bash(words, cwd):
    """What bash would offer for the last word."""
    return shell("bash", f"""
        source <(kloom completion bash)
        COMP_WORDS=({shlex.join(words)})
        COMP_CWORD={len(words) - 1}
        _kloom
        [ ${{#COMPREPLY[@]}} -eq 0 ] || printf '%s\\n' "${{COMPREPLY[@]}}"
    """, cwd)


# zsh's own completion needs a terminal; the three functions of it that the script calls are replaced by ones that print.
ZSH = """
    compdef() {{ [[ $1 == _kloom && $2 == kloom ]] || print 'not registered'; }}
    _describe() {{ print -l -- ${{(P)2}}; }}
    _files() {{ print -- FILES; }}
    source <(kloom completion zsh)
    words=({words})
    CURRENT={count}
    _kloom
    true
"""


def zsh(words, cwd):
    lines = shell("zsh", ZSH.format(words=shlex.join(words), count=len(words)), cwd)
    return [line.replace("\\:", "\0").split(":")[0].replace("\0", ":") for line in lines]


def fish(words, cwd):
    typed = shlex.quote(shlex.join(words[:-1]) + " " + words[-1])
    lines = shell("fish", f"kloom completion fish | source; complete -C {typed}", cwd)
    return [line.split("\t")[0] for line in lines]


SHELLS = pytest.mark.parametrize("ask", [bash, zsh, fish], ids=lambda ask: ask.__name__)


@SHELLS
def test_commands(ask, tmp_path):
    assert sorted(ask(["kloom", ""], tmp_path)) == sorted(COMMANDS)
    assert ask(["kloom", "ch"], tmp_path) == ["check"]
    assert ask(["kloom", "kernels", ""], tmp_path) == ["build"]
    assert sorted(ask(["kloom", "completion", ""], tmp_path)) == ["bash", "fish", "zsh"]


@SHELLS
def test_methods(ask, tmp_path, kloom):
    names = sorted(method["name"] for method in kloom("methods", "--json").json())
    assert len(names) > 5
    assert sorted(ask(["kloom", "train", "--method", ""], tmp_path)) == names
    assert sorted(ask(["kloom", "methods", ""], tmp_path)) == names
    assert ask(["kloom", "train", "data.csv", "--method", "bem"], tmp_path) == ["bemkl"]


@SHELLS
def test_choices(ask, tmp_path):
    assert sorted(ask(["kloom", "train", "--impute", ""], tmp_path)) == ["mean", "median", "none"]
    assert ask(["kloom", "stream", "--approx", "ny"], tmp_path) == ["nystroem"]


def options_in_help(text):
    """Every --option and -o at the beginning of an entry of a help text."""
    entries = re.findall(r"^  (-\S.*?)(?:  |$)", text[:text.index("Examples:")], re.MULTILINE)
    return {word for entry in entries for word in entry.split() if re.match("--?[A-Za-z]", word)}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_of_the_help_text_is_offered(command, tmp_path, kloom):
    words = ["kernels", "build"] if command == "kernels" else [command]
    offered = set(bash(["kloom", *words, "-"], tmp_path))
    assert offered == options_in_help(kloom(*words, "--help").out)
    assert {"--help", "-h"} < offered


@pytest.mark.parametrize("command", WITH_METHODS)
def test_options_are_those_of_the_method(command, tmp_path, kloom):
    for method in kloom("methods", "--json").json():
        flags = {option["flag"] for option in method["options"]}
        offered = set(bash(["kloom", command, "data.csv", "--method", method["name"], "--"], tmp_path))
        assert flags <= offered, method["name"]
    bemkl = set(bash(["kloom", command, "--method", "bemkl", "--"], tmp_path))
    margin = set(bash(["kloom", command, "--method", "simplemkl", "--"], tmp_path))
    assert "--sigma-g" in bemkl - margin and "--C" in margin - bemkl


def test_choices_of_a_methods_option(tmp_path, kloom):
    tried = 0
    for method in kloom("methods", "--json").json():
        for option in method["options"]:
            if option["choices"]:
                words = ["kloom", "train", "--method", method["name"], option["flag"], ""]
                assert bash(words, tmp_path) == option["choices"]
                tried += 1
    assert tried > 3


def test_equals_signs(tmp_path):
    # Bash takes the word apart at the sign, the others do not.
    assert bash(["kloom", "train", "--method", "=", "bem"], tmp_path) == ["bemkl"]
    assert "bemkl" in bash(["kloom", "train", "--method", "="], tmp_path)
    assert "--sigma-g" in bash(["kloom", "train", "--method", "=", "bemkl", "--sig"], tmp_path)
    assert zsh(["kloom", "train", "--method=bem"], tmp_path) == ["--method=bemkl"]


def test_lists_of_methods(tmp_path):
    assert bash(["kloom", "compare", "--methods", "bemkl,sim"], tmp_path) == ["bemkl,simplemkl"]


def candidates(kloom, *words):
    return kloom("complete-words", *words).out.splitlines()


def test_files_are_the_shells_affair(tmp_path, kloom):
    for words in (["train", ""], ["predict", "m"], ["predict", "m.kloom", "d"], ["train", "-o", ""], ["train", "--view", "a"]):
        assert candidates(kloom, *words) == [":files\t"], words
    (tmp_path / "samples.csv").touch()
    assert fish(["kloom", "info", "sam"], tmp_path) == ["samples.csv"]
    assert "FILES" in zsh(["kloom", "info", "sam"], tmp_path)


def test_a_value_that_nobody_knows_offers_nothing(kloom):
    assert candidates(kloom, "train", "--seed", "") == []
    assert candidates(kloom, "train", "--target", "") == []


def test_mistakes_offer_nothing_and_say_nothing(kloom):
    for words in (["trian", ""], ["train", "--method", "nonsense", "--"], ["kernels", "bild", "--"]):
        result = kloom("complete-words", *words)
        assert (result.out, result.err) == ("", ""), words


def test_a_shell_that_is_not_known(kloom):
    assert "did you mean 'zsh'?" in kloom("completion", "zhs", code=MISTAKE).err
    assert "bash, zsh, fish" in kloom("completion", "cmd.exe", code=MISTAKE).err


def test_bash_registers_the_function(tmp_path):
    assert shell("bash", "source <(kloom completion bash); complete -p kloom", tmp_path) == ["complete -F _kloom kloom"]


def test_zsh_takes_the_script_as_a_file_of_its_search_path(tmp_path):
    (tmp_path / "functions").mkdir()
    script = subprocess.run([PROGRAM, "completion", "zsh"], text=True, capture_output=True, check=True).stdout
    assert script.startswith("#compdef kloom\n")
    pathlib.Path(tmp_path / "functions" / "_kloom").write_text(script, encoding="utf-8")
    lines = shell("zsh", """
        fpath=(functions $fpath)
        _describe() { print -l -- ${(P)2}; }
        autoload -U _kloom
        words=(kloom inf)
        CURRENT=2
        _kloom
        true
    """, tmp_path)
    assert [line.split(":")[0] for line in lines] == ["info"]
