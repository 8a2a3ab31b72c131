import { RecordEnvelope } from '@libp2p/peer-record'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { limits, systemClock } from '../../lib/index.ts'
import { type Check, DoesNotApply, expect } from './check.ts'
import { encodeFields, Message } from './message.ts'

const ADDRESS_BYTES = 20

/** The small exchanges: manifests and payment terms. */
export const EXCHANGE_CHECKS: readonly Check[] = [
  {
    section: 'directory 2',
    rule: 'responds with no manifest for a name that it does not serve',
    async run({ peer }) {
      const reply = await peer.exchange('/souk/manifest/1.0.0', encodeFields([[1, 'souk-conformance-none']]))
      if (reply === undefined) throw new DoesNotApply('it serves no manifests')
      expect(!reply.has(1), 'it sent a manifest')
    }
  },
  {
    section: 'directory 1',
    rule: 'sends the manifest of its API, valid now, in an envelope that the provider signed',
    needsApi: true,
    async run({ peer, api = '' }) {
      const [name = '', provider = ''] = api.split('@')
      const reply = await peer.exchange(
        '/souk/manifest/1.0.0',
        encodeFields([
          [1, name],
          [2, provider]
        ])
      )
      expect(reply?.has(1) === true, 'it sent no manifest')
      const manifest = await manifestIn(reply?.bytes(1) ?? new Uint8Array(0), provider)
      expect(manifest.text(1) === name && manifest.text(2) === provider, 'the manifest is of another API')
      expect(manifest.integer(12) > 0n, 'its revision is 0')
      const [issuedAt, expiresAt] = [Number(manifest.integer(13)), Number(manifest.integer(14))]
      const now = systemClock.now()
      expect(issuedAt <= now + limits.CLOCK_SKEW_MS, 'it is from the future')
      expect(expiresAt > now, 'it has expired')
      expect(expiresAt - issuedAt <= limits.MANIFEST_TTL_MS, 'it expires too late')
    }
  },
  {
    section: 'payments 3',
    rule: 'states its terms, or refuses with a code',
    async run({ peer }) {
      const reply = await peer.exchange('/souk/pay/1.0.0', encodeFields([[1, new Uint8Array(0)]]))
      if (reply === undefined) throw new DoesNotApply('it takes no payments through channels')
      if (reply.has(3)) return expect(new Message(reply.bytes(3)).text(1) !== '', 'its refusal has no code')
      const terms = new Message(reply.bytes(1))
      expect(terms.bytes(1).length === ADDRESS_BYTES, 'its settlement address has not 20 bytes')
      expect(terms.integer(2) > 0n, 'its withdrawal delay is 0')
    }
  },
  {
    section: 'payments 3',
    rule: 'refuses the state of a channel that it does not know',
    async run({ peer }) {
      const request = encodeFields([[3, encodeFields([[1, new Uint8Array(32).fill(7)]])]])
      const reply = await peer.exchange('/souk/pay/1.0.0', request)
      if (reply === undefined) throw new DoesNotApply('it takes no payments through channels')
      expect(reply.has(3), 'it refused nothing')
      const code = new Message(reply.bytes(3)).text(1)
      expect(code === 'payment_required', `the code is ${code} instead of payment_required`)
    }
  }
]

/** @throws Error if the envelope is not in canonical form, or not signed by the provider */
async function manifestIn(bytes: Uint8Array, provider: string): Promise<Message> {
  const fields = new Message(bytes)
  expect(fields.text(2) === '/souk/manifest', `its payload type is ${fields.text(2)}`)
  const envelope = await RecordEnvelope.openAndCertify(bytes, 'souk-manifest')
  expect(Buffer.compare(envelope.marshal(), bytes) === 0, 'its envelope is not in canonical form')
  const signer = peerIdFromPublicKey(envelope.publicKey).toString()
  expect(signer === provider, `it is signed by ${signer} instead of its provider`)
  return new Message(fields.bytes(3))
}
