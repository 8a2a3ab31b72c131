import { utf8 } from '../../lib/base/bytes.ts'
import { SoukError } from '../../lib/base/errors.ts'
import { parseExactly } from '../../lib/base/exact-json.ts'
import { jsonText, parseJson } from '../json.ts'
import type { Meter } from '../pattern/meter.ts'
import { Attachments, shownAttachment } from './message/attachments.ts'
import { canonicalDecimal, plainDecimal } from './schema/decimal.ts'
import { Decoder } from './message/decode.ts'
import { isObject, type JsonObject } from './message/encoding.ts'
import { type Envelope, plainAction, readEnvelope, writeEnvelope } from './message/envelope.ts'
import { faultError, faultIn } from './message/fault.ts'
import { mapInput, mapOutput, shownPath } from './mapping/mapping-apply.ts'
import type { MessageModel } from './message/message.ts'
import { type Attachment, isMultipart, readMultipart, unpack, writeMultipart } from './message/multipart.ts'
import { Problems } from './message/problems.ts'
import { NS } from './xml/names.ts'
import type { SoapOperation } from './message/operation.ts'
import { References } from './message/references.ts'
import { selectOperation } from './message/select.ts'
import type { SoapService } from './service.ts'
import { XmlError } from './xml/error.ts'
import { PART_STEPS } from './schema/steps.ts'
import { parseXml } from './xml/parse.ts'
import { decodeXml } from './xml/text.ts'
import { type XmlElement, attribute, elements } from './xml/tree.ts'

/** A call in the form sent to the service. */
export interface SoapRequest {
  /** The consumer's name for the operation. */
  readonly operation: string
  readonly document: Uint8Array
  /** The content type of `document`, if it is more than an envelope. */
  readonly type?: string
}

/** The complete response of the service. */
export interface SoapReply {
  readonly operation: string
  readonly status: number
  /** Its content type. */
  readonly type: string | undefined
  readonly bytes: Uint8Array
}

/** A call as the consumer sent it. */
export interface JsonCall {
  readonly bytes: Uint8Array
  /** Its content type. */
  readonly type: string | undefined
}

/**
 * Writes the envelope for a call.
 * @throws SoukError `invalid_request`, `operation_not_found`, `unsupported_media_type`; OutOfSteps
 */
export function translateRequest(service: SoapService, { bytes, type }: JsonCall, meter: Meter): SoapRequest {
  const { name, operation, parameters } = selectOperation(service.operations, parseCall(jsonText(bytes, type)))
  const mapped = paid(service, meter, () => service.mapping.get(name))
  const fields = mapped?.input
  const input = paid(service, meter, operation.input)
  const mtom = mapped?.mtom ?? operation.mtom
  const attachments = new Attachments(mtom)
  const problems = new Problems()
  const document = writeEnvelope(
    operation.version,
    input,
    fields === undefined ? parameters : mapInput(fields, parameters, meter, problems),
    service.types,
    {
      attachments,
      meter,
      problems,
      addressing: operation.addressing,
      auth: service.auth,
      ...(fields === undefined ? {} : { shownPath: (path) => shownPath(fields, path) })
    }
  )
  // A service with MTOM in its policy expects it in every message.
  if (!mtom && attachments.parts.length === 0) return { operation: name, document: utf8(document) }
  const action = plainAction(operation.action)
  const { type: whole, bytes: body } = writeMultipart(
    document,
    { version: operation.version, action, mtom: mtom || attachments.isReferenced },
    attachments.parts
  )
  return { operation: name, document: body, type: whole }
}

/**
 * Converts a response to JSON. Returns undefined for an error document without a fault, because an intermediary sent it, not the
 * SOAP service.
 * @throws SoukError `soap_fault`, `upstream_invalid_response`; OutOfSteps
 */
export function translateReply(service: SoapService, reply: SoapReply, meter: Meter): Uint8Array | undefined {
  const operation = service.operations.get(reply.operation)
  if (operation === undefined) throw new SoukError('internal_error')
  const decoder = new Decoder(service.types, meter)
  if (reply.status >= 300) {
    const fault = faultWithin(reply)
    const faults = paid(service, meter, operation.faults)
    if (fault !== undefined) throw faultError(fault, decoder, faults, service.secrets)
    return undefined
  }
  const json = jsonOf(service, operation, reply, decoder, meter)
  const fields = paid(service, meter, () => service.mapping.get(reply.operation))?.output
  return utf8(JSON.stringify(fields === undefined ? json : mapOutput(fields, json)))
}

export function unreadable(status: number, how: string, cause?: unknown): SoukError {
  return new SoukError('upstream_invalid_response', `The SOAP service responded (HTTP ${status}) ${how}.`, {
    source: 'upstream',
    cause
  })
}

/** Runs `compile` and charges the meter for the type parts that it compiles. */
function paid<T>({ types }: SoapService, meter: Meter, compile: () => T): T {
  const before = types.parts
  const made = compile()
  meter.spend((types.parts - before) * PART_STEPS)
  return made
}

