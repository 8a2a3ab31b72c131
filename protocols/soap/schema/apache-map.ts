import type { Definition } from './schema-set.ts'
import { NS, clark } from '../xml/names.ts'
import { parseXml } from '../xml/parse.ts'
import { attribute, elements } from '../xml/tree.ts'

/**
 * Apache's Map by `{namespace}name`. PHP and Axis 1 send associative arrays so, also in `xs:anyType`, and many WSDLs refer to the
 * type without a schema. This is the schema that Axis 1 writes.
 */
export const APACHE_TYPES: ReadonlyMap<string, Definition> = definitionsOf(`
  <schema xmlns="${NS.xsd}" xmlns:t="${NS.apache}">
    <complexType name="mapItem"><sequence>
      <element name="key" type="anyType" nillable="true"/>
      <element name="value" type="anyType" nillable="true"/>
    </sequence></complexType>
    <complexType name="Map"><sequence>
      <element name="item" type="t:mapItem" minOccurs="0" maxOccurs="unbounded"/>
    </sequence></complexType>
  </schema>`)

function definitionsOf(text: string): Map<string, Definition> {
  const schema = parseXml(text)
  const context = {
    namespace: NS.apache,
    elementsQualified: false,
    attributesQualified: false,
    url: NS.apache,
    scope: schema.scope
  }
  return new Map(
    elements(schema).map((node) => [clark(NS.apache, attribute(node, 'name') ?? ''), { node, context }] as const)
  )
}
