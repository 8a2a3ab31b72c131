import { SoukError } from '../../../lib/base/errors.ts'
import { SCHEMA_DEFINITIONS_MAX } from '../../../lib/base/limits/soap.ts'
import { NS, type QName, clark } from '../xml/names.ts'
import { type Scope, type XmlElement, attribute, elements, firstElement, qnameIn } from '../xml/tree.ts'

/** The settings of a definition's schema document. */
export interface SchemaContext {
  readonly namespace: string
  readonly elementsQualified: boolean
  readonly attributesQualified: boolean
  /** The document's URL, for messages. */
  readonly url: string
  /** Namespaces in scope at its `xs:schema`. */
  readonly scope: Scope
}

export interface Definition {
  readonly node: XmlElement
  readonly context: SchemaContext
}

/** Elements and attributes have separate symbol spaces; simple and complex types share one (XML Schema part 1, 2.5). */
export type Space = 'element' | 'type' | 'group' | 'attributeGroup' | 'attribute'

const SPACES: Readonly<Record<string, Space>> = {
  element: 'element',
  complexType: 'type',
  simpleType: 'type',
  group: 'group',
  attributeGroup: 'attributeGroup',
  attribute: 'attribute'
}

/** All global definitions of a WSDL's schemas, by symbol space and `{namespace}name`. */
export class SchemaSet {
  readonly #spaces: Readonly<Record<Space, Map<string, Definition>>> = {
    element: new Map(),
    type: new Map(),
    group: new Map(),
    attributeGroup: new Map(),
    attribute: new Map()
  }
  #size = 0
  readonly #typesByBareName = new Map<string, string[]>()
  readonly #substitutes = new Map<string, Definition[]>()
  readonly #derived = new Map<string, Definition[]>()

  /**
   * Adds the definitions of one `xs:schema`. The first of duplicate definitions counts, because schemas are often delivered in
   * two copies.
   * @param namespace that of the including schema, if this one has none (XML Schema part 1, 4.2.1)
   */
  add(schema: XmlElement, url: string, namespace = attribute(schema, 'targetNamespace') ?? ''): void {
    const context: SchemaContext = {
      namespace,
      elementsQualified: attribute(schema, 'elementFormDefault') === 'qualified',
      attributesQualified: attribute(schema, 'attributeFormDefault') === 'qualified',
      url,
      scope: schema.scope
    }
    for (const node of elements(schema, NS.xsd)) {
      const space = Object.hasOwn(SPACES, node.name) ? SPACES[node.name] : undefined
      const name = attribute(node, 'name')?.trim()
      if (space === undefined || name === undefined) continue
      const definition = { node, context }
      this.put(space, name, definition, () => linksOf(space, definition))
    }
  }

  /** Adds one definition, with the keys of the definitions that it is linked to; see `linksOf`. */
  put(space: Space, name: string, definition: Definition, links: () => readonly string[]): void {
    const key = clark(definition.context.namespace, name)
    const known = this.#spaces[space]
    if (known.has(key)) return
    if (++this.#size > SCHEMA_DEFINITIONS_MAX) {
      const detail = `The schemas of the WSDL have more than ${SCHEMA_DEFINITIONS_MAX} definitions.`
      throw new SoukError('description_too_complex', detail)
    }
    known.set(key, definition)
    if (space === 'type') push(this.#typesByBareName, name, key)
    if (space !== 'type' && space !== 'element') return
    const linked = space === 'type' ? this.#derived : this.#substitutes
    for (const link of links()) push(linked, link, definition)
  }

  /** All definitions of one space by `{namespace}name`, in insertion order. */
  all(space: Space): ReadonlyMap<string, Definition> {
    return this.#spaces[space]
  }

  find(space: Space, key: string): Definition | undefined {
    return this.#spaces[space].get(key)
  }

  /** Keys of the types with this local name, in any namespace. */
  typesWithName(name: string): readonly string[] {
    return this.#typesByBareName.get(name) ?? []
  }

  /** Elements that directly substitute the head with this key. */
  substitutesOf(key: string): readonly Definition[] {
    return this.#substitutes.get(key) ?? []
  }

  /** Named complex types directly derived from the one with this key. */
  derivedFrom(key: string): readonly Definition[] {
    return this.#derived.get(key) ?? []
  }
}

/** The keys of a type's base, or of the heads that an element may substitute. */
export function linksOf(space: Space, definition: Definition): readonly string[] {
  if (space === 'type') {
    const derivation = derivationOf(definition)
    const base = derivation && attribute(derivation.node, 'base')
    if (derivation === undefined || base === undefined) return []
    const name = nameIn(derivation, base)
    return [clark(name.namespace, name.name)]
  }
  const heads = space === 'element' ? attribute(definition.node, 'substitutionGroup') : undefined
  if (heads === undefined) return []
  return heads
    .trim()
    .split(/\s+/)
    .map((head) => nameIn(definition, head))
    .map(({ namespace, name }) => clark(namespace, name))
}

/**
 * The name in a `ref`, `type` or `base`. An unprefixed name without a default namespace is in the schema's own namespace. A
 * schema that is included without a namespace requires this; other schemas just omit the declaration.
 */
export function nameIn({ node, context }: Definition, text: string): QName {
  const name = qnameIn(node, text)
  if (name === undefined) return { namespace: '', name: text.trim() }
  return name.namespace === '' ? { namespace: context.namespace, name: name.name } : name
}

/** The node with a complex type's derivation; undefined if the type has none. */
export function contentNode(type: XmlElement): XmlElement | undefined {
  return firstElement(type, NS.xsd, 'complexContent') ?? firstElement(type, NS.xsd, 'simpleContent')
}

/** The `xs:extension` or `xs:restriction` of a type; undefined if it has none. */
export function derivationOf({ node, context }: Definition): Definition | undefined {
  const content = contentNode(node)
  const derivation =
    content && (firstElement(content, NS.xsd, 'extension') ?? firstElement(content, NS.xsd, 'restriction'))
  return derivation && { node: derivation, context }
}

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key)
  if (list === undefined) map.set(key, [value])
  else list.push(value)
}
