import type { Field } from '../../../lib/base/wire/field.ts'
import type { Message } from '../../../lib/base/wire/message.ts'
import type { Union } from '../../../lib/base/wire/union.ts'
import { HEADER } from '../../../lib/base/wire/headers.ts'
import * as call from '../../../lib/call/frame.ts'
import * as request from '../../../lib/interface/call-messages.ts'
import * as description from '../../../lib/describe/description-codec.ts'
import * as dialBack from '../../../lib/link/reach/dial-back-codec.ts'
import * as catalogue from '../../../lib/resolve/catalogue/catalogue-codec.ts'
import * as pay from '../../../lib/pay/channel/pay-messages.ts'
import { AUTHORIZATION } from '../../../lib/pay/signing/authorization.ts'
import { RECEIPT, RECEIPT_BODY } from '../../../lib/pay/signing/receipt.ts'
import { DELEGATION_MESSAGE } from '../../../lib/resolve/directory/delegation.ts'
import { RECORD_MESSAGE } from '../../../lib/resolve/directory/record.ts'
import * as exchange from '../../../lib/resolve/manifest/exchange-codec.ts'
import * as manifest from '../../../lib/resolve/manifest/manifest-codec.ts'
import * as plan from '../../../lib/resolve/manifest/plan-codec.ts'

// oxlint-disable-next-line typescript/no-explicit-any -- tables of any messages
type Table = Message<any> | Union<any>

interface ProtoFile {
  readonly about: string
  readonly package: string
  readonly messages: readonly Table[]
}

/** The `.proto` files, by path: what they are about, and the tables that they are made from. */
const FILES: Readonly<Record<string, ProtoFile>> = {
  'docs/reference/souk-call.proto': {
    about: `The calls between two Souk nodes. docs/reference/protocol.md says when and why. docs/reference/limits.md has
      the numbers that are named here in capitals.

      /souk/call/1.0.0: one long-lived stream for each pair of peers. Both sides send frames on it:

        uvarint   length of the frame, at most FRAME_BYTES_MAX; a longer one ends the stream
        bytes     one Frame

      The first frame of each side is a Hello, sent without waiting for the peer's. Send nothing before your own Hello,
      and act on nothing before the peer's. A frame that cannot be decoded ends the stream with a reset. An empty frame
      means nothing.

      /souk/bulk/1.0.0: a body that is not in its frame has a stream of its own. Its sender opens the stream on the
      connection of the call, and only that side writes. It is a sequence of chunks, each

        uvarint   length of the chunk, at most BULK_CHUNK_BYTES_MAX
        bytes     the chunk

      The first chunk is the tag: the call's request_id (16 bytes) and one byte, 0 for the request's body and 1 for the
      response's. So the stream starts with the byte 17. The body follows. An empty chunk (one zero byte) marks its end.
      Then the sender closes the stream. A body whose stream ends or is reset before that is incomplete: libraries also
      end streams when they close a connection. A reader that wants no more resets the stream. Yamux's window is the
      backpressure.

      Stream and frame arrive in any order. Each waits BULK_OPEN_MS for the other.

      Numbers declared uint64 stay below 2^53, except epochs and amounts.`,
    package: 'souk.call.v1',
    messages: [
      call.FRAME,
      call.HELLO,
      HEADER,
      request.REQUEST,
      request.RESPONSE,
      request.RATE,
      request.QUOTA,
      call.FAILURE,
      call.CANCEL,
      call.ACK,
      call.DRAIN
    ]
  },
  'docs/reference/souk-directory.proto': {
    about: `The directory and the manifest exchange of Souk. docs/reference/protocol-directory.md says when and why.

      Everything signed is a libp2p signed envelope (libp2p RFC 0002) with an Ed25519 key and one of these pairs:

        noun        domain           payload type       payload           at most
        manifest    souk-manifest    /souk/manifest     souk.Manifest     256 KiB
        record      souk-record      /souk/record       souk.Record       2 KiB
        delegation  souk-delegation  /souk/delegation   souk.Delegation   2 KiB

      An envelope is accepted in canonical form only: its four fields once each, in ascending order, and nothing else.
      Ignore unknown fields of payloads. Times are milliseconds since the Unix epoch.

      Provider records of the DHT are stored under CIDv1, raw, SHA2-256 of one of these texts. They are hints, never
      proof.

        /souk/api/<name>@<provider id>   serves this API
        /souk/name/<name>                knows an API of this name
        /souk/tag/<tag>                  knows an API with this tag, in lower case
        /souk/catalogue                  has listings to show`,
    package: 'souk',
    messages: [
      manifest.MANIFEST_MESSAGE,
      manifest.DESCRIPTION_ROOT,
      manifest.SELF_REPORT,
      plan.RATE_LIMIT,
      plan.PLAN,
      plan.TIER,
      plan.DEPRECATION,
      manifest.OPERATION,
      RECORD_MESSAGE,
      DELEGATION_MESSAGE,
      exchange.MANIFEST_REQUEST,
      exchange.MANIFEST_REPLY,
      catalogue.ANNOUNCEMENT,
      catalogue.CATALOGUE_REQUEST,
      catalogue.CATALOGUE_REPLY,
      description.DESCRIPTION_REQUEST,
      description.DESCRIPTION_REPLY,
      description.PROVEN_DOCUMENT
    ]
  },
  'docs/reference/souk-pay.proto': {
    about: `Payers and owners of x402 batch-settlement channels. docs/reference/protocol-payments.md says when and why.

      Addresses are 20 bytes, channel ids and salts 32, signatures 65 (r, s, v with s in the lower half and v 27 or 28).
      Amounts are USDC atoms (10^-6 USDC), below 2^63. Ignore unknown fields.`,
    package: 'souk',
    messages: [
      AUTHORIZATION,
      RECEIPT,
      RECEIPT_BODY,
      pay.PAY_REQUEST,
      pay.TERMS_REQUEST,
      pay.DEPOSIT_REQUEST,
      pay.CHANNEL_CONFIG,
      pay.STATE_REQUEST,
      pay.CLOSE_REQUEST,
      pay.RECEIPT_REQUEST,
      pay.PAY_REPLY,
      pay.TERMS,
      pay.CHANNEL_STATE,
      pay.REFUSAL
    ]
  },
  'docs/reference/souk-reach.proto': {
    about: `How a node learns at which addresses peers reach it. docs/reference/protocol.md says when.

      Protocol /souk/dial-back/1.0.0: one request and one response on a stream, each with a length prefix (unsigned
      varint), at most 4 KiB. Ignore unknown fields.`,
    package: 'souk',
    messages: [dialBack.DIAL_BACK_REQUEST, dialBack.DIAL_BACK_RESPONSE]
  }
}

