import { ANY_TYPE, type ArrayType, type ElementUse, type Type, synthetic } from './model.ts'
import { NS, type QName } from '../xml/names.ts'
import { once } from './once.ts'
import { type Definition, derivationOf, nameIn } from './schema-set.ts'
import { type XmlElement, attribute, elements } from '../xml/tree.ts'

/** The services that compiling an array needs. */
export interface Arrays {
  /** The type named by an attribute of `definition`. */
  typeNamed(definition: Definition, text: string): Type
  element(definition: Definition): ElementUse | undefined
  /**
   * Records the bases of a type and returns the type. @throws SoukError `description_too_complex` past `SCHEMA_DERIVATIONS_MAX`
   */
  derived<T extends Type>(type: T, bases: readonly Type[]): T
}

const ENCODINGS: ReadonlySet<string> = new Set([NS.encoding11, NS.encoding12])
const DEFAULT_ITEM = 'item'

export function isArrayName({ namespace, name }: QName): boolean {
  return ENCODINGS.has(namespace) && name === 'Array'
}

/** `soapenc:Array` itself, an array of anything. */
export function anyArray(): ArrayType {
  return {
    kind: 'array',
    name: { namespace: NS.encoding11, name: 'Array' },
    label: 'Array',
    ranks: [1],
    item: () => synthetic('', DEFAULT_ITEM, () => ANY_TYPE, true)
  }
}

/**
 * Compiles a complex type derived from `soapenc:Array`. The item type comes from `wsdl:arrayType` at the attribute (WSDL 1.1,
 * section 2.2), from an element of its content, or from both.
 * @param inherited the array that it restricts
 */
export function compileArray(
  definition: Definition,
  name: QName | undefined,
  inherited: ArrayType,
  arrays: Arrays
): ArrayType {
  const derivation = derivationOf(definition) ?? definition
  const item = find(derivation.node, (node) => node.name === 'element')
  const declared = item && { node: item, context: definition.context }
  const said = arrayTypeOf(derivation)
  const use = (): ElementUse => {
    const element = declared && arrays.element(declared)
    if (said === undefined) return element ?? inherited.item()
    const type = () => arrays.typeNamed(said.definition, said.type)
    return element === undefined
      ? synthetic('', inherited.item().name, type, true)
      : { ...element, nillable: true, type }
  }
  const type: ArrayType = {
    kind: 'array',
    name,
    label: name?.name ?? inherited.label,
    ranks: said?.ranks ?? (declared === undefined ? inherited.ranks : [1]),
    item: once(use)
  }
  return arrays.derived(type, [inherited])
}

/** SOAP 1.1: `wsdl:arrayType="t:Name[,][]"`. SOAP 1.2: `enc:itemType` with only the name. */
function arrayTypeOf(
  derivation: Definition
): { readonly definition: Definition; readonly type: string; readonly ranks: readonly number[] } | undefined {
  for (const node of elements(derivation.node, NS.xsd, 'attribute')) {
    const definition = { node, context: derivation.context }
    const ref = attribute(node, 'ref')
    const name = ref === undefined ? undefined : nameIn(definition, ref)
    if (name === undefined || !ENCODINGS.has(name.namespace)) continue
    if (name.name === 'arrayType') {
      const text = attribute(node, 'arrayType', NS.wsdl) ?? attribute(node, 'arrayType')
      const match = /^\s*([^[\]\s]+)\s*((?:\[[\d,\s]*\])+)?\s*$/.exec(text ?? '')
      // Some WSDLs omit the brackets of an array with one dimension.
      if (match !== null) return { definition, type: match[1] ?? '', ranks: ranksOf(match[2] ?? '[]') }
    }
    const itemType = name.name === 'itemType' ? (attribute(node, 'itemType', NS.wsdl) ?? fixedOf(node)) : undefined
    if (itemType !== undefined) return { definition, type: itemType, ranks: [1] }
  }
  return undefined
}

function fixedOf(node: XmlElement): string | undefined {
  return attribute(node, 'fixed') ?? attribute(node, 'default')
}

/** `int[][,]` is a two-dimensional array of arrays (SOAP 1.1, section 5.4.2), so the last brackets are the outermost. */
function ranksOf(brackets: string): number[] {
  return [...brackets.matchAll(/\[([^\]]*)\]/g)].map(([, inner = '']) => inner.split(',').length).toReversed()
}

function find(node: XmlElement, is: (node: XmlElement) => boolean): XmlElement | undefined {
  for (const child of elements(node, NS.xsd)) {
    if (is(child)) return child
    if (child.name === 'annotation') continue
    const found = find(child, is)
    if (found !== undefined) return found
  }
  return undefined
}
