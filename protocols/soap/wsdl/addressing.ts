import { randomUUID } from 'node:crypto'
import { type Policies, requires } from './policy.ts'
import { type XmlElement, attribute } from '../xml/tree.ts'
import type { XmlWriter } from '../xml/write.ts'

/** The fields that WS-Addressing requires in a request (WS-Addressing 1.0 Core, section 3.2). */
export interface Addressing {
  readonly action: string
  /** The address as in the WSDL, because services compare it with their own. */
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

/** Whether a binding or port requires WS-Addressing (WS-Addressing 1.0 Metadata, section 3). */
export function requiresAddressing(node: XmlElement, policies: Policies): boolean {
  return requires(node, policies, isAssertion)
}

function isAssertion({ namespace, name }: XmlElement): boolean {
  return METADATA.has(namespace) && (name === 'UsingAddressing' || name === 'Addressing')
}

/**
 * The action of an input: its own attribute, else the SOAP action, else built from its name (WS-Addressing 1.0 Metadata, section
 * 4.4).
 */
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

/** Must be called within the open header. */
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
