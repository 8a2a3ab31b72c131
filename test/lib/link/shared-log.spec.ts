import assert from 'node:assert/strict'
import type { ComponentLogger, Logger } from '@libp2p/interface'
import { createNode, type SoukNode } from '../../../lib/index.ts'
import { quietPeer } from '../../helpers/yamux-frames.ts'

const STREAMS = 20

describe('the logs of streams', () => {
  const nodes: Pick<SoukNode['libp2p'], 'stop'>[] = []
  let named: string[]

  beforeEach(() => {
    named = []
  })
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.stop()
  })

  function loggerWhere(isEnabled: boolean): ComponentLogger {
    const forComponent = (name: string): Logger => {
      named.push(name)
      const silent = () => undefined
      const newScope = (scope: string) => forComponent(`${name}:${scope}`)
      return Object.assign(() => undefined, { error: silent, trace: silent, enabled: isEnabled, newScope })
    }
    return { forComponent }
  }

  /** Loggers that a node creates for the streams that a peer opens. */
  async function createdWhere(isEnabled: boolean): Promise<number> {
    const { libp2p } = await createNode({ logger: loggerWhere(isEnabled) })
    const peer = await quietPeer()
    nodes.push(libp2p, peer)
    await libp2p.start()
    const connection = await peer.dial(libp2p.getMultiaddrs())
    await connection.newStream('/ipfs/ping/1.0.0')
    const before = named.length
    for (let count = 0; count < STREAMS; count++) {
      const stream = await connection.newStream('/ipfs/ping/1.0.0')
      stream.abort(new Error('done'))
    }
    return named.length - before
  }

  it('are that of their connection while it is off', async () => {
    const created = await createdWhere(false)
    assert.ok(created < STREAMS, `${created} were created`)
  })

  it('are named after each stream while it is on', async () => {
    assert.ok((await createdWhere(true)) >= STREAMS)
    assert.ok(named.some((name) => /:inbound:\d+$/.test(name)))
  })
})
