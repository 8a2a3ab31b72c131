import { SchemaSet } from '../schema/schema-set.ts'
import { type WsdlDocument, referencesOf, schemasOf } from './wsdl-files.ts'
import { type XmlElement, attribute } from '../xml/tree.ts'

/** Collects all definitions of a WSDL's schemas, inline and imported. */
export function collectSchemas(documents: readonly WsdlDocument[]): SchemaSet {
  const set = new SchemaSet()
  const byUrl = new Map(documents.map((document) => [document.url, document]))
  const seen = new Map<XmlElement, Set<string>>()

  /** A schema without a namespace is added once per including namespace (XML Schema part 1, 4.2.1). */
  const add = (schema: XmlElement, document: WsdlDocument, adopted: string): void => {
    const namespace = attribute(schema, 'targetNamespace') ?? adopted
    const namespaces = seen.get(schema) ?? new Set()
    if (namespaces.has(namespace)) return
    seen.set(schema, namespaces.add(namespace))
    set.add(schema, document.url, namespace)
    for (const reference of referencesOf(document)) {
      const target = reference.url && byUrl.get(reference.url.href)
      if (reference.schema !== schema || target === undefined) continue
      for (const one of schemasOf(target.root)) add(one, target, reference.kind === 'import' ? '' : namespace)
    }
  }

  const included = new Set<string | undefined>()
  for (const document of documents) {
    for (const { kind, url } of referencesOf(document)) if (kind !== 'import') included.add(url?.href)
  }
  for (const document of documents) {
    // An included file is reached from the including one, which supplies its namespace.
    if (included.has(document.url)) continue
    for (const schema of schemasOf(document.root)) add(schema, document, '')
  }
  return set
}
