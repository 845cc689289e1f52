import { hash } from 'node:crypto';

/** What all pages have in common. Light or dark, as the browser likes it; from 360 px on. */
export const BASE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f7f5f1; --sheet: #fffefb; --ink: #211f1b; --quiet: #5f5a50; --line: #e2dcd0; --accent: #8a4013; --code: #f3efe7;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14151a; --sheet: #1b1d24; --ink: #ebe8e1; --quiet: #a9a498; --line: #31343e; --accent: #f0b184; --code: #12131a;
  }
}
* { box-sizing: border-box; margin: 0; }
body {
  background: var(--ground); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
header, main { max-width: 46rem; margin-inline: auto; padding-inline: clamp(1.25rem, 5vw, 2rem); }
header { padding-block: clamp(2.5rem, 9vw, 5rem) 1.75rem; }
header svg { display: block; width: 3rem; height: 3rem; color: var(--accent); margin-bottom: 1.25rem; }
h1 { font-size: clamp(2.1rem, 8vw, 2.9rem); line-height: 1.1; letter-spacing: -.025em; font-weight: 700; }
h2 { font-size: 1.2rem; letter-spacing: -.01em; margin-bottom: .75rem; }
a { color: var(--accent); text-underline-offset: .2em; }
code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: .86em; overflow-wrap: anywhere; }
.sheet { background: var(--sheet); border: 1px solid var(--line); border-radius: .8rem; overflow: hidden; }
.sheet > * + * { border-top: 1px solid var(--line); }
dt { font-weight: 600; }
summary {
  display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 .75rem;
  padding: .85rem 1.15rem; cursor: pointer; font-weight: 600; list-style: none;
}
summary::-webkit-details-marker { display: none; }
summary::before { content: ""; width: .45rem; height: .45rem; border: solid var(--accent); border-width: 0 2px 2px 0; rotate: -45deg; translate: 0 -.1rem; }
details[open] > summary::before { rotate: 45deg; translate: 0 -.2rem; }
pre { background: var(--code); border-top: 1px solid var(--line); padding: 1rem 1.15rem; white-space: pre-wrap; }
pre code { display: block; line-height: 1.65; user-select: all; }
pre code + code { margin-top: .85rem; }
`;

/** The style of the page for whoever comes by. */
export const LANDING_STYLE = `${BASE_STYLE}
header p { font-size: 1.15rem; color: var(--quiet); margin-top: .75rem; max-width: 36rem; text-wrap: pretty; }
section { padding-block: 1.75rem; }
section:last-of-type { padding-bottom: 5rem; }
h2:has(+ p) { margin-bottom: .25rem; }
section > p { color: var(--quiet); margin-bottom: 1rem; }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: .35rem; }
dl > div { display: grid; grid-template-columns: 9rem 1fr; gap: .1rem 1.25rem; padding: .85rem 1.15rem; }
dd p { color: var(--quiet); font-size: .92rem; }
b { font-weight: inherit; color: var(--accent); }
summary span { color: var(--quiet); font-weight: 400; font-size: .92rem; margin-left: auto; }
pre i { font-style: inherit; white-space: nowrap; }
ul { padding-left: 1.2rem; }
li + li { margin-top: .4rem; }
@media (max-width: 34rem) {
  dl > div { grid-template-columns: 1fr; }
  summary span { margin-left: 1.25rem; flex-basis: 100%; }
}
`;

/** The style of the page for a person on call. */
export const STATUS_STYLE = `${BASE_STYLE}
:root { --good: #1d6b3a; --bad: #a3231b; }
@media (prefers-color-scheme: dark) { :root { --good: #7fd6a0; --bad: #ff9d92; } }
header, main { max-width: 76rem; }
header { padding-block: 1.75rem .5rem; display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.25rem; }
header svg { width: 2rem; height: 2rem; margin: 0; }
h1 { font-size: 1.6rem; }
header p { color: var(--quiet); flex: 1 1 16rem; }
button {
  font: inherit; font-size: .92rem; color: var(--ink); background: var(--sheet); border: 1px solid var(--line);
  border-radius: .6rem; padding: .35rem .9rem; cursor: pointer;
}
:is(a, button, summary, .scroll):focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: .35rem; }
section { padding-block: 1rem; }
section:last-of-type { padding-bottom: 4rem; }
.lead { color: var(--quiet); margin: -.5rem 0 .75rem; }
.scroll { overflow-x: auto; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: .6rem 1.15rem; color: var(--quiet); font-size: .92rem; }
th, td { text-align: left; vertical-align: top; padding: .55rem 1.15rem; border-top: 1px solid var(--line); }
thead th { color: var(--quiet); font-weight: 400; font-size: .92rem; }
.number { text-align: right; white-space: nowrap; }
td code { white-space: nowrap; }
td p { min-width: 12rem; }
.why { border-top: 0; padding-top: 0; }
[data-part=settings] { max-height: 28rem; overflow: auto; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(11rem, 1fr)); gap: 1px; background: var(--line); }
.facts > div { background: var(--sheet); padding: .85rem 1.15rem; display: block; border: 0; }
.facts dt { font-weight: 400; color: var(--quiet); font-size: .92rem; }
.facts dd { font-size: 1.2rem; font-variant-numeric: tabular-nums; }
.facts dd p { font-size: .92rem; color: var(--quiet); }
.good { color: var(--good); font-weight: 600; }
.bad { color: var(--bad); font-weight: 600; }
.spark { display: block; width: 15rem; height: 2.25rem; }
.spark .calls { fill: var(--line); }
.spark .failed { fill: var(--bad); }
.spark .slow { fill: none; stroke: var(--accent); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
time { white-space: nowrap; color: var(--quiet); font-size: .92rem; }
.none { padding: .85rem 1.15rem; color: var(--quiet); }
`;

/** What a browser may load for a page: this very style, and what `more` says, and nothing else. */
export function pagePolicy(style: string, ...more: readonly string[]): string {
  return [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    ...more,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}
