import { isObject, type JsonObject } from '../../exact-json.ts'

/** The references of a document to itself and to other files. */
export class References {
  readonly root: JsonObject
  /** The address of the root document. */
  readonly url: string
  /** Addresses of files that are referred to, but unknown, without fragment. */
  readonly missing: ReadonlySet<string>
  readonly #others: ReadonlyMap<string, unknown>
  /** Values with a name of their own (`$anchor`, `$id`) by address. */
  readonly #named = new Map<string, unknown>()

  /**
   * Makes each reference independent of its file: within the root document it starts with `#`, else it is absolute.
   * @param others - the other files by address
   */
  constructor(root: JsonObject, url: string, others: ReadonlyMap<string, unknown>) {
    this.root = root
    this.url = url
    this.#others = others
    const targets = new Set<string>()
    for (const [base, value] of [[url, root] as const, ...others]) this.#resolveIn(value, base, url, targets)
    this.missing = new Set([...targets].filter((target) => !others.has(target) && !this.#named.has(target)))
  }

  /** The target of a reference; undefined if it has none. */
  target(reference: string): unknown {
    const at = reference.indexOf('#')
    const file = at === -1 ? reference : reference.slice(0, at)
    const fragment = at === -1 ? '' : reference.slice(at + 1)
    const named = this.#named.get(reference)
    if (named !== undefined) return named
    const value = file === '' ? this.root : (this.#others.get(file) ?? this.#named.get(file))
    return fragment === '' ? value : pointed(value, fragment)
  }

  #resolveIn(document: unknown, base: string, root: string, targets: Set<string>): void {
    const waiting: unknown[] = [document]
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      if (typeof at !== 'object' || at === null) continue
      if (isObject(at)) {
        const { $ref, $id, $anchor } = at
        if (typeof $ref === 'string') {
          const resolved = absolute($ref, base, root)
          Object.assign(at, { $ref: resolved })
          const file = resolved.replace(/#.*$/s, '')
          if (file !== '') targets.add(file)
        }
        const name = typeof $id === 'string' ? absolute($id, base, root).replace(/#$/, '') : undefined
        if (name !== undefined && name !== '') this.#named.set(name, at)
        if (typeof $anchor === 'string') this.#named.set(absolute(`#${$anchor}`, base, root), at)
      }
      for (const value of Object.values(at)) waiting.push(value)
    }
  }
}

/** @param root - the address of the root document, which needs none in a reference */
function absolute(reference: string, base: string, root: string): string {
  if (reference.startsWith('#')) return base === root ? reference : base + reference
  const url = URL.parse(reference, base)
  if (url === null) return reference
  const { href } = url
  return href === root || href.startsWith(`${root}#`) ? href.slice(root.length) || '#' : href
}

/** Resolves a JSON pointer (RFC 6901). */
function pointed(value: unknown, fragment: string): unknown {
  if (!fragment.startsWith('/')) return undefined
  let at = value
  for (const part of fragment.slice(1).split('/')) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~')
    if (Array.isArray(at)) at = at[Number(key)] as unknown
    else if (isObject(at) && Object.hasOwn(at, key)) at = at[key]
    else return undefined
  }
  return at
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
