import { NS, currentNamespace, isNcName } from './names.ts'
import { XmlError } from './error.ts'
import type { Scope, XmlAttribute } from './tree.ts'

/** A name, split into prefix and local name. */
export interface XmlName {
  /** The key of the prefix in a scope: `:` followed by the prefix. */
  readonly key: string
  readonly local: string
  /** The scope of the last lookup, and its result. Neighbouring elements often share a scope. */
  scope: Scope | undefined
  namespace: string
}

/** Never changed, but not frozen either: an object that inherits from a frozen object cannot set its own value. */
export const ROOT_SCOPE = Object.assign(Object.create(null) as object, { ':xml': NS.xml, ':': '' }) as Scope

const NO_ATTRIBUTES: readonly XmlAttribute[] = []
/** Up to this number of names and values, duplicates are found by comparing all attributes; above it, with a set. */
const SCANNED_MAX = 16

export interface NamespacesOptions {
  /** Makes the error for a document that is not well-formed, with the current line. */
  readonly broken: (what: string) => XmlError
  /**
   * Called for each undeclared prefix. Names with such a prefix get a separate namespace. If absent, an undeclared prefix is an
   * error (Namespaces in XML 1.0, section 5).
   */
  readonly undeclared?: ((prefix: string) => void) | undefined
}

/** Resolves the names of one document (Namespaces in XML 1.0). Attributes are given as alternating names and values. */
export class Namespaces {
  readonly #broken: NamespacesOptions['broken']
  readonly #undeclared: NamespacesOptions['undeclared']
  readonly #names = new Map<string, XmlName>()

  constructor({ broken, undeclared }: NamespacesOptions) {
    this.#broken = broken
    this.#undeclared = undeclared
  }

  /** @throws XmlError */
  name(raw: string): XmlName {
    const known = this.#names.get(raw)
    if (known !== undefined) return known
    const colon = raw.indexOf(':')
    const local = raw.slice(colon + 1)
    if (colon === 0 || !isNcName(local) || (colon > 0 && !isNcName(raw.slice(0, colon)))) {
      throw this.#broken(`${raw.slice(0, 80)} is not a name`)
    }
    const key = colon === -1 ? ':' : `:${raw.slice(0, colon)}`
    const name: XmlName = { key, local, scope: undefined, namespace: '' }
    this.#names.set(raw, name)
    return name
  }

  /** @throws XmlError */
  namespace(name: XmlName, scope: Scope): string {
    if (name.scope === scope) return name.namespace
    name.scope = scope
    name.namespace = scope[name.key] ?? this.#unknown(name.key)
    return name.namespace
  }

  #unknown(key: string): string {
    if (this.#undeclared === undefined) throw new XmlError('has a name whose prefix is not declared')
    this.#undeclared(key.slice(1))
    return `undeclared${key}`
  }

  /** The scope within a tag. It is `around` itself if the tag declares no namespaces. @throws XmlError */
  scopeOf(pairs: readonly string[], around: Scope): Scope {
    let scope: Record<string, string> | undefined
    for (let i = 0; i < pairs.length; i += 2) {
      const name = pairs[i] ?? ''
      if (!name.startsWith('xmlns') || (name.length > 5 && name[5] !== ':')) continue
      const prefix = name.slice(6)
      const uri = pairs[i + 1] ?? ''
      if (name.length > 5 && (uri === '' || prefix === '')) throw new XmlError('has a prefix that is bound to nothing')
      scope ??= Object.create(around) as Record<string, string>
      const key = `:${prefix}`
      if (Object.hasOwn(scope, key)) throw this.#broken(`the attribute ${name.slice(0, 80)} is there twice`)
      scope[key] = currentNamespace(uri)
    }
    return scope ?? around
  }

  /** The attributes of a tag without namespace declarations. @throws XmlError */
  attributesOf(pairs: readonly string[], scope: Scope): readonly XmlAttribute[] {
    if (pairs.length === 0) return NO_ATTRIBUTES
    const attributes: XmlAttribute[] = []
    const seen = pairs.length > SCANNED_MAX ? new Set<string>() : undefined
    for (let i = 0; i < pairs.length; i += 2) {
      const raw = pairs[i] ?? ''
      if (raw === 'xmlns' || raw.startsWith('xmlns:')) continue
      const name = this.name(raw)
      const { local } = name
      const namespace = name.key === ':' ? '' : this.namespace(name, scope)
      const twice =
        seen === undefined
          ? attributes.some((one) => one.name === local && one.namespace === namespace)
          : seen.size === seen.add(`${namespace} ${local}`).size
      if (twice) throw this.#broken(`the attribute ${raw.slice(0, 80)} is there twice`)
      attributes.push({ namespace, name: local, value: pairs[i + 1] ?? '' })
    }
    return attributes
  }
}
