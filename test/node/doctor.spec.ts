import assert from 'node:assert/strict'
import { limits } from '../../lib/index.ts'
import { againstChain, disk, reachability } from '../../node/doctor.ts'
import { NETWORKS } from '../../node/networks.ts'

describe('souk doctor', () => {
  const reach = async (network: keyof typeof NETWORKS, ...p2p: string[]) =>
    reachability({ p2p, network: NETWORKS[network] })

  it('explains from where a node is reachable, and how to make it more reachable', async () => {
    const local = await reach('base', '/ip4/127.0.0.1/tcp/4402')
    assert.deepEqual([local.result, local.hint], ['warn', 'souk up --p2p-host 0.0.0.0'])

    for (const address of ['10.1.2.3', '172.17.0.2', '172.31.9.9', '192.168.1.5', '169.254.0.9', '100.64.3.2']) {
      const { result, message, hint } = await reach('base', '/ip4/127.0.0.1/tcp/4410', `/ip4/${address}/tcp/4410`)
      assert.equal(result, 'warn', address)
      assert.match(message, /private addresses only/)
      assert.match(hint ?? '', /forward TCP port 4410 .*--announce \/ip4\/<your public address>\/tcp\/4410/)
    }
    assert.equal((await reach('base', '/ip6/fd12::1/tcp/4402')).result, 'warn')

    for (const address of ['/ip4/172.32.0.1', '/ip4/203.0.113.7', '/ip6/2001:db8::1', '/dns4/node.example']) {
      const { result, message } = await reach('base', '/ip4/192.168.1.5/tcp/4402', `${address}/tcp/4402`)
      assert.equal(result, 'ok', address)
      assert.match(message, /from anywhere, if firewalls allow TCP port 4402/)
    }
  })

  it('accepts private addresses on a private network', async () => {
    assert.match((await reach('dev', '/ip4/127.0.0.1/tcp/1')).message, /^from this machine$/)
    assert.match((await reach('dev', '/ip4/192.168.1.5/tcp/1')).message, /and its networks/)
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
