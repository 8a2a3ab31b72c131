import type { Encoding, JsonObject } from './encoding.ts'
import type { ElementParticle, GroupParticle, Member, Particle, Shape } from '../schema/model.ts'
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
 * of the remaining values.
 */
export class ContentWriter {
  readonly #encoder: Encoding
  readonly #shape: Shape
  /** By `{namespace}name`. Elements without remaining values are removed. */
  readonly #pending = new Map<string, Queue>()
  #any: unknown

  constructor(encoder: Encoding, shape: Shape, value: JsonObject) {
    this.#encoder = encoder
    this.#shape = shape
    this.#any = value.$any
    for (const name of Object.keys(value)) {
      const member = shape.members.get(name)
      const values = member === undefined ? [] : valuesOf(member, value[name])
      if (member !== undefined && values.length > 0) {
        this.#pending.set(clark(member.element.namespace, member.element.name), { member, values, next: 0 })
      }
    }
  }

  write(particle: GroupParticle): void {
    this.#group(particle)
    for (const { member, next } of this.#pending.values()) {
      const rule = next === 0 ? 'cannot be given together with the other fields' : atMost(next)
      this.#encoder.at(member.json, () => {
        throw this.#encoder.refuse(rule)
      })
    }
  }

  #particle(particle: Particle): void {
    if (particle.kind === 'element') this.#element(particle)
    else if (particle.kind !== 'any') this.#group(particle)
    else if (this.#any !== undefined) {
      const items = this.#any
      this.#any = undefined
      this.#encoder.any(items, particle.namespace)
    }
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
      for (; taken < max && queue.next < queue.values.length; taken++) {
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
    if (this.#any !== undefined && group.wildcard !== undefined) return true
    let looked = 0
    let found = false
    for (const key of this.#pending.keys()) {
      looked++
      found = group.slots.has(key)
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
    if (item.kind === 'any') return this.#any === undefined ? 0 : 1
    if (item.kind === 'element') return this.#pending.has(clark(item.element.namespace, item.element.name)) ? 1 : 0
    this.#encoder.spend(MEMBER_STEPS * this.#pending.size)
    let count = item.wildcard !== undefined && this.#any !== undefined ? 1 : 0
    for (const key of this.#pending.keys()) if (item.slots.has(key)) count++
    return count
  }

  #tooFew(key: string, taken: number, min: number): never {
    const json = this.#shape.membersByName.get(key)?.json ?? key
    refuseCount(this.#encoder, { json, min, max: Number.POSITIVE_INFINITY }, taken)
  }

  /** Reports the missing elements of a group without any value. */
  #missing(group: GroupParticle): void {
    if (group.kind !== 'choice' || group.items.length === 1) {
      for (const item of group.items) {
        if (item.kind === 'element') this.#element(item)
        else if (item.kind !== 'any') this.#group(item)
      }
      return
    }
    const names = [...group.slots.keys()].map((key) => this.#shape.membersByName.get(key)?.json ?? key)
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
): never {
  let rule = count === 0 ? 'is required' : `must have at least ${min} items`
  if (count === 0 && min > 1) rule += ` (at least ${min} items)`
  if (count > max) rule = atMost(max)
  encoder.at(json, () => {
    throw encoder.refuse(rule)
  })
  throw encoder.refuse(rule)
}

const atMost = (count: number) => `can be given only ${count} times`
