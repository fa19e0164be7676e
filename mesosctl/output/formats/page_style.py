"""The style of a page: on a screen, light or dark, on a phone, and on paper."""

STYLE = """
:root { color-scheme: light dark; --ground: #ffffff; --text: #1b1f24; --faint: #57606a; --line: #d0d7de;
  --all: #eaeef2; --used: #0072b2; --offered: #7fc3ea; --mark: #a33b00; --yes: #0b6b3a; --no: #a40e26; }
@media (prefers-color-scheme: dark) { :root { --ground: #14181d; --text: #e6edf3; --faint: #9aa7b4; --line: #39424d;
  --all: #262d36; --used: #3f9fdc; --offered: #1f5c85; --mark: #ffa657; --yes: #1a7f4b; --no: #b3203a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1120px; margin: 0 auto; padding: 1rem; }
header { padding: 1rem 1.25rem; border-radius: 6px; color: #ffffff; }
header.yes { background: var(--yes); }
header.no { background: var(--no); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 1rem 0 0; }
dt { color: var(--faint); }
dd { margin: 0; overflow-wrap: anywhere; }
h1 { margin: 0; font-size: 1.35rem; overflow-wrap: anywhere; }
h2 { margin: 1.75rem 0 .5rem; font-size: 1.1rem; border-bottom: 1px solid var(--line); }
small, .legend { color: var(--faint); font-size: .85rem; font-weight: normal; }
ul { margin: 0; padding-left: 1.25rem; }
li { overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; }
td:nth-child(3) { white-space: nowrap; }
th, td { padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
tbody th { overflow-wrap: anywhere; min-width: 8rem; }
thead th { white-space: nowrap; color: var(--faint); font-size: .85rem; }
tbody th { font-weight: 600; }
svg { display: block; width: 300px; height: 28px; }
rect.all { fill: var(--all); }
rect.used { fill: var(--used); }
rect.offered { fill: var(--offered); }
line.mark { stroke: var(--mark); stroke-width: 2; stroke-dasharray: 4 2; }
.legend i { display: inline-block; width: .8rem; height: .8rem; vertical-align: -1px; margin-left: .5rem; }
.legend i.used { background: var(--used); }
.legend i.offered { background: var(--offered); }
.legend i.mark { width: .2rem; background: var(--mark); }
@media (max-width: 640px) {
  dl { grid-template-columns: 1fr; }
  dt { margin-top: .4rem; font-size: .85rem; }
  thead { display: none; }
  table, tbody, tr, tbody th, td { display: block; }
  tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
  tbody th, td { border: 0; padding: .1rem 0; }
  td { display: grid; grid-template-columns: 6.5rem 1fr; gap: .5rem; overflow-wrap: anywhere; }
  td::before { content: attr(data-title); color: var(--faint); font-size: .85rem; }
  td:nth-child(3) { white-space: normal; }
  svg { width: 100%; }
}
@media print {
  :root { color-scheme: light; --ground: #ffffff; --text: #000000; --faint: #444444; --line: #999999; --all: #eaeef2;
    --used: #0072b2; --offered: #7fc3ea; --mark: #a33b00; }
  @page { margin: 15mm; }
  * { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  header.yes, header.no { border: 2px solid currentColor; background: none; color: #000000; }
  .wide { overflow: visible; }
  thead { display: table-header-group; }
  tr, li, svg { break-inside: avoid; }
  h2 { break-after: avoid; }
}
"""
