import type { Definition } from './schema-set.ts'
import { NS, type QName } from '../xml/names.ts'
import { parseXml } from '../xml/parse.ts'
import { elements } from '../xml/tree.ts'

/** The attribute group `commonAttributes` of SOAP's encoding; undefined for any other name. SOAP 1.2 has no `href`. */
export function commonAttributes({ namespace, name }: QName): readonly Definition[] | undefined {
  return name === 'commonAttributes' ? COMMON.get(namespace) : undefined
}

const COMMON: ReadonlyMap<string, readonly Definition[]> = new Map([
  [
    NS.encoding11,
    attributesOf(NS.encoding11, '<attribute name="id" type="ID"/><attribute name="href" type="anyURI"/>')
  ],
  [NS.encoding12, attributesOf(NS.encoding12, '<attribute name="id" type="ID"/>')]
])

function attributesOf(namespace: string, attributes: string): readonly Definition[] {
  const group = parseXml(`<attributeGroup xmlns="${NS.xsd}">${attributes}<anyAttribute/></attributeGroup>`)
  const context = {
    namespace,
    elementsQualified: false,
    attributesQualified: false,
    url: namespace,
    scope: group.scope
  }
  return elements(group, NS.xsd).map((node) => ({ node, context }))
}
