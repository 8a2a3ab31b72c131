import { SOAP_REFERENCED_MAX, XML_DEPTH_MAX } from '../../../lib/base/limits/soap.ts'
import { NS } from '../xml/names.ts'
import { XmlError } from '../xml/error.ts'
import { type XmlAttribute, type XmlElement, attribute, elements } from '../xml/tree.ts'

/** The cost of resolving one reference, in addition to its target, in the same unit. */
const FOLLOWED = 64

/**
 * Resolves values of one body that are written once and referenced (SOAP 1.1, section 5.4.1; SOAP 1.2 part 2, section 3.1.5). A
 * few elements that refer to each other can expand to a document of any size, so the expanded size is counted.
 */
export class References {
  readonly #targets = new Map<string, XmlElement>()
  readonly #open = new Set<XmlElement>()
  readonly #sizes = new Map<XmlElement, number>()
  #left = SOAP_REFERENCED_MAX

  constructor(body: XmlElement) {
    this.#collect(body)
  }

  /** Reads the element, or its target if it is a reference. */
  follow<T>(element: XmlElement, read: (target: XmlElement) => T): T {
    const id = referenceIn(element)
    if (id === undefined) return read(element)
    const target = this.#targets.get(id)
    if (target === undefined) throw new XmlError(`refers to ${id.slice(0, 80)}, which it does not contain`)
    if (this.#open.has(target)) throw new XmlError('has a value that contains itself')
    if (this.#open.size >= XML_DEPTH_MAX) throw new XmlError('nests too deeply')
    this.#left -= FOLLOWED + this.#sizeOf(target)
    if (this.#left < 0) throw new XmlError('refers to the same values too often')
    this.#open.add(target)
    const value = this.follow(target, read)
    this.#open.delete(target)
    return value
  }

  /** True if an element refers to another one of the body. */
  has(element: XmlElement): boolean {
    return this.#targets.has(referenceIn(element) ?? '')
  }

  /** True if an attribute belongs to the encoding and is not data. */
  concerns({ namespace, name }: XmlAttribute): boolean {
    return (
      namespace === NS.encoding11 ||
      namespace === NS.encoding12 ||
      (namespace === '' && (name === 'id' || name === 'href'))
    )
  }

  #collect(element: XmlElement): void {
    for (const child of elements(element)) {
      const id = attribute(child, 'id') ?? attribute(child, 'id', NS.encoding12)
      if (id !== undefined && !this.#targets.has(id.trim())) this.#targets.set(id.trim(), child)
      this.#collect(child)
    }
  }

  #sizeOf(element: XmlElement): number {
    const known = this.#sizes.get(element)
    if (known !== undefined) return known
    let size = 1
    for (const { value } of element.attributes) size += value.length
    for (const node of element.nodes) size += typeof node === 'string' ? node.length : this.#sizeOf(node)
    this.#sizes.set(element, size)
    return size
  }
}

function referenceIn(element: XmlElement): string | undefined {
  const local = attribute(element, 'href')?.trim()
  if (local?.startsWith('#') === true) return local.slice(1)
  return attribute(element, 'ref', NS.encoding12)?.trim()
}
