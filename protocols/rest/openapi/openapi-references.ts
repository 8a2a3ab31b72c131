import { OPENAPI_HOPS_MAX } from '../../../lib/base/limits/rest.ts'
import { isObject, type JsonObject } from '../../exact-json.ts'
import { decoded } from './percent-decoded.ts'

/** A longer `$id` changes the meaning of no reference, because each one is resolved against it. */
const SCOPE_CHARS_MAX = 2_048

/** The references of a document to itself and to other files. */
export class References {
  readonly root: JsonObject
  /** The address of the root document. */
  readonly url: string
  /** Addresses of files that are referred to, but unknown, without fragment. */
  readonly missing: ReadonlySet<string>
  /** Sentences about files that are neither JSON nor YAML. What they define is missing. */
  readonly unreadable: readonly string[]
  readonly #others: ReadonlyMap<string, unknown>
  /** Values with a name of their own (`$anchor`, `$id`, `$self`) by address. */
  readonly #named = new Map<string, unknown>()

  /**
   * Makes each reference independent of its file: within the root document it starts with `#`, else it is absolute.
   * @param others - the other files by address
   */
  constructor(root: JsonObject, url: string, others: ReadonlyMap<string, unknown>, unreadable: readonly string[] = []) {
    this.root = root
    this.url = url
    this.unreadable = unreadable
    this.#others = others
    const referring: Array<Located & { readonly base: string }> = []
    for (const [base, document] of [[url, root] as const, ...others]) {
      for (const located of objectsIn(document, base)) {
        this.#nameIn(located, located.object === document)
        if (typeof located.object['$ref'] === 'string') referring.push({ ...located, base })
      }
    }
    const targets = new Set<string>()
    // After all names are known, because a reference may lead to a later one.
    for (const { object, base, scope } of referring) {
      const resolved = this.#resolved(String(object['$ref']), base, scope)
      Object.assign(object, { $ref: resolved })
      const file = resolved.replace(/#.*$/s, '')
      if (file !== '') targets.add(file)
    }
    this.missing = new Set([...targets].filter((target) => !others.has(target) && !this.#named.has(target)))
  }

  /** The target of a reference; undefined if it has none. @param hops - how many references its path may lead through */
  target(reference: string, hops = { left: OPENAPI_HOPS_MAX }): unknown {
    const at = reference.indexOf('#')
    const file = at === -1 ? reference : reference.slice(0, at)
    const fragment = at === -1 ? '' : reference.slice(at + 1)
    const named = this.#named.get(reference)
    if (named !== undefined) return named
    const value = file === '' ? this.root : (this.#others.get(file) ?? this.#named.get(file))
    return fragment === '' ? value : this.#pointed(value, fragment, hops)
  }

  /**
   * Resolves a JSON pointer (RFC 6901). It may lead through references, as in documents whose `components.schemas` is one to a file
   * of all schemas.
   */
  #pointed(value: unknown, fragment: string, hops: { left: number }): unknown {
    if (!fragment.startsWith('/')) return undefined
    let at = value
    for (const part of fragment.slice(1).split('/')) {
      const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
      while (isObject(at) && !Object.hasOwn(at, key) && typeof at['$ref'] === 'string') {
        if (hops.left-- <= 0) return undefined
        at = this.target(at['$ref'], hops)
      }
      if (Array.isArray(at)) at = at[Number(key)] as unknown
      else if (isObject(at) && Object.hasOwn(at, key)) at = at[key]
      else return undefined
    }
    return at
  }

  #nameIn({ object, outer, scope }: Located, isDocument: boolean): void {
    const { $id, $anchor, $self } = object
    if (typeof $id === 'string') this.#name(absolute($id, outer, this.url), object)
    if (typeof $anchor === 'string') this.#name(absolute(`#${$anchor}`, scope, this.url), object)
    if (typeof $self === 'string' && isDocument) this.#name(absolute($self, outer, this.url), object)
  }

  #name(address: string, object: JsonObject): void {
    const name = address.replace(/#$/, '')
    if (name !== '') this.#named.set(name, object)
  }

  /** Relative to the `$id` around it (JSON Schema 2020-12, section 8.2.1). Many documents mean the file in spite of it. */
  #resolved(reference: string, base: string, scope: string): string {
    const inFile = absolute(reference, base, this.url)
    if (scope === base) return inFile
    const inScope = absolute(reference, scope, this.url)
    return this.target(inScope) === undefined ? inFile : inScope
  }
}

interface Located {
  readonly object: JsonObject
  /** The nearest `$id` around the object, without fragment; the file's address outside of any. */
  readonly outer: string
  /** The same for what is in the object: its own `$id`, if it has one. */
  readonly scope: string
}

/** Iterative, for deep documents. */
function* objectsIn(document: unknown, base: string): Generator<Located> {
  const waiting: Array<readonly [value: unknown, outer: string]> = [[document, base]]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const [value, outer] = next
    if (typeof value !== 'object' || value === null) continue
    const scope = isObject(value) ? scopeOf(value, outer) : outer
    if (isObject(value)) yield { object: value, outer, scope }
    for (const one of Object.values(value)) waiting.push([one, scope])
  }
}

function scopeOf({ $id }: JsonObject, outer: string): string {
  if (typeof $id !== 'string' || $id.startsWith('#')) return outer
  const href = URL.parse($id, outer)?.href.replace(/#.*$/s, '') ?? outer
  return href.length <= SCOPE_CHARS_MAX ? href : outer
}

/** @param root - the address of the root document, which needs none in a reference */
function absolute(reference: string, base: string, root: string): string {
  if (reference.startsWith('#')) return base === root ? reference : base + reference
  const url = URL.parse(reference, base)
  if (url === null) return reference
  const { href } = url
  return href === root || href.startsWith(`${root}#`) ? href.slice(root.length) || '#' : href
}
