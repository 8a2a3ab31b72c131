import { SoukError } from '../../../lib/base/errors.ts'
import { FAULT_DETAIL_BYTES_MAX } from '../../../lib/base/limits/soap.ts'
import type { Decoder } from './decode.ts'
import { isNil } from './generic.ts'
import type { ElementUse } from '../schema/model.ts'
import { NS, clark } from '../xml/names.ts'
import { type XmlElement, elements, firstElement, textOf } from '../xml/tree.ts'

/** The member `fault` of the problem document. */
export interface Fault {
  /** Local name of the fault code as sent: `Client`, `Server`, `Sender`, `Receiver`, or a code of the service. */
  readonly code: string
  /** SOAP 1.2: local name of the most specific subcode. */
  readonly subcode?: string
  /** The service's own text. */
  readonly reason: string
  readonly actor?: string
  /** By element name: typed if the WSDL declares it, else untyped. */
  readonly detail?: unknown
}

const CLIENT = /^(?:Client|Sender)(?:\.|$)/

/**
 * The fault of a SOAP body; undefined if there is none. Some services write it in the namespace of the other SOAP version, or in none.
 */
export function faultIn(body: XmlElement): XmlElement | undefined {
  return firstElement(body, body.namespace, 'Fault') ?? elements(body).find(isFault)
}

function isFault(element: XmlElement): boolean {
  const { namespace, name } = element
  if (name !== 'Fault') return false
  // A response element may have this name too.
  if (namespace === '') return child(element, 'faultcode') !== undefined || child(element, 'faultstring') !== undefined
  return namespace === NS.envelope11 || namespace === NS.envelope12
}

/**
 * Converts a fault to the consumer's error: 400 if the request is at fault, else 502.
 * @param secrets texts to redact, because services may repeat a wrong password
 */
export function faultError(
  fault: XmlElement,
  decoder: Decoder,
  declared: ReadonlyMap<string, ElementUse>,
  secrets: readonly string[] = []
): SoukError {
  const read = without(secrets, readFault(fault, decoder, declared))
  const sender = CLIENT.test(read.code)
  const detail = sender ? 'The SOAP service rejected the request with a fault.' : 'The SOAP service returned a fault.'
  return new SoukError('soap_fault', detail, {
    source: 'upstream',
    members: { fault: read },
    ...(sender ? { status: 400 } : {})
  })
}

function without(secrets: readonly string[], fault: Fault): Fault {
  return secrets.length === 0 ? fault : (blanked(secrets, fault) as Fault)
}

function blanked(secrets: readonly string[], json: unknown): unknown {
  if (typeof json === 'string') return secrets.reduce((text, secret) => text.replaceAll(secret, '…'), json)
  if (typeof json === 'number' && secrets.includes(String(json))) return '…'
  if (Array.isArray(json)) return json.map((item) => blanked(secrets, item))
  if (typeof json !== 'object' || json === null) return json
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, blanked(secrets, value)]))
}

function readFault(fault: XmlElement, decoder: Decoder, declared: ReadonlyMap<string, ElementUse>): Fault {
  const soap12 = fault.namespace === NS.envelope12
  const code = soap12 ? textIn(fault, ['Code', 'Value']) : textIn(fault, ['faultcode'])
  const subcode = soap12 ? subcodeOf(fault) : undefined
  const actor = soap12 ? (textIn(fault, ['Role']) ?? textIn(fault, ['Node'])) : textIn(fault, ['faultactor'])
  const reason = soap12 ? textIn(fault, ['Reason', 'Text']) : textIn(fault, ['faultstring'])
  const node = child(fault, soap12 ? 'Detail' : 'detail')
  const detail = node === undefined ? undefined : bounded(readDetail(node, decoder, declared))
  return {
    code: local(code ?? ''),
    ...(subcode === undefined ? {} : { subcode: local(subcode) }),
    reason: (reason ?? '').slice(0, FAULT_DETAIL_BYTES_MAX),
    ...(actor === undefined ? {} : { actor: actor.slice(0, FAULT_DETAIL_BYTES_MAX) }),
    ...(detail === undefined ? {} : { detail })
  }
}

/** SOAP 1.1 puts a fault's children in no namespace; some services use the envelope's namespace. */
function child(element: XmlElement, name: string): XmlElement | undefined {
  return elements(element).find((one) => one.name === name)
}

function textIn(element: XmlElement, path: readonly string[]): string | undefined {
  let at: XmlElement | undefined = element
  for (const name of path) at = at && child(at, name)
  return at && textOf(at).trim()
}

function subcodeOf(fault: XmlElement): string | undefined {
  let value: string | undefined
  let at = child(fault, 'Code')
  for (at = at && child(at, 'Subcode'); at !== undefined; at = child(at, 'Subcode'))
    value = textIn(at, ['Value']) ?? value
  return value
}

function local(qname: string): string {
  return qname.slice(qname.lastIndexOf(':') + 1).slice(0, FAULT_DETAIL_BYTES_MAX)
}

function readDetail(detail: XmlElement, decoder: Decoder, declared: ReadonlyMap<string, ElementUse>): unknown {
  const children = elements(detail)
  if (children.length === 0) return textOf(detail).trim() || undefined
  const entries = new Map<string, unknown>()
  for (const one of children) {
    const use = declared.get(clark(one.namespace, one.name)) ?? declared.get(one.name)
    const json = use === undefined ? (decoder.typed(one) ?? { json: loose(one) }).json : decoder.element(use, one)
    append(entries, one.name, json)
  }
  return Object.fromEntries(entries)
}

/** Undeclared detail is for people to read, so it omits namespaces: one member per name, and an array for repeated names. */
function loose(element: XmlElement): unknown {
  if (isNil(element)) return null
  const children = elements(element)
  const attributes = element.attributes.filter((one) => one.namespace !== NS.xsi)
  if (children.length === 0 && attributes.length === 0) return textOf(element)
  const entries = new Map<string, unknown>(attributes.map((one) => [`@${one.name}`, one.value]))
  for (const one of children) append(entries, one.name, loose(one))
  if (children.length === 0 && textOf(element).trim() !== '') entries.set('value', textOf(element))
  return Object.fromEntries(entries)
}

class Repeated {
  readonly values: unknown[]
  constructor(values: unknown[]) {
    this.values = values
  }
  toJSON(): unknown[] {
    return this.values
  }
}

function append(entries: Map<string, unknown>, name: string, json: unknown): void {
  const before = entries.get(name)
  if (before instanceof Repeated) before.values.push(json)
  else entries.set(name, entries.has(name) ? new Repeated([before, json]) : json)
}

/** Each hop keeps an error in memory, so a detail above the limit is truncated. Also makes plain JSON of it. */
function bounded(detail: unknown): unknown {
  if (detail === undefined) return undefined
  const text = JSON.stringify(detail)
  if (Buffer.byteLength(text) > FAULT_DETAIL_BYTES_MAX) return { truncated: true, text: text.slice(0, 1_000) }
  return JSON.parse(text) as unknown
}
