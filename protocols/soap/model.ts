import type { Builtin } from './builtin.ts'
import type { QName } from './names.ts'
import type { XsdPattern } from './pattern.ts'
import type { Prefixes } from './xml-write.ts'

/**
 * The compiled schema model: built once from a WSDL's schemas, and the only thing that request building, response decoding,
 * validation and JSON Schema look at. Types are compiled when first asked for, so that recursive ones end and unused
 * ones cost nothing.
 */
export type Type = SimpleType | ComplexType | ArrayType | AnyType

export type SimpleType = AtomicType | ListType | UnionType

export interface AtomicType {
  readonly kind: 'atomic'
  readonly name: QName | undefined
  readonly builtin: Builtin
  readonly facets: Facets
  /** Of SOAP's encoding: the same value as XML Schema's, which may also have an `id` or an `href`. */
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
  /** Without unions that have no facets: their members stand in their place (XML Schema part 2, section 2.5.1.3). */
  readonly members: readonly SimpleType[]
  /** One of them is a list, at whatever depth. */
  readonly hasList: boolean
  /** The text of each of them in XML is the text in JSON, at whatever depth. */
  readonly isText: boolean
  readonly facets: Facets
}

/** Facets of all steps of a restriction together. Lengths count characters, of binary types bytes, of lists items. */
export interface Facets {
  /** Lexical forms, normalised as the base type normalises. */
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

/** The one object that says that there are none, so that this is seen at a glance. */
export const NO_FACETS: Facets = {}

/** xs:anyType, and whatever stands for a part of the schema that is missing. */
export interface AnyType {
  readonly kind: 'any'
}

export const ANY_TYPE: AnyType = { kind: 'any' }

/** An array of SOAP's encoding (SOAP 1.1, section 5.4.2; SOAP 1.2 part 2, section 3.1.6). */
export interface ArrayType {
  readonly kind: 'array'
  readonly name: QName | undefined
  readonly label: string
  /** How one item is written where it stands: name, and type at the innermost dimension. */
  readonly item: () => ElementUse
  /** Dimensions of `arrayType` from the outside in: `[][,]` is `[2, 1]`. At least one. */
  readonly ranks: readonly number[]
}

export interface ComplexType {
  readonly kind: 'complex'
  /** Undefined for an anonymous type. */
  readonly name: QName | undefined
  /** The type's name, or its element's: for JSON Schema and messages. */
  readonly label: string
  readonly abstract: boolean
  /** What it is derived from. */
  readonly base: () => Type
  readonly shape: () => Shape
}

/** A complex type with everything inherited, ready for use. */
export interface Shape {
  readonly attributes: readonly AttributeUse[]
  /** By `{namespace}name`. */
  readonly attributesByName: ReadonlyMap<string, AttributeUse>
  /** By JSON name. */
  readonly attributesByJson: ReadonlyMap<string, AttributeUse>
  /** The first of each local name. */
  readonly attributesByLocalName: ReadonlyMap<string, AttributeUse>
  readonly anyAttribute: boolean
  /** Simple content: the text, which is the JSON member `value`. */
  readonly text: SimpleType | undefined
  /** Text between the elements is allowed. */
  readonly mixed: boolean
  readonly particle: GroupParticle | undefined
  /** By JSON name. */
  readonly members: ReadonlyMap<string, Member>
  /** Members whose absence is an empty array. */
  readonly arrays: readonly Member[]
  /** By `{namespace}name`. */
  readonly membersByName: ReadonlyMap<string, Member>
  /**
   * The members in the order of the document, when the content is nothing but a sequence of different elements: then
   * there is nothing to choose when it is written. Undefined for any other content.
   */
  readonly plain: readonly PlainMember[] | undefined
  /** Of `plain` with many members: where each stands by its JSON name, and those whose absence means something. */
  readonly sparse: SparseMembers | undefined
  /** The first wildcard; undefined when only declared elements may occur. */
  readonly wildcard: AnyParticle | undefined
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
  /** Name in JSON: plain, or with `@` in front where an element (or the text) has the plain one. */
  readonly json: string
  readonly type: SimpleType
  readonly required: boolean
  readonly fixed: string | undefined
}

/** An element of a complex type as JSON sees it: all its occurrences together. */
export interface Member {
  readonly json: string
  readonly element: ElementUse
  /** It may occur more than once, so it is always an array. */
  readonly many: boolean
  /** It may occur whatever else does: its absence can be an empty array. */
  readonly free: boolean
  /** It occurs in every instance. */
  readonly required: boolean
}

export interface ElementUse extends QName {
  readonly type: () => Type
  readonly nillable: boolean
  readonly abstract: boolean
  /** What an empty element stands for: its `default` or `fixed` value. */
  readonly default: string | undefined
  /** The only value it may have, which is filled in where it has to be there. */
  readonly fixed?: string
  readonly documentation: string | undefined
}

/** An element that no schema declares: a part, an item of an array. */
export function synthetic(namespace: string, name: string, type: ElementUse['type'], nillable = false): ElementUse {
  return { namespace, name, type, nillable, abstract: false, default: undefined, documentation: undefined }
}

export type Particle = ElementParticle | GroupParticle | AnyParticle

interface Occurs {
  readonly min: number
  /** Infinity when unbounded. Never 0: such particles are left out. */
  readonly max: number
}

export interface ElementParticle extends Occurs {
  readonly kind: 'element'
  readonly element: ElementUse
}

export interface AnyParticle extends Occurs {
  readonly kind: 'any'
  /** Namespace of elements that JSON names without one. */
  readonly namespace: string
}

export interface GroupParticle extends Occurs {
  /** `all` is written in declared order, which is one of those it allows. */
  readonly kind: 'sequence' | 'choice' | 'all'
  readonly items: readonly Particle[]
  /** All elements within, at any depth, each once, by `{namespace}name`. */
  readonly slots: ReadonlyMap<string, Slot>
  readonly wildcard: AnyParticle | undefined
  /** Groups within each other, this one included. */
  readonly depth: number
  /** Nothing within has to occur. */
  readonly emptiable: boolean
}

/** An element within a group. */
export interface Slot {
  readonly element: ElementUse
  /** How often it may occur in all, at most. */
  readonly count: number
  /** Not within a choice, or an optional group, that comes at most once. */
  readonly free: boolean
  readonly required: boolean
}

/** What is looked up while a document is written or read. */
export interface TypeIndex {
  /** Parts of types compiled so far: a type is compiled when it is first used, and that use pays for it. */
  readonly parts: number
  /** Of the namespaces in the schemas. */
  readonly prefixes: Prefixes
  /** The type with this name, of the schemas or built in. */
  type(name: QName): Type | undefined
  /** Global types by `{namespace}name`, or by bare name in whichever namespace. */
  typesNamed(name: string): Type[]
  globalElement(key: string): ElementUse | undefined
  /** Concrete types derived from this one, at any distance. */
  derivedTypes(type: ComplexType): readonly ComplexType[]
  /** What `$type` calls a named type: its local name, or `{namespace}name` where several share that. */
  nameOf(type: ComplexType): string
}
