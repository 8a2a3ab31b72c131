import { createHash } from 'node:crypto'

/** Pairs of colours for light and dark. The page’s test checks text colours against WCAG AA. */
export const COLOURS = {
  ground: ['#faf6ef', '#15110e'],
  surface: ['#ffffff', '#201a15'],
  line: ['#e4d9c8', '#3a3027'],
  field: ['#8a7a67', '#8a7a67'],
  ink: ['#2a2019', '#f4eadd'],
  muted: ['#665748', '#bcab98'],
  accent: ['#9a3412', '#f4a271'],
  'on-accent': ['#ffffff', '#2a1408'],
  code: ['#241b15', '#0d0a08'],
  'on-code': ['#f7ead8', '#f0e2cf'],
  'soft-rest': ['#e2f0ea', '#12352a'],
  'ink-rest': ['#0f5a41', '#8fdcbc'],
  'soft-soap': ['#efe7fa', '#2f2247'],
  'ink-soap': ['#5a3394', '#cdb4f6'],
  'soft-graphql': ['#fde6f0', '#45172e'],
  'ink-graphql': ['#9b1d5a', '#f7a8cb']
} as const

const variables = Object.entries(COLOURS).map(([name, [light, dark]]) => `--${name}:light-dark(${light},${dark})`)

export const STYLE = `
:root{color-scheme:light dark;${variables.join(';')};
--serif:ui-serif,"Iowan Old Style","Palatino Linotype",Palatino,Georgia,serif;--mono:ui-monospace,"SF Mono",Menlo,Consolas,monospace}
*{box-sizing:border-box}
html{text-size-adjust:100%;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.6 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
a{color:var(--accent);text-underline-offset:.2em;text-decoration-thickness:1px}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px;border-radius:.3rem}
.band{height:.75rem;background:conic-gradient(from 45deg at 50% 50%,#0f766e 25%,#c2410c 0 50%,#b7791f 0 75%,#7c2d12 0) 0 0/1.5rem .75rem}
.page{max-width:72rem;margin:0 auto;padding:0 clamp(1rem,4vw,2.5rem)}
.top{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:baseline;padding-block:1.25rem}
.mark{font:600 1.5rem/1 var(--serif);letter-spacing:-.01em;color:inherit;text-decoration:none;margin-inline-end:auto}
.top nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;font-size:.9375rem}
.hero{padding-block:clamp(1.5rem,5vw,3.5rem) clamp(1.5rem,4vw,2.5rem);max-width:46rem}
h1{font:600 clamp(2.25rem,6vw,3.75rem)/1.05 var(--serif);letter-spacing:-.02em;margin:0 0 1rem;text-wrap:balance}
h2{font:600 1.5rem/1.2 var(--serif);margin:0 0 1rem}
h3{font:600 1.125rem/1.3 var(--mono);margin:0;overflow-wrap:anywhere}
.lead{font-size:1.1875rem;color:var(--muted);margin:0;text-wrap:pretty}
.find{display:flex;flex-wrap:wrap;gap:.75rem;margin-block:0 3rem}
.find label{display:grid;gap:.25rem;font-size:.875rem;color:var(--muted)}
.find .words{flex:1 1 18rem}
input,select,button{font:inherit;color:inherit;min-height:2.875rem;border:1px solid var(--field);border-radius:.625rem;background:var(--surface);padding:.5rem .875rem}
::placeholder{color:var(--muted);opacity:1}
button{background:var(--accent);border-color:var(--accent);color:var(--on-accent);font-weight:600;padding-inline:1.5rem;align-self:end;cursor:pointer}
button:hover{filter:brightness(1.08)}
.ways{display:grid;gap:1rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,20rem),1fr));margin:0 0 3.5rem;padding:0;list-style:none;counter-reset:way}
.ways li{background:var(--surface);border:1px solid var(--line);border-radius:1rem;padding:1.25rem 1.25rem 1rem;min-width:0}
.ways h3{font-family:var(--serif);font-size:1.1875rem;margin-bottom:.375rem}
.ways p{margin:0 0 .75rem;color:var(--muted);font-size:.9375rem}
.count{color:var(--muted);font-weight:400;font-size:1rem;font-family:system-ui,sans-serif}
.apis{display:grid;gap:1rem;margin:0 0 2rem;padding:0;list-style:none}
.api{background:var(--surface);border:1px solid var(--line);border-radius:1rem;padding:1.25rem 1.5rem;min-width:0}
.head{display:flex;flex-wrap:wrap;gap:.5rem .75rem;align-items:center}
.price{margin-inline-start:auto;text-align:end;white-space:nowrap}
.price b{font:600 1.25rem/1 var(--mono)}
.price small{display:block;color:var(--muted);font-size:.8125rem}
.kind,.state{font-size:.75rem;font-weight:600;letter-spacing:.04em;border-radius:99rem;padding:.125rem .625rem;background:var(--line)}
.rest{background:var(--soft-rest);color:var(--ink-rest)}
.soap{background:var(--soft-soap);color:var(--ink-soap)}
.graphql{background:var(--soft-graphql);color:var(--ink-graphql)}
.what{margin:.625rem 0 .5rem;max-width:60ch;overflow-wrap:anywhere}
.facts{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin:0;font-size:.875rem;color:var(--muted)}
.plans{margin:.5rem 0 0;padding-inline-start:1.25rem;font-size:.9375rem;overflow-wrap:anywhere}
.facts code{font-size:.8125rem;overflow-wrap:anywhere}
details{margin-top:.75rem}
summary{cursor:pointer;color:var(--accent);font-weight:600;font-size:.9375rem;width:fit-content}
pre{margin:.625rem 0 0;background:var(--code);color:var(--on-code);border-radius:.75rem;padding:1rem 1.125rem;overflow-x:auto;font:.8125rem/1.65 var(--mono);tab-size:2}
code{font-family:var(--mono)}
.ways pre{white-space:pre-wrap;overflow-wrap:anywhere}
.note{background:var(--surface);border:1px solid var(--line);border-inline-start:4px solid var(--accent);border-radius:.75rem;padding:1rem 1.25rem;margin:0 0 2rem}
.more{display:flex;gap:1.5rem;margin-bottom:3rem;font-weight:600}
footer{border-top:1px solid var(--line);padding-block:1.5rem 3rem;color:var(--muted);font-size:.875rem}
footer p{margin:.25rem 0}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
`.trim()

/** The Content-Security-Policy allows the style by this hash. */
export const STYLE_HASH = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`
