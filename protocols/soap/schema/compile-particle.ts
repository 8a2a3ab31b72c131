import {
  ANY_TYPE,
  type ElementParticle,
  type ElementUse,
  type GroupParticle,
  type Occurrence,
  type Particle,
  type Slot,
  type Wildcard,
  synthetic
} from './model.ts'
import { NS, clark } from '../xml/names.ts'
import { type Definition, nameIn } from './schema-set.ts'
import { attribute, elements, firstElement, lineOf } from '../xml/tree.ts'
import { isUnnameable } from './unnameable.ts'

/** The services that compiling content needs. */
export interface Contents {
  /** A local element, or the global one that it refers to; undefined if that is missing. */
  element(definition: Definition): ElementUse | undefined
  /** Concrete elements that may substitute a global one, directly or indirectly. */
  substitutes(key: string): readonly ElementUse[]
  /** A group's content; undefined if it is missing or contains itself. */
  group(definition: Definition, ref: string): GroupParticle | undefined
  /** Counts a group's parts and returns the group. @throws SoukError `description_too_complex` past the limits of a schema */
  counted(group: GroupParticle): GroupParticle
}

/** A reference to an attachment (XOP, section 2.1), as `{namespace}name`. Its schema is often missing. */
export const XOP_INCLUDE = clark(NS.xop, 'Include')
const INCLUDE = synthetic(NS.xop, 'Include', () => ANY_TYPE)

const GROUPS: ReadonlySet<string> = new Set(['sequence', 'choice', 'all'])

/** Compiles the content model directly within `definition`, which has at most one group (XML Schema part 1, 3.4.2). */
export function compileContent(definition: Definition, contents: Contents): Particle | undefined {
  for (const node of elements(definition.node, NS.xsd)) {
    if (GROUPS.has(node.name) || node.name === 'group') {
      return compileParticle({ node, context: definition.context }, contents)
    }
  }
  return undefined
}

export function compileParticle(definition: Definition, contents: Contents): Particle | undefined {
  const { node } = definition
  const { min, max } = occursOf(definition)
  if (max === 0) return undefined
  if (node.name === 'any') return { kind: 'any', namespace: namespaceOf(definition), min, max }
  if (node.name === 'element') return compileElement(definition, { min, max }, contents)
  if (node.name === 'group') {
    const group = contents.group(definition, attribute(node, 'ref') ?? '')
    if (group === undefined || (min === 1 && max === 1)) return group
    return contents.counted(groupOf('sequence', [group], { min, max }))
  }
  if (!GROUPS.has(node.name)) return undefined
  const items: Particle[] = []
  for (const child of elements(node, NS.xsd)) {
    const item = compileParticle({ node: child, context: definition.context }, contents)
    if (item !== undefined) items.push(item)
  }
  return contents.counted(groupOf(node.name as GroupParticle['kind'], items, { min, max }))
}

function compileElement(
  definition: Definition,
  { min, max }: { min: number; max: number },
  contents: Contents
): Particle | undefined {
  const ref = attribute(definition.node, 'ref')
  const name = ref === undefined ? undefined : nameIn(definition, ref)
  // A .NET DataSet: a schema, then content as that schema describes it.
  if (name?.namespace === NS.xsd) return { kind: 'any', namespace: '', min, max }
  if (name !== undefined && clark(name.namespace, name.name) === XOP_INCLUDE)
    return { kind: 'element', element: INCLUDE, min, max }
  const element = contents.element(definition)
  if (element === undefined) return { kind: 'any', namespace: name?.namespace ?? '', min: 0, max }
  const others = name === undefined ? [] : contents.substitutes(clark(name.namespace, name.name))
  const candidates = element.abstract ? [...others] : [element, ...others]
  if (min === 0 && candidates.length <= 1 && isUnnameable(element.name)) return undefined
  if (candidates.length <= 1) return { kind: 'element', element: candidates[0] ?? element, min, max }
  const items = candidates.map((one): ElementParticle => ({ kind: 'element', element: one, min: 1, max: 1 }))
  return contents.counted(groupOf('choice', items, { min, max }))
}

/** Builds a group with a summary of its whole content, so that callers need not descend. */
export function groupOf(
  kind: GroupParticle['kind'],
  items: readonly Particle[],
  { min, max }: { min: number; max: number } = { min: 1, max: 1 }
): GroupParticle {
  const slots = new Map<string, Slot>()
  const choice = kind === 'choice' && items.length > 1
  const added = <T extends Occurrence>(before: T | undefined, one: T): T => {
    const isSum = one.required && before?.required === true && !choice
    const once =
      before === undefined ? one.count : choice ? Math.max(before.count, one.count) : before.count + one.count
    return {
      ...(before ?? one),
      least: isSum ? before.least + one.least : Math.min(before?.least ?? one.least, one.least),
      count: once,
      // Content missing from a repeated sequence is an empty array. Content missing from a choice or an optional group is absent
      // with it.
      free: one.free && !choice && (max > 1 || min > 0),
      required: (one.required || before?.required === true) && !choice && min > 0
    }
  }
  let wildcard: Wildcard | undefined
  for (const item of items) {
    for (const [key, slot] of slotsOf(item)) slots.set(key, added(slots.get(key), slot))
    const any = wildcardOf(item)
    if (any !== undefined) wildcard = added(wildcard, any)
  }
  if (max > 1) for (const [key, slot] of slots) slots.set(key, { ...slot, count: slot.count * max })
  const empty = (item: Particle) => item.min === 0 || ('emptiable' in item && item.emptiable)
  return {
    kind,
    items,
    min,
    max,
    slots,
    depth: items.reduce((depth, item) => Math.max(depth, 'depth' in item ? item.depth + 1 : 0), 1),
    wildcard: wildcard && { ...wildcard, count: wildcard.count * max },
    emptiable: items.length === 0 || min === 0 || (choice ? items.some(empty) : items.every(empty))
  }
}

function slotsOf(item: Particle): Iterable<readonly [string, Slot]> {
  if (item.kind === 'any') return []
  if (item.kind !== 'element') return item.slots
  const { element, min, max } = item
  return [
    [
      clark(element.namespace, element.name),
      { element, least: Math.max(min, 1), count: max, free: true, required: min > 0 && element.fixed === undefined }
    ]
  ]
}

function wildcardOf(item: Particle): Wildcard | undefined {
  if (item.kind === 'element') return undefined
  if (item.kind !== 'any') return item.wildcard
  const { namespace, min, max } = item
  return { namespace, least: Math.max(min, 1), count: max, free: true, required: min > 0 }
}

/** A wildcard for exactly one namespace: JSON names its elements without the namespace. */
function namespaceOf({ node, context }: Definition): string {
  const allowed = (attribute(node, 'namespace') ?? '##any').trim()
  if (allowed === '##targetNamespace') return context.namespace
  return allowed.startsWith('##') || /\s/.test(allowed) ? '' : allowed
}

function occursOf({ node }: Definition): { min: number; max: number } {
  const count = (name: string) => {
    const text = attribute(node, name)?.trim()
    if (text === 'unbounded') return Number.POSITIVE_INFINITY
    return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : 1
  }
  const max = count('maxOccurs')
  return { min: Math.min(count('minOccurs'), max), max }
}

/** The text of the first `xs:documentation`. */
export function documentationOf({ node }: Definition): string | undefined {
  const annotation = firstElement(node, NS.xsd, 'annotation')
  return annotation && lineOf(firstElement(annotation, NS.xsd, 'documentation'))
}
