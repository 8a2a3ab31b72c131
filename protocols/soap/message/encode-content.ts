import { AnyItems } from './any-items.ts'
import type { Encoding, JsonObject } from './encoding.ts'
import { Order } from './order.ts'
import type { AnyParticle, ElementParticle, GroupParticle, Member, Particle, Shape } from '../schema/model.ts'
import { clark } from '../xml/names.ts'
import { CHAR_STEPS, ELEMENT_STEPS, MEMBER_STEPS } from '../schema/steps.ts'

/** The remaining values of one element. */
interface Queue {
  readonly member: Member
  readonly values: readonly unknown[]
  next: number
}

/**
 * Writes the child elements of one complex value. It walks the content model and takes the next JSON values at each element. A
 * repeated group repeats while it has values, so `(key, value)*` is written in pairs. A choice takes the branch that has the most
 * of the remaining values. Within the groups of `OpenOrder`, the next name of `$order` decides instead, while there is one.
 */
export class ContentWriter {
  readonly #encoder: Encoding
  readonly #shape: Shape
  /** By `{namespace}name`. Elements without remaining values are removed. */
  readonly #pending = new Map<string, Queue>()
  readonly #any: AnyItems
  readonly #order: Order | undefined

  constructor(encoder: Encoding, shape: Shape, value: JsonObject) {
    this.#encoder = encoder
    this.#shape = shape
    this.#any = AnyItems.of(encoder, shape, value.$any)
    for (const name of Object.keys(value)) {
      const member = shape.members.get(name)
      const values = member === undefined ? [] : valuesOf(member, value[name])
      if (member !== undefined && values.length > 0) {
        this.#pending.set(clark(member.element.namespace, member.element.name), { member, values, next: 0 })
      }
    }
    if (shape.order !== undefined && value.$order !== undefined) {
      this.#order = Order.of(encoder, shape.order.names, value.$order, (name) => this.#isLeft(name))
    }
  }

