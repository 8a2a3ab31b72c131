import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import * as fc from 'fast-check'
import { apiId } from '../../../lib/base/api-name.ts'
import { sha256, utf8 } from '../../../lib/base/bytes.ts'
import { isSoukError } from '../../../lib/base/errors.ts'
import type { Plan } from '../../../lib/interface/plan.ts'
import * as catalogue from '../../../lib/resolve/catalogue/catalogue-codec.ts'
import { DELEGATION_MESSAGE, verifyDelegation } from '../../../lib/resolve/directory/delegation.ts'
import * as exchange from '../../../lib/resolve/manifest/exchange-codec.ts'
import { encodeManifest } from '../../../lib/resolve/manifest/manifest-codec.ts'
import { RECORD_MESSAGE, verifyRecord } from '../../../lib/resolve/directory/record.ts'
import { verifyManifest } from '../../../lib/resolve/manifest/verify-manifest.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'
import { mutated } from '../../helpers/mutated.ts'
import { idOf, keyOf, manifestOf, NOW, sealAs } from './fixtures.ts'
import { assertCpuBelow } from '../../helpers/cpu-time.ts'

describe('bytes of a malicious peer', () => {
  let key: Ed25519PrivateKey

  before(async () => {
    key = await keyOf('provider')
  })

  const operations = [
    { name: 'get', description: '', input: { type: 'object', properties: { a: { type: 'string' } } } }
  ]
  const rateLimit = { calls: 5, perMs: 1_000 }
  const plan: Plan = {
    id: 'pro',
    name: 'Pro',
    description: '',
    fee: 5_000_000n,
    period: 'month',
    trialDays: 7,
    included: 9,
    overage: [{ upTo: 10, price: 5n }, { price: 6n }],
    rateLimit,
    inFlightMax: 20,
    since: NOW
  }
  const manifests = () => [
    encodeManifest(manifestOf(idOf(key), { api: { operations }, rateLimit })),
    encodeManifest(manifestOf(idOf(key), { plans: [plan] })),
    encodeManifest(
      manifestOf(idOf(key), { protocol: 'GraphQL', api: { operations: [], sdl: 'type Query { a: Int }' } })
    )
  ]
  const records = () => {
    const hash = sha256(utf8('x'))
    const times = { seq: 7n, issuedAt: NOW, expiresAt: NOW + 60_000 }
    const id = apiId('ticker', idOf(key))
    return [RECORD_MESSAGE.encode({ id, manifestHash: hash, revision: 1, delegations: [], ...times })]
  }
  const delegations = () => [
    DELEGATION_MESSAGE.encode({ peer: peerIdFromString(idOf(key)).toMultihash().bytes, expiresAt: NOW + 60_000 })
  ]

  /** The peer signs the changed payload with the key that the verifier expects. */
  const sealed: ReadonlyArray<
    readonly [noun: string, payloads: () => readonly Uint8Array[], verify: (envelope: Uint8Array) => Promise<unknown>]
  > = [
    ['manifest', manifests, (envelope) => verifyManifest(envelope, { now: NOW })],
    ['record', records, (envelope) => verifyRecord(envelope, { now: NOW })],
    ['delegation', delegations, (envelope) => verifyDelegation(envelope, idOf(key))]
  ]
  for (const [noun, payloads, verify] of sealed) {
    it(`that are a signed ${noun} are accepted or refused with invalid_request`, async function () {
      this.timeout(0)
      let accepted = 0
      await fc.assert(
        fc.asyncProperty(fc.oneof(mutated(payloads()), fc.constantFrom(...payloads())), async (payload) => {
          try {
            await verify(await sealAs(noun, payload, key))
            accepted++
          } catch (error) {
            assert.ok(isSoukError(error) && error.code === 'invalid_request', String(error))
          }
        }),
        fuzzRuns(300)
      )
      assert.ok(accepted > 0, 'none was accepted')
    })

    it(`that are a changed envelope of a ${noun} are refused`, async function () {
      this.timeout(0)
      const envelopes = await Promise.all(payloads().map((payload) => sealAs(noun, payload, key)))
      const isOne = (bytes: Uint8Array) => envelopes.some((envelope) => Buffer.compare(envelope, bytes) === 0)
      await fc.assert(
        fc.asyncProperty(mutated(envelopes), async (bytes) => {
          fc.pre(!isOne(bytes))
          await assert.rejects(verify(bytes), { code: 'invalid_request' })
        }),
        fuzzRuns(300)
      )
    })
  }

  const some = [utf8('one'), new Uint8Array(300)]
  const decoders: ReadonlyArray<readonly [what: string, message: Uint8Array, decode: (bytes: Uint8Array) => unknown]> =
    [
      [
        'manifest request',
        exchange.MANIFEST_REQUEST.encode({ name: 'a', provider: 'b' }),
        exchange.MANIFEST_REQUEST.decode
      ],
      [
        'manifest reply',
        exchange.MANIFEST_REPLY.encode({ manifests: some, hasMore: false }),
        exchange.MANIFEST_REPLY.decode
      ],
      [
        'announcement',
        catalogue.ANNOUNCEMENT.encode({ record: utf8('r'), manifest: utf8('m') }),
        catalogue.ANNOUNCEMENT.decode
      ],
      [
        'catalogue request',
        catalogue.CATALOGUE_REQUEST.encode({ network: 'dev', epoch: 'e', after: 7, wanted: some }),
        catalogue.CATALOGUE_REQUEST.decode
      ],
      [
        'catalogue reply',
        catalogue.CATALOGUE_REPLY.encode({ epoch: 'e', records: some, through: 9, hasMore: true, manifests: some }),
        catalogue.CATALOGUE_REPLY.decode
      ]
    ]
  for (const [what, message, decode] of decoders) {
    it(`that are no ${what} give an error, never a large or endless read`, async function () {
      this.timeout(0)
      const runs = fuzzRuns(1_000)
      const endsOrThrows = fc.property(mutated([message]), (bytes) => {
        try {
          decode(bytes)
        } catch (error) {
          assert.ok(error instanceof Error)
        }
      })
      await assertCpuBelow(2 * runs.numRuns, () => fc.assert(endsOrThrows, runs))
    })
  }
})
