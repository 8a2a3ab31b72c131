import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { DatabaseSync } from 'node:sqlite'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Store } from '../../lib/interface/index.ts'

/** What lies in `fixtures/<commit>/`: `files.json.gz`, and beside it `expected.json`. */
export interface Fixture {
  /** Each file of `SOUK_HOME` by its path, in base64; and what else belongs to it. */
  readonly files: Readonly<Record<string, string>>
  readonly sql: string
  /** What anvil dumped of the dev chain. */
  readonly chain: string
}

/** What a store says of itself, apart from what time alone changes. */
export interface Figures {
  /** Decimal atoms, by account of the ledger. */
  readonly balances: Readonly<Record<string, string>>
  /** Number of documents of each kind. */
  readonly documents: Readonly<Record<string, number>>
  /** Calls of each API: captured, voided, and atoms charged. */
  readonly usage: Readonly<Record<string, readonly [number, number, string]>>
  readonly entries: number
}

export interface Expected {
  readonly commit: string
  /** Of each profile's own store, and of the PostgreSQL that the ingress shares. */
  readonly stores: Readonly<Record<string, Figures>>
  /** Where the APIs listened then, by name. */
  readonly endpoints: Readonly<Record<string, string>>
  readonly peers: Readonly<Record<string, string>>
  /** `X-Consumer-Key` by profile: of a key of the node itself, and of a prepaid account with its balance. */
  readonly keys: { readonly consumer: string; readonly account: string }
  readonly balance: string
  /** Ids of subscriptions by profile. */
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

/** Kinds of documents in a database file, as it is on disk, with their numbers. */
export function documentKinds(path: string): Record<string, number> {
  const db = new DatabaseSync(path, { readOnly: true })
  try {
    const rows = db.prepare('SELECT collection, count(*) AS number FROM documents GROUP BY 1 ORDER BY 1').all()
    return Object.fromEntries(rows.map(({ collection, number }) => [String(collection), Number(number)]))
  } finally {
    db.close()
  }
}

/** Kinds of documents in PostgreSQL; there they are bytes. */
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

/** Puts the home folder where it can be run: private, as Souk wants it. */
export async function unpackHome({ files }: Fixture, home: string): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const to = join(home, path)
    await mkdir(dirname(to), { recursive: true, mode: 0o700 })
    await writeFile(to, Buffer.from(content, 'base64'))
    await chmod(to, 0o600)
  }
}
