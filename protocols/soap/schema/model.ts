import type { Builtin } from './builtin.ts'
import type { QName } from '../xml/names.ts'
import type { XsdPattern } from './pattern.ts'
import type { Prefixes } from '../xml/write.ts'

/**
 * The compiled schema model of a WSDL. Request building, response decoding, validation and JSON Schema use nothing else. A type
 * is compiled when it is first needed, so that recursive types terminate and unused ones cost nothing.
 */
export type Type = SimpleType | ComplexType | ArrayType | AnyType

export type SimpleType = AtomicType | ListType | UnionType

export interface AtomicType {
  readonly kind: 'atomic'
  readonly name: QName | undefined
  readonly builtin: Builtin
  readonly facets: Facets
  /** A type of SOAP encoding: the same value as in XML Schema, but it may have an `id` or an `href`. */
  readonly encoding?: true
}

export interface ListType {
  readonly kind: 'list'
  readonly name: QName | undefined
  readonly item: SimpleType
  readonly facets: Facets
}

export interface UnionType {
  readonly kind: 'union'
  readonly name: QName | undefined
  /** Unions without facets are replaced by their members (XML Schema part 2, section 2.5.1.3). */
  readonly members: readonly SimpleType[]
  /** True if a member is a list, at any depth. */
  readonly hasList: boolean
  /** True if the XML text of every member equals the JSON text, at any depth. */
  readonly isText: boolean
  readonly facets: Facets
}

/** The combined facets of all restriction steps. Lengths count characters, bytes for binary types, and items for lists. */
export interface Facets {
  /** Lexical forms, normalised as by the base type. */
  readonly enumeration?: ReadonlySet<string>
  readonly length?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minInclusive?: string
  readonly maxInclusive?: string
  readonly minExclusive?: string
  readonly maxExclusive?: string
  readonly totalDigits?: number
  readonly fractionDigits?: number
  /** All of them must match. */
  readonly patterns?: readonly XsdPattern[]
}

/** The shared empty object, so that a comparison by identity suffices. */
export const NO_FACETS: Facets = {}

/** xs:anyType, and any missing part of the schema. */
export interface AnyType {
  readonly kind: 'any'
}

export const ANY_TYPE: AnyType = { kind: 'any' }

/** A SOAP-encoded array (SOAP 1.1, section 5.4.2; SOAP 1.2 part 2, section 3.1.6). */
export interface ArrayType {
  readonly kind: 'array'
  readonly name: QName | undefined
  readonly label: string
  /** The element of one item: its name, and its type at the innermost dimension. */
  readonly item: () => ElementUse
  /** Dimensions of `arrayType`, the outermost first: `[][,]` is `[2, 1]`. At least one. */
  readonly ranks: readonly number[]
}

export interface ComplexType {
  readonly kind: 'complex'
  /** Undefined for an anonymous type. */
  readonly name: QName | undefined
  /** The name of the type, or of its element: for JSON Schema and messages. */
  readonly label: string
  readonly abstract: boolean
  /** The type that it is derived from. */
  readonly base: () => Type
  readonly shape: () => Shape
}

/** A complex type including all inherited content. */
export interface Shape {
  readonly attributes: readonly AttributeUse[]
  /** By `{namespace}name`. */
  readonly attributesByName: ReadonlyMap<string, AttributeUse>
  /** Keyed by JSON name. */
  readonly attributesByJson: ReadonlyMap<string, AttributeUse>
  /** The first attribute with each local name. */
  readonly attributesByLocalName: ReadonlyMap<string, AttributeUse>
  readonly anyAttribute: boolean
  /** Simple content: the text, as JSON member `value`. */
  readonly text: SimpleType | undefined
  /** True if text between the elements is allowed. */
  readonly mixed: boolean
  readonly particle: GroupParticle | undefined
  /** Keyed by JSON name. */
  readonly members: ReadonlyMap<string, Member>
  /** Members that are empty arrays when absent. */
  readonly arrays: readonly Member[]
  /** By `{namespace}name`. */
  readonly membersByName: ReadonlyMap<string, Member>
  /**
   * The members in document order, if the content is a simple sequence of different elements, so that writing it needs no choice.
   * Undefined for any other content.
   */
  readonly plain: readonly PlainMember[] | undefined
  /** For `plain` with many members: the position of each by JSON name, and the members that matter when absent. */
  readonly sparse: SparseMembers | undefined
  /** All wildcards together; undefined if only declared elements may occur. */
  readonly wildcard: Wildcard | undefined
  /** Undefined if the order of the elements follows from the schema and their numbers. */
  readonly order: OpenOrder | undefined
}

