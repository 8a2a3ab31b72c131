import { randomUUID } from 'node:crypto'
import { NS } from './names.ts'
import { type XmlElement, attribute, elements } from './xml-tree.ts'
import type { XmlWriter } from './xml-write.ts'

/** What WS-Addressing wants to be said of a request (WS-Addressing 1.0 Core, section 3.2). */
export interface Addressing {
  readonly action: string
  /** The address as the WSDL has it: services compare it with their own. */
  readonly to: string
}

const WSA = 'http://www.w3.org/2005/08/addressing'
const ANONYMOUS = `${WSA}/anonymous`
/** WS-Addressing 1.0 Metadata, and the WSDL Binding before it. */
const METADATA: ReadonlySet<string> = new Set([
  'http://www.w3.org/2007/05/addressing/metadata',
  'http://www.w3.org/2006/05/addressing/wsdl',
  'http://www.w3.org/2006/02/addressing/wsdl'
])
const SECURITY_UTILITY = 'http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd'
const POLICY_DEPTH_MAX = 8

/**
 * Whether a binding or port requires WS-Addressing: by an extension with `wsdl:required`, or by a policy that is not optional
 * (WS-Addressing 1.0 Metadata, section 3). `policies` are the WSDL's own, by their id.
 */
export function requiresAddressing(node: XmlElement, policies: ReadonlyMap<string, XmlElement>): boolean {
  return elements(node).some((child) => {
    if (isAssertion(child)) return isTrue(attribute(child, 'required', NS.wsdl))
    if (child.name === 'Policy') return asserts(child, POLICY_DEPTH_MAX)
    if (child.name !== 'PolicyReference') return false
    const policy = policies.get((attribute(child, 'URI') ?? '').trim().replace(/^#/, ''))
    return policy !== undefined && asserts(policy, POLICY_DEPTH_MAX)
  })
}

/** Policies written in a WSDL, by `wsu:Id` or `Name`. */
export function policiesOf(definitions: readonly XmlElement[]): Map<string, XmlElement> {
  const policies = new Map<string, XmlElement>()
  for (const policy of definitions.flatMap((root) => elements(root).filter(({ name }) => name === 'Policy'))) {
    const id = attribute(policy, 'Id', SECURITY_UTILITY) ?? attribute(policy, 'Id') ?? attribute(policy, 'Name')
    if (id !== undefined) policies.set(id.trim(), policy)
  }
  return policies
}

function asserts(policy: XmlElement, depth: number): boolean {
  return elements(policy).some((child) => {
    const optional = child.attributes.some(({ name, value }) => name === 'Optional' && isTrue(value))
    if (optional) return false
    return isAssertion(child) || (depth > 0 && asserts(child, depth - 1))
  })
}

function isAssertion({ namespace, name }: XmlElement): boolean {
  return METADATA.has(namespace) && (name === 'UsingAddressing' || name === 'Addressing')
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && ['true', '1'].includes(text.trim())
}

/** The action of an input: as it says, else SOAP's own, else by its name (WS-Addressing 1.0 Metadata, section 4.4). */
export function actionOf(
  input: XmlElement,
  soapAction: string,
  {
    namespace,
    portType,
    operation
  }: { readonly namespace: string; readonly portType: string; readonly operation: string }
): string {
  for (const one of input.attributes) if (one.name === 'Action' && METADATA.has(one.namespace)) return one.value
  if (soapAction !== '') return soapAction
  const name = attribute(input, 'name')?.trim() ?? `${operation}Request`
  const separator = namespace.startsWith('urn:') ? ':' : '/'
  return [namespace.replace(/[/:]$/, ''), portType, name].join(separator)
}

/** Within the open header. */
export function writeAddressing(writer: XmlWriter, { action, to }: Addressing): void {
  const block = (name: string, text: string) => {
    writer.open(WSA, name)
    writer.text(text)
    writer.close()
  }
  block('Action', action)
  block('MessageID', `urn:uuid:${randomUUID()}`)
  writer.open(WSA, 'ReplyTo')
  block('Address', ANONYMOUS)
  writer.close()
  block('To', to)
}
