import { type Contents, compileContent, groupOf, XOP_INCLUDE } from './compile-particle.ts'
import { asSimple, compileSimple, restrict, type SimpleTypes, stringType, XOP_CONTENT } from './compile-simple.ts'
import type {
  AttributeUse,
  GroupParticle,
  Member,
  OpenOrder,
  Particle,
  PlainMember,
  Shape,
  SimpleType,
  SparseMembers,
  Type
} from './model.ts'
import { NS, type QName, clark } from '../xml/names.ts'
import { type Definition, contentNode, derivationOf, nameIn } from './schema-set.ts'
import { type XmlElement, attribute, elements, firstElement } from '../xml/tree.ts'
import { isUnnameable, UNNAMEABLE, UNNAMEABLE_WARNING } from './unnameable.ts'

export interface Shapes extends Contents, SimpleTypes {
  /** Counts the elements or attributes of one type. @throws SoukError `description_too_complex` past the limits of a schema */
  spendOnType(definition: Definition, parts: number): void
  /** The attributes of a named group, each with its defining context; empty if the group is missing. */
  attributeGroup(definition: Definition, ref: string): readonly Definition[]
  globalAttribute(name: QName): Definition | undefined
}

/** An attribute without a JSON name yet. */
type Attribute = Omit<AttributeUse, 'json'>

interface Parts {
  readonly attributes: ReadonlyMap<string, Attribute>
  readonly anyAttribute: boolean
  readonly text: SimpleType | undefined
  readonly mixed: boolean
  readonly particle: Particle | undefined
}

const NOTHING: Parts = {
  attributes: new Map(),
  anyAttribute: false,
  text: undefined,
  mixed: false,
  particle: undefined
}

/** The content of an `xs:complexType`, including content inherited from `base`. */
export function compileShape(definition: Definition, base: Type, shapes: Shapes): Shape {
  const { node, context } = definition
  const content = contentNode(node)
  const derivation = derivationOf(definition)
  const own = derivation ?? { node, context }
  const inherited = derivation === undefined ? NOTHING : partsOf(base)
  const attributes = new Map(inherited.attributes)
  const anyAttribute = addAttributes(own, attributes, shapes)
  const extended = derivation?.node.name === 'extension'
  shapes.spendOnType(definition, attributes.size)
  const particle = contentOf(own, extended ? inherited.particle : undefined, shapes)
  if (isInclude(particle)) return shapeOf({ ...NOTHING, attributes, anyAttribute, text: XOP_CONTENT })
  return shapeOf({
    attributes,
    anyAttribute: anyAttribute || (extended && inherited.anyAttribute),
    text: content?.name === 'simpleContent' ? textType(own, base, shapes) : extended ? inherited.text : undefined,
    mixed: isMixed(node) || (content !== undefined && isMixed(content)) || (extended && inherited.mixed),
    particle
  })
}

/** True if the only content is a reference to an attachment. */
function isInclude(particle: Particle | undefined): boolean {
  const group = particle === undefined ? undefined : asGroup(particle)
  return group?.slots.size === 1 && group.slots.has(XOP_INCLUDE) && group.wildcard === undefined
}

/** The shape of elements that a WSDL lists without a schema type. */
export function shapeOfParticle(particle: GroupParticle): Shape {
  return shapeOf({ ...NOTHING, particle })
}

function partsOf(base: Type): Parts {
  if (base.kind === 'any' || base.kind === 'array') return NOTHING
  if (base.kind !== 'complex') return { ...NOTHING, text: base }
  const shape = base.shape()
  return { ...shape, attributes: new Map(shape.attributes.map((one) => [clark(one.namespace, one.name), one])) }
}

function isMixed(node: XmlElement): boolean {
  return ['true', '1'].includes(attribute(node, 'mixed')?.trim() ?? '')
}

function textType({ node, context }: Definition, base: Type, shapes: Shapes): SimpleType {
  if (node.name !== 'restriction') return asSimple(base)
  const within = firstElement(node, NS.xsd, 'simpleType')
  const narrowed = within === undefined ? asSimple(base) : compileSimple({ node: within, context }, shapes)
  return restrict(narrowed, { node, context }, undefined, shapes)
}

