import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { fileChain } from '../../../node/network/chain-rules.ts'
import {
  formatNetworkFile,
  type NetworkTerms,
  signHandover,
  signNetworkFile
} from '../../../node/network/network-file.ts'
import { networkOf } from '../../../node/network/network-of.ts'
import { NetworkWatch, withNewestNetwork } from '../../../node/network/refresh-network.ts'
import { compose, type NodeConfig } from '../../../node/node-config.ts'
import { NETWORKS } from '../../../node/networks.ts'
import { NETWORK_REREAD_MS, NETWORK_RETRY_MS } from '../../../lib/base/limits/network.ts'
import { eventually } from '../../helpers/eventually.ts'
import { type ManualClock, manualClock } from '../../helpers/manual-clock.ts'

const TREASURY = `0x${'7e'.repeat(20)}` as const
const OWN_RPC = 'http://127.0.0.1:18545/'

describe('the place of newer network files', () => {
  let server: Server
  let directory: string
  let key: Ed25519PrivateKey
  let served: string
  let logged: string[]
  /** Status of each response. */
  let statuses: number[]
  let isAway: boolean
  const idOf = (of: Ed25519PrivateKey) => peerIdFromPrivateKey(of).toString()
  const sign = (more: Partial<NetworkTerms> = {}, by = key) =>
    signNetworkFile(
      {
        name: 'bazaar',
        revision: 1,
        founder: idOf(by),
        handovers: [],
        chain: fileChain({ ...NETWORKS.dev.chain, chainId: 41_337 }, TREASURY),
        bootstrap: [],
        lan: false,
        ...more
      },
      by
    )

  before(async () => {
    key = await generateKeyPair('Ed25519')
    server = createServer((request, response) => {
      const etag = `"${createHash('sha256').update(served).digest('hex')}"`
      response.statusCode = isAway ? 503 : request.headers['if-none-match'] === etag ? 304 : 200
      statuses.push(response.statusCode)
      response.setHeader('etag', etag)
      response.end(response.statusCode === 200 ? served : '')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'souk-refresh-'))
    logged = []
    statuses = []
    isAway = false
  })
  afterEach(() => rm(directory, { recursive: true, force: true }))
  after(() => server.close())

  /** A profile that has joined by revision 1. */
  const joined = async (settings = {}): Promise<NodeConfig> => {
    const networkUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/network.json?token=secret`
    return compose({ name: 'member', directory }, networkOf(await sign()), { networkUrl, ...settings }, {})
  }
  const log = {
    info: (line: string) => void logged.push(line),
    warn: (line: string) => void logged.push(line),
    error: (line: string) => void logged.push(line)
  }

  it('gives a starting node its new revision, which the profile keeps', async () => {
    const rpc = 'http://127.0.0.1:18546/'
    const bootstrap = ['/dnsaddr/peers.example']
    const newer = await sign({ revision: 2, bootstrap })
    served = formatNetworkFile(await sign({ revision: 2, bootstrap, chain: { ...newer.chain, rpc } }))
    const { network, chain } = await withNewestNetwork(await joined(), log)
    assert.deepEqual([network.file?.revision, network.bootstrap, chain.rpcUrl], [2, bootstrap, rpc])
    assert.equal(await readFile(join(directory, 'network.json'), 'utf8'), served)
    assert.match(logged.join(), /has a new revision, 2/)
  })

  it('leaves the operator its own endpoint of the chain', async () => {
    const { chain } = await sign()
    served = formatNetworkFile(await sign({ revision: 2, chain: { ...chain, rpc: 'http://127.0.0.1:18546/' } }))
    const config = await withNewestNetwork(await joined({ chainRpc: OWN_RPC }), log)
    assert.deepEqual([config.network.file?.revision, config.chain.rpcUrl], [2, OWN_RPC])
  })

  it('cannot change a node by an old file, a forged one, or none: it starts with the file it has', async () => {
    const stranger = await generateKeyPair('Ed25519')
    const second = formatNetworkFile(await sign({ revision: 2 }))
    const cases: Array<[served: string, words: RegExp | undefined]> = [
      [formatNetworkFile(await sign()), undefined],
      [formatNetworkFile(await sign({ revision: 3 }, stranger)), /No newer network file was taken/],
      [second.replace('"revision": 2', '"revision": 3'), /signature is wrong/],
      ['<html>', /not JSON/],
      [' '.repeat(1024 * 1024), /larger than/]
    ]
    for (const [content, words] of cases) {
      logged = []
      served = content
      const config = await joined()
      assert.equal(await withNewestNetwork(config, log), config, content.slice(0, 80))
      if (words === undefined) assert.deepEqual(logged, [])
      else assert.match(logged.join(), words)
      assert.doesNotMatch(logged.join(), /secret/)
    }
    assert.equal(await readFile(join(directory, 'network.json'), 'utf8').catch(() => 'none'), 'none')
  })

  describe('and a running node', () => {
    let clock: ManualClock
    let watch: NetworkWatch
    let peers: string[]
    afterEach(() => watch.stop())

    const running = async (settings = {}) => {
      clock = manualClock()
      peers = []
      const souk = { addBootstrap: (addresses: readonly string[]) => void peers.push(...addresses) }
      watch = new NetworkWatch({ config: await joined(settings), souk, clock, log })
      watch.start()
    }
    /** Waits until the node has looked this often, and is about to pause. */
    const looked = async (times: number, afterMs: number) => {
      await clock.advance(afterMs)
      await eventually(`look ${times}`, 5_000, () =>
        statuses.length === times && clock.pending === 1 ? true : undefined
      )
    }

    it('uses the bootstrap peers of a revision that a named key signed, and asks for changes only', async () => {
      await running()
      const next = await generateKeyPair('Ed25519')
      const named = { name: 'bazaar', founder: idOf(key), handovers: [] }
      const bootstrap = ['/dnsaddr/peers.example']
      const handovers = [await signHandover(named, idOf(next), key)]
      served = formatNetworkFile(await sign({ revision: 2, founder: idOf(key), handovers, bootstrap }, next))
      await looked(1, NETWORK_REREAD_MS)
      assert.deepEqual([peers, watch.restartNeeded], [bootstrap, undefined])
      assert.equal(logged.length, 1)
      assert.match(logged.join(), /^The network bazaar-\w+ has a new revision, 2. It is in use.$/)
      assert.equal(await readFile(join(directory, 'network.json'), 'utf8'), served)
      await looked(2, NETWORK_REREAD_MS)
      assert.deepEqual(statuses, [200, 304])
      // The first key signs no longer.
      served = formatNetworkFile(await sign({ revision: 3, handovers }))
      await looked(3, NETWORK_REREAD_MS)
      assert.match(logged.at(-1) ?? '', /No newer network file was taken.*did not name/)
    })

    it('says what needs a restart', async () => {
      const { chain } = await sign()
      const content = formatNetworkFile(
        await sign({ revision: 2, lan: true, chain: { ...chain, rpc: 'http://127.0.0.1:18546/' } })
      )
      await running()
      served = content
      await looked(1, NETWORK_REREAD_MS)
      const why = 'revision 2 of the network changes its chain endpoint and addresses on the LAN'
      assert.equal(watch.restartNeeded, why)
      assert.equal(logged.length, 1)
      assert.match(logged.join(), new RegExp(`has a new revision, 2. Restart this node: ${why}.$`))
      watch.stop()
      await running({ chainRpc: OWN_RPC })
      await looked(2, NETWORK_REREAD_MS)
      assert.equal(watch.restartNeeded, 'revision 2 of the network changes its addresses on the LAN')
    })

    it('is not disturbed by a place that fails: it warns once and looks less and less often', async () => {
      await running()
      isAway = true
      await looked(1, NETWORK_REREAD_MS)
      await looked(2, NETWORK_RETRY_MS)
      await clock.advance(NETWORK_RETRY_MS)
      assert.equal(statuses.length, 2)
      await looked(3, NETWORK_RETRY_MS)
      assert.equal(logged.length, 1)
      isAway = false
      served = formatNetworkFile(await sign({ revision: 2 }))
      await looked(4, 4 * NETWORK_RETRY_MS)
      assert.match(logged.at(-1) ?? '', /has a new revision, 2/)
    })
  })
})
