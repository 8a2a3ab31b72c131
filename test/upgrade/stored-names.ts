import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { migratePostgres } from '../../lib/store/postgres/schema.ts'
import { migrate } from '../../lib/store/sqlite/schema.ts'
import { PROFILE_FILES, profileFile } from '../../node/profile/profile.ts'
import { SETTING_NAMES } from '../../node/settings.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Pages and texts for people, and the kit that judges peers: none of their names is stored. */
const NOT_STORED = /^node\/(?:console|cli|conformance|demo)\//
const COMMENT = /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm

/** Every stored or transmitted name, by kind, sorted; extracted from the code. */
export async function storedNames(): Promise<Record<string, string[]>> {
  const sources = shippedSources()
  const found = (pattern: RegExp, among: (source: string) => boolean = () => true) => {
    const matches = sources.filter(among).flatMap((text) => Array.from(text.matchAll(pattern), ([, name = '']) => name))
    // The code's variable names for ids may change.
    return [...new Set(matches.map((name) => name.replaceAll(/\$\{[^}]*\}/g, '<>')))].sort()
  }
  return {
    // Kinds of documents, keys of single documents, and similar constants.
    constants: found(/^(?:export )?const [A-Z_]+ = '([a-z][a-z_-]*)'$/gm),
    // Kinds of documents, ledger accounts and entry references that contain an id.
    namesWithIds: found(/`([a-z][a-z-]*\/\$\{[^`]*)`/g),
    protocolsAndDomains: found(/['`](\/souk\/[^'`]*|souk-\$\{[^`]*|souk channel[^'`]*|x402 Batch[^'`]*)['`]/g),
    signedTypes: found(/'([A-Z]\w+\((?:\w+ \w+,?)+\))'/g),
    ledgerKinds: found(/\bkind: '([a-z][a-z_-]*)'/g, (text) => /\bpostings\b/.test(text)),
    profileFiles: PROFILE_FILES.map((file) => profileFile({ name: 'x', directory: '' }, file)).sort(),
    settings: [...SETTING_NAMES].sort(),
    sqlite: sqliteColumns(),
    postgres: await postgresColumns()
  }
}

function shippedSources(): string[] {
  const files = ['lib', 'protocols', 'node'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`)
  )
  return files
    .filter((name) => name.endsWith('.ts') && !NOT_STORED.test(name))
    .map((name) => readFileSync(join(ROOT, name), 'utf8').replaceAll(COMMENT, ''))
}

function sqliteColumns(): string[] {
  const db = new DatabaseSync(':memory:')
  migrate(db)
  const columns = db.prepare(
    `SELECT m.name || '.' || c.name AS name FROM sqlite_schema m, pragma_table_info(m.name) c
     WHERE m.type = 'table' AND m.name NOT LIKE '%\\_words\\_%' ESCAPE '\\'`
  )
  const names = columns.all().map(({ name }) => String(name))
  db.close()
  return names.sort()
}

/** Read from the migrations, so that no server is needed. `upgrade.spec.ts` runs them on a server. */
async function postgresColumns(): Promise<string[]> {
  const statements: string[] = []
  const query = (sql: string) => {
    statements.push(sql)
    return Promise.resolve({ rows: [] })
  }
  await migratePostgres({ query } as never)
  const sql = statements.join(';\n')
  const tables = Array.from(sql.matchAll(/CREATE TABLE (?:IF NOT EXISTS )?(\w+) \(([\s\S]*?)\)\s*;/g))
  const made = tables.flatMap(([, table, body = '']) =>
    Array.from(body.matchAll(/(?:^|\n)\s*([a-z_]+) [A-Z]/g), ([, column]) => `${table}.${column}`)
  )
  const added = Array.from(
    sql.matchAll(/ALTER TABLE (\w+) ADD COLUMN (\w+)/g),
    ([, table, column]) => `${table}.${column}`
  )
  return [...made, ...added].sort()
}
