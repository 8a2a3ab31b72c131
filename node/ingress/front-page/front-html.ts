import { formatApiRef, formatUsdc, limits } from '../../../lib/index.ts'
import { type Manifest, operationCount, type SignedManifest } from '../../../lib/interface/index.ts'
import { PROTOCOL_NAMES, PROTOCOLS_TEXT } from '../../../protocols/protocol-descriptors.ts'
import type { DemoKey } from '../../keys/keys.ts'
import type { ListingTermsView } from '../../admin/subscriptions/subscription-api.ts'
import { permitted } from '../../keys/scope.ts'
import { planWords } from '../../subscriptions/plan-words.ts'
import { termsView } from '../../subscriptions/terms-view.ts'
import { callPath } from '../discovery/api-catalog.ts'
import { curlLine } from '../discovery/curl-line.ts'
import { exampleBody } from '../discovery/example.ts'
import { STYLE } from './front-style.ts'
import { type Html, html, plain } from './html.ts'

/** The contents of the page. */
export interface Front {
  /** Without a trailing `/`. */
  readonly base: string
  readonly version: string
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Display name of the currency. */
  readonly money: string
  readonly demo: DemoKey | undefined
  readonly opensAccounts: boolean
  readonly takesX402: boolean
  /** The query of the request. */
  readonly asked: { readonly q: string; readonly protocol: string; readonly cursor: string }
  readonly listings: readonly SignedManifest[]
  readonly next: string | undefined
  /** The reason if there are no listings. */
  readonly problem: string | undefined
}

const TITLE = 'Souk: call any API, pay by the call'

/** The page, as HTML that is also well-formed XML. */
export function frontPage(front: Front): string {
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<title>${TITLE}</title>
<meta name="description" content="APIs of a peer-to-peer marketplace: plain JSON in, plain JSON out, paid in USDC by the call." />
<link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Cpath fill='%23c2410c' d='M4 0l4 4-4 4-4-4z'/%3E%3Cpath fill='%23fff' d='M4 2l2 2-2 2-2-2z'/%3E%3C/svg%3E" />
<link rel="api-catalog" href="/.well-known/api-catalog" />
<style>`
  // Insert the style unescaped, with no whitespace around it: its hash in the policy covers exactly this text.
  return `${page.text}${STYLE}${body(front).text}`
}

function body(front: Front): Html {
  return html`</style>
</head>
<body>
<div class="band"></div>
<header class="page top">
<a class="mark" href="/">Souk</a>
<nav aria-label="For programs"><a href="/openapi.json">OpenAPI</a><a href="/v1/apis">JSON</a><a href="/.well-known/api-catalog">API catalog</a></nav>
</header>
<main class="page">
<div class="hero">
<h1>Call any API. Pay by the call.</h1>
<p class="lead">Plain JSON in, plain JSON out, whatever the API behind it speaks: ${PROTOCOLS_TEXT}. No invoice, no monthly minimum; a call that fails costs nothing. Prices are in ${front.money}.</p>
</div>
${findForm(front)}
${waysIn(front)}
${results(front)}
</main>
<footer class="page">
<p>A node of a peer-to-peer marketplace, Souk ${front.version}. What is shown of an API was signed by its provider, who alone answers for it.</p>
</footer>
</body>
</html>
`
}

function findForm({ asked }: Front): Html {
  const options = PROTOCOL_NAMES.map((name) => {
    const isChosen = name.toLowerCase() === asked.protocol.toLowerCase()
    return isChosen ? html`<option selected="">${name}</option>` : html`<option>${name}</option>`
  })
  return html`<form class="find" role="search" action="/" method="get">
<label class="words">Search APIs<input type="search" name="q" value="${asked.q}" placeholder="candles, balance, users" maxlength="200" /></label>
<label>Protocol<select name="protocol"><option value="">any</option>${options}</select></label>
<button>Search</button>
</form>
`
}

/** The ways to make a first call that this node offers. */
function waysIn(front: Front): Html | undefined {
  const { base, demo, opensAccounts, takesX402, asked } = front
  if (asked.cursor !== '') return undefined
  const tryIt =
    demo === undefined
      ? []
      : [
          html`<li><h3>Try it now</h3><p>The public demo key calls ${demo.holder.apis?.join(', ') ?? ''}, up to a daily limit. All visitors share it.</p>${code('The demo key', demo.key)}</li>`
        ]
  const own = opensAccounts
    ? html`<li><h3>Get a key</h3><p>A prepaid account, topped up in USDC by any x402 client at <code>/v1/account/deposits</code>.</p>${code('Opening an account', openLine(base))}</li>`
    : html`<li><h3>Get a key</h3><p>Keys for this node are given out by its operator. Send yours as <code>X-Consumer-Key</code>:</p>${code('Setting the key', 'export SOUK_KEY=souk_…')}</li>`
  const keyless = takesX402
    ? [
        html`<li><h3>Or no key at all</h3><p>A call without one is answered with 402 and a price: any <a href="https://www.x402.org" rel="noreferrer">x402</a> client pays it and calls again.</p>${code('Paying by x402', X402_LINES)}</li>`
      ]
    : []
  return html`<h2 class="unseen">How to call</h2><ol class="ways">${[...tryIt, own, ...keyless]}</ol>
`
}

const X402_LINES = `import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes })
await pay(url, { method: 'POST', headers, body })`

function openLine(base: string): string {
  return `export SOUK_KEY=$(curl -s -X POST ${base}/v1/account |\n  sed 's/.*"key":"\\([^"]*\\)".*/\\1/')`
}

function results(front: Front): Html {
  const { listings, problem, asked, next } = front
  if (problem !== undefined) {
    return html`<p class="note" role="status">${problem} <a href="/">Show all APIs</a></p>`
  }
  const isSearch = asked.q !== '' || asked.protocol !== ''
  const heading = asked.q === '' ? 'APIs' : `APIs for “${plain(asked.q, 60)}”`
  if (listings.length === 0) {
    const text = isSearch
      ? 'No API matches your search.'
      : 'This node knows no API yet. A new node finds the first ones within seconds.'
    return html`<h2>${heading}</h2><p class="note" role="status">${text} ${isSearch ? html`<a href="/">Show all APIs</a>` : undefined}</p>`
  }
  const names = listings.map(({ manifest }) => manifest.name)
  const unique = new Set(names.filter((name, at) => names.indexOf(name) === at && names.lastIndexOf(name) === at))
  const cards = listings.map((signed, at) => card(front, signed, unique.has(signed.manifest.name), at === 0))
  const count =
    next === undefined && asked.cursor === '' ? html` <span class="count">${listings.length}</span>` : undefined
  return html`<h2>${heading}${count}</h2>
