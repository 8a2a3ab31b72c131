import { formatUsdc, parseUsdc, SoukError } from '../../lib/index.ts'
import type { ListingInit, UpstreamAuth, UpstreamConfig } from '../../lib/interface/index.ts'

/** A term or setting that a new registration of a name changes. The values are for people; secrets are not shown. */
export interface Change {
  readonly field: string
  readonly from: string
  readonly to: string
}

/** What a registration consists of. */
export interface Compared {
  readonly protocol: string
  readonly terms: ListingInit
  readonly upstream: UpstreamConfig
}

const VALUE_CHARS_MAX = 120
const NONE = '-'
/** Not set by a registration; or shown below in another form. */
const SKIPPED = new Set(['name', 'payout', 'auth', 'guard', 'idempotent'])

/** The differences between two registrations of one name, most important first. */
export function changesOf(before: Compared, after: Compared): readonly Change[] {
  const [from, to] = [rowsOf(before), rowsOf(after)]
  const fields = [...new Set([...from.keys(), ...to.keys()])]
  const changed = fields.flatMap((field) => {
    const [old, next] = [from.get(field) ?? NONE, to.get(field) ?? NONE]
    return old === next ? [] : [{ field, from: brief(old), to: brief(next) }]
  })
  const credentials = credentialsChange(before.upstream.auth, after.upstream.auth)
  return credentials === undefined ? changed : [...changed, credentials]
}

/** The refusal of a registration that would replace another. */
export function replaceRefused(name: string, changes: readonly Change[]): SoukError {
  const lines = changes.map(({ field, from, to }) => `${field}: ${from} → ${to}`)
  const detail = [`${name} is already registered here. This would change:`, ...lines].join('\n')
  return new SoukError('api_exists', detail, { members: { changes } })
}

function rowsOf({ protocol, terms, upstream }: Compared): Map<string, string> {
  const rows = new Map([
    ['protocol', protocol],
    ['endpoint', upstream.endpoint],
    ['price', amount(terms.price)]
  ])
  const { price: _, pricePerEvent, ...otherTerms } = terms
  const { endpoint: __, ...otherSettings } = upstream
  if (pricePerEvent !== undefined) rows.set('price_per_event', amount(pricePerEvent))
  if (terms.idempotent === true) rows.set('idempotent', 'true')
  addRows(rows, otherTerms)
  addRows(rows, otherSettings)
  return rows
}

function addRows(rows: Map<string, string>, values: object): void {
  for (const [name, value] of Object.entries(values)) {
    if (SKIPPED.has(name) || isEmpty(value)) continue
    rows.set(snakeCase(name), typeof value === 'string' ? value : JSON.stringify(value))
  }
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === '' || value === false || (Array.isArray(value) && value.length === 0)
}

function credentialsChange(before: UpstreamAuth | undefined, after: UpstreamAuth | undefined): Change | undefined {
  const [old, next] = [before, after].map((auth) => (auth === undefined ? undefined : JSON.stringify(auth)))
  if (old === next) return undefined
  const to = next === undefined ? NONE : old === undefined ? 'stored' : 'replaced'
  return { field: 'credentials', from: old === undefined ? NONE : 'stored', to }
}

function amount(price: string): string {
  try {
    return `${formatUsdc(parseUsdc(price))} USDC`
  } catch {
    // Publishing refuses it.
    return price
  }
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

function brief(value: string): string {
  return value.length > VALUE_CHARS_MAX ? `${value.slice(0, VALUE_CHARS_MAX)}…` : value
}
