import { DESCRIPTION_CHARS_MAX } from '../../../lib/base/limits/names.ts'
import { type Addressing, actionOf } from '../wsdl/addressing.ts'
import { NS, type QName, clark, parseClark } from '../xml/names.ts'
import type { MessagePlan, OperationPlan, PartPlan } from './operation.ts'
import type { SchemaSet } from '../schema/schema-set.ts'
import { STANDARD } from '../wsdl/wsdl-files.ts'
import { type BoundMessage, type BoundOperation, keyOf, type Part, named, type Port, type Wsdl } from '../wsdl/wsdl.ts'
import { type XmlElement, attribute, elements, firstElement, lineOf } from '../xml/tree.ts'

/** Why an operation is omitted. Completes "Operation X is left out: …". */
type Unusable = { readonly reason: string }

interface Sources {
  readonly wsdl: Wsdl
  readonly schemas: SchemaSet
  readonly port: Port
  readonly warn: (text: string) => void
}

/** Receives the results while operations are read. */
export interface OperationsReader {
  /** Called for an omitted operation, with the reason. */
  leftOut(operation: string, reason: string): void
  warn(text: string): void
  /** Called for a usable operation. Throws if there are too many. */
  taken(operation: OperationPlan): void
}

/** Reads the operations of one port. */
export function readOperations(wsdl: Wsdl, port: Port, schemas: SchemaSet, reader: OperationsReader): OperationPlan[] {
  const portType = named(wsdl.portTypes, port.binding.portType)
  const abstracts = portType && byName(portType)
  const operations: OperationPlan[] = []
  for (const bound of port.binding.operations) {
    const abstract = abstractOf(abstracts?.get(bound.name) ?? [], bound)
    const operation =
      abstract === undefined
        ? { reason: 'its port type does not have it (is an import missing?)' }
        : readOne(bound, abstract, { wsdl, schemas, port, warn: (text) => reader.warn(text) })
    if ('reason' in operation) reader.leftOut(bound.name, operation.reason)
    else {
      reader.taken(operation)
      operations.push(operation)
    }
  }
  const bound = new Set(port.binding.operations.map(({ name }) => name))
  for (const name of abstracts?.keys() ?? []) {
    if (!bound.has(name)) reader.leftOut(name, `the binding ${port.binding.name} does not have it`)
  }
  return operations
}

/** The operations of a port type by name; overloads share a name. */
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

function readOne(bound: BoundOperation, abstract: XmlElement, sources: Sources): OperationPlan | Unusable {
  const { port } = sources
  const style = bound.style === 'rpc' ? 'rpc' : 'document'
  const inputNode = firstElement(abstract, NS.wsdl, 'input')
  const outputNode = firstElement(abstract, NS.wsdl, 'output')
  if (inputNode === undefined) return { reason: 'it has no input, so the service would be the caller' }
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
    mtom: port.mtom || bound.mtom,
    documentation: lineOf(firstElement(abstract, NS.wsdl, 'documentation'))?.slice(0, DESCRIPTION_CHARS_MAX),
    input,
    output,
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

/** An operation with an undescribed response can still be called; its response is read without a schema. */
function undescribed(operation: string, reason: string, { warn }: Sources): MessagePlan {
  warn(`The response of operation ${operation} is read without a schema: ${reason}.`)
  return { wrapper: undefined, encoded: false, parts: [], headers: [] }
}

function messageOf(
  wrapperName: string,
  node: XmlElement,
  bound: BoundMessage | undefined,
  style: 'document' | 'rpc',
  sources: Sources
): MessagePlan | Unusable {
  const key = keyOf(node, 'message') ?? ''
  const message = named(sources.wsdl.messages, key)
  if (message === undefined) return { reason: `its message ${key} is not defined (is an import missing?)` }
  const inHeader = new Set(bound?.headers.filter((header) => header.message === key).map((header) => header.part))
  const contents: ReadonlyMap<string, readonly string[]> = bound?.contents ?? new Map()
  const parts = message.parts.filter(
    ({ name }) => !contents.has(name) && (bound?.parts?.includes(name) ?? !inHeader.has(name))
  )
  const attachments = message.parts
    .filter(({ name }) => contents.has(name))
    .map(({ name }) => ({ name, types: contents.get(name) ?? [] }))
  const encoded = bound?.use === 'encoded'
  const plans: PartPlan[] = []
  for (const part of parts) {
    const plan = partOf(part, sources, encoded)
    const { element } = part
    if (!('reason' in plan)) plans.push(plan)
    // An element of a standard is open content, because its schema need not be there.
    else if (element !== undefined && STANDARD.has(element.namespace)) plans.push(element)
    else return plan
  }
  const wrapper = style === 'rpc' ? { namespace: bound?.namespace ?? '', name: wrapperName } : undefined
  const beside = attachments.length === 0 ? {} : { attachments }
  return { wrapper, encoded, parts: plans, headers: headersOf(bound, sources), ...beside }
}

/**
 * A part by its element; else by its type, under its own name in no namespace (WS-I Basic Profile 1.1, R2735). WS-I forbids types
 * in document style (R2204), but some services use them and expect the part's name.
 */
function partOf({ name, element, type }: Part, { schemas }: Sources, encoded: boolean): PartPlan | Unusable {
  if (element === undefined) return { name, type: type && keyOfName(type), encoded }
  const key = keyOfName(element)
  return schemas.find('element', key) === undefined
    ? { reason: `element {${element.namespace}}${element.name} is not defined (is an import missing?)` }
    : { name: element.name, element: key }
}

function keyOfName({ namespace, name }: QName): string {
  return clark(namespace, name)
}

/** The header blocks of a binding. Blocks with a missing message or element cannot be sent and are not required. */
function headersOf(bound: BoundMessage | undefined, sources: Sources): readonly PartPlan[] {
  const headers: PartPlan[] = []
  for (const header of bound?.headers ?? []) {
    const part = named(sources.wsdl.messages, header.message)?.parts.find(({ name }) => name === header.part)
    const plan = part && partOf(part, sources, header.use === 'encoded')
    if (plan === undefined || 'reason' in plan) continue
    headers.push(plan.element === undefined ? { ...plan, namespace: header.namespace } : plan)
  }
  return headers
}

function faultsOf(abstract: XmlElement, sources: Sources): PartPlan[] {
  const faults: PartPlan[] = []
  for (const node of elements(abstract, NS.wsdl, 'fault')) {
    for (const part of named(sources.wsdl.messages, keyOf(node, 'message') ?? '')?.parts ?? []) {
      const plan = partOf(part, sources, false)
      if (!('reason' in plan)) faults.push(plan)
    }
  }
  return faults
}
