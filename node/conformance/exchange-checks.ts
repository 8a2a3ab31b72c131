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
    rule: 'sends the manifest of its API in an envelope',
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
      const envelope = new Message(reply?.bytes(1) ?? new Uint8Array(0))
      expect(envelope.text(2) === '/souk/manifest', `its payload type is ${envelope.text(2)}`)
      const manifest = new Message(envelope.bytes(3))
      expect(manifest.text(1) === name && manifest.text(2) === provider, 'the manifest is of another API')
      expect(manifest.integer(12) > 0n, 'its revision is 0')
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