/** The content of an extension is the base's content, then its own (XML Schema part 1, 3.4.2). */
function contentOf(own: Definition, inherited: Particle | undefined, shapes: Shapes): Particle | undefined {
  const added = compileContent(own, shapes)
  const content = inherited === undefined || added === undefined ? (inherited ?? added) : lengthened(inherited, added)
  if (content !== undefined && 'slots' in content)
    shapes.spendOnType(own, Math.max(content.slots.size, content.items.length))
  return content
}

/** Flattens a chain of extensions into one sequence instead of nesting them. */
function lengthened(inherited: Particle, added: Particle): GroupParticle {
  const isPlain = inherited.kind === 'sequence' && inherited.min === 1 && inherited.max === 1
  return groupOf('sequence', [...(isPlain ? inherited.items : [inherited]), added])
}

/** Adds the attributes declared within `own` to `attributes`. Returns true if there is an `xs:anyAttribute`. */
function addAttributes(own: Definition, attributes: Map<string, Attribute>, shapes: Shapes): boolean {
  let any = false
  for (const node of elements(own.node, NS.xsd)) {
    const here = { node, context: own.context }
    if (node.name === 'attribute') addAttribute(here, attributes, shapes)
    if (node.name === 'anyAttribute') any = true
    if (node.name !== 'attributeGroup') continue
    for (const member of shapes.attributeGroup(here, attribute(node, 'ref') ?? '')) {
      if (member.node.name === 'anyAttribute') any = true
      else addAttribute(member, attributes, shapes)
    }
  }
  return any
}

function addAttribute(definition: Definition, attributes: Map<string, Attribute>, shapes: Shapes): void {
  const { node, context } = definition
  const ref = attribute(node, 'ref')
  const local = attribute(node, 'name')?.trim() ?? ''
  const form = attribute(node, 'form')?.trim()
  const qualified = form === undefined ? context.attributesQualified : form === 'qualified'
  const name: QName =
    ref === undefined ? { namespace: qualified ? context.namespace : '', name: local } : nameIn(definition, ref)
  if (name.name === '') return
  const key = clark(name.namespace, name.name)
  const use = attribute(node, 'use')?.trim()
  if (use === 'prohibited') {
    attributes.delete(key)
    return
  }
  if (isUnnameable(name.name)) {
    shapes.warn(definition, UNNAMEABLE_WARNING)
    if (use === 'required') attributes.set(key, { ...name, type: UNNAMEABLE, required: true, fixed: undefined })
    return
  }
  const declared = ref === undefined ? definition : shapes.globalAttribute(name)
  const fixed = attribute(node, 'fixed') ?? (declared && attribute(declared.node, 'fixed'))
  attributes.set(key, { ...name, type: attributeType(declared, shapes), required: use === 'required', fixed })
}

/** Standard attributes (`xml:lang`, `xmime:contentType`) and undefined ones are text. */
function attributeType(declared: Definition | undefined, shapes: Shapes): SimpleType {
  if (declared === undefined) return stringType()
  const named = attribute(declared.node, 'type')
  if (named !== undefined) return asSimple(shapes.typeNamed(declared, named))
  const within = firstElement(declared.node, NS.xsd, 'simpleType')
  return within === undefined ? stringType() : compileSimple({ node: within, context: declared.context }, shapes)
}

