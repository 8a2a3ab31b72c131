/** Media types of bodies. Parameters of a type do not matter here. */

export const FORM = 'application/x-www-form-urlencoded'

export const OCTETS = 'application/octet-stream'

/** The media type of a request for one of a document, which may be a wildcard. */
export function sentType(type: string, isFile: boolean): string {
  const bare = bareType(type)
  if (!bare.includes('*')) return bare
  if (bare.startsWith('text/')) return 'text/plain'
  return !isFile && /^(?:\*|application)\//.test(bare) ? 'application/json' : OCTETS
}

export function bareType(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** Also `text/json`, which some servers declare. */
export function isJson(type: string): boolean {
  return /[/+]json$/.test(bareType(type))
}

export function isXml(type: string): boolean {
  return /[/+]xml$/.test(bareType(type))
}

/** One JSON text a line (NDJSON, JSON Lines), or after a record separator (RFC 7464). */
export function isJsonLines(type: string): boolean {
  return /^application\/(?:x-)?(?:ndjson|jsonl|json-?lines|jsonlines|json-seq)$/.test(bareType(type))
}

export function isText(type: string): boolean {
  return (
    bareType(type).startsWith('text/') ||
    isXml(type) ||
    /\/(?:javascript|graphql|sql|yaml|x-yaml)$/.test(bareType(type))
  )
}
