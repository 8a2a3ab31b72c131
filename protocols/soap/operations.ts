import { shapeOfParticle } from './compile-shape.ts'
import { groupOf } from './compile-particle.ts'
import type { SchemaCompiler } from './compile.ts'
import { ANY_TYPE, type ComplexType, type ElementUse } from './model.ts'
import { NS, clark } from './names.ts'
import {
  type BoundMessage,
  type BoundOperation,
  keyOf,
  type Part,
  type Port,
  type SoapVersion,
  type Wsdl
} from './wsdl.ts'
import { type XmlElement, attribute, elements, firstElement, lineOf } from './xml-tree.ts'

/** One operation of one port, ready to be called. */
export interface SoapOperation {
  readonly service: string
  readonly port: string
  /** As in the WSDL; `bindings.ts` gives it a name that is unique. */
  readonly name: string
  readonly version: SoapVersion
  readonly style: 'document' | 'rpc'
  /** SOAPAction of SOAP 1.1, `action` of SOAP 1.2. */
  readonly action: string
  readonly address: string | undefined
  readonly documentation: string | undefined
  readonly input: () => MessageModel
  /** Undefined for a one-way operation. */
  readonly output: (() => MessageModel) | undefined
  /** Declared faults' elements, by `{namespace}name`. */
  readonly faults: ReadonlyMap<string, ElementUse>
}

/**
 * What stands in the SOAP body. With a wrapper, JSON is the content of that one element; without, the members are the body's
 * elements themselves.
 *
 * | Binding                                            | wrapper                                  | JSON                       |
 * |----------------------------------------------------|------------------------------------------|----------------------------|
 * | document/literal, one element of a complex type    | that element                             | its content                |
 * | document/literal, one element that holds a text    | none                                     | `{ element: value }`       |
 * | document/literal, several parts                    | none                                     | `{ element: content, … }`  |
 * | document/literal, no part                          | none                                     | `{}`                       |
 * | rpc/literal                                        | the operation's name (+ `Response`)      | `{ part: content, … }`     |
 *
 * So `<getBalanceResponse><balance>1</balance></getBalanceResponse>` is `{"balance": 1}`, and a lone `<return>` stays
 * `{"return": …}`.
 */
export interface MessageModel {
  readonly wrapper: ElementUse | undefined
  readonly content: ComplexType
}

/** Why an operation cannot be offered. Completes "Operation X is left out: …". */
type Unusable = { readonly reason: string }

interface Sources {
  readonly wsdl: Wsdl
  readonly compiler: SchemaCompiler
  readonly port: Port
}

/** The operations of one port; for each that cannot be offered, why. */
export function readOperations(
  wsdl: Wsdl,
  port: Port,
  compiler: SchemaCompiler,
  leftOut: (operation: string, reason: string) => void
): SoapOperation[] {
  const portType = wsdl.portTypes.get(port.binding.portType)
  const operations: SoapOperation[] = []
  for (const bound of port.binding.operations) {
    const abstract = portType && abstractOf(portType, bound)
    const operation =
      abstract === undefined
        ? { reason: 'its port type does not have it (is an import missing?)' }
        : readOne(bound, abstract, { wsdl, compiler, port })
    if ('reason' in operation) leftOut(bound.name, operation.reason)
    else operations.push(operation)
  }
  return operations
}

/** Overloads share a name and differ by the names of their messages (WSDL 1.1, section 2.5). */
function abstractOf(portType: XmlElement, bound: BoundOperation): XmlElement | undefined {
  const named = elements(portType, NS.wsdl, 'operation').filter(
    (node) => attribute(node, 'name')?.trim() === bound.name
  )
  const same = (node: XmlElement, part: 'input' | 'output', name: string | undefined) => {
    const message = firstElement(node, NS.wsdl, part)
    const given = message && attribute(message, 'name')
    return name === undefined || given === undefined || given === name
  }
  const exact = named.find((node) => same(node, 'input', bound.inputName) && same(node, 'output', bound.outputName))
  return exact ?? named[0]
}

