import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Ed25519PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { fileChain } from '../../../node/network/chain-rules.ts'
import { fetchNetworkFile, loadNetworkFile } from '../../../node/network/fetch-network-file.ts'
import { formatInvitation, readInvitation } from '../../../node/network/invitation.ts'
import {
  formatNetworkFile,
  isNewer,
  type NetworkTerms,
  readNetworkFile,
  signHandover,
  signNetworkFile
} from '../../../node/network/network-file.ts'
import type { NetworkFile } from '../../../node/network/network-file-schema.ts'
import { networkOf } from '../../../node/network/network-of.ts'
import { NETWORKS } from '../../../node/networks.ts'

const TREASURY = `0x${'7e'.repeat(20)}` as const
const invalid = (message: RegExp) => ({ code: 'network_invalid', message })

describe('a network file', () => {
  let key: Ed25519PrivateKey
  let file: NetworkFile
  const idOf = (of: Ed25519PrivateKey) => peerIdFromPrivateKey(of).toString()
  const termsOf = (more: Partial<NetworkTerms> = {}): NetworkTerms => ({
    name: 'bazaar',
    revision: 1,
    founder: idOf(key),
    handovers: [],
    chain: fileChain({ ...NETWORKS.dev.chain, chainId: 41_337 }, TREASURY),
    bootstrap: [`/dns/peer.example/tcp/4402/p2p/${idOf(key)}`, '/dnsaddr/peers.example'],
    lan: false,
    ...more
  })
  const sign = (more: Partial<NetworkTerms> = {}, by = key) => signNetworkFile(termsOf(more), by)

  before(async () => {
    key = await generateKeyPair('Ed25519')
    file = await sign()
  })

  it('is read as it was signed, however it is formatted', async () => {
    assert.deepEqual(await readNetworkFile(formatNetworkFile(file)), file)
    const reversed = Object.fromEntries(Object.entries(file).toReversed())
    assert.deepEqual(await readNetworkFile(JSON.stringify(reversed)), file)
    const network = networkOf(file)
    assert.match(network.name, /^bazaar-[\da-f]{12}$/)
    assert.deepEqual([network.isPlay, network.chain.treasury, network.bootstrap], [true, TREASURY, file.bootstrap])
  })

  it('has another name on the wire if another key founds a network of the same name', async () => {
    const other = await generateKeyPair('Ed25519')
    const theirs = await sign({ founder: idOf(other) }, other)
    assert.notEqual(networkOf(theirs).name, networkOf(file).name)
  })

  it('is refused with any changed member', async () => {
    const stranger = await generateKeyPair('Ed25519')
    const changes: Array<Partial<Record<keyof NetworkFile, unknown>>> = [
      { name: 'bazar' },
      { revision: 2 },
      { lan: true },
      { bootstrap: [] },
      { chain: { ...file.chain, rpc: 'https://evil.example/' } },
      { chain: { ...file.chain, confirmations: 2 } },
      { signature: `${'A'.repeat(85)}A` }
    ]
    for (const change of changes) {
      await assert.rejects(
        readNetworkFile(JSON.stringify({ ...file, ...change })),
        invalid(/its signature is wrong/),
        JSON.stringify(change)
      )
    }
    const foreign = JSON.stringify({ ...file, signer: idOf(stranger) })
    await assert.rejects(readNetworkFile(foreign), invalid(/not by its founder/))
    await assert.rejects(sign({}, stranger), invalid(/not by its founder/))
  })

  it('is refused in another form, with a path to what is wrong', async () => {
    const { usdc } = file.chain
    for (const [change, words] of [
      [{ format: 'souk-network/2' }, /format/],
      [{ extra: 1 }, /unknown: extra/],
      [{ revision: 0 }, /revision/],
      [{ name: 'Bazaar' }, /name/],
      [{ name: 'a'.repeat(20) }, /name/],
      [{ founder: 'Qm123' }, /founder/],
      [{ bootstrap: ['/ip4/192.0.2.1/tcp/4402'] }, /bootstrap\.0.*p2p/],
      [{ bootstrap: Array.from({ length: 17 }, () => '/dnsaddr/a.example') }, /bootstrap/],
      [{ chain: { ...file.chain, rpc: 'http://rpc.example/' } }, /chain\.rpc.*https/],
      [{ chain: { ...file.chain, rpc: 'https://user:secret@rpc.example/' } }, /chain\.rpc.*without user name/],
      [{ chain: { ...file.chain, rpc: 'file:///etc/passwd' } }, /chain\.rpc/],
      [{ chain: { ...file.chain, treasury: TREASURY.toUpperCase() } }, /chain\.treasury/],
      [{ chain: { ...file.chain, confirmations: 1_000 } }, /confirmations/],
      [{ chain: { ...file.chain, usdc: { ...usdc, decimals: 18 } } }, /usdc/]
    ] as const) {
      await assert.rejects(readNetworkFile(JSON.stringify({ ...file, ...change })), invalid(words), String(words))
    }
    await assert.rejects(readNetworkFile('no JSON'), invalid(/not JSON/))
    await assert.rejects(readNetworkFile('[]'), invalid(/not valid/))
    await assert.rejects(readNetworkFile(' '.repeat(17 * 1024)), invalid(/larger than/))
  })

  it('names only contracts that this release knows, and no play money on a real chain', async () => {
    const base = fileChain(NETWORKS.base.chain, TREASURY)
    assert.equal(networkOf(await sign({ chain: base })).isPlay, false)
    const play = file.chain
    assert.equal(networkOf(file).chain.tipWei, NETWORKS.dev.chain.tipWei)
    const other = { address: `0x${'11'.repeat(20)}`, code_hash: base.settlement.code_hash } as const
    for (const [chain, words] of [
      [{ ...base, settlement: other }, /settlement is not the one/],
      [{ ...base, collector: { ...base.collector, code_hash: play.collector.code_hash } }, /collector is not the one/],
      [{ ...base, usdc: { ...base.usdc, name: 'USDC' } }, /usdc is not the one/],
      [{ ...base, id: 84_532 }, /is not the one/],
      [{ ...play, id: 8_453 }, /is not the one/],
      [{ ...play, id: 1 }, /chain 1 has real money/],
      [{ ...play, id: 42_161 }, /has real money/],
      [{ ...play, splitter_factory: other.address }, /splitter factory of its treasury/],
      [{ ...play, treasury: `0x${'00'.repeat(20)}` as const }, /zero address/]
    ] as const) {
      await assert.rejects(sign({ chain }), invalid(words), String(words))
    }
  })

  it('is replaced only by a newer revision of the same chain', async () => {
    assert.equal(isNewer(file, file), false)
    assert.equal(isNewer(await sign({ revision: 2, bootstrap: [] }), file), true)
    const moved = { ...file.chain, rpc: 'https://rpc.example/' }
    assert.equal(isNewer(await sign({ revision: 2, chain: moved }), file), true)
    const newer = await sign({ revision: 2 })
    assert.throws(() => isNewer(file, newer), invalid(/revision 1, older than the 2/))
    const same = await sign({ bootstrap: [] })
    assert.throws(() => isNewer(same, file), invalid(/same revision/))
    const other = await generateKeyPair('Ed25519')
    const theirs = await sign({ revision: 2, founder: idOf(other) }, other)
    assert.throws(() => isNewer(theirs, file), invalid(/another network/))
    const richer = await sign({
      revision: 2,
      chain: fileChain({ ...NETWORKS.dev.chain, chainId: 41_337 }, `0x${'66'.repeat(20)}`)
    })
    assert.throws(() => isNewer(richer, file), invalid(/another treasury/))
  })

  it('is handed over to a key that the last one named, and never back', async () => {
    const [heir, thief] = [await generateKeyPair('Ed25519'), await generateKeyPair('Ed25519')]
    const handover = await signHandover(termsOf(), idOf(heir), key)
    const named = await sign({ revision: 2, handovers: [handover] })
    const taken = await sign({ revision: 3, handovers: [handover] }, heir)
    assert.equal(isNewer(named, file), true)
    assert.equal(isNewer(taken, file), true)
    assert.equal(isNewer(taken, named), true)
    const late = await sign({ revision: 4, handovers: [handover] })
    assert.throws(() => isNewer(late, taken), invalid(/did not name/))
    const denied = await sign({ revision: 4 })
    assert.throws(() => isNewer(denied, taken), invalid(/did not name/))
    const forged = await signHandover(termsOf(), idOf(thief), thief)
    await assert.rejects(sign({ revision: 2, handovers: [forged] }, thief), invalid(/did not sign that/))
    const elsewhere = await signHandover(termsOf({ name: 'other' }), idOf(heir), key)
    await assert.rejects(sign({ revision: 2, handovers: [elsewhere] }, heir), invalid(/did not sign that/))
    for (const [handovers, last] of [
      [[], key],
      [[handover], heir]
    ] as const) {
      const back = signHandover(termsOf({ handovers: [...handovers] }), idOf(key), last)
      await assert.rejects(back, { code: 'config_invalid', message: /is or was the key of this network/ })
    }
  })

  describe('as an invitation', () => {
    it('carries the file and peers in one word, and names its founder', async () => {
      const peers = [`/ip4/127.0.0.1/tcp/1/p2p/${idOf(key)}`]
      const line = formatInvitation(file, { peers })
      assert.match(line, /^12D3KooW\w+@[\w-]+$/)
      const broken = line.replaceAll(/.{76}/g, '$&\r\n  ')
      for (const pasted of [line, `souk join ${line}`, `  souk join '${line}' `, broken, `souk join\n${broken}`]) {
        const read = await readInvitation(pasted)
        assert.deepEqual([read.network.file, read.peers, read.url], [file, peers, undefined])
      }
      const other = idOf(await generateKeyPair('Ed25519'))
      await assert.rejects(readInvitation(line.replace(idOf(key), other)), invalid(/and the invitation is by/))
      await assert.rejects(readInvitation(line.slice(0, -9)), invalid(/damaged/))
      await assert.rejects(readInvitation(line.replace('@', ' (at) ')), invalid(/damaged/))
      await assert.rejects(readInvitation(`${idOf(key)}@${'A'.repeat(40_000)}`), invalid(/damaged/))
    })

    it('names the place of a published file instead', () => {
      const url = 'https://example.org/network.json'
      assert.equal(formatInvitation(file, { url, peers: [] }), `${idOf(key)}@${url}`)
    })
  })

  describe('on the web', () => {
    let server: Server
    let url: string
    let handler: RequestListener

    before(async () => {
      server = createServer((request, response) => handler(request, response))
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/network.json`
    })
    after(() => {
      server.closeAllConnections()
      server.close()
    })

    it('is fetched from this machine by http', async () => {
      handler = (_, response) => response.end(formatNetworkFile(file))
      assert.deepEqual((await readInvitation(url)).network.file, file)
      assert.deepEqual((await readInvitation(`${idOf(key)}@${url}`)).url, url)
    })

    it('is refused if it is large, slow, missing, or not https', async () => {
      handler = (_, response) => {
        response.write(' '.repeat(20_000))
      }
      await assert.rejects(loadNetworkFile(url), invalid(/larger than/))
      handler = () => {}
      await assert.rejects(fetchNetworkFile(url, { withinMs: 50 }), invalid(/does not respond in time/))
      handler = (_, response) => response.writeHead(404).end()
      await assert.rejects(loadNetworkFile(url), invalid(/status 404/))
      await assert.rejects(loadNetworkFile('http://192.0.2.1/network.json'), { code: 'config_invalid' })
    })

    it('is refused if it redirects to this machine, to its neighbours, or without end', async () => {
      const places = [
        'http://127.0.0.1:1/',
        'https://127.0.0.1:1/',
        'https://[::1]/',
        'https://localhost/',
        'https://10.0.0.1/',
        'https://[fd00::1]/',
        '/again',
        'file:///etc/passwd'
      ]
      for (const location of places) {
        handler = (_, response) => response.writeHead(302, { location }).end()
        await assert.rejects(loadNetworkFile(url), invalid(/redirects/), location)
      }
    })
  })
})
