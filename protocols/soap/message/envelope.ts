import { type Addressing, writeAddressing } from '../wsdl/addressing.ts'
import type { Attachments } from './attachments.ts'
import { isObject, type JsonObject } from './encoding.ts'
import { type EncodeOptions, Encoder } from './encode.ts'
import type { MessageModel } from './message.ts'
import type { TypeIndex } from '../schema/model.ts'
import { NS } from '../xml/names.ts'
import type { EnvelopeAuth } from './own-blocks.ts'
import { Problems } from './problems.ts'
import { takesAny, writeOwnHeaders } from './own-headers.ts'
import { writeUsernameToken } from './username-token.ts'
import type { SoapVersion } from '../wsdl/wsdl.ts'
import { XmlError } from '../xml/error.ts'
import { type XmlElement, firstElement } from '../xml/tree.ts'
import { XmlWriter } from '../xml/write.ts'

const ENVELOPES: Readonly<Record<SoapVersion, string>> = { '1.1': NS.envelope11, '1.2': NS.envelope12 }
const ENCODINGS: Readonly<Record<SoapVersion, string>> = { '1.1': NS.encoding11, '1.2': NS.encoding12 }

export interface EnvelopeOptions
  extends Pick<EncodeOptions, 'checks' | 'shownPath' | 'attachments' | 'meter' | 'problems'> {
  readonly addressing?: Addressing | undefined
  readonly auth?: EnvelopeAuth | undefined
}

/**
 * Writes a request document (SOAP 1.1, section 4; SOAP 1.2 part 1, section 5). `checks: false` skips the checks against the
 * schema.
 *
 * @throws SoukError `invalid_request`, see `Encoder`.
 */
export function writeEnvelope(
  version: SoapVersion,
  message: MessageModel,
  parameters: JsonObject,
  types: TypeIndex,
  { checks = true, shownPath, attachments, meter, addressing, auth, problems = new Problems() }: EnvelopeOptions = {}
): string {
  const writer = new XmlWriter(types.prefixes)
  const envelope = ENVELOPES[version]
  const encoder = new Encoder(writer, types, {
    checks,
    encoded: message.encoded ? version : undefined,
    shownPath,
    attachments,
    meter,
    problems
  })
  const { $headers: headers, ...rest } = parameters
  const content = attachments === undefined ? rest : attached(encoder, message, rest, attachments)
  writer.open(envelope, 'Envelope')
  if (headers !== undefined || addressing !== undefined || auth !== undefined) {
    const own = () => {
      if (addressing !== undefined) writeAddressing(writer, addressing)
      writeAuth(writer, version, message, types, auth)
    }
    const isNeeded =
      addressing !== undefined || auth?.usernameToken !== undefined || takesAny(message, auth?.soapHeaders)
    encoder.at('$headers', () => writeHeader(encoder, envelope, message, headers, isNeeded ? own : undefined))
  }
  writer.open(envelope, 'Body')
  // SOAP 1.2 part 1, section 5.1.1, allows the attribute only on the children of the body; readers of SOAP 1.1 accept it
  // anywhere.
  if (message.encoded && version === '1.1') writer.attribute(envelope, 'encodingStyle', ENCODINGS[version])
  try {
    writeBody(encoder, version, message, content)
  } catch (error) {
    problems.add(error)
  }
  problems.report()
  writer.close()
  writer.close()
  return writer.document()
}

function writeBody(encoder: Encoder, version: SoapVersion, message: MessageModel, content: JsonObject): void {
  const { writer } = encoder
  if (message.wrapper === undefined) encoder.complex(message.content, content)
  else if (message.encoded) {
    writer.open(message.wrapper.namespace, message.wrapper.name)
    if (version === '1.2') writer.attribute(ENVELOPES[version], 'encodingStyle', ENCODINGS[version])
    encoder.complex(message.content, content)
    writer.close()
  } else encoder.element(message.wrapper, content)
}

/** Takes the message's attachments and returns the parameters for the envelope. */
function attached(
  encoder: Encoder,
  message: MessageModel,
  parameters: JsonObject,
  attachments: Attachments
): JsonObject {
  if (message.attachments.size === 0) return parameters
  const rest: { [name: string]: unknown } = { ...parameters }
  for (const [json, { name, types }] of message.attachments) {
    encoder.at(json, () => {
      const given = Object.hasOwn(rest, json) ? rest[json] : undefined
      if (given === undefined || given === null) throw encoder.refuse('is required')
      attachments.given(encoder, given, types, name)
    })
    delete rest[json]
  }
  return rest
}

/** Writes the provider's credentials. */
function writeAuth(
  writer: XmlWriter,
  version: SoapVersion,
  message: MessageModel,
  types: TypeIndex,
  { usernameToken, soapHeaders }: EnvelopeAuth = {}
): void {
  if (usernameToken !== undefined) writeUsernameToken(writer, ENVELOPES[version], usernameToken)
  if (soapHeaders !== undefined)
    writeOwnHeaders(writer, types, message, soapHeaders, message.encoded ? version : undefined)
}

/** Writes the header with the node's own blocks, then the consumer's. Omits an empty header. */
function writeHeader(
  encoder: Encoder,
  envelope: string,
  { headers }: MessageModel,
  given: unknown,
  own: (() => void) | undefined
): void {
  if (given !== undefined && !isObject(given)) throw encoder.refuse('must be an object', given)
  const blocks = Object.entries(given ?? {}).filter(([, value]) => value !== undefined && value !== null)
  if (blocks.length === 0 && own === undefined) return
  encoder.writer.open(envelope, 'Header')
  own?.()
  for (const [name, value] of blocks) {
    encoder.at(name, () => {
      const use = headers.get(name)
      if (use === undefined) {
        throw encoder.refuse(`is not known here; known: ${[...headers.keys()].join(', ') || 'none'}`)
      }
      encoder.element(use, value)
    })
  }
  encoder.writer.close()
}

/** The action without characters that are invalid in quotes. */
export function plainAction(action: string): string {
  return action.replaceAll(/["\\\r\n]/g, '')
}

/**
 * HTTP headers of a request (SOAP 1.1, section 6.1.1; SOAP 1.2 part 2, section 6.5.3).
 * @param type content type, if the body is more than the envelope
 */
export function envelopeHeaders(version: SoapVersion, action: string, type?: string): Array<[string, string]> {
  const quoted = plainAction(action)
  if (version === '1.1') {
    return [
      ['content-type', type ?? 'text/xml; charset=utf-8'],
      ['soapaction', `"${quoted}"`],
      ['accept', 'text/xml, application/soap+xml, multipart/related']
    ]
  }
  return [
    ['content-type', type ?? `application/soap+xml; charset=utf-8${quoted === '' ? '' : `; action="${quoted}"`}`],
    ['accept', 'application/soap+xml, text/xml, multipart/related']
  ]
}

/** The parts of a response, of either SOAP version. */
export interface Envelope {
  readonly header: XmlElement | undefined
  readonly body: XmlElement
}

/** @throws XmlError */
export function readEnvelope(root: XmlElement): Envelope {
  if (root.name !== 'Envelope') throw new XmlError('is not a SOAP envelope')
  if (root.namespace !== NS.envelope11 && root.namespace !== NS.envelope12) {
    throw new XmlError('is an envelope of an unknown SOAP version')
  }
  const body = firstElement(root, root.namespace, 'Body')
  if (body === undefined) throw new XmlError('is a SOAP envelope without a body')
  return { header: firstElement(root, root.namespace, 'Header'), body }
}
