import type { Schema } from '../schema/direction.ts'
import type { GroupParticle, Particle } from '../schema/model.ts'
import { clark } from '../xml/names.ts'

/**
 * JSON Schema conditions on the members of an object that may occur together: one branch of a choice, and an optional group as a
 * whole. Members that are always required are not repeated. A repeated group has no condition but that it is not empty.
 */
export class Presence {
  readonly #nameOf: (key: string) => string | undefined
  readonly #known = new Map<Particle, readonly Schema[]>()

  /** @param nameOf the JSON name of an element by `{namespace}name`; undefined if a mapping decides about its presence */
  constructor(nameOf: (key: string) => string | undefined) {
    this.#nameOf = nameOf
  }

  of(content: GroupParticle): Schema[] {
    // Members required in every instance are in the object's own `required`.
    return this.#within(content).filter((condition) => condition.required === undefined)
  }

  /** What an instance of the particle has to satisfy, where its surroundings are present. A group may be used many times. */
  #within(particle: Particle): readonly Schema[] {
    const known = this.#known.get(particle) ?? this.#conditionsOf(particle)
    this.#known.set(particle, known)
    return known
  }

  #conditionsOf(particle: Particle): readonly Schema[] {
    if (particle.kind === 'any') return particle.min > 0 ? this.#some(particle) : []
    if (particle.kind === 'element') {
      const { element, min } = particle
      return min > 0 && element.fixed === undefined ? this.#some(particle) : []
    }
    if (particle.max > 1) return particle.emptiable ? [] : this.#some(particle)
    if (particle.kind === 'choice' && particle.items.length > 1) return this.#choice(particle)
    const inner = [...new Set(particle.items.flatMap((item) => this.#within(item)))]
    return particle.min > 0 ? inner : this.#ifPresent(particle, inner)
  }

  #choice(choice: GroupParticle): Schema[] {
    const names = this.#names(choice)
    if (names === undefined) return []
    const nothing = choice.emptiable ? [absent(names)] : []
    if (this.#isOverlapping(choice)) {
      const branches = choice.items.map((item) => {
        const own = new Set(this.#names(item))
        const others = names.filter((name) => !own.has(name))
        return all([...this.#some(item), ...this.#within(item), ...(others.length === 0 ? [] : [absent(others)])])
      })
      return [{ anyOf: [...branches, ...nothing] }]
    }
    const inner = choice.items.flatMap((item) =>
      item.kind === 'element' || item.kind === 'any' ? [] : this.#ifPresent(item, this.#within(item))
    )
    return [{ oneOf: [...choice.items.flatMap((item) => this.#some(item)), ...nothing] }, ...inner]
  }

  #isOverlapping({ items, slots, wildcard }: GroupParticle): boolean {
    const total = items.reduce((sum, item) => sum + (this.#names(item)?.length ?? 0), 0)
    return total > slots.size + (wildcard === undefined ? 0 : 1)
  }

  #ifPresent(particle: Particle, conditions: readonly Schema[]): Schema[] {
    const names = this.#names(particle)
    const [first] = names ?? []
    if (names === undefined || conditions.length === 0) return []
    // Nothing but its only member is required of it.
    if (names.length === 1 && conditions.every(({ required }) => (required as string[] | undefined)?.[0] === first))
      return []
    return [{ anyOf: [absent(names), all(conditions)] }]
  }

  /** At least one of the members; nothing if a mapping decides. */
  #some(particle: Particle): Schema[] {
    const names = this.#names(particle)
    if (names === undefined || names.length === 0) return []
    const each = names.map((name) => ({ required: [name] }))
    return each.length === 1 ? each : [{ anyOf: each }]
  }

  #names(particle: Particle): string[] | undefined {
    if (particle.kind === 'any') return ['$any']
    const keys =
      particle.kind === 'element'
        ? [clark(particle.element.namespace, particle.element.name)]
        : [...particle.slots.keys()]
    const names: string[] = []
    for (const key of keys) {
      const name = this.#nameOf(key)
      if (name === undefined) return undefined
      names.push(name)
    }
    return particle.kind === 'element' || particle.wildcard === undefined ? names : [...names, '$any']
  }
}

function absent(names: readonly string[]): Schema {
  return { properties: Object.fromEntries(names.map((name) => [name, false])) }
}

/** One schema for several; the members that they require are merged. */
export function all(conditions: readonly Schema[]): Schema {
  const required = conditions.flatMap((condition) => (condition.required as string[] | undefined) ?? [])
  const others = conditions.filter((condition) => condition.required === undefined)
  const [only] = others
  const needed = required.length === 0 ? {} : { required: [...new Set(required)] }
  return others.length === 1 ? { ...only, ...needed } : { ...needed, ...(others.length === 0 ? {} : { allOf: others }) }
}
