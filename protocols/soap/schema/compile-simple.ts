import { attachmentSchema } from './attachment-schema.ts'
import { type Builtin, BUILTIN_LISTS, BUILTINS } from './builtin.ts'
import { type AtomicType, type Facets, NO_FACETS, type SimpleType, type Type } from './model.ts'
import { NS, type QName, clark } from '../xml/names.ts'
import type { PatternBook } from './pattern.ts'
import type { Definition } from './schema-set.ts'
import { normalise, valueOf } from './simple.ts'
import { type XmlElement, attribute, elements, firstElement, qnameIn } from '../xml/tree.ts'

/** The services that compiling a simple type needs. */
export interface SimpleTypes {
  /** The type named by an attribute of `definition`. */
  typeNamed(definition: Definition, text: string): Type
  warn(definition: Definition, text: string): void
  readonly patterns: PatternBook
  /** Counts compiled parts. @throws SoukError `description_too_complex` past `SCHEMA_PARTS_MAX` */
  spend(parts: number): void
  /**
   * Records the bases of a type and returns the type. @throws SoukError `description_too_complex` past `SCHEMA_DERIVATIONS_MAX`
   */
  derived<T extends Type>(type: T, bases: readonly Type[]): T
}

const STRING = BUILTINS.get('string')

/** Former names of types, in SOAP encoding and in drafts of XML Schema. */
const RENAMED: ReadonlyMap<string, string> = new Map([
  ['base64', 'base64Binary'],
  ['binary', 'base64Binary'],
  ['timeInstant', 'dateTime'],
  ['timeDuration', 'duration'],
  ['uriReference', 'anyURI'],
  ['uri', 'anyURI']
])

/** The built-in type with this name, of XML Schema or, in old WSDLs, of SOAP encoding. */
export function builtinType({ namespace, name }: QName): SimpleType | undefined {
  if (namespace !== NS.xsd && namespace !== NS.encoding11 && namespace !== NS.encoding12) return undefined
  const itemName = Object.hasOwn(BUILTIN_LISTS, name) ? BUILTIN_LISTS[name] : undefined
  const builtin = BUILTINS.get(itemName ?? RENAMED.get(name) ?? name)
  if (builtin === undefined) return undefined
  const encoding = namespace === NS.xsd ? {} : ({ encoding: true } as const)
  const atomic: SimpleType = {
    kind: 'atomic',
    name: { namespace: NS.xsd, name },
    builtin,
    facets: NO_FACETS,
    ...encoding
  }
  return itemName === undefined ? atomic : { kind: 'list', name: atomic.name, item: atomic, facets: NO_FACETS }
}

/** A reference to an attachment (WS-I Attachments Profile 1.0, section 4.4). JSON has the attachment in its place. */
export const SWA_REF: AtomicType = {
  kind: 'atomic',
  name: { namespace: NS.swaRef, name: 'swaRef' },
  builtin: {
    name: 'swaRef',
    whitespace: 'collapse',
    write: () => undefined,
    read: (text) => text,
    expects: 'an attachment: base64, or an object with contentType and content',
    schema: attachmentSchema([], 'input'),
    numeric: false
  },
  facets: NO_FACETS
}

/** Binary content that the schema has as `xop:Include`: always an attachment where attachments are written. JSON has base64. */
export const XOP_CONTENT: AtomicType = {
  kind: 'atomic',
  name: { namespace: NS.xsd, name: 'base64Binary' },
  builtin: binary(),
  facets: NO_FACETS
}

function binary(): Builtin {
  const builtin = BUILTINS.get('base64Binary')
  if (builtin === undefined) throw new Error('xs:base64Binary is among the built-in types')
  return builtin
}

export function stringType(): SimpleType {
  if (STRING === undefined) throw new Error('xs:string is among the built-in types')
  return { kind: 'atomic', name: { namespace: NS.xsd, name: 'string' }, builtin: STRING, facets: NO_FACETS }
}

/** Compiles an `xs:simpleType`. */
export function compileSimple(definition: Definition, types: SimpleTypes): SimpleType {
  const { node, context } = definition
  const local = attribute(node, 'name')?.trim()
  const name = local === undefined ? undefined : { namespace: context.namespace, name: local }
  const restriction = firstElement(node, NS.xsd, 'restriction')
  if (restriction !== undefined)
    return restrict(baseOf(restriction, definition, types), { node: restriction, context }, name, types)
  const list = firstElement(node, NS.xsd, 'list')
  if (list !== undefined) {
    const item = itemOf(list, definition, types)
    return types.derived({ kind: 'list', name, item, facets: NO_FACETS }, [item])
  }
  const union = firstElement(node, NS.xsd, 'union')
  if (union !== undefined) {
    const members = membersOf(union, definition, types)
    const hasList = members.some(isList)
    return types.derived(
      { kind: 'union', name, members, facets: NO_FACETS, hasList, isText: members.every(isText) },
      members
    )
  }
  types.warn(definition, 'is a simple type without restriction, list or union; it is taken for a string')
  return stringType()
}

function baseOf(restriction: XmlElement, { context }: Definition, types: SimpleTypes): SimpleType {
  return simpleFrom({ node: restriction, context }, 'base', types)
}

/** A list cannot have lists as items (XML Schema part 2, section 2.5.1.2), because white space could not separate them. */
function itemOf(list: XmlElement, definition: Definition, types: SimpleTypes): SimpleType {
  const item = simpleFrom({ node: list, context: definition.context }, 'itemType', types)
  if (!isList(item)) return item
  types.warn(definition, 'is a list of lists; its items are taken for strings')
  return stringType()
}

function isList(type: SimpleType): boolean {
  return type.kind === 'list' || (type.kind === 'union' && type.hasList)
}

