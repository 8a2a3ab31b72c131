import { SOAP_ARRAY_GAP_MAX } from '../../../lib/base/limits/soap.ts'
import { itemOf } from './encode-array.ts'
import type { ArrayType, ElementUse } from '../schema/model.ts'
import { NS } from '../xml/names.ts'
import { XmlError } from '../xml/error.ts'
import { type XmlElement, attribute, elements } from '../xml/tree.ts'

/** Reads a SOAP-encoded array as a JSON array, nested once per dimension. Elements omitted from a sparse array are null. */
export function readArray(
  type: ArrayType,
  element: XmlElement,
  read: (item: ElementUse, node: XmlElement) => unknown
): unknown[] {
  const item = itemOf(type)
  const values: unknown[] = []
  let at = positionOf(attribute(element, 'offset', NS.encoding11)) ?? 0
  for (const node of elements(element)) {
    at = positionOf(attribute(node, 'position', NS.encoding11)) ?? at
    if (at > values.length + SOAP_ARRAY_GAP_MAX) throw new XmlError('has an array with too large a gap')
    while (values.length < at) values.push(null)
    values[at++] = read(item, node)
  }
  return nested(values, sizesOf(element))
}

/** The elements of `[2,3]` come row by row (SOAP 1.1, section 5.4.2). */
function nested(values: unknown[], sizes: readonly number[]): unknown[] {
  const expected = sizes.reduce((product, size) => product * size, 1)
  if (sizes.length < 2 || expected !== values.length) return values
  let level = values
  for (const size of sizes.slice(1).toReversed()) {
    const rows: unknown[][] = []
    for (let i = 0; i < level.length; i += size) rows.push(level.slice(i, i + size))
    level = rows
  }
  return level
}

function sizesOf(element: XmlElement): number[] {
  const text =
    /\[([\d,\s]*)\]\s*$/.exec(attribute(element, 'arrayType', NS.encoding11) ?? '')?.[1]?.split(',') ??
    attribute(element, 'arraySize', NS.encoding12)?.trim().split(/\s+/) ??
    []
  const sizes = text.map((one) => Number(one.trim() === '' || one === '*' ? Number.NaN : one))
  return sizes.every((size) => Number.isSafeInteger(size) && size > 0) ? sizes : []
}

/** Parses `[3]`, the position of the next element. Multi-dimensional positions are ignored; the order of the elements applies. */
function positionOf(text: string | undefined): number | undefined {
  const digits = text === undefined ? undefined : /^\s*\[\s*(\d{1,9})\s*\]\s*$/.exec(text)?.[1]
  return digits === undefined ? undefined : Number(digits)
}
