import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { DIALS_PER_PEER_MAX } from '../../../lib/base/limits/link.ts'
import { createNode, type SoukNode } from '../../../lib/index.ts'

describe('the dials of a node', () => {
  let victim: Server
  let port: number
  let knocks: number
  let node: SoukNode | undefined
  let peer: string

  beforeEach(async () => {
    knocks = 0
    victim = createServer((socket) => {
      knocks++
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await once(victim, 'listening')
    const address = victim.address()
    port = address !== null && typeof address === 'object' ? address.port : 0
    peer = peerIdFromPrivateKey(await generateKeyPair('Ed25519')).toString()
  })
  afterEach(async () => {
    await node?.stop()
    victim.close()
  })

  const dial = async (privateAddresses: boolean, addresses: readonly string[]) => {
    node = await createNode({ privateAddresses })
    await node.start()
    await assert.rejects(node.libp2p.dial(addresses.map((address) => multiaddr(`${address}/p2p/${peer}`))))
  }

  it('exclude its own network by address or name, on a public network', async () => {
    await dial(false, [
      `/ip4/127.0.0.1/tcp/${port}`,
      `/dns4/localhost/tcp/${port}`,
      `/dns/localhost/tcp/${port}`,
      `/ip6/::ffff:127.0.0.1/tcp/${port}`
    ])
    assert.equal(knocks, 0)
  })

  it('exclude Unix sockets of its own machine, on a public network', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'souk-dial-'))
    const path = join(directory, 'socket')
    const local = createServer((socket) => {
      knocks++
      socket.destroy()
    }).listen(path)
    try {
      await once(local, 'listening')
      await dial(false, [`/unix/${encodeURIComponent(path)}`])
      assert.equal(knocks, 0)
    } finally {
      local.close()
      await rm(directory, { recursive: true })
    }
  })

  it('include private addresses on a private network', async () => {
    await dial(true, [`/ip4/127.0.0.1/tcp/${port}`])
    assert.equal(knocks, 1)
  })

  it('include only a few addresses of a peer that announces a thousand', async () => {
    const many = Array.from(
      { length: 1_000 },
      (_, index) => `/ip4/127.0.${Math.floor(index / 250)}.${(index % 250) + 1}`
    )
    victim.close()
    victim = createServer((socket) => {
      knocks++
      socket.destroy()
    }).listen(0, '0.0.0.0')
    await once(victim, 'listening')
    const address = victim.address()
    port = address !== null && typeof address === 'object' ? address.port : 0
    await dial(
      true,
      many.map((host) => `${host}/tcp/${port}`)
    )
    assert.ok(knocks > 0 && knocks <= DIALS_PER_PEER_MAX, `${knocks} dials`)
  })
})