/** The elements of a repeated choice, or of a repeated sequence that may omit some. Only a document tells their order. */
export interface OpenOrder {
  /**
   * Their JSON names in the order of the schema, each with the number of its outermost repeated group; `$any` for a wildcard among
   * them.
   */
  readonly names: ReadonlyMap<string, number>
  /** True if they are written in the order of the schema where no other is given. */
  readonly isPlain: boolean
}

/** The JSON name of text between elements. */
export function textName({ mixed, members }: Shape): string {
  return mixed && !members.has('value') ? 'value' : '$text'
}

export interface PlainMember extends Member {
  readonly min: number
  readonly max: number
}

export interface SparseMembers {
  readonly index: ReadonlyMap<string, number>
  readonly needed: readonly number[]
}

export interface AttributeUse extends QName {
  /** JSON name, with an `@` in front if an element or the text has the plain name. */
  readonly json: string
  readonly type: SimpleType
  readonly required: boolean
  readonly fixed: string | undefined
}

/** All occurrences of one element of a complex type, as one JSON member. */
export interface Member {
  readonly json: string
  readonly element: ElementUse
  /** True if it may occur more than once, so it is always an array. */
  readonly many: boolean
  /** True if it may occur whatever else does. Its absence is then an empty array. */
  readonly free: boolean
  /** True if it occurs in every instance. */
  readonly required: boolean
  /** The numbers of its occurrences, where it occurs at all. */
  readonly least: number
  readonly most: number
}

export interface ElementUse extends QName {
  readonly type: () => Type
  readonly nillable: boolean
  readonly abstract: boolean
  /** The value of an empty element: its `default` or `fixed` value. */
  readonly default: string | undefined
  /** The only allowed value. It is filled in if the element is required. */
  readonly fixed?: string
  readonly documentation: string | undefined
}

/** An element that no schema declares, such as a part or an array item. */
export function synthetic(namespace: string, name: string, type: ElementUse['type'], nillable = false): ElementUse {
  return { namespace, name, type, nillable, abstract: false, default: undefined, documentation: undefined }
}

export type Particle = ElementParticle | GroupParticle | AnyParticle

interface Occurs {
  readonly min: number
  /** Infinity if unbounded. Never 0, because such particles are omitted. */
  readonly max: number
}

export interface ElementParticle extends Occurs {
  readonly kind: 'element'
  readonly element: ElementUse
}

export interface AnyParticle extends Occurs {
  readonly kind: 'any'
  /** The namespace of elements whose JSON name has none. */
  readonly namespace: string
}

export interface GroupParticle extends Occurs {
  /** `all` is written in declared order, which is always allowed. */
  readonly kind: 'sequence' | 'choice' | 'all'
  readonly items: readonly Particle[]
  /** All elements within, at any depth, each once, by `{namespace}name`. */
  readonly slots: ReadonlyMap<string, Slot>
  readonly wildcard: Wildcard | undefined
  /** The nesting depth of groups, including this one. */
  readonly depth: number
  /** True if nothing within is required. */
  readonly emptiable: boolean
}

/** An element within a group. */
export interface Slot extends Occurrence {
  readonly element: ElementUse
}

/** The wildcards within a group. The namespace is that of the first one. */
export interface Wildcard extends Occurrence {
  readonly namespace: string
}

/** How often something occurs within a group. */
export interface Occurrence {
  /** The minimum number of occurrences, where it occurs at all. */
  readonly least: number
  /** The maximum number of occurrences. */
  readonly count: number
  /** True unless it is within a choice or an optional group that occurs at most once. */
  readonly free: boolean
  readonly required: boolean
}

/** The lookups for writing and reading documents. */
export interface TypeIndex {
  /** Number of type parts compiled so far. The first use of a type compiles it and is charged for it. */
  readonly parts: number
  /** The prefixes for the namespaces of the schemas. */
  readonly prefixes: Prefixes
  /** The type with this name, from the schemas or built in. */
  type(name: QName): Type | undefined
  /** Global types by `{namespace}name`, or by local name in any namespace. */
  typesNamed(name: string): Type[]
  globalElement(key: string): ElementUse | undefined
  /** Concrete types derived from this one, directly or indirectly. */
  derivedTypes(type: ComplexType): readonly ComplexType[]
  /** The `$type` name of a named type: its local name, or `{namespace}name` if several types share that. */
  nameOf(type: ComplexType): string
}
