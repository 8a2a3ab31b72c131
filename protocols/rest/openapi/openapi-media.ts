/** Media types of bodies. */

export const FORM = 'application/x-www-form-urlencoded'

export const OCTETS = 'application/octet-stream'

/** A parameter of a media type (RFC 9110, section 5.6.6). */
const TYPE_PARAMETER = /^[\w!#$%&'*+.^`|~-]+=(?:[\w!#$%&'*+.^`|~-]+|"[\w !#-[\]-~]*")$/
/** Bodies are UTF-8, a multipart body has a boundary of its own, and a weight is for `Accept`. */
const OWN_PARAMETER = /^(?:charset|boundary|q)=/i

/**
 * The media type of a request for one of a document, which may be a wildcard. Its parameters are kept, because some APIs choose the
 * version by them (`application/json; v=2`).
 */
export function sentType(type: string, isFile: boolean): string {
  const bare = bareType(type)
  if (bare === FORM || bare.startsWith('multipart/')) return bare
  if (!bare.includes('*')) return [bare, ...parametersOf(type)].join('; ')
  if (bare.startsWith('text/')) return 'text/plain'
  return !isFile && /^(?:\*|application)\//.test(bare) ? 'application/json' : OCTETS
}

function parametersOf(type: string): string[] {
  const [, ...given] = type.split(';').map((one) => one.trim())
  return given.every((one) => TYPE_PARAMETER.test(one)) ? given.filter((one) => !OWN_PARAMETER.test(one)) : []
}

export function bareType(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}

/** Also `text/json`, which some servers declare. */
export function isJson(type: string): boolean {
  return /[/+]json$/.test(bareType(type)) && !isJsonLines(type)
}

/**
 * The JSON type of several in which a call is sent: `application/json` if the document has it. JSON Patch (RFC 6902) is the last
 * choice, because it needs a list of changes, and ASP.NET and Kubernetes list it first.
 */
export function jsonAmong(types: readonly string[]): string | undefined {
  const all = types.filter(isJson)
  return (
    all.find((type) => bareType(type) === 'application/json') ??
    all.find((type) => bareType(type) !== 'application/json-patch+json') ??
    all[0]
  )
}

export function isXml(type: string): boolean {
  return /[/+]xml$/.test(bareType(type))
}

/** One JSON text a line (NDJSON, JSON Lines, Spring's `stream+json`), or after a record separator (RFC 7464). */
export function isJsonLines(type: string): boolean {
  return /^application\/(?:x-)?(?:ndjson|jsonl|json-?lines|jsonlines|json-seq|stream\+json)$/.test(bareType(type))
}

/** JSON is YAML too (YAML 1.2, section 1.2). */
export function isYaml(type: string): boolean {
  return /[/+](?:x-)?yaml$/.test(bareType(type))
}

/** Types of texts outside of `text/`, as registered with IANA or usual. */
const TEXTS =
  /[/+](?:javascript|graphql|sql|toml|jwt|jose|sparql-query|sparql-update|n-triples|n-quads|trig|x-pem-file|pem-certificate-chain)$/

export function isText(type: string): boolean {
  const bare = bareType(type)
  return bare.startsWith('text/') || isXml(bare) || isYaml(bare) || TEXTS.test(bare)
}

/** A type whose bodies are neither written from values nor texts. */
export function isFile(type: string): boolean {
  const isWritten = isJson(type) || isJsonLines(type) || bareType(type) === FORM || type.startsWith('multipart/')
  return !isWritten && !isText(type)
}

/** The type of several in which a file is sent: its bytes have none in JSON. */
export function fileAmong(types: readonly string[]): string | undefined {
  return types.find((type) => bareType(type) === OCTETS) ?? types.find(isFile)
}
