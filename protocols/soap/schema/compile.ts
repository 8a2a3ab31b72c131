import { SCHEMA_DERIVATIONS_MAX, SCHEMA_PARTS_MAX, SCHEMA_TYPE_PARTS_MAX } from '../../../lib/base/limits/soap.ts'
import { baseName, Bases } from './bases.ts'
import { compileParticle, documentationOf, groupOf } from './compile-particle.ts'
import { APACHE_TYPES } from './apache-map.ts'
import { commonAttributes } from './common-attributes.ts'
import { anyArray, compileArray, isArrayName } from './compile-array.ts'
import { type Shapes, compileShape } from './compile-shape.ts'
import { SWA_REF, builtinType, compileSimple } from './compile-simple.ts'
import {
  ANY_TYPE,
  type ArrayType,
  type ComplexType,
  type ElementUse,
  type GroupParticle,
  type Type,
  type TypeIndex
} from './model.ts'
import { NS, type QName, clark } from '../xml/names.ts'
import { once } from './once.ts'
import { PatternBook } from './pattern.ts'
import { type Definition, type SchemaSet, derivationOf, nameIn } from './schema-set.ts'
import { tooDeep, tooLarge } from './too-complex.ts'
import { attribute, elements, firstElement } from '../xml/tree.ts'
import { isUnnameable, UNNAMEABLE, UNNAMEABLE_WARNING } from './unnameable.ts'
import { Prefixes } from '../xml/write.ts'

/** Marks a group whose content is being compiled. */
const BUSY: unique symbol = Symbol('busy')

/**
 * Compiles the definitions of a `SchemaSet` into the model, each once and only when needed. A missing or contradictory part
 * becomes open content with a warning, because a flaw in one part of a schema must not disable the whole WSDL.
 */
export class SchemaCompiler implements TypeIndex, Shapes {
  readonly prefixes = new Prefixes()
  readonly patterns: PatternBook
  readonly #set: SchemaSet
  readonly #bases: Bases
  readonly #warn: (text: string) => void
  readonly #elements = new Map<Definition, ElementUse>()
  readonly #types = new Map<Definition, Type>()
  readonly #groups = new Map<Definition, GroupParticle | typeof BUSY | undefined>()
  readonly #attributeGroups = new Map<Definition, readonly Definition[]>()
  readonly #derived = new Map<ComplexType, readonly ComplexType[]>()
  /** The number of derivation steps from simple types and arrays to built-in types. */
  readonly #depths = new Map<Type, number>()
  #parts = 0
  /** The number of nested types and groups that are being compiled. */
  #nesting = 0
  readonly #substitutes = new Map<string, readonly ElementUse[]>()

  /** @param patterns the patterns of the same WSDL; default: none yet */
  constructor(set: SchemaSet, warn: (text: string) => void, patterns: PatternBook = new PatternBook()) {
    this.#set = set
    this.#bases = new Bases(set, (name) => this.type(name))
    this.#warn = warn
    this.patterns = patterns
  }

  get parts(): number {
    return this.#parts
  }

