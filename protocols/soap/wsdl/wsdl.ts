import { requiresAddressing } from './addressing.ts'
import { NS, type QName, clark, parseClark } from '../xml/names.ts'
import { type Policies, policiesOf, requires } from './policy.ts'
import type { WsdlDocument } from './wsdl-files.ts'
import { type XmlElement, attribute, elements, firstElement, qnameIn } from '../xml/tree.ts'

/** The content of a WSDL 1.1 with resolved references, not validated. */
export interface Wsdl {
  readonly messages: ReadonlyMap<string, Message>
  readonly portTypes: ReadonlyMap<string, XmlElement>
  readonly bindings: ReadonlyMap<string, Binding>
  /** Names of the bindings to other protocols than SOAP. */
  readonly otherBindings: readonly string[]
  readonly ports: readonly Port[]
  /** Ports whose binding is defined nowhere, with its name. */
  readonly unboundPorts: ReadonlyArray<readonly [port: string, binding: string]>
}

export interface Message {
  readonly parts: readonly Part[]
}

export interface Part {
  readonly name: string
  readonly element: QName | undefined
  readonly type: QName | undefined
}

export type SoapVersion = '1.1' | '1.2'

export interface Port {
  readonly service: string
  /** True if it requires WS-Addressing. */
  readonly addressing: boolean
  /** True if it requires MTOM. */
  readonly mtom: boolean
  readonly name: string
  readonly binding: Binding
  readonly address: string | undefined
}

/** A binding to SOAP. `style` is the default of its operations. */
export interface Binding {
  readonly name: string
  readonly version: SoapVersion
  readonly style: string
  readonly transport: string
  readonly portType: string
  readonly addressing: boolean
  /** True if it requires binary content as attachments. */
  readonly mtom: boolean
  readonly operations: readonly BoundOperation[]
}

export interface BoundOperation {
  readonly name: string
  readonly style: string
  readonly action: string
  readonly mtom: boolean
  /** The `name` attributes of input and output, which distinguish overloads. */
  readonly inputName: string | undefined
  readonly outputName: string | undefined
  readonly input: BoundMessage | undefined
  readonly output: BoundMessage | undefined
}

export interface BoundMessage {
  readonly use: string
  readonly namespace: string
  /** Names of the parts in the body; undefined if the binding does not list them. */
  readonly parts: readonly string[] | undefined
  readonly headers: readonly BoundHeader[]
  /** The parts that are attachments, with their allowed media types. */
  readonly contents: ReadonlyMap<string, readonly string[]>
}

export interface BoundHeader {
  readonly message: string
  readonly part: string
  readonly use: string
  readonly namespace: string
}

const BINDINGS: ReadonlyMap<string, SoapVersion> = new Map([
  [NS.soapBinding11, '1.1'],
  [NS.soapBinding12, '1.2']
])

export function readWsdl(documents: readonly WsdlDocument[]): Wsdl {
  const messages = new Map<string, Message>()
  const portTypes = new Map<string, XmlElement>()
  const bindings = new Map<string, Binding>()
  const otherBindings: string[] = []
  const definitions = documents.map(({ root }) => root).filter((root) => root.namespace === NS.wsdl)
  const policies = policiesOf(definitions)
  for (const root of definitions) {
    const namespace = attribute(root, 'targetNamespace') ?? ''
    const named = (node: XmlElement) => clark(namespace, attribute(node, 'name')?.trim() ?? '')
    for (const node of elements(root, NS.wsdl, 'message')) messages.set(named(node), readMessage(node))
    for (const node of elements(root, NS.wsdl, 'portType')) portTypes.set(named(node), node)
    for (const node of elements(root, NS.wsdl, 'binding')) {
      const binding = readBinding(node, policies)
      if (binding === undefined) otherBindings.push(attribute(node, 'name')?.trim() ?? '')
      else bindings.set(named(node), binding)
    }
  }
  const ports: Port[] = []
  const unboundPorts: Array<readonly [port: string, binding: string]> = []
  for (const service of definitions.flatMap((root) => elements(root, NS.wsdl, 'service'))) {
    for (const node of elements(service, NS.wsdl, 'port')) {
      const key = keyOf(node, 'binding') ?? ''
      const binding = named(bindings, key)
      if (binding !== undefined) ports.push(readPort(node, service, binding, policies))
      else if (!otherBindings.includes(parseClark(key).name)) unboundPorts.push([attribute(node, 'name') ?? '', key])
    }
  }
  return { messages, portTypes, bindings, otherBindings, ports, unboundPorts }
}

/**
 * Resolves a reference. If its namespace is wrong or missing, the only definition with that local name counts, because many
 * hand-written WSDLs omit the prefix (WSDL 1.1, section 2.1.1, requires one).
 */
export function named<T>(all: ReadonlyMap<string, T>, key: string): T | undefined {
  const exact = all.get(key)
  if (exact !== undefined) return exact
  const { name } = parseClark(key)
  const same = [...all.keys()].filter((one) => parseClark(one).name === name)
  return same.length === 1 ? all.get(same[0] ?? '') : undefined
}

/** The key of the QName in an attribute. An undeclared prefix counts as none. */
export function keyOf(node: XmlElement, name: string): string | undefined {
  const text = attribute(node, name)
  if (text === undefined) return undefined
  const qname = qnameIn(node, text) ?? { namespace: '', name: text.slice(text.indexOf(':') + 1).trim() }
  return clark(qname.namespace, qname.name)
}

