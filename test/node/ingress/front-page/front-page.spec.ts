import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { limits, SoukError } from '../../../../lib/index.ts'
import type { FoundListing, SearchQuery } from '../../../../lib/interface/index.ts'
import { curlLine } from '../../../../node/ingress/discovery/curl-line.ts'
import { COLOURS } from '../../../../node/ingress/front-page/front-style.ts'
import { plain } from '../../../../node/ingress/front-page/html.ts'
import { foundListing, PROVIDER, RawClient, type Running, startIngress } from '../harness.ts'

const run = promisify(execFile)
const HOSTILE = `"><script>alert(1)</script><img src=x onerror='a'>&lt;\u202Egnp.exe\u0000\n</style>`

interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  readonly children: readonly Element[]
  readonly text: string
}

/** Parses the page as a tree. Unescaped text would make the XML invalid, which fails the test. */
function parse(page: string): Element[] {
  // The successor of `XMLValidator` is a package that nothing else here needs.
  // oxlint-disable-next-line typescript/no-deprecated
  assert.equal(XMLValidator.validate(page), true)
  const options = {
    ignoreAttributes: false,
    attributeNamePrefix: '',
    preserveOrder: true,
    trimValues: false,
    htmlEntities: true,
    parseTagValue: false
  }
  type Node = Record<string, unknown> & { ':@'?: Record<string, string> }
  const walk = (nodes: Node[]): Element[] =>
    nodes.flatMap(({ ':@': attributes = {}, ...rest }) =>
      Object.entries(rest).flatMap(([name, inner]) => {
        if (name.startsWith('#') || name.startsWith('?')) return []
        const children = walk(inner as Node[])
        return [{ name, attributes, children, text: textOf(inner as Node[]) }]
      })
    )
  const textOf = (nodes: Node[]): string =>
    nodes
      .map(({ ':@': _, ...node }) =>
        '#text' in node ? String(node['#text']) : textOf(Object.values(node).flat() as Node[])
      )
      .join('')
  return flat(walk(new XMLParser(options).parse(page) as Node[]))
}

const flat = (elements: readonly Element[]): Element[] => elements.flatMap((each) => [each, ...flat(each.children)])
const named = (elements: readonly Element[], name: string) => elements.filter((each) => each.name === name)
const classed = (elements: readonly Element[], name: string) =>
  elements.filter(({ attributes }) => attributes['class']?.split(' ').includes(name))

