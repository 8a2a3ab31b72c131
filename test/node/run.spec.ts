import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { loadConfig, runNode } from '../../node/index.ts'
import { freePort } from '../helpers/free-port.ts'
import { type SoukHome, soukHome } from '../helpers/souk-home.ts'

describe('a node that cannot start', () => {
  let home: SoukHome

  before(async () => {
    home = await soukHome()
  })
  after(() => home.close())

  it('stops its started parts, so that the next start can use the same profile and ports', async () => {
    const first = await home.up('shop', '--payment-scheme', 'metered')
    await first.end()
    const blocker = createServer()
    const { port } = await new Promise<AddressInfo>((resolve) =>
      blocker.listen(0, '127.0.0.1', () => resolve(blocker.address() as AddressInfo))
    )
    // The admin API is the last part but one: profile, store, peers and ingress run by then.
    const failed = await home.run(`--profile shop up --no-input --payment-scheme metered --admin-port ${port}`)
    assert.notEqual(failed.code, 0)
    assert.match(failed.stderr, new RegExp(`${port}`))
    await new Promise((resolve) => blocker.close(resolve))
    const again = await home.up('shop', '--payment-scheme', 'metered')
    assert.deepEqual([again.p2p, again.ingress], [first.p2p, first.ingress])
    await again.end()
  })
})

describe('nodes that start at the same time', () => {
  let home: SoukHome

  before(async () => {
    home = await soukHome()
  })
  after(() => home.close())

  it('get different ports', async () => {
    const port = await freePort()
    const started = await Promise.allSettled(
      ['a', 'b', 'c', 'd'].map(async (profile) => {
        const env = { SOUK_HOME: home.directory, SOUK_NETWORK: 'dev', SOUK_TILL: 'metered' }
        const config = await loadConfig({ profile, flags: { adminPort: '0', ingressPort: '0' }, env })
        return runNode({ ...config, p2p: { ...config.p2p, port: { port, exact: false } } })
      })
    )
    for (const node of started) if (node.status === 'fulfilled') await node.value.stop()
    const addresses = started.map((node) => (node.status === 'fulfilled' ? node.value.info.p2p[0] : node.reason))
    const ports = addresses.map((address) => Number(/\/tcp\/(\d+)/.exec(String(address))?.[1]))
    assert.ok(ports.every(Number.isInteger), String(addresses))
    assert.equal(new Set(ports).size, 4)
  })
})
