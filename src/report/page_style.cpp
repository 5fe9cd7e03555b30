// SPDX-License-Identifier: BSD-3-Clause
#include "report/page_style.h"

namespace kloom::report {

const char* const kStyle = R"css(
:root { color-scheme: light dark;
  --ground: #f6f7f9; --card: #ffffff; --ink: #1a1d21; --soft: #545d69; --line: #dfe3e8; --grid: #e8ebef;
  --accent: #1f55c4; --accent-soft: #e9f0fd;
  --s1: #2f66d0; --s2: #c2571a; --s3: #16805d; --s4: #8b45b0; --s5: #9a6b00; --s6: #0b7c95; --s7: #b8336a; --s8: #5b6673; }
@media (prefers-color-scheme: dark) { :root {
  --ground: #111417; --card: #1a1e23; --ink: #e8ebef; --soft: #a4aeb9; --line: #323941; --grid: #2a3037;
  --accent: #86b0ff; --accent-soft: #1c2a45;
  --s1: #79a8ff; --s2: #f0955c; --s3: #4cc49a; --s4: #c890ea; --s5: #dcae45; --s6: #4fc0d8; --s7: #f283ad; --s8: #a7b2bf; } }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "DejaVu Sans", sans-serif; }
main, header, footer { max-width: 68rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.5rem; }
.brand { font-size: .8rem; letter-spacing: .08em; text-transform: uppercase; color: var(--soft); margin: 0; }
h1 { font-size: clamp(1.6rem, 4.5vw, 2.3rem); line-height: 1.2; margin: .2rem 0 .4rem; overflow-wrap: anywhere; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .8rem; }
h3 { font-size: 1.02rem; margin: 0; }
p { margin: .4rem 0; max-width: 46rem; }
.lead { color: var(--soft); margin-top: 0; }
a { color: var(--accent); }
.answer { background: var(--accent-soft); border-left: 4px solid var(--accent); border-radius: 0 .6rem .6rem 0;
  padding: 1rem 1.25rem; margin: 1.4rem 0; }
.answer p { font-size: 1.06rem; max-width: 56rem; }
.answer h2 { margin: 0; font-size: 1.35rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(8.5rem, 1fr)); gap: .75rem; margin: 1.2rem 0; padding: 0; }
.facts div { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .6rem .8rem; }
.facts dt { color: var(--soft); font-size: .8rem; }
.facts dd { margin: 0; font-size: 1.15rem; font-weight: 600; overflow-wrap: anywhere; }
.table { overflow-x: auto; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; font-size: .88rem; }
th, td { padding: .45rem .55rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line); }
tr:last-child > * { border-bottom: 0; }
th:first-child, td:first-child { text-align: left; position: sticky; left: 0; background: var(--card); }
td.words, th.words { text-align: left; white-space: normal; min-width: 12rem; }
thead th { color: var(--soft); font-weight: 600; vertical-align: bottom; white-space: normal; line-height: 1.25; }
thead button { all: unset; cursor: pointer; }
thead button:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 2px; }
thead button::after { content: "↕"; opacity: .45; padding-left: .3em; font-size: .85em; }
th[aria-sort="ascending"] button::after { content: "↑"; opacity: 1; }
th[aria-sort="descending"] button::after { content: "↓"; opacity: 1; }
tr.best td { font-weight: 600; } tr.wrong td:nth-child(2), tr.wrong td:nth-child(3) { color: var(--s2); font-weight: 600; }
td.shade1 { background: color-mix(in srgb, var(--s1) 11%, transparent); } td.shade2 { background: color-mix(in srgb, var(--s1) 16%, transparent); }
td.shade3 { background: color-mix(in srgb, var(--s1) 21%, transparent); } td.shade4 { background: color-mix(in srgb, var(--s1) 26%, transparent); }
td.shade5 { background: color-mix(in srgb, var(--s1) 31%, transparent); } td.shade6 { background: color-mix(in srgb, var(--s1) 36%, transparent); }
td.shade7 { background: color-mix(in srgb, var(--s1) 41%, transparent); } td.shade8 { background: color-mix(in srgb, var(--s1) 46%, transparent); }
td.shade9 { background: color-mix(in srgb, var(--s1) 51%, transparent); } td.shade10 { background: color-mix(in srgb, var(--s1) 56%, transparent); }
details { margin: .6rem 0; } summary { cursor: pointer; color: var(--accent); margin-bottom: .4rem; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.1rem; }
figure { margin: 0; background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.1rem; }
figcaption p { color: var(--soft); font-size: .88rem; margin: .15rem 0 .6rem; }
svg { display: block; width: 100%; max-width: 34rem; height: auto; margin: 0 auto; overflow: visible; }
svg text { fill: var(--ink); font-size: 12px; font-family: inherit; }
svg .mark, svg .axis { fill: var(--soft); } svg .small { font-size: 11px; } svg .strong { font-weight: 700; }
svg .grid { stroke: var(--grid); } svg .zero { stroke: var(--soft); } svg .leader { fill: none; stroke: var(--soft); opacity: .6; stroke-width: .8; }
svg .diagonal { stroke: var(--soft); stroke-dasharray: 2 4; }
svg .bar { stroke: var(--ink); stroke-width: 1.6; } svg .mean { fill: var(--accent); stroke: var(--card); stroke-width: 1.2; }
svg .dot { opacity: .38; } svg .curve { fill: none; stroke-width: 2; stroke-linejoin: round; } svg .cell { fill: var(--grid); opacity: .5; }
svg .s1, .swatch.s1 { --c: var(--s1); } svg .s2, .swatch.s2 { --c: var(--s2); } svg .s3, .swatch.s3 { --c: var(--s3); }
svg .s4, .swatch.s4 { --c: var(--s4); } svg .s5, .swatch.s5 { --c: var(--s5); } svg .s6, .swatch.s6 { --c: var(--s6); }
svg .s7, .swatch.s7 { --c: var(--s7); } svg .s8, .swatch.s8 { --c: var(--s8); }
svg .dot { fill: var(--c); } svg .curve { stroke: var(--c); }
svg .fill-s1 { fill: var(--s1); } svg .fill-s2 { fill: var(--s2); } svg .fill-s3 { fill: var(--s3); } svg .fill-s4 { fill: var(--s4); }
svg .fill-s5 { fill: var(--s5); } svg .fill-s6 { fill: var(--s6); } svg .fill-s7 { fill: var(--s7); } svg .fill-s8 { fill: var(--s8); }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: .2rem 1rem; padding: 0; margin: .6rem 0 0; font-size: .85rem; }
.swatch { display: inline-block; width: .8em; height: .8em; border-radius: .2em; background: var(--c); margin-right: .4em; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: .6rem; padding: .9rem 1.1rem; overflow-x: auto;
  white-space: pre-wrap; overflow-wrap: anywhere; font: .88rem/1.5 ui-monospace, "DejaVu Sans Mono", monospace; }
