import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { apiId } from '../../../../lib/base/api-name.ts'
import { EMPTY_BYTES, sha256, utf8 } from '../../../../lib/base/bytes.ts'
import {
  CLOCK_SKEW_MS,
  DELEGATIONS_MAX,
  RECORD_BYTES_MAX,
  RECORD_TTL_MS,
  RECORD_TTL_MS_MAX
} from '../../../../lib/base/limits/directory.ts'
import type { DirectoryRecord } from '../../../../lib/interface/directory.ts'
import { mayServe, signDelegation, verifyDelegation } from '../../../../lib/resolve/directory/delegation.ts'
import { parseRecordKey, recordKey } from '../../../../lib/resolve/directory/keys.ts'
import { RECORD_MESSAGE, signRecord, verifyRecord } from '../../../../lib/resolve/directory/record.ts'
import { createRecordRules } from '../../../../lib/resolve/directory/record-rules.ts'
import { manualClock } from '../../../helpers/manual-clock.ts'
import { idOf, keyOf, NOW, sealAs } from '../fixtures.ts'

const refused = (why: RegExp) => ({ code: 'invalid_request', message: why })

let provider: Ed25519PrivateKey
let node: Ed25519PrivateKey
let stranger: Ed25519PrivateKey

async function makeKeys(): Promise<void> {
  provider = await keyOf('provider')
  node = await keyOf('node')
  stranger = await keyOf('stranger')
}

function recordOf(changes: Partial<DirectoryRecord> = {}): DirectoryRecord {
  return {
    id: apiId('ticker', idOf(provider)),
    seq: BigInt(NOW),
    issuedAt: NOW,
    expiresAt: NOW + RECORD_TTL_MS,
    manifestHash: Uint8Array.from(sha256(utf8('manifest'))),
    revision: 3,
    delegations: [],
    ...changes
  }
}

describe('delegation', () => {
  before(makeKeys)

  it('is verified with its provider, node and expiry', async () => {
    const delegation = await signDelegation({ peer: idOf(node), expiresAt: NOW + 1 }, provider)
    assert.deepEqual(await verifyDelegation(delegation.envelope, idOf(provider)), delegation)
    await assert.rejects(verifyDelegation(delegation.envelope, idOf(stranger)), refused(/another provider/))
  })

  it('is refused when changed, and for a node that is not Ed25519', async () => {
    const { envelope } = await signDelegation({ peer: idOf(node), expiresAt: NOW }, provider)
    const changed = envelope.slice()
    changed[70]! ^= 1
    await assert.rejects(verifyDelegation(changed), refused(/./))
    for (const payload of [EMPTY_BYTES, utf8('hello'), new Uint8Array([0x0a, 2, 0, 0])]) {
      const sealed = await sealAs('delegation', payload, provider)
      await assert.rejects(verifyDelegation(sealed), refused(/cannot be read|not name an Ed25519/))
    }
    await assert.rejects(signDelegation({ peer: 'QmHash', expiresAt: NOW }, provider), refused(/peer id/))
  })

  it('lets a node serve until it expires, and the provider itself always', async () => {
    const delegation = await signDelegation({ peer: idOf(node), expiresAt: NOW + 1 }, provider)
    assert.equal(mayServe(idOf(node), idOf(provider), [delegation], NOW), true)
    assert.equal(mayServe(idOf(node), idOf(provider), [delegation], NOW + 1), false)
    assert.equal(mayServe(idOf(stranger), idOf(provider), [delegation], NOW), false)
    assert.equal(mayServe(idOf(provider), idOf(provider), [], NOW), true)
  })
})