describe('ingress: the front page', () => {
  let ingress: Running
  let listings: FoundListing[]
  let searched: SearchQuery | undefined

  async function start(options = {}): Promise<void> {
    ingress = await startIngress(options, undefined, ['bb-sse-ticker'])
    searched = undefined
    listings = [foundListing('bb-sse-ticker'), foundListing('shop', { price: 0n, protocol: 'SOAP' })]
    ingress.onSearch = async (query) => {
      searched = query
      return { listings }
    }
  }
  beforeEach(() => start())
  afterEach(() => ingress.close())
  const read = async (path = '/') => {
    const response = await fetch(ingress.url + path)
    const page = await response.text()
    return { response, page, elements: parse(page) }
  }

  it('shows the APIs and their prices', async () => {
    const { response, elements } = await read()
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/html; charset=utf-8')
    const cards = classed(elements, 'api')
    assert.deepEqual(
      cards.map((card) => [named(flat(card.children), 'h3')[0]?.text, classed(flat(card.children), 'price')[0]?.text]),
      [
        ['bb-sse-ticker', '0.0015USDC per call'],
        ['shop', 'freeper call']
      ]
    )
    assert.deepEqual(searched, { limit: limits.FRONT_PAGE_APIS })
  })

  it('describes plans in words, and escapes their names', async () => {
    const terms = { period: 'month', trialDays: 0, since: 0 } as const
    const plans = [
      { ...terms, id: 'free', name: HOSTILE.slice(0, 63), fee: 0n, included: 3, overage: [] },
      { ...terms, id: 'pro', name: 'Pro', fee: 5_000_000n, included: 100, overage: [{ price: 400n }] },
      { ...terms, id: 'old', name: 'Old', fee: 0n, included: 3, overage: [], closedAt: 1 }
    ]
    listings = [foundListing('shop', { plans, payPerCall: false, deprecation: { at: 0, sunsetAt: 86_400_000 } })]
    const { elements } = await read()
    const [list] = classed(elements, 'plans')
    const lines = named(flat(list?.children ?? []), 'li').map(({ text }) => text)
    assert.equal(lines.length, 3)
    assert.ok(lines[0]?.endsWith(' free free, 3 calls a month'), lines[0])
    assert.match(lines[0] ?? '', /<script>/)
    assert.deepEqual(lines.slice(1), [
      'Pro pro 5 USDC a month, 100 calls included, then 0.0004 USDC each',
      'Ends on 1970-01-02 or later'
    ])
    assert.deepEqual(named(elements, 'script'), [])
    assert.equal(classed(elements, 'price')[0]?.text, 'by planwith a subscription only')
  })

  it('has curl lines that work when pasted', async () => {
    const { elements } = await read()
    const lines = named(elements, 'pre')
      .map(({ text }) => text)
      .filter((text) => text.startsWith('curl'))
    const [demo = '', own = ''] = lines
    const called = JSON.parse((await run('sh', ['-c', demo])).stdout) as object
    assert.deepEqual(called, { ok: true })
    assert.equal(Buffer.from(ingress.calls[0]?.body as Uint8Array).toString(), '{"symbol":"BTCUSDT","interval":"1m"}')
    assert.deepEqual(ingress.calls[0]?.api, { name: 'bb-sse-ticker' })
    await run('sh', ['-c', own], { env: { ...process.env, SOUK_KEY: ingress.key } })
    assert.deepEqual(ingress.calls[1]?.api, { name: 'shop', provider: PROVIDER })
  })

  it('has a policy that blocks foreign scripts, styles, forms, frames and requests', async () => {
    const { response, page, elements } = await read()
    const policy = response.headers.get('content-security-policy') ?? ''
    const style = createHash('sha256')
      .update(/<style>([^]*?)<\/style>/.exec(page)?.[1] ?? '')
      .digest('base64')
    assert.equal(
      policy,
      `default-src 'none'; style-src 'sha256-${style}'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`
    )
    assert.deepEqual(
      [named(elements, 'script').length, named(elements, 'style').length, named(elements, 'iframe').length],
      [0, 1, 0]
    )
    assert.deepEqual(
      elements.flatMap(({ attributes }) => Object.keys(attributes)).filter((name) => /^on|^style$/.test(name)),
      []
    )
    assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
    assert.match(response.headers.get('link') ?? '', /rel="api-catalog"/)
  })

  it('escapes the texts of listings', async () => {
    const before = (await read()).elements.map(({ name }) => name)
    listings = [
      foundListing('bb-sse-ticker', { description: HOSTILE, tags: ['market', HOSTILE] }),
      foundListing('shop', {
        price: 0n,
        protocol: 'SOAP',
        api: {
          operations: [
            { name: `x'; rm -rf "$HOME" #`, input: { properties: { [HOSTILE]: { const: `'$(id)'\u202E` } } } }
          ]
        }
      })
    ]
    const { page, elements } = await read()
    assert.deepEqual(
      elements.map(({ name }) => name),
      before
    )
    assert.equal(classed(elements, 'what')[0]?.text, plain(HOSTILE, limits.FRONT_DESCRIPTION_CHARS_MAX))
    assert.ok(!page.includes('\u202E') && !page.includes('\u0000'))
    const line =
      named(elements, 'pre').find(({ text }) => text.includes('SOUK_KEY') && text.startsWith('curl'))?.text ?? ''
    const seen = await run('sh', ['-c', line.replace(/^curl -s/, `printf '%s\\n'`)], {
      env: { PATH: process.env['PATH'], SOUK_KEY: 'k' }
    })
    const sent = JSON.parse(seen.stdout.trim().split('\n').at(-1) ?? '') as Record<string, unknown>
    assert.deepEqual(sent, { operation: `x'; rm -rf "$HOME" #`, [HOSTILE]: `'$(id)'\u202E` })
  })

  it('escapes the search text, and searches for it', async () => {
    const { elements } = await read(`/?q=${encodeURIComponent(HOSTILE)}&protocol=soap`)
    assert.deepEqual(searched, { text: HOSTILE, protocol: 'SOAP', limit: limits.FRONT_PAGE_APIS })
    const [input] = named(elements, 'input')
    assert.equal(input?.attributes['value']?.replaceAll(/\s/g, ''), HOSTILE.replaceAll(/\s/g, ''))
    assert.equal(named(elements, 'script').length, 0)
    const [chosen] = named(elements, 'option').filter(({ attributes }) => 'selected' in attributes)
    assert.equal(chosen?.text, 'SOAP')
  })

  it('keeps the search text across pages', async () => {
    ingress.onSearch = async ({ cursor } = {}) => (cursor === undefined ? { listings, next: 'a&b=c' } : { listings })
    const first = await read('/?q=x%26y')
    const [next] = named(first.elements, 'a').filter(({ attributes }) => attributes['rel'] === 'next')
    assert.equal(next?.attributes['href'], '/?q=x%26y&cursor=a%26b%3Dc')
    const second = await read(next?.attributes['href'])
    assert.deepEqual(
      classed(second.elements, 'more').flatMap(({ children }) => children.map(({ attributes }) => attributes['href'])),
      ['/?q=x%26y']
    )
  })

  it('shows request errors to people, and hides internal errors', async () => {
    const wrong = await read('/?protocol=FTP')
    assert.equal(wrong.response.status, 400)
    assert.match(classed(wrong.elements, 'note')[0]?.text ?? '', /protocol must be one of REST/)
    ingress.onSearch = () => Promise.reject(new SoukError('internal_error', 'secret'))
    const failed = await fetch(ingress.url)
    assert.equal(failed.status, 500)
    assert.equal(ingress.log.length, 1)
    listings = []
  })

  it('says that there are no results', async () => {
    listings = []
    assert.match(classed((await read()).elements, 'note')[0]?.text ?? '', /This node knows no API yet/)
    assert.match(classed((await read('/?q=zzz')).elements, 'note')[0]?.text ?? '', /No API matches your search/)
  })

  it('shows the features of this node: the demo key, accounts, x402', async () => {
    const ways = async () => classed((await read()).elements, 'ways')[0]?.children.map((way) => way.children[0]?.text)
    assert.deepEqual(await ways(), ['Try it now', 'Get a key'])
    await ingress.close()
    await start({ x402: true })
    assert.deepEqual(await ways(), ['Try it now', 'Get a key', 'Or no key at all'])
  })

  it('does not repeat an invalid Host', async () => {
    const client = new RawClient(ingress.port)
    client.send(`GET / HTTP/1.1\r\nHost: x'$(id)'"<b>\r\nConnection: close\r\n\r\n`)
    const text = await client.closed()
    assert.doesNotMatch(text, /\$\(id\)|<b>x|"<b>/)
    assert.match(text, /curl -s http:\/\/localhost\//)
  })

  it('is accessible: a language, one h1, and a name for every field and region', async () => {
    const { elements } = await read()
    assert.equal(named(elements, 'html')[0]?.attributes['lang'], 'en')
    assert.equal(named(elements, 'h1').length, 1)
    assert.deepEqual(
      ['main', 'header', 'footer', 'nav'].map((name) => named(elements, name).length),
      [1, 1, 1, 1]
    )
    const labelled = named(elements, 'label').flatMap(({ children }) => flat(children))
    for (const field of [...named(elements, 'input'), ...named(elements, 'select')]) assert.ok(labelled.includes(field))
    for (const { attributes } of named(elements, 'pre')) {
      assert.ok(attributes['tabindex'] === '0' && attributes['aria-label'] !== undefined)
    }
  })

  describe('in its colours', () => {
    const PAIRS = [
      ['ink', 'ground'],
      ['ink', 'surface'],
      ['muted', 'ground'],
      ['muted', 'surface'],
      ['accent', 'ground'],
      ['accent', 'surface'],
      ['on-accent', 'accent'],
      ['on-code', 'code'],
      ['ink', 'line'],
      ['ink-rest', 'soft-rest'],
      ['ink-soap', 'soft-soap'],
      ['ink-graphql', 'soft-graphql']
    ] as const
    const luminance = (colour: string) => {
      const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => {
        const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255
        return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
      })
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }
    const contrast = (a: string, b: string) => {
      const [light, dark] = [luminance(a), luminance(b)].toSorted((x, y) => y - x) as [number, number]
      return (light + 0.05) / (dark + 0.05)
    }
    for (const [scheme, at] of [
      ['light', 0],
      ['dark', 1]
    ] as const) {
      it(`meets WCAG AA in ${scheme}`, () => {
        for (const [text, ground] of PAIRS) {
          const ratio = contrast(COLOURS[text][at], COLOURS[ground][at])
          assert.ok(ratio >= 4.5, `${text} on ${ground}: ${ratio.toFixed(2)}`)
        }
        assert.ok(contrast(COLOURS.field[at], COLOURS.surface[at]) >= 3, 'the edge of a field')
      })
    }
  })
})

describe('a line of curl', () => {
  it('is one command for any content', async () => {
    const body = { text: `it's "fine"; $(id) \`id\` \\ \u2028 é \u{1F600}` }
    const line = curlLine({ url: 'http://h/api', key: `k'; exit 1; '`, body })
    const { stdout } = await run('sh', ['-c', line.replace(/^curl -s/, `printf '%s\\n'`)])
    const words = stdout.trimEnd().split('\n')
    assert.deepEqual(words.slice(0, -1), [
      'http://h/api',
      '-H',
      'Content-Type: application/json',
      '-H',
      `X-Consumer-Key: k'; exit 1; '`,
      '-d'
    ])
    assert.deepEqual(JSON.parse(words.at(-1) ?? ''), body)
    assert.match(line, /^[ -~\n]+$/)
  })
})
