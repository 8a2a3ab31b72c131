import { SoukError } from '../../lib/base/errors.ts'
import { type EncodeOptions, Encoder } from './encode.ts'
import { writeElement } from './generic.ts'
import type { MessageModel } from './message.ts'
import type { TypeIndex } from './model.ts'
import { parseClark } from './names.ts'
import type { SoapOperation } from './operation.ts'
import { type EnvelopeAuth, SECURITY } from './own-blocks.ts'
import { XmlWriter } from './xml-write.ts'

type Blocks = NonNullable<EnvelopeAuth['soapHeaders']>

/** Whether a message gets any of the blocks. */
export function takesAny({ ownHeaders }: MessageModel, blocks: Blocks | undefined): boolean {
  return ownHeaders.size > 0 || Object.keys(blocks ?? {}).some(isQualified)
}

/**
 * Writes the provider's blocks into the open header: those by a plain name where the operation declares such a block, those by
 * `{namespace}name` always, as the schemas have the element, or as open content where they do not.
 *
 * @throws SoukError `invalid_request`, which names the place and the rule, and nothing of the values
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

/** Tries the provider's blocks on every operation. @throws SoukError `invalid_request`, as `writeOwnHeaders` */
export function checkOwnHeaders(
  operations: ReadonlyMap<string, SoapOperation>,
  types: TypeIndex,
  { soapHeaders, usernameToken }: EnvelopeAuth = {}
): void {
  if (soapHeaders === undefined) return
  const blocks = soapHeaders
  if (usernameToken !== undefined && Object.hasOwn(blocks, SECURITY)) {
    throw new SoukError('invalid_request', 'A username_token is a Security header: of both, give one.')
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
    `$.soap_headers.${name.slice(0, 80)} is no header block that an operation declares; declared: ${known}. Any other one is named {namespace}name.`
  )
}

function isQualified(name: string): boolean {
  return name.startsWith('{')
}