/** Every table that is sent. */
export const tables = (): readonly Table[] => Object.values(FILES).flatMap(({ messages }) => messages)

export function protoFiles(): ReadonlyArray<readonly [path: string, text: string]> {
  return Object.entries(FILES).map(([path, { about, package: name, messages }]) => [
    path,
    `// Made from the tables of the code by \`npm run docs\`.\n//\n${comment(about)}\nsyntax = "proto3";\n\npackage ${name};\n\n${messages.map(textOf).join('\n')}`
  ])
}

function textOf(table: Table): string {
  const lines = 'kinds' in table ? oneOf(table) : fieldsOf(table)
  const body = lines.length === 0 ? '{}' : `{\n${lines.join('')}}`
  return `${comment(table.doc)}message ${table.name} ${body}\n`
}

function oneOf({ kinds }: Union<unknown>): string[] {
  const members = Object.entries(kinds).map(([kind, [number, { name }]]) => `    ${name} ${kind} = ${number};\n`)
  return ['  oneof kind {\n', ...members, '  }\n']
}

function fieldsOf({ fields, reserved }: Message<unknown>): string[] {
  return [...Object.entries(fields).flatMap(fieldLines), ...reserved.map((number) => `  reserved ${number};\n`)]
}

function fieldLines([name, field]: [string, Field<unknown>]): string[] {
  const { number, type, presence, doc, name: other } = field
  const label = presence === 'list' ? 'repeated ' : presence === 'optional' ? 'optional ' : ''
  const packed = presence === 'list' && type.wire === 0 ? ' [packed = false]' : ''
  const snake = other ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return [comment(doc, '  '), `  ${label}${type.proto} ${snake} = ${number}${packed};\n`]
}

const WIDTH = 120

/** A comment of whole lines. Indented lines stay as they are, others are wrapped. */
function comment(text: string, indent = ''): string {
  const prefix = `${indent}//`
  const paragraphs = text.split(/\n\s*\n/).map((paragraph) => paragraph.replaceAll(/^ {6}/gm, ''))
  const lines = paragraphs.flatMap((paragraph, i) => [
    ...(i === 0 ? [] : ['']),
    ...(/^ {2}/.test(paragraph) ? paragraph.split('\n') : wrap(paragraph, WIDTH - prefix.length - 1))
  ])
  if (text === '') return ''
  return lines.map((line) => `${prefix}${line === '' ? '' : ` ${line}`}\n`).join('')
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.trim().split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line]
}