  spend(parts: number): void {
    this.#parts += parts
    if (this.#parts <= SCHEMA_PARTS_MAX) return
    throw tooLarge(
      `The types of the WSDL come to more than ${SCHEMA_PARTS_MAX} parts, inherited ones counted each time.`
    )
  }

  spendOnType({ node }: Definition, parts: number): void {
    this.spend(parts)
    if (parts <= SCHEMA_TYPE_PARTS_MAX) return
    const name = attribute(node, 'name') ?? attribute(node, 'base')
    const what = name === undefined ? 'A type of the WSDL' : `The WSDL's type ${name.slice(0, 80)}`
    throw tooLarge(`${what} has more than ${SCHEMA_TYPE_PARTS_MAX} elements or attributes.`)
  }

  counted(group: GroupParticle): GroupParticle {
    this.spend(1 + group.slots.size + group.items.length)
    if (group.depth > SCHEMA_DERIVATIONS_MAX) throw tooDeep()
    return group
  }

  derived<T extends Type>(type: T, bases: readonly Type[]): T {
    const depth = bases.reduce((deepest, base) => Math.max(deepest, 1 + (this.#depths.get(base) ?? 0)), 1)
    if (depth > SCHEMA_DERIVATIONS_MAX) throw tooDeep()
    this.#depths.set(type, depth)
    return type
  }

  globalElement(key: string): ElementUse | undefined {
    const definition = this.#set.find('element', key)
    return definition === undefined ? undefined : this.#element(definition, definition.context.namespace)
  }

  typesNamed(name: string): Type[] {
    const own = this.#set.typesWithName(name)
    const keys = name.startsWith('{') ? [name] : own.length > 0 ? own : [clark(NS.apache, name)]
    return keys
      .map((key) => this.#typeDefinition(key))
      .filter((one) => one !== undefined)
      .map((one) => this.#type(one))
  }

  derivedTypes(type: ComplexType): readonly ComplexType[] {
    const known = this.#derived.get(type)
    if (known !== undefined || type.name === undefined) return known ?? []
    const seen = new Set<ComplexType>()
    const waiting = [type.name]
    for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
      const next: QName[] = []
      for (const definition of this.#set.derivedFrom(clark(name.namespace, name.name))) {
        const derived = this.#type(definition)
        if (derived.kind !== 'complex' || derived === type || seen.has(derived)) continue
        seen.add(derived)
        if (derived.name !== undefined) next.push(derived.name)
      }
      waiting.push(...next.toReversed())
    }
    this.spend(seen.size)
    const concrete = [...seen].filter((one) => !one.abstract)
    this.#derived.set(type, concrete)
    return concrete
  }

  nameOf(type: ComplexType): string {
    const { namespace, name } = type.name ?? { namespace: '', name: type.label }
    const key = clark(namespace, name)
    return this.#set.typesWithName(name).some((other) => other !== key) ? `{${namespace}}${name}` : name
  }

  /** The type with this name; undefined if it is not defined. */
  type(name: QName): Type | undefined {
    if (ANYTHING.has(name.name) && name.namespace === NS.xsd) return ANY_TYPE
    if (isArrayName(name)) return ANY_ARRAY
    if (name.name === 'swaRef' && name.namespace === NS.swaRef) return SWA_REF
    const builtin = isStandard(name.namespace) ? builtinType(name) : undefined
    if (builtin !== undefined) return builtin
    const definition = this.#typeDefinition(clark(name.namespace, name.name))
    if (definition !== undefined) return this.#type(definition)
    return name.namespace === '' || name.namespace === NS.wsdl ? unprefixed(name) : undefined
  }

  typeNamed(definition: Definition, text: string): Type {
    const name = nameIn(definition, text)
    const type = this.type(name) ?? (text.includes(':') ? undefined : unprefixed(name))
    if (type === undefined)
      this.warn(definition, `refers to the type ${text}, which is defined nowhere; any content is taken`)
    return type ?? ANY_TYPE
  }

  element(definition: Definition): ElementUse | undefined {
    const { node, context } = definition
    const ref = attribute(node, 'ref')
    if (ref !== undefined) {
      const name = nameIn(definition, ref)
      const global = this.globalElement(clark(name.namespace, name.name))
      if (global === undefined) this.warn(definition, `refers to the element ${ref}, which is defined nowhere`)
      return global
    }
    const form = attribute(node, 'form')?.trim()
    const qualified = form === undefined ? context.elementsQualified : form === 'qualified'
    return this.#element(definition, qualified ? context.namespace : '')
  }

  substitutes(key: string): readonly ElementUse[] {
    const known = this.#substitutes.get(key)
    if (known !== undefined) return known
    const seen = new Set<Definition>()
    const waiting = [key]
    for (let head = waiting.pop(); head !== undefined; head = waiting.pop()) {
      const next: string[] = []
      for (const definition of this.#set.substitutesOf(head)) {
        if (seen.has(definition)) continue
        seen.add(definition)
        next.push(clark(definition.context.namespace, attribute(definition.node, 'name')?.trim() ?? ''))
      }
      waiting.push(...next.toReversed())
    }
    this.spend(seen.size)
    const uses = [...seen].map((one) => this.#element(one, one.context.namespace)).filter((one) => !one.abstract)
    this.#substitutes.set(key, uses)
    return uses
  }

  group(definition: Definition, ref: string): GroupParticle | undefined {
    const name = nameIn(definition, ref)
    const found = this.#set.find('group', clark(name.namespace, name.name))
    const known = found && this.#groups.get(found)
    if (found === undefined || known === BUSY) {
      this.warn(
        definition,
        `refers to the group ${ref}, which ${found === undefined ? 'is defined nowhere' : 'contains itself'}`
      )
      return undefined
    }
    if (known !== undefined) return known
    this.#groups.set(found, BUSY)
    let group: GroupParticle | undefined
    try {
      group = this.#nested(() => this.#groupContent(found))
    } finally {
      this.#groups.set(found, group)
    }
    return group
  }

  attributeGroup(definition: Definition, ref: string): readonly Definition[] {
    const name = nameIn(definition, ref)
    const found = this.#set.find('attributeGroup', clark(name.namespace, name.name))
    if (found === undefined) {
      const common = commonAttributes(name)
      if (common !== undefined) return common
      this.warn(definition, `refers to the attribute group ${ref}, which is defined nowhere`)
      return []
    }
    const known = this.#attributeGroups.get(found)
    if (known !== undefined) return known
    // Set before its content is known, so that a group within itself terminates.
    this.#attributeGroups.set(found, [])
    const members = new Set<Definition>()
    this.#nested(() => {
      for (const node of elements(found.node, NS.xsd)) {
        const here = { node, context: found.context }
        const inner = node.name === 'attributeGroup' ? this.attributeGroup(here, attribute(node, 'ref') ?? '') : [here]
        this.spend(inner.length)
        for (const one of inner) if (ATTRIBUTES.has(one.node.name)) members.add(one)
      }
    })
    const unique = [...members]
    this.#attributeGroups.set(found, unique)
    return unique
  }

  globalAttribute({ namespace, name }: QName): Definition | undefined {
    return this.#set.find('attribute', clark(namespace, name))
  }

  warn({ node, context }: Definition, text: string): void {
    const name = attribute(node, 'name') ?? attribute(node, 'ref')
    this.#warn(`${node.name}${name === undefined ? '' : ` "${name}"`} in ${context.namespace || context.url} ${text}.`)
  }

  #typeDefinition(key: string): Definition | undefined {
    return this.#set.find('type', key) ?? APACHE_TYPES.get(key)
  }

  #element(definition: Definition, namespace: string): ElementUse {
    const known = this.#elements.get(definition)
    if (known !== undefined) return known
    const { node } = definition
    const is = (name: string) => ['true', '1'].includes(attribute(node, name)?.trim() ?? '')
    const fixed = attribute(node, 'fixed')
    const name = attribute(node, 'name')?.trim() ?? ''
    const isBad = isUnnameable(name)
    if (isBad) this.warn(definition, UNNAMEABLE_WARNING)
    const use: ElementUse = {
      ...(fixed === undefined || isBad ? {} : { fixed }),
      namespace,
      name,
      type: isBad ? () => UNNAMEABLE : once(() => this.#elementType(definition)),
      nillable: is('nillable') && !isBad,
      abstract: is('abstract'),
      default: attribute(node, 'default') ?? fixed,
      documentation: documentationOf(definition)
    }
    this.#elements.set(definition, use)
    return use
  }

  #elementType(definition: Definition): Type {
    const { node, context } = definition
    const named = attribute(node, 'type')
    if (named !== undefined) return this.typeNamed(definition, named)
    const complex = firstElement(node, NS.xsd, 'complexType')
    if (complex !== undefined) return this.#complex({ node: complex, context }, attribute(node, 'name') ?? '')
    const simple = firstElement(node, NS.xsd, 'simpleType')
    if (simple !== undefined) return compileSimple({ node: simple, context }, this)
    return this.#headType(definition)
  }

  /** An element without a type has the type of the element that it substitutes (XML Schema part 1, 3.3.2). */
  #headType(definition: Definition): Type {
    const seen = new Set<Definition>()
    for (let one: Definition | undefined = definition; one !== undefined && !seen.has(one); ) {
      seen.add(one)
      if (seen.size > SCHEMA_DERIVATIONS_MAX) throw tooDeep()
      const head: string | undefined = attribute(one.node, 'substitutionGroup')
      if (head === undefined) return ANY_TYPE
      const name = nameIn(one, head.trim().split(/\s+/)[0] ?? '')
      one = this.#set.find('element', clark(name.namespace, name.name))
      if (one !== undefined && hasType(one)) return this.#elementType(one)
    }
    return ANY_TYPE
  }

  #type(definition: Definition): Type {
    const known = this.#types.get(definition)
    if (known !== undefined) return known
    const { node } = definition
    if (node.name === 'complexType') return this.#complex(definition, attribute(node, 'name') ?? '')
    // A type that contains itself finds open content in its place, so that compilation terminates.
    this.#types.set(definition, ANY_TYPE)
    try {
      const type = this.#nested(() => compileSimple(definition, this))
      this.#types.set(definition, type)
      return type
    } catch (error) {
      this.#types.delete(definition)
      throw error
    }
  }

