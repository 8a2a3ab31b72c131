import { type Definition, type SchemaContext, SchemaSet, type Space, linksOf } from '../schema/schema-set.ts'
import type { WsdlDocument } from './wsdl-files.ts'
import { readXmlDocument } from '../xml/document.ts'
import type { Scope, XmlElement } from '../xml/tree.ts'

/**
 * A schema set as plain data: the position of each definition in its file, and the facts needed before any definition is parsed.
 * A definition is parsed when it is first needed.
 */
export type SchemaIndex = readonly IndexedSchema[]

/** One `xs:schema`, once per namespace that it is used for. */
interface IndexedSchema {
  /** The file's number. */
  readonly file: number
  readonly namespace: string
  readonly elementsQualified: boolean
  readonly attributesQualified: boolean
  readonly scope: Scope
  readonly definitions: readonly IndexedDefinition[]
}

/** `links` are the keys that `linksOf` returns. */
type IndexedDefinition = readonly [space: number, name: string, from: number, to: number, ...links: string[]]

const SPACES: readonly Space[] = ['element', 'type', 'group', 'attributeGroup', 'attribute']

/** Indexes the definitions collected from `documents`, whose order gives the file numbers. */
export function indexOf(set: SchemaSet, documents: readonly WsdlDocument[]): SchemaIndex {
  const files = new Map(documents.map((document, file) => [document.url, { file, spans: document.spans }]))
  const schemas = new Map<SchemaContext, IndexedSchema & { readonly definitions: IndexedDefinition[] }>()
  for (const [number, space] of SPACES.entries()) {
    for (const [key, definition] of set.all(space)) {
      const { node, context } = definition
      const { file, spans } = files.get(context.url) ?? {}
      const span = spans?.get(node)
      if (file === undefined || span === undefined) throw new Error('a definition is in none of the documents')
      const { namespace, elementsQualified, attributesQualified } = context
      let schema = schemas.get(context)
      if (schema === undefined) {
        const scope = flattened(context.scope)
        schema = { file, namespace, elementsQualified, attributesQualified, scope, definitions: [] }
        schemas.set(context, schema)
      }
      const name = namespace === '' ? key : key.slice(namespace.length + 2)
      schema.definitions.push([number, name, span.from, span.to, ...linksOf(space, definition)])
    }
  }
  return [...schemas.values()]
}

/** Rebuilds the set from the texts of the files. */
export function fromIndex(index: SchemaIndex, files: ReadonlyArray<{ url: string; text: string }>): SchemaSet {
  const set = new SchemaSet()
  for (const { file, scope, namespace, elementsQualified, attributesQualified, definitions } of index) {
    const { url, text } = files[file] ?? { url: '', text: '' }
    const around: Scope = Object.assign(Object.create(null) as object, scope)
    const context: SchemaContext = { namespace, elementsQualified, attributesQualified, url, scope: around }
    for (const [number, name, from, to, ...links] of definitions) {
      const space = SPACES[number]
      if (space !== undefined) set.put(space, name, new StoredDefinition(context, text, from, to), () => links)
    }
  }
  return set
}

/** Flattens a scope, because scopes inherit by prototype and plain data cannot. */
function flattened(scope: Scope): Scope {
  const all: Record<string, string> = {}
  for (const prefix in scope) all[prefix] = scope[prefix] ?? ''
  return all
}

class StoredDefinition implements Definition {
  readonly context: SchemaContext
  readonly #text: string
  readonly #from: number
  readonly #to: number
  #node: XmlElement | undefined

  constructor(context: SchemaContext, text: string, from: number, to: number) {
    this.context = context
    this.#text = text
    this.#from = from
    this.#to = to
  }

  get node(): XmlElement {
    // Undeclared prefixes were already reported when the file was read.
    this.#node ??= readXmlDocument(this.#text.slice(this.#from, this.#to), {
      scope: this.context.scope,
      undeclared: () => {},
      validated: true
    })
    return this.#node
  }
}
