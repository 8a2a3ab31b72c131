import assert from 'node:assert/strict'
import { glob, readFile } from 'node:fs/promises'
import { createNode, handler } from '../../lib/index.ts'
import type { Finding } from '../../node/conformance/finding.ts'
import { judgePeer } from '../../node/conformance/judge-peer.ts'
import { judgeConsumer } from '../../node/conformance/judge-consumer.ts'
import { scan } from '../helpers/scan.ts'
import { type SmallConsumer, startSmallConsumer } from './peer/consumer.ts'
import { type SmallPeer, startSmallPeer } from './peer/peer.ts'

const LISTEN = '/ip4/127.0.0.1/tcp/0'

const broken = (findings: readonly Finding[]) => findings.filter(({ result }) => result === 'broken')

describe('the conformance kit for peers', () => {
  it('finds every rule kept by our own node', async () => {
    const node = await createNode()
    await node.start()
    try {
      let calls = 0
      await node.souk.serve(
        { name: 'count', price: '0' },
        handler(() => ({ calls: ++calls }))
      )
      const { peerId } = node.libp2p
      const address = String(node.libp2p.getMultiaddrs()[0])
      const findings = await judgePeer({ address, api: `count@${peerId.toString()}` })
      assert.deepEqual(broken(findings), [])
      assert.ok(findings.filter(({ result }) => result === 'holds').length >= 30)
      // Neither a node stores such a response, nor does the kit.
      await node.souk.serve(
        { name: 'large', price: '0' },
        handler(() => ({ text: 'large'.repeat(100_000) }))
      )
      const ofLarge = await judgePeer({ address, api: `large@${peerId.toString()}` })
      assert.deepEqual(broken(ofLarge), [])
      assert.ok(ofLarge.some(({ section, result }) => section === '7.1' && result === 'skipped'))
      const without = await judgePeer({ address })
      assert.deepEqual(broken(without), [])
      assert.ok(without.some(({ result }) => result === 'skipped'))
    } finally {
      await node.stop()
    }
  })

  it('finds every rule kept by our own node as a consumer', async () => {
    const calling: Array<Promise<void>> = []
    const over = new AbortController()
    const callIn = async ({ address, api }: { address: string; api: string }) => {
      const node = await createNode({ bootstrap: [address] })
      await node.start()
      while (!over.signal.aborted) {
        await node.souk.call({ api, body: {}, timeoutMs: 5_000 }).catch(() => undefined)
        // A call that fails at once would otherwise leave no turn for anything else.
        await new Promise(setImmediate)
      }
      await node.stop()
    }
    const onReady = (owner: { address: string; api: string }) => void calling.push(callIn(owner))
    const findings = await judgeConsumer({ network: 'dev', listen: LISTEN, onReady })
    over.abort()
    await Promise.all(calling)
    assert.deepEqual(broken(findings), [])
    assert.ok(findings.filter(({ result }) => result === 'holds').length >= 16, JSON.stringify(findings))
  })

  describe('and a peer written from the specification alone', () => {
    let peer: SmallPeer
    before(async () => {
      peer = await startSmallPeer()
    })
    after(() => peer.stop())

    it('imports nothing of ours', async () => {
      const specifiers: string[] = []
      for await (const path of glob('test/conformance/peer/*.ts')) {
        const { imports } = scan(path, await readFile(path, 'utf8'))
        specifiers.push(...imports.map(({ specifier = '' }) => specifier))
      }
      assert.ok(specifiers.length > 10)
      assert.deepEqual(
        specifiers.filter((specifier) => specifier.startsWith('..') || specifier.startsWith('souk')),
        []
      )
    })

    it('keeps every rule', async () => {
      const findings = await judgePeer({ address: peer.addresses[0] ?? '', api: peer.api })
      assert.deepEqual(broken(findings), [])
      assert.ok(findings.filter(({ result }) => result === 'holds').length >= 30)
    })

    it('keeps every rule of a consumer, too', async () => {
      let consumer: SmallConsumer | undefined
      const onReady = (owner: { address: string; api: string }) => {
        consumer = startSmallConsumer(owner)
      }
      const findings = await judgeConsumer({ network: 'dev', listen: LISTEN, onReady })
      await consumer?.stop()
      assert.deepEqual(broken(findings), [])
      assert.ok(findings.filter(({ result }) => result === 'holds').length >= 16, JSON.stringify(findings))
    })

    it('is judged broken if it repeats a call under another request id', async () => {
      let consumer: SmallConsumer | undefined
      const onReady = (owner: { address: string; api: string }) => {
        consumer = startSmallConsumer(owner, { isForgetful: true })
      }
      const findings = await judgeConsumer({ network: 'dev', listen: LISTEN, onReady })
      await consumer?.stop()
      assert.ok(broken(findings).some(({ section }) => section === '7.1'))
    })

    it('is judged broken if it forges its manifest, ignores keys or pings, takes cut bodies, or resets payments', async () => {
      const faulty = await startSmallPeer({
        isForged: true,
        ignoresKeys: true,
        isDeaf: true,
        takesCutBodies: true,
        resetsPayments: true
      })
      const findings = await judgePeer({ address: faulty.addresses[0] ?? '', api: faulty.api })
      await faulty.stop()
      assert.deepEqual(
        broken(findings).map(({ section }) => section),
        ['1', '6', '7.3', '7.3', 'directory 1', 'payments 3', 'payments 3']
      )
    })

    it('is found and called by our own node, with a small and a large body', async () => {
      const node = await createNode({ bootstrap: [...peer.addresses] })
      await node.start()
      try {
        for (const text of ['small', 'large'.repeat(100_000)]) {
          const reply = await node.souk.call({ api: peer.api, body: { text } })
          assert.deepEqual(await reply.json(), { text })
        }
      } finally {
        await node.stop()
      }
      assert.ok(peer.ran.length >= 2)
    })
  })
})
