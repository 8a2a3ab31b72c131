import { SoukError } from '../../../lib/base/errors.ts'
import { type EncodeOptions, Encoder } from './encode.ts'
import { writeElement } from './generic.ts'
import type { MessageModel } from './message.ts'
import type { TypeIndex } from '../schema/model.ts'
import { parseClark } from '../xml/names.ts'
import type { SoapOperation } from './operation.ts'
import { type EnvelopeAuth, SECURITY } from './own-blocks.ts'
import { XmlWriter } from '../xml/write.ts'

type Blocks = NonNullable<EnvelopeAuth['soapHeaders']>

/** True if a message gets any of the blocks. */
export function takesAny({ ownHeaders }: MessageModel, blocks: Blocks | undefined): boolean {
  return ownHeaders.size > 0 || Object.keys(blocks ?? {}).some(isQualified)
}

/**
 * Writes the provider's blocks into the open header. Blocks with a plain name are written if the operation declares them. Blocks
 * with a `{namespace}name` are always written: typed if the schemas declare the element, else as open content.
 *
 * @throws SoukError `invalid_request` with the path and the rule, without the value
 */
export function writeOwnHeaders(
  writer: XmlWriter,
  types: TypeIndex,
  { ownHeaders }: MessageModel,
  blocks: Blocks,
  encoded: EncodeOptions['encoded']
): void {
  const encoder = new Encoder(writer, types, { encoded, showsValues: false })
  encoder.at('soap_headers', () => {
    for (const [name, value] of Object.entries(blocks)) {
      const use = ownHeaders.get(name)
      if (use === undefined && !isQualified(name)) continue
      encoder.at(name, () => {
        if (use === undefined) writeElement(encoder, types, parseClark(name), value)
        else encoder.element(use, value)
      })
    }
  })
}

/** Checks the provider's blocks against every operation. @throws SoukError `invalid_request`, as `writeOwnHeaders` */
export function checkOwnHeaders(
  operations: ReadonlyMap<string, SoapOperation>,
  types: TypeIndex,
  { soapHeaders, usernameToken }: EnvelopeAuth = {}
): void {
  if (soapHeaders === undefined) return
  const blocks = soapHeaders
  if (usernameToken !== undefined && Object.hasOwn(blocks, SECURITY)) {
    throw new SoukError(
      'invalid_request',
      'username_token and a Security header cannot be used together. Remove one of them.'
    )
  }
  const missing = new Set(Object.keys(blocks).filter((name) => !isQualified(name)))
  const declared = new Set<string>()
  for (const { input, version } of operations.values()) {
    const message = input()
    const writer = new XmlWriter(types.prefixes)
    writer.open('', 'Header')
    writeOwnHeaders(writer, types, message, blocks, message.encoded ? version : undefined)
    for (const name of message.ownHeaders.keys()) missing.delete(name)
    for (const name of message.headers.keys()) declared.add(name)
  }
  const [name] = missing
  if (name === undefined) return
  const known = declared.size === 0 ? 'none' : [...declared].slice(0, 20).join(', ')
  throw new SoukError(
    'invalid_request',
    `$.soap_headers.${name.slice(0, 80)} is not a declared header block. Declared: ${known}. Name any other block as {namespace}name.`
  )
}

function isQualified(name: string): boolean {
  return name.startsWith('{')
}
