# SPDX-License-Identifier: BSD-3-Clause
"""What Debian's build of the theme Furo lacks, after Sphinx has copied its files into the site.

Its style sheet imports another one from the root of a web server, where a site that is opened from a folder has none;
docs/site/site.css has what is needed of it. Its colours for the dark have lost their second form: for readers whose system is dark
and who chose nothing on the page. Its script, which switches between light and dark and marks the heading that is read, imports a
module, which a page cannot do with a plain script. And a font for formulas, which few systems have, comes from Debian as well.
"""
import pathlib
import re
import shutil

FONT = pathlib.Path("/usr/share/fonts/truetype/dejavu/DejaVuMathTeXGyre.ttf")
STYLES, SCRIPT, MODULE = "_static/styles/furo.css", "_static/scripts/furo.js", "_static/scripts/gumshoe-patched.js"
MODULE_IMPORT = re.compile(r'import Gumshoe from "./gumshoe-patched.js";\s*')
IMPORT = re.compile(r"@import url\(/[^)]*\);\s*")
DARK = re.compile(r'@media not print \{\s*body\[data-theme="dark"\] \{(?P<colours>[^}]*)\}')
SYSTEM_IS_DARK = re.compile(r"prefers-color-scheme: *dark")


def with_system_dark(styles):
    styles = IMPORT.sub("", styles)
    if SYSTEM_IS_DARK.search(styles):
        return styles
    dark = DARK.search(styles)
    if not dark:
        raise SystemExit(f"{STYLES} has no colours for the dark where they are looked for")
    return styles + ('@media not print {\n@media (prefers-color-scheme: dark) {\n  body:not([data-theme="light"]) {'
                     + dark["colours"] + "} } }\n")


def in_one(script, module):
    """The script behind the module, which leaves its only name where the script finds it."""
    alone, imports = MODULE_IMPORT.subn("", script)
    # A short page without headings is at its end at once, where the module looks at the last heading.
    guarded = module.replace("if (isAtBottom() && isInView(item.content", "if (item && isAtBottom() && isInView(item.content")
    return guarded + "\n" + alone if imports else script


def mend(site):
    def read(name):
        return (site / name).read_text(encoding="utf-8")

    shutil.copy(FONT, site / "_static")
    (site / STYLES).write_text(with_system_dark(read(STYLES)), encoding="utf-8")
    (site / SCRIPT).write_text(in_one(read(SCRIPT), read(MODULE)), encoding="utf-8")
