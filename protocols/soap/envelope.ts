import { Encoder, type EncodeOptions } from './encode.ts'
import type { JsonObject } from './encoding.ts'
import { type TypeIndex } from './model.ts'
import { NS } from './names.ts'
import type { MessageModel } from './operations.ts'
import type { SoapVersion } from './wsdl.ts'
import { XmlError } from './xml-error.ts'
import { type XmlElement, firstElement } from './xml-tree.ts'
import { XmlWriter } from './xml-write.ts'

const ENVELOPES: Readonly<Record<SoapVersion, string>> = { '1.1': NS.envelope11, '1.2': NS.envelope12 }

/** A request document (SOAP 1.1, section 4; SOAP 1.2 part 1, section 5). @throws SoukError `invalid_request`, see `Encoder`. */
export function writeEnvelope(
  version: SoapVersion,
  message: MessageModel,
  parameters: JsonObject,
  types: TypeIndex,
  options?: EncodeOptions
): string {
  const writer = new XmlWriter()
  writer.open(ENVELOPES[version], 'Envelope')
  writer.open(ENVELOPES[version], 'Body')
  const encoder = new Encoder(writer, types, options)
  if (message.wrapper === undefined) encoder.complex(message.content, parameters)
  else encoder.element(message.wrapper, parameters)
  writer.close()
  writer.close()
  return writer.document()
}

/** HTTP headers of a request (SOAP 1.1, section 6.1.1; SOAP 1.2 part 2, section 6.5.3). */
export function envelopeHeaders(version: SoapVersion, action: string): Array<[string, string]> {
  const quoted = action.replaceAll(/["\\\r\n]/g, '')
  if (version === '1.1') {
    return [
      ['content-type', 'text/xml; charset=utf-8'],
      ['soapaction', `"${quoted}"`],
      ['accept', 'text/xml, application/soap+xml']
    ]
  }
  return [
    ['content-type', `application/soap+xml; charset=utf-8${quoted === '' ? '' : `; action="${quoted}"`}`],
    ['accept', 'application/soap+xml, text/xml']
  ]
}

/** The body of a response, whichever version it answers in. @throws XmlError */
export function readEnvelope(root: XmlElement): XmlElement {
  if (root.name !== 'Envelope') throw new XmlError('is not a SOAP envelope')
  if (root.namespace !== NS.envelope11 && root.namespace !== NS.envelope12) {
    throw new XmlError('is an envelope of an unknown SOAP version')
  }
  const body = firstElement(root, root.namespace, 'Body')
  if (body === undefined) throw new XmlError('is a SOAP envelope without a body')
  return body
}
