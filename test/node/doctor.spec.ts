import assert from 'node:assert/strict'
import { limits } from '../../lib/index.ts'
import type { Reachability } from '../../lib/interface/index.ts'
import { againstChain, disk, openFiles, reachability } from '../../node/doctor.ts'
import { NETWORKS } from '../../node/networks.ts'
import { overCatalogue } from '../../node/registrations/over-catalogue.ts'

describe('souk doctor', () => {
  const reach = async (network: keyof typeof NETWORKS, part: Partial<Reachability>) => {
    const known = { state: 'none', addresses: [], isConfirmed: false, relays: [], port: 4410, asked: 0 } as const
    return reachability({ ...known, isOffline: false, ...part }, NETWORKS[network])
  }

  it('warns a provider with more APIs than search shows', () => {
    assert.deepEqual(overCatalogue(limits.CATALOGUE_PER_PUBLISHER_MAX), [])
    const [text] = overCatalogue(limits.CATALOGUE_PER_PUBLISHER_MAX + 1)
    assert.match(text ?? '', /shows at most 200 APIs of a provider, and you have 201/)
  })

  it('explains how a node is reached, and how to make it more reachable', async () => {
    const local = await reach('base', { port: undefined })
    assert.deepEqual([local.result, local.hint], ['warn', 'souk up --p2p-host 0.0.0.0'])

    const behindRouter = await reach('base', { asked: 2 })
    assert.match(behindRouter.message, /^not reachable: 2 peers could not connect to TCP port 4410/)
    assert.match(behindRouter.hint ?? '', /^Forward TCP port 4410 of the router/)
    assert.equal(behindRouter.result, 'warn')

    const relayed = await reach('base', { state: 'relayed', asked: 2, relays: ['a', 'b'] })
    assert.equal(relayed.message, 'reachable through 2 relays; forward TCP port 4410 to be faster')
    assert.equal(relayed.result, 'ok')

    const addresses = ['/ip4/11.1.1.2/tcp/4410', '/ip6/2a00::2/tcp/4410', '/dns4/node.example/tcp/4410']
    const direct = await reach('base', { state: 'direct', isConfirmed: true, addresses })
    assert.equal(direct.message, 'reachable directly at 11.1.1.2:4410, [2a00::2]:4410, node.example:4410')
    assert.match((await reach('base', { state: 'direct', addresses })).message, /not confirmed by a peer yet$/)
  })

  it('accepts private addresses on a private network', async () => {
    const loopback = await reach('dev', { state: 'private', port: undefined, addresses: ['/ip4/127.0.0.1/tcp/1'] })
    assert.deepEqual([loopback.result, loopback.message], ['ok', 'reachable from this machine only, at 127.0.0.1:1'])
    const lan = await reach('dev', { state: 'private', addresses: ['/ip4/192.168.1.5/tcp/1'] })
    assert.equal(lan.message, 'reachable in its own network at 192.168.1.5:1')
  })

  it('warns where the system lets the node have few connections', () => {
    assert.deepEqual(openFiles(2 * limits.HTTP_CONNECTIONS_MAX), [
      { name: 'open files', result: 'ok', message: '16384' }
    ])
    const [few] = openFiles(1_024)
    assert.equal(few?.result, 'warn')
    assert.match(few?.message ?? '', /accepts 512 connections of consumers and 256 of peers/)
    assert.deepEqual(openFiles(undefined).length, process.platform === 'linux' ? 1 : 0)
  })

  it('warns of low disk space, and fails when calls are rejected', () => {
    const results = [
      limits.DISK_FREE_BYTES_MIN,
      limits.DISK_FREE_BYTES_MIN - 1,
      limits.STORE_FREE_BYTES_MIN - 1,
      null
    ].map(
      (free_bytes) =>
        disk({ profile: { name: 'a', directory: '/a' }, store: { free_bytes, shared: null, refusal: null } }).result
    )
    assert.deepEqual(results, ['ok', 'warn', 'fail', 'warn'])
  })

  it('compares the clock with the chain', () => {
    const now = Date.UTC(2026, 10, 21)
    assert.deepEqual(againstChain(now, undefined).result, 'ok')
    assert.match(againstChain(now, now - 2_000).message, /2 s from the chain/)
    const behind = againstChain(now, now + limits.CLOCK_SKEW_MS + 1_000)
    assert.deepEqual([behind.result, behind.message], ['fail', 'The clock is 301 s behind the chain.'])
    const ahead = againstChain(now, now - limits.CLOCK_SKEW_MS - 1_000)
    assert.deepEqual([ahead.result, /NTP.*--chain-rpc/.test(ahead.hint ?? '')], ['warn', true])
  })
})