/** Assigns JSON names: to elements first, then to attributes, which get an `@` if the name is taken. */
function shapeOf(parts: Parts): Shape {
  const { particle, text, mixed, anyAttribute } = parts
  const members = new Map<string, Member>()
  const membersByName = new Map<string, Member>()
  const group = particle === undefined ? undefined : asGroup(particle)
  for (const [key, { element, least, count, free, required }] of group?.slots ?? []) {
    // If two elements differ only by namespace, the JSON name of the second contains it.
    const json = members.has(element.name) ? key : element.name
    const member: Member = { json, element, many: count > 1, free, required, least, most: count }
    members.set(json, member)
    membersByName.set(key, member)
  }
  const taken = new Set(members.keys())
  if (text !== undefined || mixed) taken.add('value')
  const attributes: AttributeUse[] = []
  for (const [key, one] of parts.attributes) {
    const json = [one.name, `@${one.name}`].find((name) => !taken.has(name)) ?? `@${key}`
    taken.add(json)
    attributes.push({ ...one, json })
  }
  const attributesByName = new Map(attributes.map((one) => [clark(one.namespace, one.name), one]))
  const attributesByLocalName = new Map(attributes.toReversed().map((one) => [one.name, one]))
  const plain = group === undefined ? [] : plainOf(group, membersByName)
  return {
    attributes,
    attributesByName,
    attributesByJson: new Map(attributes.map((one) => [one.json, one])),
    attributesByLocalName,
    anyAttribute,
    text,
    mixed,
    particle: group,
    plain,
    sparse: plain === undefined || plain.length <= SPARSE_MIN ? undefined : sparseOf(plain),
    members,
    arrays: [...members.values()].filter(({ many, free }) => many && free),
    membersByName,
    wildcard: group?.wildcard,
    order: plain === undefined && group !== undefined ? orderOf(group, membersByName) : undefined
  }
}

function orderOf(group: GroupParticle, members: ReadonlyMap<string, Member>): OpenOrder | undefined {
  const names = new Map<string, number>()
  let isPlain = true
  let groups = 0
  // A named group may be used many times.
  const seen = new Set<Particle>()
  const collect = (particle: Particle): void => {
    if (particle.kind === 'any' || particle.kind === 'element' || seen.has(particle)) return
    seen.add(particle)
    if (!isOpenOrder(particle)) {
      particle.items.forEach(collect)
      return
    }
    for (const key of particle.slots.keys()) names.set(members.get(key)?.json ?? key, groups)
    if (particle.wildcard !== undefined) names.set('$any', groups)
    groups++
    isPlain &&= particle.kind === 'choice' && particle.items.every(({ kind }) => kind === 'element')
  }
  collect(group)
  return names.size === 0 ? undefined : { names, isPlain }
}

/** True for a repeated group of several elements, unless each repetition has exactly one of each. */
function isOpenOrder({ kind, items, max, slots, wildcard }: GroupParticle): boolean {
  if (max <= 1 || slots.size + (wildcard === undefined ? 0 : 1) <= 1) return false
  return (
    (kind === 'choice' && items.length > 1) ||
    items.some((item) => item.min !== 1 || item.max !== 1 || item.kind !== 'element')
  )
}

/** From this many members on, sorting the given members is faster than looking up every declared one. */
const SPARSE_MIN = 32

function sparseOf(plain: readonly PlainMember[]): SparseMembers {
  const needed = plain.flatMap(({ min }, index) => (min > 0 ? [index] : []))
  return { index: new Map(plain.map(({ json }, index) => [json, index])), needed }
}

/** Undefined unless each element has exactly one place. */
function plainOf(group: GroupParticle, members: ReadonlyMap<string, Member>): PlainMember[] | undefined {
  const plain: PlainMember[] = []
  // A named group used twice would contribute its elements twice, and nested groups would be walked exponentially often.
  const seen = new Set<Particle>()
  const collect = (particle: Particle): boolean => {
    if (particle.kind === 'any') return false
    if (particle.kind === 'element') {
      const { element, min, max } = particle
      const member = members.get(clark(element.namespace, element.name))
      if (member === undefined) return false
      plain.push({ ...member, element, min, max })
      return true
    }
    if (particle.min !== 1 || particle.max !== 1 || seen.has(particle)) return false
    seen.add(particle)
    return (particle.kind !== 'choice' || particle.items.length <= 1) && particle.items.every(collect)
  }
  return collect(group) && plain.length === members.size ? plain : undefined
}

function asGroup(particle: Particle): GroupParticle {
  return particle.kind === 'element' || particle.kind === 'any' ? groupOf('sequence', [particle]) : particle
}
