import assert from 'node:assert/strict'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { lpStream } from '@libp2p/utils'
import { createNode, handler, SoukError, type SoukNode } from '../../../../lib/index.ts'
import type { Manifest } from '../../../../lib/interface/index.ts'
import { MANIFEST_REPLY } from '../../../../lib/resolve/manifest/exchange-codec.ts'
import { encodeManifest } from '../../../../lib/resolve/manifest/manifest-codec.ts'
import { MANIFEST_PROTOCOL } from '../../../../lib/resolve/manifest/manifest-exchange.ts'
import { signManifest } from '../../../../lib/resolve/manifest/sign-manifest.ts'
import { createTestnet, type Testnet } from '../../../../lib/testing/index.ts'
import { why } from '../../../../node/admin/market/why.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { keyOf, sealAs } from '../../../lib/resolve/fixtures.ts'

const DAY = 86_400_000

/** Each step of the diagnosis, in a network of real nodes. */
describe('souk why', () => {
  let testnet: Testnet
  let key: Ed25519PrivateKey
  let owner: SoukNode
  let rival: SoukNode
  let consumer: SoukNode

  before(async () => {
    key = await keyOf('the owner of why')
    testnet = await createTestnet({ nodes: 4, options: (index) => (index === 1 ? { privateKey: key } : {}) })
    const [, second, third, fourth] = testnet.nodes
    assert.ok(second !== undefined && third !== undefined && fourth !== undefined)
    ;[owner, rival, consumer] = [second, third, fourth]
  })
  after(() => testnet.stop())

  const ask = (api: string) => why(consumer.souk, api, true, AbortSignal.timeout(60_000))
  const serve = async (name: string, node = owner) => {
    const { signed } = await node.souk.serve(
      { name, price: '0.001' },
      handler(() => ({ ok: true }))
    )
    return signed
  }

  /** Makes the owner's node respond to every request with these envelopes. */
  async function tell(...envelopes: readonly Uint8Array[]): Promise<void> {
    await owner.libp2p.unhandle(MANIFEST_PROTOCOL)
    await owner.libp2p.handle(MANIFEST_PROTOCOL, async (stream) => {
      const messages = lpStream(stream)
      await messages.read()
      await messages.write(MANIFEST_REPLY.encode({ manifests: envelopes, hasMore: false }))
      await stream.close()
    })
  }

  /** Stops a node, until the consumer has noticed. */
  async function leave(node: SoukNode): Promise<void> {
    const { peer } = node.souk.status()
    await node.stop()
    const isConnected = () => consumer.souk.status().peers.some(({ id }) => id === peer)
    await eventually('the connection to close', 10_000, () => (isConnected() ? undefined : true))
  }

  const forging = (manifest: Manifest, by: Ed25519PrivateKey) => sealAs('manifest', encodeManifest(manifest), by)

  it('returns ok if the API can be called', async () => {
    const { id } = await serve('well')
    assert.deepEqual(await ask('well'), {
      api: 'well',
      callable: true,
      step: 'ok',
      detail: 'The API is published and can be called.',
      id,
      owners: [owner.souk.status().peer],
      candidates: [],
      hint: null
    })
  })

  it('returns no_provider_record if no node announces the API', async () => {
    const { step, callable, hint } = await ask('nobody-has-this')
    assert.deepEqual([step, callable], ['no_provider_record', false])
    assert.match(hint ?? '', /souk search/)
    assert.equal((await ask(`nobody-has-this@${owner.souk.status().peer}`)).callable, false)
  })

  it('returns the state of a paused or deprecated API', async () => {
    await serve('resting')
    await owner.souk.move('resting', 'paused')
    assert.deepEqual(await ask('resting').then(({ step, callable }) => [step, callable]), ['paused', false])
    await owner.souk.move('resting', 'deprecated')
    assert.deepEqual(await ask('resting').then(({ step, callable }) => [step, callable]), ['deprecated', true])
  })

  it('returns name_conflict with the candidates if two providers use the name', async () => {
    const ids = [(await serve('twice')).id, (await serve('twice', rival)).id]
    const { step, callable, candidates, hint } = await ask('twice')
    assert.deepEqual([step, callable], ['name_conflict', false])
    assert.deepEqual(candidates.map((each) => (each as { id: string }).id).sort(), ids.sort())
    assert.match(hint ?? '', /souk pin/)
    assert.equal((await ask(String(ids[0]))).step, 'ok')
  })

  it('returns not_served if the node runs but no longer serves the API', async () => {
    const { id } = await serve('removed')
    await owner.souk.remove('removed')
    const { step, callable } = await ask(id)
    assert.deepEqual([step, callable], ['not_served', false])
  })

  it('returns rolled_back if the manifest is older than a known one', async () => {
    const before = await serve('rolled')
    const after = await owner.souk.serve(
      { name: 'rolled', price: '0.002' },
      handler(() => ({}))
    )
    assert.equal((await ask(before.id)).step, 'ok')
    await tell(before.envelope)
    assert.deepEqual(await ask(before.id).then(({ step, callable }) => [step, callable]), ['rolled_back', false])
    await tell(after.signed.envelope)
    assert.equal((await ask(before.id)).step, 'ok')
  })

  it('returns expired if the manifest has expired', async () => {
    const { id, manifest } = await serve('old')
    const past = { ...manifest, issuedAt: Date.now() - DAY, expiresAt: Date.now() - 1 }
    await tell((await signManifest(past, key)).envelope)
    assert.deepEqual(await ask(id).then(({ step, callable }) => [step, callable]), ['expired', false])
  })

  it('returns signature_refused if another key signed the manifest', async () => {
    const { id, manifest } = await serve('forged')
    await tell(await forging(manifest, await keyOf('a stranger')))
    const { step, callable, hint } = await ask(id)
    assert.deepEqual([step, callable], ['signature_refused', false])
    assert.match(hint ?? '', /did not sign/)
  })

  it('returns lookup_timeout after a slow lookup, and rejects an invalid name', async () => {
    const slow = { resolve: () => Promise.reject(new SoukError('lookup_timeout')) }
    const { step, hint } = await why(slow, 'slow', true, AbortSignal.timeout(1_000))
    assert.deepEqual([step, hint], ['lookup_timeout', 'run souk doctor and souk peers'])
    await assert.rejects(ask('No Name'), { code: 'invalid_request' })
  })

  it('returns payment if the API has a price and this node cannot pay', async () => {
    const { id } = await serve('priced', rival)
    const { step, callable, hint } = await why(consumer.souk, id, false, AbortSignal.timeout(60_000))
    assert.deepEqual([step, callable], ['payment', false])
    assert.match(hint ?? '', /souk wallet create/)
  })

  it('returns dial_relay if the node is gone that was behind relays', async () => {
    const hidden = await testnet.add({ listen: [] })
    const { signed } = await hidden.souk.serve(
      { name: 'hidden', price: '0' },
      handler(() => ({}))
    )
    const relays = () => hidden.souk.status().reachability.relays.length
    await eventually('two relays', 10_000, () => (relays() === 2 ? true : undefined))
    await eventually('the API', 10_000, async () => ((await ask(signed.id)).callable ? true : undefined))
    await leave(hidden)
    const { step, callable, detail } = await ask(signed.id)
    assert.deepEqual([step, callable], ['dial_relay', false])
    assert.match(detail, /none of its relays connects to it/)
  })

  it('returns dial_direct if the node is gone, and handshake if another one has its address', async () => {
    const { id } = await serve('leaving', rival)
    const listen = rival.libp2p.getMultiaddrs().map((address) => address.decapsulate('/p2p').toString())
    assert.equal((await ask(id)).callable, true)
    await leave(rival)
    const { step, callable, detail } = await ask(id)
    assert.deepEqual([step, callable], ['dial_direct', false])
    assert.match(detail, /None of the owner’s addresses accepts connections/)
    const error = await consumer.souk.call({ api: id, body: null }).catch((thrown: unknown) => thrown)
    assert.ok(error instanceof SoukError)
    assert.deepEqual([error.code, error.members?.['step']], ['owner_unreachable', 'dial_direct'])

    const stranger = await createNode({ network: 'testnet', listen })
    await stranger.start()
    try {
      // The first question may share a dial that began before the stranger listened.
      await eventually('the handshake to fail', 5_000, async () =>
        (await ask(id)).step === 'handshake' ? true : undefined
      )
    } finally {
      await stranger.stop()
    }
  })
})
