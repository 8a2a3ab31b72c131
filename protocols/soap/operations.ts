import { type Addressing, actionOf } from './addressing.ts'
import type { SchemaCompiler } from './compile.ts'
import { type MessageModel, listing } from './message.ts'
import { ANY_TYPE, type ElementUse, synthetic } from './model.ts'
import { NS, clark, parseClark } from './names.ts'
import { once } from './once.ts'
import {
  type BoundMessage,
  type BoundOperation,
  keyOf,
  type Part,
  named,
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
  /** What WS-Addressing wants to be told, where the port requires it. */
  readonly addressing: Addressing | undefined
  readonly documentation: string | undefined
  readonly input: () => MessageModel
  /** Undefined for a one-way operation. */
  readonly output: (() => MessageModel) | undefined
  /** Declared faults' elements, by `{namespace}name`. */
  readonly faults: ReadonlyMap<string, ElementUse>
}

/** Why an operation cannot be offered. Completes "Operation X is left out: …". */
type Unusable = { readonly reason: string }

interface Sources {
  readonly wsdl: Wsdl
  readonly compiler: SchemaCompiler
  readonly port: Port
  readonly warn: (text: string) => void
}

/** The operations of one port; for each that cannot be offered, why. */
export function readOperations(
  wsdl: Wsdl,
  port: Port,
  compiler: SchemaCompiler,
  leftOut: (operation: string, reason: string) => void,
  warn: (text: string) => void
): SoapOperation[] {
  const portType = named(wsdl.portTypes, port.binding.portType)
  const abstracts = portType && byName(portType)
  const operations: SoapOperation[] = []
  for (const bound of port.binding.operations) {
    const abstract = abstractOf(abstracts?.get(bound.name) ?? [], bound)
    const operation =
      abstract === undefined
        ? { reason: 'its port type does not have it (is an import missing?)' }
        : readOne(bound, abstract, { wsdl, compiler, port, warn })
    if ('reason' in operation) leftOut(bound.name, operation.reason)
    else operations.push(operation)
  }
  return operations
}

/** Operations of a port type by name; overloads share one. */
function byName(portType: XmlElement): ReadonlyMap<string, readonly XmlElement[]> {
  const all = new Map<string, XmlElement[]>()
  for (const node of elements(portType, NS.wsdl, 'operation')) {
    const name = attribute(node, 'name')?.trim() ?? ''
    const same = all.get(name)
    if (same === undefined) all.set(name, [node])
    else same.push(node)
  }
  return all
}

/** Overloads differ by the names of their messages (WSDL 1.1, section 2.5). */
function abstractOf(overloads: readonly XmlElement[], bound: BoundOperation): XmlElement | undefined {
  const same = (node: XmlElement, part: 'input' | 'output', name: string | undefined) => {
    const message = firstElement(node, NS.wsdl, part)
    const given = message && attribute(message, 'name')
    return name === undefined || given === undefined || given === name
  }
  const exact = overloads.find((node) => same(node, 'input', bound.inputName) && same(node, 'output', bound.outputName))
  return exact ?? overloads[0]
}

function readOne(bound: BoundOperation, abstract: XmlElement, sources: Sources): SoapOperation | Unusable {
  const { port } = sources
  const style = bound.style === 'rpc' ? 'rpc' : 'document'
  const inputNode = firstElement(abstract, NS.wsdl, 'input')
  const outputNode = firstElement(abstract, NS.wsdl, 'output')
  if (inputNode === undefined) return { reason: 'it has no input, so it is the service that would call' }
  const input = messageOf(bound.name, inputNode, bound.input, style, sources)
  if ('reason' in input) return input
  const answer = outputNode && messageOf(`${bound.name}Response`, outputNode, bound.output, style, sources)
  const output = answer !== undefined && 'reason' in answer ? undescribed(bound.name, answer.reason, sources) : answer
  return {
    service: port.service,
    port: port.name,
    name: bound.name,
    version: port.binding.version,
    style,
    action: bound.action,
    address: port.address,
    addressing: port.addressing ? addressingOf(bound, inputNode, port) : undefined,
    documentation: lineOf(firstElement(abstract, NS.wsdl, 'documentation')),
    input: input.model,
    output: output?.model,
    faults: faultsOf(abstract, sources)
  }
}

