import { type Encoding, isObject } from './encoding.ts'
import { type ArrayType, type ElementUse, type Type, synthetic } from '../schema/model.ts'
import { NS, type QName } from '../xml/names.ts'
import type { SoapVersion } from '../wsdl/wsdl.ts'

/**
 *Writes a SOAP-encoded array into its open element, from a JSON array nested once per dimension. Also accepts an object with the
 * items under their element name, as in the XML.
 */
export function writeArray(encoder: Encoding, type: ArrayType, value: unknown, encoded: SoapVersion | undefined): void {
  const item = itemOf(type)
  if (isObject(value)) return writeRaw(encoder, item, value)
  if (!Array.isArray(value)) throw encoder.refuse('must be an array', value)
  const sizes = sizesOf(encoder, value, type.ranks[0] ?? 1)
  if (encoded !== undefined) writeKind(encoder, type, item, sizes, encoded)
  writeItems(encoder, item, value, sizes.length)
}

/** The element of one item; with further dimensions, the item is an array itself. */
export function itemOf(type: ArrayType): ElementUse {
  const item = type.item()
  if (type.ranks.length <= 1) return item
  const inner: ArrayType = { ...type, name: undefined, ranks: type.ranks.slice(1) }
  return synthetic(item.namespace, item.name, () => inner, true)
}

function writeRaw(encoder: Encoding, item: ElementUse, value: { readonly [name: string]: unknown }): void {
  for (const [name, content] of Object.entries(value)) {
    if (name.startsWith('@')) encoder.openAttribute(name, content)
    else if (name !== item.name) {
      encoder.at(name, () => {
        throw encoder.refuse(`is not known here: it is an array, whose items are called ${item.name}`)
      })
    }
  }
  const items: unknown = Object.hasOwn(value, item.name) ? value[item.name] : undefined
  if (items === undefined) return
  encoder.at(item.name, () => writeItems(encoder, item, Array.isArray(items) ? items : [items], 1))
}

function writeItems(encoder: Encoding, item: ElementUse, values: readonly unknown[], depth: number): void {
  for (const [index, value] of values.entries()) {
    encoder.at(index, () => {
      if (depth > 1) writeItems(encoder, item, value as unknown[], depth - 1)
      else encoder.element(item, value)
    })
  }
}

/** The length of each dimension. @throws SoukError `invalid_request` if rows differ in length. */
function sizesOf(encoder: Encoding, value: readonly unknown[], rank: number): number[] {
  const sizes = [value.length]
  if (rank === 1) return sizes
  let inner: number[] | undefined
  for (const [index, row] of value.entries()) {
    encoder.at(index, () => {
      if (!Array.isArray(row)) throw encoder.refuse('must be an array: there are several dimensions', row)
      const own = sizesOf(encoder, row, rank - 1)
      inner ??= own
      if (own.join() !== inner.join()) throw encoder.refuse('must be as long as the rows before it')
    })
  }
  return [...sizes, ...(inner ?? Array.from({ length: rank - 1 }, () => 0))]
}

/** Writes the type and number of the items (SOAP 1.1, section 5.4.2; SOAP 1.2 part 2, sections 3.1.4 and 3.1.6). */
function writeKind(
  { writer }: Encoding,
  type: ArrayType,
  item: ElementUse,
  sizes: readonly number[],
  version: SoapVersion
): void {
  const name = typeName(type.item().type()) ?? { namespace: NS.xsd, name: 'anyType' }
  const leaf = writer.qname(name.namespace, name.name)
  if (version === '1.2') {
    const simple = type.ranks.length === 1
    const itemName = typeName(item.type())
    if (simple || itemName !== undefined) writer.attribute(NS.encoding12, 'itemType', leaf)
    writer.attribute(NS.encoding12, 'arraySize', sizes.join(' '))
    return
  }
  const inner = type.ranks
    .slice(1)
    .toReversed()
    .map((rank) => `[${','.repeat(rank - 1)}]`)
    .join('')
  writer.attribute(NS.xsi, 'type', writer.qname(NS.encoding11, 'Array'))
  writer.attribute(NS.encoding11, 'arrayType', `${leaf}${inner}[${sizes.join(',')}]`)
}

/** The type name for `xsi:type`; undefined for an anonymous type. */
export function typeName(type: Type): QName | undefined {
  if (type.kind === 'any') return undefined
  if (type.kind === 'array') return { namespace: NS.encoding11, name: 'Array' }
  if (type.name !== undefined) return type.name
  return type.kind === 'atomic' ? { namespace: NS.xsd, name: type.builtin.name } : undefined
}
