# SPDX-License-Identifier: BSD-3-Clause
"""The command line: what `kloom COMMAND --help` says, and the options of every method."""
import json
import re
import subprocess

from . import text

NARROW = 26   # the column at which the help's explanations begin


def ask(program, *words):
    return subprocess.run([program, *words], check=True, capture_output=True, text=True).stdout


def sections(help_text):
    """(title, lines) of each part of a help text; what is before the first title has the title ''."""
    found = [("", [])]
    for line in help_text.splitlines():
        if re.fullmatch(r"[A-Z][^:]*:", line):
            found.append((line[:-1], []))
        else:
            found[-1][1].append(line)
    return found


def entries(lines):
    """(what is typed, what it does) of each option or argument."""
    found = []
    for line in filter(str.strip, lines):
        if line.startswith(" " * NARROW):
            found[-1][1].append(line.strip())
            continue
        match = re.fullmatch(r"  (\S.*?)(?:\s{2,}(\S.*))?", line[:NARROW] + "  " + line[NARROW:] if line[NARROW - 1:NARROW] == " " else line)
        if not match:
            raise SystemExit(f"the help has a line that is not understood: '{line}'")
        found.append((match.group(1), [match.group(2)] if match.group(2) else []))
    return [(typed, " ".join(says)) for typed, says in found]


def definitions(found):
    lines = []
    for typed, says in found:
        names = re.findall(r"(?<!\S)--?[\w-]+", typed) or [typed]
        value = typed[typed.rindex(names[-1]) + len(names[-1]):].strip()
        term = ", ".join(text.code(name) for name in names) + (f" {text.code(value)}" if value else "")
        lines += [term, f": {text.escaped(text.sentence(says or '(no text)'))}", ""]
    return "\n".join(lines)


def command_page(program, name):
    head, *parts = sections(ask(program, *name.split(), "--help"))
    usage = head[1][0].removeprefix("Usage: ")
    about = "\n".join(head[1][1:]).strip()
    page = [f"# kloom {name}", "", text.block(usage, "text"), text.escaped(about), ""]
    for title, lines in parts:
        if title.startswith("Options of "):
            page += ["## Options of the method", "", "Each method has options of its own; they are on "
                     "[its page](../../methods/index.md).", ""]
        elif title == "Examples":
            page += ["## Examples", "", text.block("\n".join(line[2:] for line in lines).strip(), "sh")]
        else:
            page += [f"## {title}", "", definitions(entries(lines))]
    return "\n".join(page), about.split(". ")[0].replace("\n", " ").rstrip(".")


def option_table(method):
    """Every option of a method, from its table."""
    lines = []
    for option in method["options"]:
        value = " | ".join(option["choices"])
        default = option["default"]
        notes = [f"default {text.code(default)}"] if default not in ("", "false") else []
        notes += [text.code(option["rule"])] if option["rule"] else []
        lines += [text.code(f"{option['flag']} {value}".strip()),
                  f": {text.escaped(text.sentence(option['doc']))}" + (f" *({', '.join(notes)})*" if notes else ""), ""]
    return "\n".join(lines)


def write_methods(program, staged):
    """A list of the methods, and at the end of each one's page every option."""
    methods = json.loads(ask(program, "methods", "--json"))
    lines = ["# The methods", "", "What `kloom methods` prints. [Choosing a method](../guide/choosing.md) compares them.", ""]
    for method in methods:
        name = method["name"]
        lines += [f"[{name}]({name}.md)", f": {text.escaped(text.sentence(method['summary']))} *({method['tasks']})*", ""]
        page = staged / "methods" / f"{name}.md"
        estimators = ("In Python the same options are parameters of [its estimators](../reference/python/index.md), in R arguments of "
                      "`kloom()`, with `_` for `-`.")
        text.write(page, page.read_text(encoding="utf-8") + "\n## Every option\n\n" +
                   f"As `kloom methods {name}` lists them. {estimators}\n\n" + option_table(method))
    text.write(staged / "methods" / "index.md", "\n".join(lines))


def write(program, staged):
    folder = staged / "reference" / "command-line"
    commands = [name for name in ask(program, "man", "--list").split() if name != "kloom"]
    commands = ["kernels build" if name == "kernels" else name for name in commands]
    lines = ["# Command line", "", "What `kloom COMMAND --help` prints, as pages.", ""]
    for name in commands:
        page, about = command_page(program, name)
        file = name.replace(" ", "-")
        text.write(folder / f"{file}.md", page)
        lines += [f"[kloom {name}]({file}.md)", f": {text.escaped(about)}.", ""]
    lines += ["", "## All of it at once", "", text.block(ask(program, "--help"), "text"),
              text.contents([name.replace(" ", "-") for name in commands])]
    text.write(folder / "index.md", "\n".join(lines))
    write_methods(program, staged)
