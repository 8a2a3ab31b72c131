import assert from 'node:assert/strict'
import type { Connection } from '@libp2p/interface'
import type { ConnectionManager, TransportManager } from '@libp2p/interface-internal'
import { defaultLogger } from '@libp2p/logger'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import {
  DIAL_BACK_ADDRESSES_MAX,
  DIAL_BACK_BYTES_MAX,
  UNUSED_CONNECTION_MS
} from '../../../../lib/base/limits/reach.ts'
import { createMemoryNetwork } from '../../../../lib/link/memory-link.ts'
import { DIAL_BACK_PROTOCOL, DialBack } from '../../../../lib/link/reach/dial-back.ts'
import { DIAL_BACK_RESPONSE } from '../../../../lib/link/reach/dial-back-codec.ts'
import { webSocketPlace } from '../../../../lib/link/websocket/websocket-address.ts'
import { type ManualClock, manualClock } from '../../../helpers/manual-clock.ts'

const ASKER = '12D3KooWPSgXHiPKLrWrV4E86RhL7atK4MgLrrmsdudu561RHC1G'
const RELAY = '12D3KooWJXQvZxA1tkFfVSKcsmWyd8RyLRsvdvcyww8jYRALfVNt'

describe('a peer that dials back on a public network', () => {
  let clock: ManualClock
  let dialled: string[]
  let from: string
  /** The connection by which the peer dials back. */
  let proof: { status: string; streams: object[]; close: () => Promise<void> }
  let asker: DialBack
  let network: ReturnType<typeof createMemoryNetwork>

  const canDial = (address: Multiaddr) =>
    /^\/[^/]+\/[^/]+\/tcp\/\d+$/.test(address.toString()) || webSocketPlace(address) !== undefined

  beforeEach(async () => {
    clock = manualClock()
    dialled = []
    from = '/ip4/11.1.1.7/tcp/5000'
    proof = { status: 'open', streams: [], close: async () => void (proof.status = 'closed') }
    network = createMemoryNetwork({ clock })
    const make = async (id: string) => {
      const link = network.link(id)
      const dialBack = new DialBack({
        link,
        connectionManager: {
          getConnections: () => [
            { remotePeer: ASKER, remoteAddr: multiaddr(from), status: 'open' } as unknown as Connection
          ]
        } as unknown as ConnectionManager,
        transportManager: {
          dialTransportForMultiaddr: (address: Multiaddr) => (canDial(address) ? {} : undefined),
          dial: async (address: Multiaddr) => {
            dialled.push(address.decapsulate('/p2p').toString())
            return proof
          }
        } as unknown as TransportManager,
        network: 'test',
        privateAddresses: false,
        clock,
        log: defaultLogger().forComponent('test')
      })
      dialBack.serve()
      await link.start()
      return dialBack
    }
    await make('prober')
    asker = await make(ASKER)
  })

  const ask = async (ports: number[], addresses: string[]) => {
    const { signal } = new AbortController()
    const { reached } = await asker.ask({ id: 'prober', addresses: [] }, { ports, addresses }, signal)
    assert.deepEqual(reached, dialled)
    return dialled
  }

  /** The addresses that the asker believes of a response. */
  const believed = async (lies: { dialled: string[]; reached: string[] }, ports: number[], addresses: string[]) => {
    const liar = network.link('liar')
    const bytes = DIAL_BACK_RESPONSE.encode(lies)
    liar.serve(DIAL_BACK_PROTOCOL, async () => bytes, { requestBytesMax: DIAL_BACK_BYTES_MAX })
    await liar.start()
    return asker.ask({ id: 'liar', addresses: [] }, { ports, addresses }, new AbortController().signal)
  }

  it('is not believed where its response names no address, or reached one that it did not dial', async () => {
    const [good, other] = ['/ip4/11.1.1.7/tcp/1', '/ip4/11.1.1.7/tcp/2']
    const lies = { dialled: ['x', good, '/dns4/a/zzz/tcp/1'], reached: ['x', other, good] }
    assert.deepEqual(await believed(lies, [1, 2], []), { dialled: [good], reached: [good] })
  })

  it('is believed only about the ports and addresses that it was asked to dial', async () => {
    const name = '/dns4/node.example/tcp/443/wss'
    const good = ['/ip4/11.1.1.7/tcp/4402', '/ip6/2a00::1/tcp/4402', name]
    const others = [
      '/ip4/11.1.1.7/tcp/22',
      '/ip4/11.1.1.7/tcp/4402/ws',
      '/ip4/11.1.1.7/udp/4402',
      '/dns/a.example/tcp/4402'
    ]
    const all = [...others, ...good]
    assert.deepEqual(await believed({ dialled: all, reached: all }, [4402], [name]), { dialled: good, reached: good })
    const many = Array.from({ length: 3 * DIAL_BACK_ADDRESSES_MAX }, (_, n) => `/ip4/11.1.1.${n}/tcp/4402`)
    const some = await believed({ dialled: many, reached: many }, [4402], [])
    assert.equal(some.reached.length, 2 * DIAL_BACK_ADDRESSES_MAX)
  })

  it('dials ports and WebSockets at the address of the connection, and names', async () => {
    const names = ['/dns4/node.example/tcp/443/wss', '/dns/node.example/tcp/4402']
    const own = ['/ip4/11.1.1.7/tcp/443/tls/ws']
    assert.deepEqual(await ask([4402], [...own, ...names]), ['/ip4/11.1.1.7/tcp/4402', ...own, ...names])
  })

  for (const address of [
    '/ip4/11.1.1.8/tcp/443/wss',
    '/ip4/11.1.1.8/tcp/22',
    '/ip6/2a00::1/tcp/443/wss',
    '/ip4/127.0.0.1/tcp/443/wss',
    '/unix/tmp%2fsocket',
    '/ip4/11.1.1.7/udp/4402',
    '/dnsaddr/node.example',
    `/dns4/node.example/tcp/443/wss/p2p/${RELAY}`,
    `/dns4/node.example/tcp/443/wss/p2p/${RELAY}/p2p-circuit`,
    'node.example:443'
  ]) {
    it(`does not dial ${address}`, async () => assert.deepEqual(await ask([], [address]), []))
  }

  it('dials a private address for nobody, and only a few addresses', async () => {
    from = '/ip4/192.168.1.7/tcp/5000'
    assert.deepEqual(await ask([22, 80], ['/ip4/192.168.1.7/tcp/443/wss', '/ip6/::1/tcp/80']), [])
    const many = Array.from({ length: DIAL_BACK_ADDRESSES_MAX }, (_, n) => `/dns4/n${n}.example/tcp/443/wss`)
    assert.deepEqual(await ask([], many), many)
    await assert.rejects(ask([], [...many, '/dns4/one-more.example/tcp/443/wss']))
  })

  it('dials any public address for a peer whose connection is relayed', async () => {
    from = `/ip4/11.1.1.1/tcp/4402/p2p/${RELAY}/p2p-circuit`
    const told = ['/ip4/11.1.1.8/tcp/4402', '/dns4/node.example/tcp/443/wss']
    assert.deepEqual(await ask([22], [...told, '/ip4/10.0.0.1/tcp/22']), told)
  })

  it('closes the connection that proved an address once no stream is left on it', async () => {
    proof.streams.push({})
    await ask([4402], [])
    await clock.advance(2 * UNUSED_CONNECTION_MS)
    assert.equal(proof.status, 'open')
    proof.streams.pop()
    await clock.advance(UNUSED_CONNECTION_MS)
    assert.equal(proof.status, 'closed')
  })

  it('keeps a direct connection to a peer that was only relayed', async () => {
    from = `/ip4/11.1.1.1/tcp/4402/p2p/${RELAY}/p2p-circuit`
    await ask([], ['/ip4/11.1.1.8/tcp/4402'])
    await clock.advance(2 * UNUSED_CONNECTION_MS)
    assert.equal(proof.status, 'open')
  })
})