  #complex(definition: Definition, label: string): ComplexType | ArrayType {
    const { node, context } = definition
    const local = attribute(node, 'name')?.trim()
    const name = local === undefined ? undefined : { namespace: context.namespace, name: local }
    const restricted = this.#arrayBase(definition)
    if (restricted !== undefined) {
      const array = compileArray(definition, name, restricted, this)
      this.#types.set(definition, array)
      return array
    }
    const base = once(() => this.#baseOf(definition))
    const type: ComplexType = {
      kind: 'complex',
      name,
      label,
      abstract: ['true', '1'].includes(attribute(node, 'abstract')?.trim() ?? ''),
      base,
      shape: once(() => compileShape(definition, base(), this))
    }
    this.#types.set(definition, type)
    return type
  }

  /** The SOAP array that a type is derived from, directly or indirectly; undefined for any other type. */
  #arrayBase(definition: Definition): ArrayType | undefined {
    if (!this.#bases.isArray(definition)) return undefined
    const base = baseName(definition)
    const inherited = base === undefined || isArrayName(base) ? ANY_ARRAY : this.#nested(() => this.type(base))
    return inherited?.kind === 'array' ? inherited : ANY_ARRAY
  }

  #baseOf(definition: Definition): Type {
    const derivation = derivationOf(definition)
    const named = derivation && attribute(derivation.node, 'base')
    if (derivation === undefined || named === undefined) return ANY_TYPE
    const base = this.typeNamed(derivation, named)
    if (!this.#bases.reach(base, this.#types.get(definition))) return base
    this.warn(definition, 'is derived from itself; what it inherits is left out')
    return ANY_TYPE
  }