ul.plain { padding-left: 1.2rem; margin: .3rem 0; }
footer { color: var(--soft); font-size: .85rem; padding: 2rem 1.25rem 3rem; }
@media (max-width: 36rem) {
  main, header, footer { padding-left: .8rem; padding-right: .8rem; } header { padding-top: 1.5rem; }
  figure { padding: .8rem .45rem; } figcaption, .legend { padding: 0 .4rem; }
  svg text { font-size: 13.5px; } svg .small { font-size: 12.5px; } }
@media print {
  :root { color-scheme: light; --ground: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #bbb; --grid: #ddd; --accent: #1f55c4;
    --accent-soft: #fff; --s1: #2f66d0; --s2: #c2571a; --s3: #16805d; --s4: #8b45b0; --s5: #9a6b00; --s6: #0b7c95; --s7: #b8336a; --s8: #5b6673; }
  body { font-size: 10.5pt; } figure, .table, .answer { break-inside: avoid; } h2 { break-after: avoid; }
  .figures { grid-template-columns: 1fr 1fr; } thead button::after { content: ""; } .table { overflow: visible; }
  table { font-size: 8pt; } th, td { padding: .25rem .35rem; white-space: normal; } .screen { display: none; } }
)css";

const char* const kScript = R"js(
(() => {
  for (const table of document.querySelectorAll('table.sortable')) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector('button')?.addEventListener('click', () => {
      const up = head.getAttribute('aria-sort') !== 'ascending';
      heads.forEach(other => other.removeAttribute('aria-sort'));
      head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const key = row => row.cells[column].dataset.value ?? row.cells[column].textContent;
      const rows = [...table.tBodies[0].rows];
      rows.sort((a, b) => {
        const x = key(a), y = key(b), n = Number(x) - Number(y);
        if (x === '' || y === '') return (x === '') - (y === '');
        return (up ? 1 : -1) * (Number.isNaN(n) ? x.localeCompare(y) : n);
      });
      table.tBodies[0].append(...rows);
    }));
  }
  const link = document.getElementById('download');
  link?.addEventListener('click', () => {
    const text = document.getElementById('report-data').textContent;
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  });
})();
)js";

std::string content_security_policy() {
  constexpr const char* kStyleHash = "sha256-Ar+7TebFSZAK7qVSdZBkwLkmdjZsiUf6QuOtqbb87FU=";
  constexpr const char* kScriptHash = "sha256-NJZ+Oxd0miCFkJ1+fDIzlB2ZAUHZa7q1tyatrd/PMBE=";
  return std::string("default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src '") +
         kStyleHash + "'; script-src '" + kScriptHash + "'";
}

}  // namespace kloom::report
