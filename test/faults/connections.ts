import assert from 'node:assert/strict'
import { limits, createNode, handler, type SoukNode } from '../../lib/index.ts'
import { flood } from '../helpers/flood.ts'

/** More identities than a node has connection slots. */
const IDENTITIES = 600
/** Nodes of this process connect from 127.0.0.1. On Linux, 127.0.0.2 is this machine as well, but counts as another host. */
const CROWD = '127.0.0.2'
const CALLS = 50

/**
 * 600 idle identities of one host connect to an owner, each with an open call stream, while a consumer calls. Then a new node
 * from another host joins through that owner, finds its API and calls it.
 */
export async function run(): Promise<Record<string, number>> {
  // The rules for public addresses, applied to loopback: each address is a host with its own share and rate.
  const owner = await createNode({ connections: { countsPrivate: true } })
  const nodes: SoukNode[] = [owner]
  const start = async (options: Parameters<typeof createNode>[0]) => {
    const node = await createNode(options)
    nodes.push(node)
    await node.start()
    return node
  }
  let crowd: Awaited<ReturnType<typeof flood>> | undefined
  try {
    await owner.start()
    await owner.souk.serve(
      { name: 'echo', price: '0' },
      handler(() => ({ ok: true }))
    )
    const at = owner.libp2p.getMultiaddrs()
    const bootstrap = at.map(String)
    const customer = await start({ bootstrap })
    await call(customer)
    const place = owner.libp2p.getConnections(customer.libp2p.peerId)[0]?.id

    let [served, worstMs] = [0, 0]
    const flooding = flood({ at, identities: IDENTITIES, from: CROWD, holding: '/souk/call/1.0.0' })
    const over = new AbortController()
    void flooding.then(
      () => over.abort(),
      () => over.abort()
    )
    while (!over.signal.aborted) {
      worstMs = Math.max(worstMs, await call(customer))
      served++
      await new Promise((resolve) => setImmediate(resolve))
    }
    crowd = await flooding

    const joiningAt = performance.now()
    const newcomer = await start({ bootstrap })
    const firstMs = await call(newcomer)
    const joinMs = performance.now() - joiningAt
    for (let calls = 1; calls < CALLS; calls++) await call(newcomer)
    assert.equal(owner.libp2p.getConnections(customer.libp2p.peerId)[0]?.id, place, 'the customer lost its place')
    const ofCrowd = crowd.open()
    assert.ok(ofCrowd <= limits.CONNECTIONS_PER_HOST_MAX, `${ofCrowd} connections of one host`)
    return {
      identities: IDENTITIES,
      connections_of_their_host: ofCrowd,
      connections_of_one_host_max: limits.CONNECTIONS_PER_HOST_MAX,
      connections_max: limits.CONNECTIONS_MAX,
      connections: owner.libp2p.getConnections().length,
      calls_of_a_customer_meanwhile: served,
      its_slowest_call_ms: Math.round(worstMs),
      newcomer_join_and_first_call_ms: Math.round(joinMs),
      newcomer_first_call_ms: Math.round(firstMs)
    }
  } finally {
    await crowd?.stop()
    await Promise.all(nodes.reverse().map((node) => node.stop()))
  }
}

async function call(node: SoukNode): Promise<number> {
  const startedAt = performance.now()
  const { status } = await node.souk.call({ api: 'echo', body: { n: 1 } })
  assert.equal(status, 200)
  return performance.now() - startedAt
}