function readOne(bound: BoundOperation, abstract: XmlElement, sources: Sources): SoapOperation | Unusable {
  const { port } = sources
  const style = bound.style === 'rpc' ? 'rpc' : 'document'
  const inputNode = firstElement(abstract, NS.wsdl, 'input')
  const outputNode = firstElement(abstract, NS.wsdl, 'output')
  if (inputNode === undefined) return { reason: 'it has no input, so it is the service that would call' }
  if ([bound.input, bound.output].some((message) => message?.use === 'encoded')) {
    return { reason: 'it uses SOAP encoding (use="encoded"), and only literal messages are supported' }
  }
  const input = messageOf(bound.name, inputNode, bound.input, style, sources)
  if ('reason' in input) return input
  const output = outputNode && messageOf(`${bound.name}Response`, outputNode, bound.output, style, sources)
  if (output !== undefined && 'reason' in output) return output
  return {
    service: port.service,
    port: port.name,
    name: bound.name,
    version: port.binding.version,
    style,
    action: bound.action,
    address: port.address,
    documentation: lineOf(firstElement(abstract, NS.wsdl, 'documentation')),
    input: input.model,
    output: output?.model,
    faults: faultsOf(abstract, sources)
  }
}

function messageOf(
  wrapperName: string,
  node: XmlElement,
  bound: BoundMessage | undefined,
  style: 'document' | 'rpc',
  { wsdl, compiler }: Sources
): { readonly model: () => MessageModel } | Unusable {
  const key = keyOf(node, 'message') ?? ''
  const message = wsdl.messages.get(key)
  if (message === undefined) return { reason: `its message ${key} is not defined (is an import missing?)` }
  const headers = new Set(bound?.headers.filter((header) => header.message === key).map((header) => header.part))
  const parts = message.parts.filter((part) => bound?.parts?.includes(part.name) ?? !headers.has(part.name))
  const uses: ElementUse[] = []
  for (const part of parts) {
    const use = style === 'rpc' ? rpcPart(part, compiler) : documentPart(part, compiler)
    if ('reason' in use) return use
    uses.push(use)
  }
  const content = listing(uses, node)
  if (style === 'rpc')
    return { model: () => ({ wrapper: wrapperOf(bound?.namespace ?? '', wrapperName, content), content }) }
  const [only] = uses
  return {
    model() {
      const type = uses.length === 1 ? only?.type() : undefined
      const spreads = type?.kind === 'complex' && type.shape().text === undefined
      return spreads ? { wrapper: only, content: type } : { wrapper: undefined, content }
    }
  }
}

function documentPart(part: Part, compiler: SchemaCompiler): ElementUse | Unusable {
  if (part.element === undefined) return { reason: `part ${part.name} has a type, and document style needs an element` }
  const { namespace, name } = part.element
  const use = compiler.globalElement(clark(namespace, name))
  return use ?? { reason: `element {${namespace}}${name} is not defined (is an import missing?)` }
}

/** WS-I Basic Profile 1.1, R2735: part accessors are in no namespace. */
function rpcPart(part: Part, compiler: SchemaCompiler): ElementUse | Unusable {
  if (part.element !== undefined) return documentPart(part, compiler)
  const { type: named } = part
  return synthetic('', part.name, () => (named && compiler.type(named)) ?? ANY_TYPE)
}

function wrapperOf(namespace: string, name: string, content: ComplexType): ElementUse {
  return synthetic(namespace, name, () => content)
}

function synthetic(namespace: string, name: string, type: ElementUse['type']): ElementUse {
  return { namespace, name, type, nillable: false, abstract: false, default: undefined, documentation: undefined }
}

/** The parts of a message as if they were a sequence of a schema. */
function listing(uses: readonly ElementUse[], node: XmlElement): ComplexType {
  const shape = shapeOfParticle(
    groupOf(
      'sequence',
      uses.map((element) => ({ kind: 'element', element, min: 1, max: 1 }))
    )
  )
  return {
    kind: 'complex',
    name: undefined,
    label: node.name,
    abstract: false,
    base: () => ANY_TYPE,
    shape: () => shape
  }
}

function faultsOf(abstract: XmlElement, { wsdl, compiler }: Sources): Map<string, ElementUse> {
  const faults = new Map<string, ElementUse>()
  for (const node of elements(abstract, NS.wsdl, 'fault')) {
    for (const part of wsdl.messages.get(keyOf(node, 'message') ?? '')?.parts ?? []) {
      const use = rpcPart(part, compiler)
      if (!('reason' in use)) faults.set(clark(use.namespace, use.name), use)
    }
  }
  return faults
}
