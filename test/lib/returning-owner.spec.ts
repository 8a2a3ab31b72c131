import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { type Clock, systemClock } from '../../lib/base/clock.ts'
import { JOINING_MS } from '../../lib/base/limits/link.ts'
import { createNode, handler, type NodeOptions, type SoukNode } from '../../lib/index.ts'
import { eventually } from '../helpers/eventually.ts'
import { freePort } from '../helpers/free-port.ts'

/** Longer than one lookup of an API whose owner refuses connections. */
const RESTART_MS = 2_000

describe('a call to an owner that restarts', () => {
  const nodes: SoukNode[] = []
  /** A node that joined long ago does not repeat every lookup that finds nothing. */
  let upForMs = 0
  const clock: Clock = { ...systemClock, elapsed: () => systemClock.elapsed() + upForMs }

  const up = async (options: NodeOptions = {}): Promise<SoukNode> => {
    const node = await createNode({ network: 'returning-owner', clock, ...options })
    nodes.push(node)
    await node.start()
    return node
  }

  afterEach(async () => {
    await Promise.all(nodes.splice(0).map((node) => node.stop()))
  })

  it('waits until it is back, also if the API was never called before', async () => {
    const bootstrap = (await up()).libp2p.getMultiaddrs().map(String)
    const place: NodeOptions = {
      bootstrap,
      privateKey: await generateKeyPair('Ed25519'),
      listen: [`/ip4/127.0.0.1/tcp/${await freePort()}`],
      prepare: async (souk) => {
        for (const name of ['echo', 'other']) await souk.serve({ name, price: '0' }, echo)
      }
    }
    const owner = await up(place)
    const { souk, libp2p } = await up({ bootstrap })
    const calls = async (api: string) => (await souk.call({ api, body: 'hello' })).json()
    assert.equal(await calls('echo'), 'hello')
    upForMs += JOINING_MS
    await owner.stop()
    // A call that was sent to the stopped owner has an unknown outcome.
    await eventually('the consumer to notice', 5_000, async () =>
      libp2p.getConnections(owner.libp2p.peerId).length === 0 ? true : undefined
    )
    const calling = Promise.all([calls('echo'), calls('echo'), calls('other')])
    await pause(RESTART_MS)
    await up(place)
    assert.deepEqual(await calling, ['hello', 'hello', 'hello'])
  })
})

const echo = handler(({ body }) => body)