function addressingOf(bound: BoundOperation, input: XmlElement, { binding, address }: Port): Addressing {
  const { namespace, name } = parseClark(binding.portType)
  return {
    action: actionOf(input, bound.action, { namespace, portType: name, operation: bound.name }),
    to: address ?? ''
  }
}

/** An operation whose answer the WSDL does not describe can still be called: what comes is taken as it comes. */
function undescribed(operation: string, reason: string, { warn }: Sources): { readonly model: () => MessageModel } {
  warn(`The answer of operation ${operation} is taken as it comes: ${reason}.`)
  const content = listing([], 'output')
  return { model: () => ({ wrapper: undefined, content, encoded: false, headers: new Map() }) }
}

function messageOf(
  wrapperName: string,
  node: XmlElement,
  bound: BoundMessage | undefined,
  style: 'document' | 'rpc',
  sources: Sources
): { readonly model: () => MessageModel } | Unusable {
  const key = keyOf(node, 'message') ?? ''
  const message = named(sources.wsdl.messages, key)
  if (message === undefined) return { reason: `its message ${key} is not defined (is an import missing?)` }
  const inHeader = new Set(bound?.headers.filter((header) => header.message === key).map((header) => header.part))
  const parts = message.parts.filter((part) => bound?.parts?.includes(part.name) ?? !inHeader.has(part.name))
  const encoded = bound?.use === 'encoded'
  const uses: ElementUse[] = []
  for (const part of parts) {
    const use = partOf(part, sources, encoded)
    if ('reason' in use) return use
    uses.push(use)
  }
  const content = listing(uses, node.name)
  const headers = once(() => headersOf(bound, sources))
  if (style === 'rpc') {
    const wrapper = synthetic(bound?.namespace ?? '', wrapperName, () => content)
    return { model: () => ({ wrapper, content, encoded, headers: headers() }) }
  }
  const [only] = uses
  return {
    model() {
      const type = uses.length === 1 ? only?.type() : undefined
      const spreads = type?.kind === 'complex' && type.shape().text === undefined
      return spreads
        ? { wrapper: only, content: type, encoded, headers: headers() }
        : { wrapper: undefined, content, encoded, headers: headers() }
    }
  }
}

/**
 * A part by its element; else by its type, under its own name in no namespace (WS-I Basic Profile 1.1, R2735). In document
 * style a type is not what WS-I allows (R2204), but what some services have: their servers want the part's name.
 */
function partOf(part: Part, { compiler }: Sources, encoded: boolean): ElementUse | Unusable {
  if (part.element !== undefined) {
    const { namespace, name } = part.element
    const use = compiler.globalElement(clark(namespace, name))
    return use ?? { reason: `element {${namespace}}${name} is not defined (is an import missing?)` }
  }
  const { type: named } = part
  return synthetic('', part.name, () => (named && compiler.type(named)) ?? ANY_TYPE, encoded)
}

/** What a binding says about header blocks; those whose message or element is missing cannot be sent, and are not required. */
function headersOf(bound: BoundMessage | undefined, sources: Sources): ReadonlyMap<string, ElementUse> {
  const headers = new Map<string, ElementUse>()
  for (const header of bound?.headers ?? []) {
    const part = named(sources.wsdl.messages, header.message)?.parts.find(({ name }) => name === header.part)
    const use = part && partOf(part, sources, header.use === 'encoded')
    if (use === undefined || 'reason' in use) continue
    const block = use.namespace === '' && part?.element === undefined ? { ...use, namespace: header.namespace } : use
    headers.set(headers.has(block.name) ? clark(block.namespace, block.name) : block.name, block)
  }
  return headers
}

function faultsOf(abstract: XmlElement, sources: Sources): Map<string, ElementUse> {
  const faults = new Map<string, ElementUse>()
  for (const node of elements(abstract, NS.wsdl, 'fault')) {
    for (const part of named(sources.wsdl.messages, keyOf(node, 'message') ?? '')?.parts ?? []) {
      const use = partOf(part, sources, false)
      if (!('reason' in use)) faults.set(clark(use.namespace, use.name), use)
    }
  }
  return faults
}