function readMessage(node: XmlElement): Message {
  const qname = (part: XmlElement, name: string) => {
    const text = attribute(part, name)
    return text === undefined ? undefined : qnameIn(part, text)
  }
  return {
    parts: elements(node, NS.wsdl, 'part').map((part) => ({
      name: attribute(part, 'name')?.trim() ?? '',
      element: qname(part, 'element'),
      type: qname(part, 'type')
    }))
  }
}

/** Undefined for a binding to another protocol than SOAP. */
function readBinding(node: XmlElement, policies: Policies): Binding | undefined {
  const soap = elements(node).find((child) => BINDINGS.has(child.namespace) && child.name === 'binding')
  const version = soap && BINDINGS.get(soap.namespace)
  if (soap === undefined || version === undefined) return undefined
  const style = attribute(soap, 'style')?.trim() ?? 'document'
  return {
    name: attribute(node, 'name') ?? '',
    version,
    style,
    transport: attribute(soap, 'transport')?.trim() ?? '',
    portType: keyOf(node, 'type') ?? '',
    addressing: requiresAddressing(node, policies),
    mtom: requires(node, policies, isMtom),
    operations: elements(node, NS.wsdl, 'operation').map((operation) =>
      readOperation(operation, soap.namespace, style, policies)
    )
  }
}

function readOperation(node: XmlElement, soap: string, style: string, policies: Policies): BoundOperation {
  const detail = firstElement(node, soap, 'operation')
  const input = firstElement(node, NS.wsdl, 'input')
  const output = firstElement(node, NS.wsdl, 'output')
  return {
    name: attribute(node, 'name')?.trim() ?? '',
    style: (detail && attribute(detail, 'style')?.trim()) ?? style,
    action: (detail && attribute(detail, 'soapAction')?.trim()) ?? '',
    mtom: [node, input].some((one) => one !== undefined && requires(one, policies, isMtom)),
    inputName: input && attribute(input, 'name'),
    outputName: output && attribute(output, 'name'),
    input: input && readBody(input, soap),
    output: output && readBody(output, soap)
  }
}

/** With attachments, the body is in the first part of `mime:multipartRelated`. */
function readBody(node: XmlElement, soap: string): BoundMessage | undefined {
  const body = find(node, soap, 'body', 4)
  if (body === undefined) return undefined
  return {
    use: attribute(body, 'use')?.trim() ?? 'literal',
    namespace: attribute(body, 'namespace')?.trim() ?? '',
    parts: attribute(body, 'parts')
      ?.trim()
      .split(/\s+/)
      .filter((name) => name !== ''),
    headers: headerNodes(node, soap, 4).map((header) => ({
      message: keyOf(header, 'message') ?? '',
      part: attribute(header, 'part')?.trim() ?? '',
      use: attribute(header, 'use')?.trim() ?? 'literal',
      namespace: attribute(header, 'namespace')?.trim() ?? ''
    })),
    contents: contentsOf(node)
  }
}

/** WSDL 1.1, section 5: `mime:content` in separate parts. Several for one part are alternatives. */
function contentsOf(node: XmlElement): ReadonlyMap<string, readonly string[]> {
  const contents = new Map<string, string[]>()
  for (const related of elements(node, NS.mimeBinding, 'multipartRelated')) {
    for (const content of elements(related, NS.mimeBinding, 'part').flatMap((part) =>
      elements(part, NS.mimeBinding, 'content')
    )) {
      const part = attribute(content, 'part')?.trim() ?? ''
      const type = attribute(content, 'type')?.trim()
      contents.set(part, [...(contents.get(part) ?? []), ...(type === undefined || type === '' ? [] : [type])])
    }
  }
  return contents
}

/** MTOM Serialization Policy Assertion 1.0 and 1.1. */
function isMtom({ namespace, name }: XmlElement): boolean {
  return (
    (name === 'OptimizedMimeSerialization' &&
      namespace === 'http://schemas.xmlsoap.org/ws/2004/09/policy/optimizedmimeserialization') ||
    (name === 'MTOM' && namespace.startsWith('http://www.w3.org/2007/08/soap12-mtom-policy'))
  )
}

function headerNodes(node: XmlElement, soap: string, depth: number): XmlElement[] {
  const here = elements(node, soap, 'header')
  return depth === 0 ? here : [...here, ...elements(node).flatMap((child) => headerNodes(child, soap, depth - 1))]
}

function find(node: XmlElement, namespace: string, name: string, depth: number): XmlElement | undefined {
  const here = firstElement(node, namespace, name)
  if (here !== undefined || depth === 0) return here
  for (const child of elements(node)) {
    const found = find(child, namespace, name, depth - 1)
    if (found !== undefined) return found
  }
  return undefined
}

function readPort(node: XmlElement, service: XmlElement, binding: Binding, policies: Policies): Port {
  const address = elements(node).find((child) => BINDINGS.has(child.namespace) && child.name === 'address')
  return {
    service: attribute(service, 'name') ?? '',
    name: attribute(node, 'name') ?? '',
    binding,
    addressing: binding.addressing || requiresAddressing(node, policies),
    mtom: binding.mtom || requires(node, policies, isMtom),
    address: address && attribute(address, 'location')?.trim()
  }
}
