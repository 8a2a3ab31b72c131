import { UnknownId } from './unknown-id.ts'

/** The end of an id. The beginnings of peer ids are alike, and so are those of ids made in the same minute. */
const END_CHARS = 8

/** The short form of an id in tables. `fullId` accepts it. */
export function shortId(id: string): string {
  return id.length <= END_CHARS ? id : `…${id.slice(-END_CHARS)}`
}

/** `weather@…8Qz2fGhK` */
export function shortApi(id: string): string {
  const [name = '', provider] = id.split('@')
  return provider === undefined ? name : `${name}@${shortId(provider)}`
}

/**
 * The only id that is `given`, or that begins or ends with it.
 * @throws UnknownId
 */
export function fullId(given: string, ids: readonly string[], kind: string, command: string): string {
  const part = given.replace('…', '').toLowerCase()
  const isLike = (id: string) => id.startsWith(part) || id.endsWith(part)
  const found = ids.filter((id) => id === given || (part !== '' && isLike(id.toLowerCase())))
  const [only] = found
  if (only !== undefined && found.length === 1) return only
  const what = found.length === 0 ? `No ${kind} has an id` : `Several ${kind}s have an id`
  throw new UnknownId(`${what} that begins or ends with ${given}.`, command)
}