  #isLeft(name: string): boolean {
    if (name === '$any') return this.#any.isLeft
    const element = this.#shape.members.get(name)?.element
    return element !== undefined && this.#pending.has(clark(element.namespace, element.name))
  }

  #mayTake(name: string): boolean {
    return this.#order === undefined || this.#order.allows(name)
  }

  write(particle: GroupParticle): void {
    this.#group(particle)
    for (const { member, next } of this.#pending.values()) {
      const rule = next === 0 ? 'cannot be given together with the other fields' : atMost(next)
      this.#encoder.at(member.json, () => {
        throw this.#encoder.refuse(rule)
      })
    }
    this.#any.refuseRest(this.#encoder)
  }

  #particle(particle: Particle): void {
    if (particle.kind === 'element') this.#element(particle)
    else if (particle.kind !== 'any') this.#group(particle)
    else this.#wildcard(particle)
  }

  #wildcard({ namespace, min, max }: AnyParticle): void {
    const most = this.#any.itemsWithin(max)
    const { range, missing } = this.#any.take(this.#order?.count('$any', most) ?? most, min)
    if (range.to > range.from) this.#encoder.any(this.#any.items, namespace, range)
    if (missing > 0 && this.#encoder.checks) this.#tooFew('$any', min - missing, min)
  }

  #group(group: GroupParticle): void {
    this.#encoder.spend(ELEMENT_STEPS)
    let rounds = 0
    while (rounds < group.max && this.#hasValues(group)) {
      this.#encoder.spend(MEMBER_STEPS * group.items.length)
      for (const item of group.kind === 'choice' ? this.#branch(group) : group.items) this.#particle(item)
      rounds++
    }
    if (rounds === 0 && !group.emptiable && this.#encoder.checks) this.#missing(group)
  }

  #element({ element, min, max }: ElementParticle): void {
    const key = clark(element.namespace, element.name)
    const queue = this.#pending.get(key)
    let taken = 0
    if (queue !== undefined) {
      const { json } = queue.member
      for (; taken < max && queue.next < queue.values.length && this.#mayTake(json); taken++) {
        this.#order?.take(json)
        const index = queue.next++
        const write = () => this.#encoder.element(element, queue.values[index])
        this.#encoder.at(queue.member.json, queue.member.many ? () => this.#encoder.at(index, write) : write)
      }
      if (queue.next >= queue.values.length) this.#pending.delete(key)
    }
    if (taken === 0 && min === 1 && element.fixed !== undefined) {
      this.#encoder.spend(CHAR_STEPS * (element.name.length + element.fixed.length))
      this.#encoder.element(element, element.fixed)
    } else if (taken < min && this.#encoder.checks) this.#tooFew(key, taken, min)
  }

  #hasValues(group: GroupParticle): boolean {
    if (this.#any.isLeft && group.wildcard !== undefined && this.#mayTake('$any')) return true
    let looked = 0
    let found = false
    for (const [key, { member }] of this.#pending) {
      looked++
      found = group.slots.has(key) && this.#mayTake(member.json)
      if (found) break
    }
    this.#encoder.spend(MEMBER_STEPS * looked)
    return found
  }

  #branch(group: GroupParticle): Particle[] {
    let best: Particle[] = []
    let most = 0
    for (const item of group.items) {
      const matches = this.#matches(item)
      if (matches > most) [best, most] = [[item], matches]
    }
    return best
  }

  #matches(item: Particle): number {
    if (item.kind === 'any') return this.#any.isLeft && this.#mayTake('$any') ? 1 : 0
    if (item.kind === 'element') {
      const queue = this.#pending.get(clark(item.element.namespace, item.element.name))
      return queue !== undefined && this.#mayTake(queue.member.json) ? 1 : 0
    }
    this.#encoder.spend(MEMBER_STEPS * this.#pending.size)
    let count = item.wildcard !== undefined && this.#any.isLeft && this.#mayTake('$any') ? 1 : 0
    for (const [key, { member }] of this.#pending) if (item.slots.has(key) && this.#mayTake(member.json)) count++
    return count
  }

  #tooFew(key: string, taken: number, min: number): void {
    const json = this.#shape.membersByName.get(key)?.json ?? key
    const next = this.#pending.has(key) ? this.#order?.next(json) : undefined
    if (next !== undefined) return this.#misplaced(next, json)
    refuseCount(this.#encoder, { json, min, max: Number.POSITIVE_INFINITY }, taken)
  }

  #misplaced(name: string, expected: string): void {
    this.#encoder.at('$order', () => {
      throw this.#encoder.refuse(`has ${name} where the schema has ${expected}`)
    })
  }

  /** Reports the missing elements of a group without any value. */
  #missing(group: GroupParticle): void {
    if (group.kind !== 'choice' || group.items.length === 1) {
      for (const item of group.items) this.#particle(item)
      return
    }
    const names = [...group.slots.keys()].map((key) => this.#shape.membersByName.get(key)?.json ?? key)
    if (group.wildcard !== undefined) names.push('$any')
    throw this.#encoder.refuse(`must have one of ${names.slice(0, 20).join(', ')}${names.length > 20 ? ', …' : ''}`)
  }
}

/**
 * A repeated element is an array in JSON; a single value is accepted as well. Null means absent, unless the element is nillable
 * or required.
 */
function valuesOf(member: Member, value: unknown): readonly unknown[] {
  if (value === undefined) return []
  if (member.many) return Array.isArray(value) ? value : value === null && !member.element.nillable ? [] : [value]
  return value === null && !member.element.nillable && !member.required ? [] : [value]
}

/** Reports that an element occurs too seldom or too often. @throws SoukError `invalid_request` */
export function refuseCount(
  encoder: Encoding,
  { json, min, max }: { readonly json: string; readonly min: number; readonly max: number },
  count: number
): void {
  let rule = count === 0 ? 'is required' : `must have at least ${min} items`
  if (count === 0 && min > 1) rule += ` (at least ${min} items)`
  if (count > max) rule = atMost(max)
  encoder.at(json, () => {
    throw encoder.refuse(rule)
  })
}

const atMost = (count: number) => `can be given only ${count} times`
