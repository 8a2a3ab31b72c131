import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { join } from 'node:path'
import { sha256 } from '../../lib/base/bytes.ts'
import { searchTerms } from '../../lib/base/search-terms.ts'
import type { ListingPut, ListingQuery } from '../../lib/interface/listing-index.ts'
import type { Store } from '../../lib/interface/store.ts'
import { storedManifest } from '../../lib/resolve/manifest/stored-manifest.ts'
import { signManifest } from '../../lib/resolve/manifest/sign-manifest.ts'
import { createMemoryStore } from '../../lib/store/memory/store.ts'
import { createSqliteStore } from '../../lib/store/sqlite/store.ts'
import { quantile } from './statistics.ts'
import type { Suite, SuiteResult } from './suite.ts'

const LISTINGS = 10_000
const PUBLISHERS = 100
const PUT_AT_ONCE = 100
const SEARCHES = 1_000
const PAGE = 20
/** The maximum duration of a search at the 95th percentile. */
const AIM_MS = 20
const WORDS =
  `account address air alert archive bank book candle card city clock code company country currency customer data date
  delivery demo document event exchange feed film flight food forecast game health history hotel image index invoice job language law
  list loan location market media message money music name news number order parcel payment person phone photo place price product
  quote rate receipt recipe region report review risk road route sale school score search shop sport station stock store street
  tax team text ticket time tool track trade train travel user vat video weather word`.split(/\s+/)
/** Typical searches: one common word, several words, a tag, a price, an order, no word. */
const QUERIES: ReadonlyArray<Partial<ListingQuery> & { readonly text?: string }> = [
  { text: 'weather' },
  { text: 'a' },
  { text: 'stock price' },
  { text: 'mar', sort: 'quality' },
  { text: 'invoice', maxPrice: 500n },
  { tag: 'music', sort: 'price' },
  { protocol: 'SOAP', text: 'bank' },
  { sort: 'latency' },
  { sort: 'new', minQuality: 0.5 },
  {}
]

interface Subject {
  readonly name: string
  readonly store: Store
}

/** Searches ten thousand signed listings page by page, and parses every manifest of a page. */
export const catalogue: Suite = {
  name: 'catalogue',
  async run({ directory, say }): Promise<SuiteResult> {
    const subjects: Subject[] = [
      { name: 'SQLite', store: createSqliteStore({ path: join(directory, 'catalogue', 'souk.db') }) },
      { name: 'memory', store: createMemoryStore() }
    ]
    say(`signing ${LISTINGS} listings`)
    const puts = await listings()
    const rows: Array<{
      name: string
      p50: number
      p95: number
      cpuP95: number
      max: number
      putMs: number
      heapMiB: number
    }> = []
    for (const { name, store } of subjects) {
      say(name)
      await store.open()
      const before = heapMiB()
      const startedAt = performance.now()
      for (let at = 0; at < puts.length; at += PUT_AT_ONCE) await store.listings.put(puts.slice(at, at + PUT_AT_ONCE))
      const putMs = (performance.now() - startedAt) / puts.length
      const grown = heapMiB() - before
      rows.push({ name, ...(await measure(store)), putMs, heapMiB: grown })
      await store.close()
    }
    const sqlite = rows[0]
    return {
      ratios: [
        {
          name: 'catalogue-p95',
          value: (sqlite?.p95 ?? Number.NaN) / AIM_MS,
          better: 'lower',
          aim: 1,
          of: `p95 of a search in SQLite, of ${AIM_MS} ms`
        }
      ],
      table: [
        ['', 'search p50', 'p95', 'CPU p95', 'slowest', 'put', 'heap'],
        ...rows.map(({ name, p50, p95, cpuP95, max, putMs, heapMiB: heap }) => [
          name,
          ...[p50, p95, cpuP95, max, putMs].map((ms) => `${ms.toFixed(2)} ms`),
          `${heap.toFixed(1)} MiB`
        ])
      ],
      notes: [
        `${LISTINGS} listings of ${PUBLISHERS} publishers, ${SEARCHES} searches of ${QUERIES.length} kinds, pages of ${PAGE}; every second one a second page.`,
        'Put: one listing in a batch of a hundred, durable in SQLite. Heap: what the listings add to it.'
      ],
      details: { rows, queries: QUERIES.length }
    }
  }
}

async function measure(store: Store): Promise<{ p50: number; p95: number; cpuP95: number; max: number }> {
  const times: number[] = []
  // CPU time of the whole process with its threads, so that other load does not matter.
  const cpuTimes: number[] = []
  let cursor: string | undefined
  for (let i = 0; i < SEARCHES; i++) {
    const { text = '', ...rest } = QUERIES[Math.floor(i / 2) % QUERIES.length] ?? {}
    const startedAt = performance.now()
    const cpuBefore = process.cpuUsage()
    const page = await store.listings.search({
      terms: searchTerms(text),
      sort: 'relevance',
      limit: PAGE,
      now: Date.now(),
      ...rest,
      ...(i % 2 === 1 && cursor !== undefined ? { cursor } : {})
    })
    for (const { envelope } of page.listings) storedManifest(envelope)
    times.push(performance.now() - startedAt)
    const { user, system } = process.cpuUsage(cpuBefore)
    cpuTimes.push((user + system) / 1000)
    cursor = page.next
    if (page.listings.length === 0 && i % 2 === 0) throw new Error(`nothing was found by ${JSON.stringify(text)}`)
  }
  const sorted = times.toSorted((a, b) => a - b)
  const cpuP95 = quantile(
    cpuTimes.toSorted((a, b) => a - b),
    0.95
  )
  return { p50: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), cpuP95, max: sorted.at(-1) ?? Number.NaN }
}

async function listings(): Promise<ListingPut[]> {
  const keys = await Promise.all(Array.from({ length: PUBLISHERS }, () => generateKeyPair('Ed25519')))
  const now = Date.now()
  const pick = (seed: number) => WORDS[seed % WORDS.length] ?? ''
  return Promise.all(
    Array.from({ length: LISTINGS }, async (_, i): Promise<ListingPut> => {
      const key = keys[i % PUBLISHERS]
      if (key === undefined) throw new Error('no key')
      const signed = await signManifest(
        {
          name: `${pick(i)}-${pick(i * 7 + 3)}-${i}`,
          provider: peerIdFromPrivateKey(key).toString(),
          protocol: i % 3 === 0 ? 'SOAP' : 'REST',
          description: Array.from({ length: 40 }, (_word, at) => pick(i * 13 + at * at + 5)).join(' '),
          tags: [...new Set([pick(i * 3), pick(i * 5 + 1)])],
          price: BigInt((i * 37) % 5_000),
          currency: 'USDC',
          idempotent: false,
          api: {
            operations: Array.from({ length: 5 }, (_operation, at) => ({ name: `get-${pick(i + at * 11)}-${at}` }))
          },
          state: 'published',
          revision: 1,
          issuedAt: now,
          expiresAt: now + 86_400_000
        },
        key
      )
      const grade = { quality: ((i * 31) % 100) / 100, ...(i % 4 === 0 ? { latencyMs: i % 900 } : {}) }
      const hash = Uint8Array.from(sha256(signed.envelope))
      return { signed, hash, liveUntil: now + 3_600_000, source: `peer ${i % 50}`, grade, now: now - i }
    })
  )
}

function heapMiB(): number {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed / 2 ** 20
}