describe('directory record', () => {
  before(makeKeys)

  it('is verified with all its fields', async () => {
    const delegation = await signDelegation({ peer: idOf(node), expiresAt: NOW + 1_000 }, provider)
    const record = recordOf({ delegations: [delegation] })
    const bytes = await signRecord(record, provider)
    const verified = await verifyRecord(bytes, { now: NOW, id: record.id })
    assert.deepEqual(verified, { record, signer: idOf(provider), bytes })
  })

  it('fits its limit with the maximum of delegations and the longest name', async () => {
    const delegations = await Promise.all(
      Array.from({ length: DELEGATIONS_MAX }, async (_, i) =>
        signDelegation({ peer: idOf(await keyOf(`node ${i}`)), expiresAt: NOW + RECORD_TTL_MS }, provider)
      )
    )
    const record = recordOf({ id: apiId('n'.repeat(63), idOf(provider)), delegations })
    const bytes = await signRecord(record, provider)
    assert.ok(bytes.length <= RECORD_BYTES_MAX, `${bytes.length} bytes`)
    assert.deepEqual((await verifyRecord(bytes, { now: NOW })).record, record)
  })

  it('is valid with the signature of a node that has an unexpired delegation', async () => {
    const delegation = await signDelegation({ peer: idOf(node), expiresAt: NOW + 1_000 }, provider)
    const bytes = await signRecord(recordOf({ delegations: [delegation] }), node)
    assert.equal((await verifyRecord(bytes, { now: NOW })).signer, idOf(node))
    await assert.rejects(verifyRecord(bytes, { now: NOW + 1_000 }), refused(/without permission/))
    await assert.rejects(verifyRecord(await signRecord(recordOf(), node), { now: NOW }), refused(/without permission/))
  })

  it('is not valid with a delegation by another provider', async () => {
    const own = await signDelegation({ peer: idOf(stranger), expiresAt: NOW + 1_000 }, stranger)
    const bytes = await signRecord(recordOf({ delegations: [own] }), stranger)
    await assert.rejects(verifyRecord(bytes, { now: NOW }), refused(/another provider/))
  })

  it('leaves out expired delegations', async () => {
    const old = await signDelegation({ peer: idOf(node), expiresAt: NOW }, provider)
    const { record } = await verifyRecord(await signRecord(recordOf({ delegations: [old] }), provider), { now: NOW })
    assert.deepEqual(record.delegations, [])
  })

  const broken: Array<[what: string, changes: Partial<DirectoryRecord>, why: RegExp]> = [
    ['that has expired', { issuedAt: NOW - 10, expiresAt: NOW }, /expired/],
    ['from the future', { issuedAt: NOW + CLOCK_SKEW_MS + 1, expiresAt: NOW + RECORD_TTL_MS }, /future/],
    ['that holds for too long', { expiresAt: NOW + RECORD_TTL_MS_MAX + 1 }, /too long/],
    ['with a sequence number nobody could top', { seq: 2n ** 64n - 1n }, /sequence/],
    ['without a sequence number', { seq: 0n }, /sequence/],
    ['without a manifest hash', { manifestHash: EMPTY_BYTES }, /hash/],
    ['without a revision', { revision: 0 }, /revision/],
    ['of no API', { id: 'Ticker@nobody' }, /does not name an API/]
  ]
  for (const [what, changes, why] of broken) {
    it(`is refused ${what}`, async () => {
      const bytes = await signRecord(recordOf(changes), provider)
      await assert.rejects(verifyRecord(bytes, { now: NOW }), refused(why))
    })
  }

  it('is refused when it is too large, changed or malformed', async () => {
    const long = { ...recordOf(), id: 'x'.repeat(RECORD_BYTES_MAX), delegations: [] }
    await assert.rejects(signRecord(long as never, provider), refused(/has \d+ bytes/))
    const sealed = await sealAs('record', RECORD_MESSAGE.encode(long), provider)
    await assert.rejects(verifyRecord(sealed, { now: NOW }), refused(/too large/))
    const changed = (await signRecord(recordOf(), provider)).slice()
    changed[60]! ^= 1
    await assert.rejects(verifyRecord(changed, { now: NOW }), refused(/./))
    const delegations = Array.from({ length: DELEGATIONS_MAX + 1 }, () => utf8('x'))
    const crowded = await sealAs('record', RECORD_MESSAGE.encode({ ...recordOf(), delegations }), provider)
    await assert.rejects(verifyRecord(crowded, { now: NOW }), refused(/cannot be read/))
  })
})

describe('record rules', () => {
  before(makeKeys)

  const id = () => apiId('ticker', idOf(provider))

  it('recognise Souk’s keys', () => {
    assert.equal(parseRecordKey(recordKey(id())), id())
    for (const key of ['/souk/ticker', '/pk/a', `/souk/${idOf(provider)}/A`, `/souk/${idOf(provider)}/a/b`, '']) {
      assert.equal(parseRecordKey(utf8(key)), undefined, key)
    }
  })

  it('refuse a record under another key', async () => {
    const { validate } = createRecordRules(manualClock())
    const bytes = await signRecord(recordOf(), provider)
    await validate(recordKey(id()), bytes)
    await assert.rejects(async () => validate(recordKey(apiId('other', idOf(provider))), bytes), refused(/another API/))
    await assert.rejects(async () => validate(utf8('/souk/ticker'), bytes), refused(/does not name an API/))
  })

  it('reject a lower sequence number, and the same one with other bytes', async () => {
    const { validate } = createRecordRules(manualClock())
    const key = recordKey(id())
    const old = await signRecord(recordOf({ seq: 5n }), provider)
    const current = await signRecord(recordOf({ seq: 6n }), provider)
    const twin = await signRecord(recordOf({ seq: 6n, revision: 4 }), provider)
    await validate(key, old)
    await validate(key, current)
    await validate(key, current)
    await assert.rejects(async () => validate(key, old), refused(/older/))
    await assert.rejects(async () => validate(key, twin), refused(/A different record/))
  })

  it('ignore a forged higher sequence number', async () => {
    const { validate } = createRecordRules(manualClock())
    const forged = await signRecord(recordOf({ seq: 9n }), stranger)
    await assert.rejects(async () => validate(recordKey(id()), forged), refused(/without permission/))
    await validate(recordKey(id()), await signRecord(recordOf({ seq: 5n }), provider))
  })

  it('still know a valid record after its expiry', async () => {
    const clock = manualClock()
    const { validate } = createRecordRules(clock)
    const bytes = await signRecord(recordOf(), provider)
    await validate(recordKey(id()), bytes)
    await clock.advance(RECORD_TTL_MS)
    await assert.rejects(async () => validate(recordKey(id()), bytes), refused(/expired/))
  })

  it('choose the highest sequence number', async () => {
    const { select } = createRecordRules(manualClock())
    const records = await Promise.all([5n, 7n, 6n].map((seq) => signRecord(recordOf({ seq }), provider)))
    assert.equal(await select(recordKey(id()), records), 1)
  })
})
