import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig } from '../../../node/config.ts'
import { publishLocalNetwork } from '../../../node/demo/local-network.ts'
import { NETWORKS } from '../../../node/networks.ts'

import { openProfile, writeProfileJson } from '../../../node/profile/profile.ts'

describe('a network of this machine', () => {
  let home: string
  const env = () => ({ SOUK_HOME: home })
  const config = (profile: string, network?: string) =>
    loadConfig({ profile, env: env(), flags: network === undefined ? {} : { network } })
  const publish = (name: 'demo' | 'dev', rpcUrl: string, bootstrap: string[] = []) =>
    publishLocalNetwork({ name, env: env(), bootstrapProfile: `${name}-bootstrap`, rpcUrl, bootstrap })

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-local-'))
  })
  afterEach(() => rm(home, { recursive: true }))

  it('is the built-in dev if souk dev never ran, and an error for the demo', async () => {
    assert.equal((await config('a', 'dev')).network, NETWORKS.dev)
    await assert.rejects(config('a', 'demo'), { code: 'config_invalid', message: /has not run/, hint: 'souk demo' })
  })

  it('is read at each start, because ports move', async () => {
    const profile = { name: 'shop', directory: join(home, 'shop') }
    await openProfile(profile)
    for (const name of ['demo', 'dev'] as const) {
      await writeProfileJson(profile, 'settings', { network: name })
      await publish(name, 'http://127.0.0.1:1001')
      assert.equal((await config('shop')).chain.rpcUrl, 'http://127.0.0.1:1001')
      const peer = '/ip4/127.0.0.1/tcp/1/p2p/12D3KooWCP7sLumVXBeKazgunqsVqht1WVMPyQDSp14oZCKP45xc'
      await publish(name, 'http://127.0.0.1:1002', [peer])
      const { network, chain } = await config('shop')
      assert.deepEqual([network.name, chain.rpcUrl, network.bootstrap], [name, 'http://127.0.0.1:1002', [peer]])
      assert.equal(network.isPlay, true)
    }
  })

  it('is refused if its file is broken', async () => {
    await writeFile(join(home, 'demo-network.json'), '{}', { mode: 0o600 })
    await assert.rejects(config('a', 'demo'), { code: 'network_invalid' })
  })

  it('is the first choice of a new profile while the demo runs', async () => {
    const offered = async () => {
      let names: string[] = []
      const askNetwork = async (choices: ReadonlyArray<{ name: string }>) => {
        names = choices.map(({ name }) => name)
        return names[0] ?? ''
      }
      const { network } = await loadConfig({ profile: 'new', env: env(), flags: {}, askNetwork })
      return [network.name, ...names]
    }
    assert.deepEqual(await offered(), ['dev', 'dev', 'base-sepolia', 'base'])
    await publish('demo', 'http://127.0.0.1:1')
    assert.deepEqual(await offered(), ['dev', 'dev', 'base-sepolia', 'base', 'demo'])
    const chain = createServer((_, response) =>
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: `0x${NETWORKS.dev.chain.chainId.toString(16)}` }))
    )
    chain.listen(0, '127.0.0.1')
    await once(chain, 'listening')
    await publish('demo', `http://127.0.0.1:${(chain.address() as AddressInfo).port}`)
    try {
      assert.deepEqual(await offered(), ['demo', 'demo', 'dev', 'base-sepolia', 'base'])
    } finally {
      chain.closeAllConnections()
      chain.close()
    }
  })
})