  #groupContent(definition: Definition): GroupParticle {
    const { node, context } = definition
    const content = elements(node, NS.xsd).map((child) => compileParticle({ node: child, context }, this))
    const items = content.filter((item) => item !== undefined)
    const [only] = items
    return items.length === 1 && only !== undefined && 'slots' in only ? only : this.counted(groupOf('sequence', items))
  }

  /** @throws SoukError `description_too_complex` if definitions refer to each other past `SCHEMA_DERIVATIONS_MAX` */
  #nested<T>(compile: () => T): T {
    if (this.#nesting >= SCHEMA_DERIVATIONS_MAX) throw tooDeep()
    this.#nesting++
    try {
      return compile()
    } finally {
      this.#nesting--
    }
  }
}

const ANY_ARRAY = anyArray()
const ATTRIBUTES: ReadonlySet<string> = new Set(['attribute', 'anyAttribute'])
/** `xs:anyType`. Drafts of XML Schema called it ur-type. */
const ANYTHING: ReadonlySet<string> = new Set(['anyType', 'ur-type'])

/** The built-in type with this name, for schemas that omit its prefix. */
function unprefixed({ name }: QName): Type | undefined {
  return builtinType({ namespace: NS.xsd, name })
}

/** True for namespaces with known types. WSDLs often include copies of their schemas, which are not needed. */
function isStandard(namespace: string): boolean {
  return namespace === NS.xsd || namespace === NS.encoding11 || namespace === NS.encoding12
}

function hasType({ node }: Definition): boolean {
  return (
    attribute(node, 'type') !== undefined ||
    firstElement(node, NS.xsd, 'complexType') !== undefined ||
    firstElement(node, NS.xsd, 'simpleType') !== undefined
  )
}