/**
 * True if the text in XML equals the text in JSON. Binary content has several notations, and a QName has a prefix only in XML.
 */
export function isText(type: SimpleType): boolean {
  if (type.kind === 'union') return type.isText
  return type.kind === 'atomic' && type.builtin.bytes === undefined && type.builtin.name !== 'QName'
}

/** The simple type that is named by an attribute or defined inline. */
function simpleFrom(definition: Definition, by: string, types: SimpleTypes): SimpleType {
  const { node, context } = definition
  const named = attribute(node, by)
  if (named !== undefined) return asSimple(types.typeNamed(definition, named))
  const within = firstElement(node, NS.xsd, 'simpleType')
  return within === undefined ? stringType() : compileSimple({ node: within, context }, types)
}

function membersOf(union: XmlElement, { context }: Definition, types: SimpleTypes): SimpleType[] {
  const named = (attribute(union, 'memberTypes') ?? '')
    .trim()
    .split(/\s+/)
    .filter((name) => name !== '')
  const members = [
    ...named.map((name) => asSimple(types.typeNamed({ node: union, context }, name))),
    ...elements(union, NS.xsd, 'simpleType').map((node) => compileSimple({ node, context }, types))
  ]
  const flat = new Set<SimpleType>()
  for (const member of members) {
    const isPlain = member.kind === 'union' && member.facets === NO_FACETS
    types.spend(isPlain ? member.members.length : 1)
    for (const one of isPlain ? member.members : [member]) flat.add(one)
  }
  return [...flat]
}

/** A complex type with simple content counts as that content; other types count as text. */
export function asSimple(type: Type): SimpleType {
  if (type.kind === 'complex') return type.shape().text ?? stringType()
  return type.kind === 'any' || type.kind === 'array' ? stringType() : type
}

/** `base` with the facets of `restriction`, which override inherited ones of the same kind. */
export function restrict(
  given: SimpleType,
  restriction: Definition,
  name: QName | undefined,
  types: SimpleTypes
): SimpleType {
  const base = spaced(given, restriction)
  const own = facetsOf(restriction, base, types)
  const facets: Facets = Object.keys(own).length === 0 ? base.facets : { ...base.facets, ...own }
  return types.derived({ ...base, name, facets }, [given])
}

/** The built-in string types by their white space. */
const BY_SPACE: ReadonlyMap<string, string> = new Map([
  ['replace', 'normalizedString'],
  ['collapse', 'token']
])

/** `base` with the `whiteSpace` of `restriction`, which applies before its other facets. Only strings have a choice of it. */
function spaced(base: SimpleType, { node }: Definition): SimpleType {
  if (base.kind !== 'atomic' || !['string', 'normalizedString'].includes(base.builtin.name)) return base
  const facet = elements(node, NS.xsd, 'whiteSpace').at(-1)
  const name = BY_SPACE.get((facet && attribute(facet, 'value'))?.trim() ?? '')
  const builtin = name === undefined ? undefined : BUILTINS.get(name)
  return builtin === undefined || builtin.name === base.builtin.name ? base : { ...base, builtin }
}

type NumberFacet = 'length' | 'minLength' | 'maxLength' | 'totalDigits' | 'fractionDigits'
type BoundFacet = 'minInclusive' | 'maxInclusive' | 'minExclusive' | 'maxExclusive'
const NUMBERS: ReadonlySet<string> = new Set(['length', 'minLength', 'maxLength', 'totalDigits', 'fractionDigits'])
const BOUNDS: ReadonlySet<string> = new Set(['minInclusive', 'maxInclusive', 'minExclusive', 'maxExclusive'])

function facetsOf(restriction: Definition, base: SimpleType, types: SimpleTypes): Facets {
  const facets: { -readonly [name in keyof Facets]: Facets[name] } = {}
  const enumeration = new Set<string>()
  const patterns: string[] = []
  for (const node of elements(restriction.node, NS.xsd)) {
    const value = attribute(node, 'value') ?? ''
    if (node.name === 'enumeration') enumeration.add(enumerated(node, value, base))
    if (node.name === 'pattern') patterns.push(value)
    if (BOUNDS.has(node.name) && isBound(base, value.trim())) facets[node.name as BoundFacet] = value.trim()
    if (NUMBERS.has(node.name) && /^\s*\d{1,15}\s*$/.test(value)) facets[node.name as NumberFacet] = Number(value)
  }
  types.spend(1 + enumeration.size + patterns.length)
  if (enumeration.size > 0) facets.enumeration = enumeration
  // Patterns of one step are alternatives; patterns of several steps must all match (XML Schema part 2, section 4.3.4.2).
  const pattern = patterns.length === 0 ? undefined : types.patterns.take(patterns)
  if (typeof pattern === 'object') facets.patterns = [...(base.facets.patterns ?? []), pattern]
  else if (pattern !== undefined) types.warn(restriction, unchecked(patterns, pattern))
  return facets
}

function isBound(base: SimpleType, text: string): boolean {
  const isOrdered = base.kind === 'atomic' && base.builtin.compare !== undefined
  return isOrdered ? base.builtin.read(text) !== undefined : !Number.isNaN(Number(text))
}

function unchecked(patterns: readonly string[], reason: string): string {
  const shown = patterns.map((pattern) => JSON.stringify(pattern.slice(0, 80))).slice(0, 3)
  return `has the pattern ${shown.join(', ')}, which only the service checks: it ${reason}`
}

function enumerated(node: XmlElement, value: string, base: SimpleType): string {
  if (base.kind !== 'atomic') return normalise(value, 'collapse')
  const text = normalise(value, base.builtin.whitespace)
  if (base.builtin.name === 'QName') {
    const name = qnameIn(node, text)
    return name === undefined ? text : clark(name.namespace, name.name)
  }
  return valueOf(base.builtin, text)
}