<ul class="apis">${cards}</ul>
${paging(front)}`
}

function paging({ asked: { q, protocol, cursor }, next }: Front): Html | undefined {
  const to = (changes: Record<string, string>) => {
    const given = Object.entries({ q, protocol, ...changes }).filter(([, value]) => value !== '')
    return given.length === 0 ? '/' : `/?${new URLSearchParams(given).toString()}`
  }
  if (next === undefined && cursor === '') return undefined
  const first = cursor === '' ? undefined : html`<a href="${to({})}">First page</a>`
  const following = next === undefined ? undefined : html`<a rel="next" href="${to({ cursor: next })}">Next page</a>`
  return html`<nav class="more" aria-label="Pages">${first}${following}</nav>`
}

function card(front: Front, { id, manifest }: SignedManifest, isUnique: boolean, isOpen: boolean): Html {
  const terms = termsView(manifest, front.now)
  const { name, protocol, description, tags, provider, state, api } = manifest
  const kind = protocol.toLowerCase()
  const at = `/v1/apis/${encodeURIComponent(id)}`
  const labels = tags.map((tag) => plain(tag, 40)).join(' · ')
  const hasSchema = api.sdl !== undefined || (api.described?.sdlParts ?? 0) > 0
  const schema = !hasSchema ? undefined : html`<a href="${at}/schema.graphql">schema</a>`
  const operations = operationCount(api) > 1 ? html`<span>${operationCount(api)} operations</span>` : undefined
  const open = isOpen ? html`<details open="">` : html`<details>`
  return html`<li class="api"><div class="head"><h3>${name}</h3><span class="kind ${kind}">${protocol}</span>${state === 'published' ? undefined : html`<span class="state">${state}</span>`}${priceOf(manifest.price, terms)}</div>
<p class="what"><bdi>${plain(description, limits.FRONT_DESCRIPTION_CHARS_MAX)}</bdi></p>
<p class="facts"><span>by <code title="${provider}">…${provider.slice(-8)}</code></span>${labels === '' ? undefined : html`<span><bdi>${labels}</bdi></span>`}${operations}<a href="${at}/openapi.json">OpenAPI<span class="unseen"> of ${name}</span></a>${schema}</p>
${plansOf(terms)}${open}<summary>Call it<span class="unseen">: ${name}</span></summary>${code(`A call of ${name}`, callLine(front, manifest, isUnique))}</details></li>
`
}

function priceOf(price: Manifest['price'], { plans, pay_per_call }: ListingTermsView): Html {
  if (!pay_per_call) return html`<p class="price"><b>by plan</b><small>with a subscription only</small></p>`
  const beside = plans.length === 0 ? '' : plans.length === 1 ? ', or a plan' : `, or ${plans.length} plans`
  if (price === 0n) return html`<p class="price"><b>free</b><small>per call${beside}</small></p>`
  return html`<p class="price"><b>${formatUsdc(price)}</b><small>USDC per call${beside}</small></p>`
}

/** Its plans and its end date, in words. Names of plans are untrusted text. */
function plansOf({ plans, deprecation }: ListingTermsView): Html | undefined {
  const ends =
    deprecation === null
      ? []
      : [html`<li><b>Ends</b> on ${new Date(deprecation.sunset_at).toISOString().slice(0, 10)} or later</li>`]
  const lines = plans.map((plan) => {
    return html`<li><b><bdi>${plain(plan.name, limits.PLAN_NAME_CHARS_MAX)}</bdi></b> <code>${plan.id}</code> ${planWords(plan)}</li>`
  })
  const all = [...lines, ...ends]
  return all.length === 0
    ? undefined
    : html`<ul class="plans">${all}</ul>
`
}

/** Uses the demo key if it may call this API, so that the line works unchanged. */
function callLine({ base, demo }: Front, manifest: Manifest, isUnique: boolean): string {
  const { name, provider } = manifest
  const isDemo = demo !== undefined && mayCall(demo, { name, provider })
  const path = isDemo && isUnique ? `/api/demo/api/${name}` : callPath(manifest)
  return curlLine({ url: base + path, key: isDemo ? demo.key : '$SOUK_KEY', body: exampleBody(manifest) })
}

function mayCall({ holder }: DemoKey, api: { readonly name: string; readonly provider: string }): boolean {
  try {
    return formatApiRef(permitted(holder, api)) === formatApiRef(api)
  } catch {
    return false
  }
}

/** A code block. It may be wider than the screen, so it scrolls, also by keyboard. */
function code(label: string, text: string): Html {
  return html`<pre tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>`
}