function jsonOf(
  service: SoapService,
  operation: SoapOperation,
  reply: SoapReply,
  plain: Decoder,
  meter: Meter
): unknown {
  const { status, bytes } = reply
  // SOAP 1.1, section 6.2, and WS-I R2714: the response to a one-way operation has no envelope.
  if (bytes.length === 0 && (operation.output === undefined || status === 202)) return {}
  if (bytes.length === 0) throw unreadable(status, 'without a body')
  const { header, body, attachments } = envelopeOf(reply)
  const fault = faultIn(body)
  if (fault !== undefined) throw faultError(fault, plain, operation.faults(), service.secrets)
  const message = operation.output && paid(service, meter, operation.output)
  if (message === undefined) return {}
  try {
    const references = message.encoded ? new References(body) : undefined
    const decoder = new Decoder(service.types, meter, references, attachments)
    const json = withAttachments(contentOf(operation, message, body, decoder), message, attachments)
    const headers = header === undefined ? undefined : headersOf(message, header, decoder)
    return headers === undefined || !isObject(json) ? json : { ...json, $headers: headers }
  } catch (error) {
    throw error instanceof XmlError ? unreadable(status, `with a document that ${error.message}`, error) : error
  }
}

function contentOf(operation: SoapOperation, message: MessageModel, body: XmlElement, decoder: Decoder): unknown {
  const { wrapper, content } = message
  if (wrapper === undefined) return decoder.complex(content, body)
  const roots = elements(body).filter(isRoot)
  const [element] = roots
  if (element === undefined) throw unreadable(200, 'with an empty SOAP body')
  if (operation.style === 'rpc') return decoder.complex(content, element)
  // In rpc style the name of the response element does not matter (WSDL 1.1, section 3.5).
  const isOther = element.name !== wrapper.name
  if (isOther && (roots.length > 1 || !isAlike(message, element))) {
    throw unreadable(200, `with <${element.name.slice(0, 80)}> where <${wrapper.name}> belongs`)
  }
  return decoder.element(wrapper, element) ?? {}
}

/** True if a response element of another name has the content of the declared one, at least in part. */
function isAlike({ content }: MessageModel, element: XmlElement): boolean {
  const { members, text, wildcard } = content.shape()
  if (members.size > 0) return elements(element).some(({ name }) => members.has(name))
  return text !== undefined || wildcard !== undefined || element.nodes.every(isBlank)
}

/**
 * The attachments that the WSDL declares, by the names in their ids (WS-I Attachments Profile 1.0, R2933), else by order. Others
 * that nothing refers to are `$attachments`.
 */
function withAttachments(json: unknown, message: MessageModel, attachments: ReadonlyMap<string, Attachment>): unknown {
  if (attachments.size === 0 || !isObject(json)) return json
  const left = new Map(attachments)
  const found = new Map<string, Attachment>()
  for (const [field, { name }] of message.attachments) {
    const mark = `${encodeURIComponent(name)}=`
    const own = [...left.values()].find(({ id }) => id === name || id.startsWith(mark))
    if (own === undefined) continue
    found.set(field, own)
    left.delete(own.id)
  }
  const others = left.values()
  for (const field of message.attachments.keys()) {
    const next = found.has(field) ? undefined : others.next().value
    if (next !== undefined) found.set(field, next)
  }
  const rest = [...others].map(shownAttachment)
  const shown = [...found].map(([field, one]) => [field, shownAttachment(one)] as const)
  return { ...json, ...Object.fromEntries(shown), ...(rest.length === 0 ? {} : { $attachments: rest }) }
}

/** Referenced values are siblings of the response element (SOAP 1.1, section 5.6). */
function isRoot(element: XmlElement): boolean {
  return element.name !== 'multiRef' && attribute(element, 'root', NS.encoding11)?.trim() !== '0'
}

/** The header blocks that the WSDL declares. Others concern the transport, not the consumer. */
function headersOf({ headers }: MessageModel, header: XmlElement, decoder: Decoder): JsonObject | undefined {
  const found: Array<[string, unknown]> = []
  for (const [name, use] of headers) {
    const block = elements(header).find((one) => one.name === use.name && one.namespace === use.namespace)
    if (block !== undefined) found.push([name, decoder.element(use, block)])
  }
  return found.length === 0 ? undefined : Object.fromEntries(found)
}

/** The fault in an error document, if there is one. */
function faultWithin({ bytes, type }: SoapReply): XmlElement | undefined {
  try {
    return faultIn(read(bytes, type).body)
  } catch (error) {
    if (error instanceof XmlError) return undefined
    throw error
  }
}

interface Received extends Envelope {
  /** Attachments that no reference in the envelope has used yet. */
  readonly attachments: Map<string, Attachment>
}

function read(bytes: Uint8Array, type: string | undefined): Received {
  if (type === undefined || !isMultipart(type)) {
    return { ...readEnvelope(parseXml(decodeXml(bytes, type))), attachments: new Map() }
  }
  const { root, attachments } = readMultipart(bytes, type)
  const left = new Map(attachments)
  return { ...readEnvelope(unpack(parseXml(decodeXml(root.bytes, root.type)), left)), attachments: left }
}

function envelopeOf({ bytes, type, status }: SoapReply): Received {
  try {
    return read(bytes, type)
  } catch (error) {
    if (!(error instanceof XmlError)) throw error
    throw unreadable(status, `with a document that ${error.message}`, error)
  }
}

function isBlank(node: XmlElement | string): boolean {
  return typeof node === 'string' && node.trim() === ''
}

/** A number with more digits than a double holds becomes a string, which every numeric type accepts. */
function parseCall(text: string): JsonObject {
  const call = parseJson(text, (json) => parseExactly(json, exactNumber))
  if (!isObject(call)) {
    throw new SoukError('invalid_request', 'The body must be a JSON object with the operation and its parameters.')
  }
  return call
}

function exactNumber(source: string, nearest: number): number | string {
  const canonical = canonicalDecimal(source)
  return canonical === undefined || plainDecimal(nearest) === canonical ? nearest : source
}
