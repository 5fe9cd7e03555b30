# SPDX-License-Identifier: BSD-3-Clause
"""Small pieces of Markdown."""
import re


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.rstrip() + "\n", encoding="utf-8")


def escaped(text):
    """Plain text as Markdown that shows the same; what is in backquotes stays code."""
    parts = re.split(r"(`[^`]+`)", text)
    return "".join(part if i % 2 else re.sub(r"([\\*_<>|\[\]$~])", r"\\\1", part) for i, part in enumerate(parts))


def code(text):
    """A code span."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def block(text, language="text"):
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}\n"


def contents(names, depth=1, caption="", hidden=True):
    """A table of contents that the menu is made of."""
    options = [f":maxdepth: {depth}"] + ([f":caption: {caption}"] if caption else []) + ([":hidden:"] if hidden else [])
    return "```{toctree}\n" + "\n".join([*options, "", *names]) + "\n```\n"


def sentence(text):
    """With a capital letter and a full stop."""
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else text + "."
