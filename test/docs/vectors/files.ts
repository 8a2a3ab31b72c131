import { createSecretKey } from 'node:crypto'
import type { Stream } from '@libp2p/interface'
import protobuf from 'protobufjs'
import { concat } from 'uint8arrays/concat'
import { BULK_OF, bulkTag } from '../../../lib/call/bulk-mailbox.ts'
import { bulkSink } from '../../../lib/link/bulk-sink.ts'
import { keyDigest } from '../../../node/keys/key-digest.ts'
import { sealKey } from '../../../node/keys/format.ts'
import { createPseudonyms } from '../../../node/keys/pseudonyms.ts'
import { exchangeVectors } from './exchange-vectors.ts'
import { directoryKeyVectors, envelopeVectors, identityVectors } from './directory-vectors.ts'
import { frameVectors, type MessageVector } from './frames.ts'
import { BODY, bytesOf, hex, identityOf, REQUEST_ID, seedOf } from './keys.ts'
import { channelVectors, payVectors, receiptVectors, requestHashVectors, splitterVectors } from './payment-vectors.ts'

const PROTOS = ['call', 'directory', 'pay', 'reach'].map((name) => `docs/reference/souk-${name}.proto`)

/** The types of the `.proto` files, read by an implementation that is not ours. */
export async function messageTypes(): Promise<protobuf.Root> {
  const root = new protobuf.Root()
  for (const proto of PROTOS) await root.load(proto)
  return root
}

const SECRET = createSecretKey(seedOf(0x33))

async function accountVectors() {
  const { id } = await identityOf(1)
  const secret = hex(seedOf(0x33))
  const provider = id.toString()
  const nameOf = createPseudonyms(SECRET)
  const key = sealKey('test', 'A'.repeat(32))
  return [
    {
      name: 'pseudonym of an account',
      secret,
      provider,
      account: '7',
      consumer: hex(nameOf({ id: 'k', account: '7' }, provider))
    },
    {
      name: 'pseudonym of an operator’s key',
      secret,
      provider,
      key_id: 'k',
      consumer: hex(nameOf({ id: 'k' }, provider))
    },
    { name: 'stored form of a consumer key', secret, key, digest: keyDigest(SECRET, key) }
  ]
}

const BULK_BODIES: Readonly<Record<string, readonly Uint8Array[]>> = {
  'an empty body': [],
  'one chunk': [BODY],
  'a chunk of 300 bytes, whose length has two bytes': [new Uint8Array(300).fill(7)],
  'two chunks': [BODY, BODY]
}

/** The bytes of a bulk stream, as the sender writes them. */
async function bulkVectors() {
  return Promise.all(
    Object.entries(BULK_BODIES).map(async ([name, chunks], i) => {
      const written: Uint8Array[] = []
      const stream = {
        status: 'open',
        send: (data: { subarray(): Uint8Array }) => written.push(data.subarray().slice()) > 0,
        close: async () => {}
      }
      const of = i % 2 === 0 ? BULK_OF.request : BULK_OF.response
      const sink = bulkSink(stream as unknown as Stream, bulkTag(REQUEST_ID, of))
      for (const chunk of chunks) await sink.write(chunk)
      await sink.end()
      return {
        name,
        request_id: hex(REQUEST_ID),
        direction: of,
        chunks: chunks.map(hex),
        stream: hex(concat(written))
      }
    })
  )
}

/** Adds the content of a message: its proto3 JSON form, as protobufjs reads it. */
const described =
  (types: protobuf.Root) =>
  <T extends Omit<MessageVector, 'name'>>(vector: T): T & { readonly value: unknown } => {
    const type = types.lookupType(vector.message)
    const message = type.decode(bytesOf(vector.bytes))
    return { ...vector, value: type.toObject(message, { longs: String, bytes: String }) }
  }

/** Every file of `docs/reference/vectors/`, by name, with what it is about. */
export async function vectorFiles(): Promise<Map<string, string>> {
  const withValue = described(await messageTypes())
  const files: Record<string, { readonly about: string; readonly vectors: readonly unknown[] }> = {
    'identities.json': { about: 'Ed25519 seeds and their peer ids.', vectors: await identityVectors() },
    'envelopes.json': {
      about: 'Signed envelopes (protocol-directory.md, section 1). `bytes` is the payload.',
      vectors: (await envelopeVectors()).map(withValue)
    },
    'directory-keys.json': {
      about: 'Keys of the DHT (protocol-directory.md, section 4).',
      vectors: await directoryKeyVectors()
    },
    'exchanges.json': {
      about:
        'Messages of /souk/manifest/1.0.0, /souk/catalogue/1.0.0, /souk/description/1.0.0, /souk/dial-back/1.0.0 and announcements, without their length prefix (protocol-directory.md, sections 2, 3 and 5).',
      vectors: (await exchangeVectors()).map(withValue)
    },
    'frames.json': {
      about: 'Frames of /souk/call/1.0.0, without their length prefix (protocol.md, sections 3 to 5).',
      vectors: (await frameVectors()).map(withValue)
    },
    'request-hashes.json': {
      about: 'The request hash of each request in frames.json (protocol.md, section 7.2).',
      vectors: await requestHashVectors()
    },
    'bulk.json': { about: 'Whole streams of /souk/bulk/1.0.0 (protocol.md, section 6).', vectors: await bulkVectors() },
    'accounts.json': { about: 'Pseudonyms and stored keys (protocol.md, section 8).', vectors: await accountVectors() },
    'splitters.json': { about: 'Splitters (protocol-payments.md, section 2).', vectors: splitterVectors() },
    'channels.json': {
      about: 'A channel, a voucher and a deposit on the network dev (protocol-payments.md, sections 1 and 4).',
      vectors: await channelVectors()
    },
    'pay.json': {
      about: 'Messages of /souk/pay/1.0.0, and the authorization of a call (protocol-payments.md, sections 3 and 5).',
      vectors: (await payVectors()).map(withValue)
    },
    'receipts.json': {
      about: 'Receipts of three calls under one signature (protocol-payments.md, section 6).',
      vectors: (await receiptVectors()).map((vector) => {
        const { value } = withValue(vector)
        const { value: content } = withValue({ message: vector.body_message, bytes: vector.body })
        return { ...vector, value, content }
      })
    }
  }
  return new Map(
    Object.entries(files).map(([name, { about, vectors }]) => [
      `docs/reference/vectors/${name}`,
      `${JSON.stringify({ license: 'CC0-1.0', revision: 3, about, vectors }, undefined, 2)}\n`
    ])
  )
}
