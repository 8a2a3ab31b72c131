import { SCHEMA_DERIVATIONS_MAX } from '../../../lib/base/limits/soap.ts'
import { isArrayName } from './compile-array.ts'
import { ANY_TYPE, type ComplexType, type Type } from './model.ts'
import { type QName, clark } from '../xml/names.ts'
import { type Definition, type SchemaSet, derivationOf, nameIn } from './schema-set.ts'
import { tooDeep } from './too-complex.ts'
import { attribute } from '../xml/tree.ts'

/** The chains of bases of a schema's types. They are followed by name, because compiled bases may not exist yet. */
export class Bases {
  readonly #set: SchemaSet
  readonly #type: (name: QName) => Type | undefined
  /** Whether a type derives from the SOAP array. */
  readonly #arrays = new Map<Definition, boolean>()
  /** Types whose chain of bases ends, with its length. */
  readonly #rooted = new Map<Type, number>()

  /** @param type - returns the type with a name; undefined if it is not defined */
  constructor(set: SchemaSet, type: (name: QName) => Type | undefined) {
    this.#set = set
    this.#type = type
  }

  /** Follows the names of the bases. The result holds for every type on the way. */
  isArray(definition: Definition): boolean {
    const seen = new Set<Definition>()
    let found: boolean | undefined
    for (let one: Definition | undefined = definition; found === undefined; ) {
      const base: QName | undefined = one === undefined || seen.has(one) ? undefined : baseName(one)
      if (one === undefined || base === undefined) found = false
      else {
        seen.add(one)
        if (seen.size > SCHEMA_DERIVATIONS_MAX) throw tooDeep()
        if (isArrayName(base)) found = true
        else {
          one = this.#set.find('type', clark(base.namespace, base.name))
          found = one && this.#arrays.get(one)
        }
      }
    }
    for (const one of seen) this.#arrays.set(one, found)
    return found
  }

  /** True if the bases of `base` lead to `own`, so that a type would derive from itself. Each chain is followed once. */
  reach(base: Type, own: Type | undefined): boolean {
    const seen = new Set<Type>()
    let one = base
    for (; one.kind === 'complex' && !this.#rooted.has(one); one = this.#baseOf(one)) {
      if (one === own) return true
      // A cycle further up is reported by the types within it.
      if (seen.has(one)) return false
      seen.add(one)
      if (seen.size > SCHEMA_DERIVATIONS_MAX) throw tooDeep()
    }
    let depth = this.#rooted.get(one) ?? 0
    for (const next of [...seen].toReversed()) this.#rooted.set(next, ++depth)
    if (depth > SCHEMA_DERIVATIONS_MAX) throw tooDeep()
    return false
  }

  #baseOf(type: ComplexType): Type {
    const definition = type.name && this.#set.find('type', clark(type.name.namespace, type.name.name))
    const base = definition && baseName(definition)
    return (base && this.#type(base)) ?? ANY_TYPE
  }
}

/** The name in the definition's `extension` or `restriction`; undefined for a type without one. */
export function baseName(definition: Definition): QName | undefined {
  const derivation = derivationOf(definition)
  const base = derivation && attribute(derivation.node, 'base')
  return derivation === undefined || base === undefined ? undefined : nameIn(derivation, base)
}

/** True if `type` is `base` or derived from it. */
export function derives(type: Type, base: Type): boolean {
  if (base.kind === 'any' || type === base) return true
  const seen = new Set<Type>()
  for (let one: Type = type; one.kind === 'complex' && !seen.has(one); one = one.base()) {
    if (one === base) return true
    seen.add(one)
  }
  return false
}
