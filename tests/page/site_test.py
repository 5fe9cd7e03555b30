#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The documentation site in a browser, from a folder: no page is wider than a phone, light and dark, search finds.

    site_test.py SITE [FOLDER]      FOLDER: keep screenshots there

Needs Chromium (`make test-docs` installs it); without it the test is skipped, with a word and exit code 77.
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

from page_test import SKIPPED, Browser, first_pixel

PHONE, DESK = 390, 1280
LOOKED_AT = ["index.html", "methods/simplemkl.html", "guide/python.html", "gallery/index.html", "reference/python/BEMKLClassifier.html"]
# One page after the other in a frame as wide as a phone; the title is what was measured.
WIDTHS = """<iframe id=frame width=PHONE height=800></iframe><script>
const pages = PAGES, wide = {};
const next = () => {
  if (!pages.length) { document.title = JSON.stringify(wide); return; }
  const page = pages.shift();
  frame.onload = () => { wide[page] = frame.contentDocument.documentElement.scrollWidth; next(); };
  frame.src = page;
};
next();
</script>"""


def check_widths(browser, site, folder):
    pages = [path.as_uri() for path in sorted(site.rglob("*.html"))]
    frame = folder / "widths.html"
    frame.write_text(WIDTHS.replace("PHONE", str(PHONE)).replace("PAGES", json.dumps(pages)), encoding="utf-8")
    dom = browser.run("--dump-dom", "--allow-file-access-from-files", "--virtual-time-budget=600000", frame.as_uri())
    wide = json.loads(re.search(r"<title>([^<]*)", dom)[1].replace("&quot;", '"'))
    assert len(wide) == len(pages)
    for page, width in wide.items():
        assert 0 < width <= PHONE, f"{page} is {width} wide on a phone of {PHONE}"
    return len(pages)


def check_grounds(browser, site, folder):
    for name in LOOKED_AT:
        for width in (PHONE, DESK):
            ground = {}
            for dark in (False, True):
                frame = folder / "frame.html"
                frame.write_text(f"<body style='margin:0'><iframe src='{(site / name).as_uri()}' style='border:0' width='{width}' "
                                 f"height='1800'></iframe>", encoding="utf-8")
                picture = folder / f"{name.replace('/', '-').removesuffix('.html')}-{width}-{'dark' if dark else 'light'}.png"
                browser.run(f"--window-size={max(width, 500)},1800", f"--screenshot={picture}", frame.as_uri(), dark=dark)
                assert picture.stat().st_size > 20000, f"{picture.name} is nearly empty"
                ground[dark] = sum(first_pixel(picture))
            assert ground[False] > 600 > 200 > ground[True], f"{name}: light and dark are {ground}"


def check_search(browser, site):
    dom = browser.run("--dump-dom", "--virtual-time-budget=20000", (site / "search.html").as_uri() + "?q=calibration")
    found = re.findall(r'<a href="([^"?#]+)[^"]*"', dom.split('id="search-results"')[1])
    pages = {target for target in found if (site / target).exists()}
    assert "methods/bemkl.html" in pages and len(pages) > 5, f"a search found {sorted(pages)}"
    return len(pages)


def main():
    if not 2 <= len(sys.argv) <= 3:
        print(__doc__, file=sys.stderr)
        return 2
    if shutil.which("chromium") is None:
        print("SKIPPED: the site was not looked at in a browser, because there is no chromium; 'make test-docs' installs it", flush=True)
        return SKIPPED
    site = pathlib.Path(sys.argv[1]).resolve()
    keep = pathlib.Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    folder = keep or pathlib.Path(tempfile.mkdtemp())
    folder.mkdir(parents=True, exist_ok=True)
    try:
        browser = Browser(folder)
        print(f"{check_widths(browser, site, folder)} pages fit on a phone", flush=True)
        check_grounds(browser, site, folder)
        print(f"{len(LOOKED_AT)} pages, light and dark; a search finds {check_search(browser, site)} pages")
    finally:
        if keep is None:
            shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
