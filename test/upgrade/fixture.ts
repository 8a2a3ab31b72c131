import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Store } from '../../lib/interface/index.ts'

/** The content of `fixtures/<commit>/`: `files.json.gz` and `expected.json`. */
export interface Fixture {
  /** Each file of `SOUK_HOME` by path, in base64, and related data. */
  readonly files: Readonly<Record<string, string>>
  readonly sql: string
  /** The dump of the dev chain by anvil. */
  readonly chain: string
}

/** The figures of a store, without those that change over time. */
export interface Figures {
  /** Decimal atoms, by ledger account. */
  readonly balances: Readonly<Record<string, string>>
  /** Number of documents of each kind. */
  readonly documents: Readonly<Record<string, number>>
  /** Calls of each API: captured, voided, and atoms charged. */
  readonly usage: Readonly<Record<string, readonly [number, number, string]>>
  readonly entries: number
}

export interface Expected {
  readonly commit: string
  /** Per profile, and for the PostgreSQL that the ingress shares. */
  readonly stores: Readonly<Record<string, Figures>>
  /** The former endpoints of the APIs, by name. */
  readonly endpoints: Readonly<Record<string, string>>
  readonly peers: Readonly<Record<string, string>>
  /** `X-Consumer-Key` by profile: a key of the node itself, and of a prepaid account with its balance. */
  readonly keys: { readonly consumer: string; readonly account: string }
  readonly balance: string
  /** Subscription ids by profile. */
  readonly subscriptions: Readonly<Record<string, string>>
  readonly webhook: string
  readonly payout: string
}

export async function figuresOf(store: Store, kinds: Readonly<Record<string, number>>): Promise<Figures> {
  const balances = await store.ledger.balances('')
  const usage = await store.calls.usage()
  return {
    balances: Object.fromEntries(balances.map(({ account, amount }) => [account, String(amount)])),
    documents: kinds,
    usage: Object.fromEntries(
      usage.map(({ api, captured, voided, charged }) => [api, [captured, voided, String(charged)]])
    ),
    entries: (await store.ledger.entries({ limit: Number.MAX_SAFE_INTEGER })).length
  }
}

/** The number of documents of each kind in a database file. */
export function documentKinds(path: string): Record<string, number> {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = db.prepare('SELECT collection, count(*) AS number FROM documents GROUP BY 1 ORDER BY 1').all()
    return Object.fromEntries(rows.map(({ collection, number }) => [String(collection), Number(number)]))
  } finally {
    db.close()
  }
}

/** Kinds of documents in PostgreSQL, where they are bytes. */
export const DOCUMENT_KINDS_SQL =
  "SELECT convert_from(collection, 'UTF8') AS collection, count(*)::int AS number FROM documents GROUP BY 1 ORDER BY 1"

export async function writeFixture(directory: string, fixture: Fixture, expected: Expected): Promise<void> {
  await mkdir(directory, { recursive: true })
  await writeFile(join(directory, 'files.json.gz'), gzipSync(JSON.stringify(fixture), { level: 9 }))
  await writeFile(join(directory, 'expected.json'), `${JSON.stringify(expected, undefined, 2)}\n`)
}

export async function readFixture(directory: string): Promise<{ fixture: Fixture; expected: Expected }> {
  const packed = await readFile(join(directory, 'files.json.gz'))
  return {
    fixture: JSON.parse(gunzipSync(packed).toString()) as Fixture,
    expected: JSON.parse(await readFile(join(directory, 'expected.json'), 'utf8')) as Expected
  }
}

/** Unpacks the home folder with private modes, as Souk requires. */
export async function unpackHome({ files }: Fixture, home: string): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const to = join(home, path)
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    await writeFile(to, Buffer.from(content, 'base64'))
    await chmod(to, 0o600)
  }
}
