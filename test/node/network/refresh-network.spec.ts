import assert from 'node:assert/strict'
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
import { formatNetworkFile, type NetworkTerms, signNetworkFile } from '../../../node/network/network-file.ts'
import { networkOf } from '../../../node/network/network-of.ts'
import { withNewestNetwork } from '../../../node/network/refresh-network.ts'
import { compose, type NodeConfig } from '../../../node/node-config.ts'
import { NETWORKS } from '../../../node/networks.ts'

const TREASURY = `0x${'7e'.repeat(20)}` as const
const OWN_RPC = 'http://127.0.0.1:18545/'

describe('the place of newer network files', () => {
  let server: Server
  let directory: string
  let key: Ed25519PrivateKey
  let served: string
  let logged: string[]
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
    server = createServer((_, response) => response.end(served))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  })
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'souk-refresh-'))
    logged = []
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
})
