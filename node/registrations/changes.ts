import { formatUsdc, parseUsdc, SoukError } from '../../lib/index.ts'
import type { ListingInit, UpstreamAuth, UpstreamConfig } from '../../lib/interface/index.ts'

/**
 * A term or setting that a new registration of a name changes. The values are for people: a document is only named, and secrets are
 * not shown.
 */
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
  const [olds, news] = [rowsOf(before), rowsOf(after)]
  const fields = [...new Set([...olds.keys(), ...news.keys()])]
  const changed = fields.flatMap((field) => {
    const [old, next] = [olds.get(field) ?? NONE, news.get(field) ?? NONE]
    if (old === next) return []
    const [from, to] = [shown(field, old, before), shown(field, next, after)]
    return [{ field, from, to: from === to ? 'changed' : to }]
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
    rows.set(snakeCase(name), asText(value))
  }
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** A value of a field in few words. */
function shown(field: string, value: string, { upstream }: Compared): string {
  if (value === NONE) return NONE
  if (field === 'openapi') return openapiInWords(upstream.openapi)
  if (field === 'wsdl') return wsdlInWords(upstream.wsdl)
  if (field === 'graphql') return graphqlInWords(upstream.graphql)
  return brief(value)
}

function openapiInWords(source: UpstreamConfig['openapi']): string {
  if (source !== undefined && 'url' in source) return brief(source.url)
  return source !== undefined && 'zip' in source ? 'a zip' : 'a document'
}

function wsdlInWords({ files, zip, ...others }: NonNullable<UpstreamConfig['wsdl']> = {}): string {
  const count = Object.keys(files ?? {}).length
  const described = zip !== undefined ? ['a zip'] : count > 0 ? [count === 1 ? '1 file' : `${count} files`] : []
  return [...described, ...settingsInWords(others)].join(', ')
}

function graphqlInWords({ schema, documents, ...others }: NonNullable<UpstreamConfig['graphql']> = {}): string {
  const count = Object.keys(documents ?? {}).length
  const named = [...(schema === undefined ? [] : ['a schema']), ...(count === 0 ? [] : [`documents ${count}`])]
  return [...named, ...settingsInWords(others)].join(', ')
}

function settingsInWords(settings: object): string[] {
  const set = Object.entries(settings).filter(([, value]) => value !== undefined)
  return set.map(([name, value]) => brief(`${snakeCase(name)} ${asText(value)}`))
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
