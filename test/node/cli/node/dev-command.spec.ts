import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createChain } from '../../../../lib/pay/index.ts'
import { NETWORKS } from '../../../../node/networks.ts'
import { actor } from '../../../helpers/chain.ts'
import { eventually } from '../../../helpers/eventually.ts'
import { deadUrl } from '../../../helpers/scripted-upstream.ts'
import { type SoukHome, soukHome } from '../../../helpers/souk-home.ts'

describe('souk dev', () => {
  let home: SoukHome
  const { address } = actor('somebody with play money')

  before(async () => {
    home = await soukHome()
  })
  after(() => home.close())

  const up = async () => {
    const chain = home.start('--json dev --port 0')
    const line = await eventually('the chain', 20_000, () => chain.stdout[0])
    return { chain, url: (JSON.parse(line) as { url: string }).url }
  }
  const published = () => readFile(join(home.directory, 'dev-network.json'), 'utf8')
  const balance = (rpcUrl: string) =>
    createChain({ ...NETWORKS.dev.chain, rpcUrl }).balance(`0x${address.slice(2).toLowerCase()}`, 'latest')

  it('gives play money, keeps it over a restart, and refuses a second run at the same time', async () => {
    const first = await up()
    const given = await home.run(`dev give ${address} --usdc 2.50 --chain-rpc ${first.url}`)
    assert.equal(given.code, 0, given.stderr)
    assert.equal(await balance(first.url), 2_500_000n)
    // A command that waits for a block of this chain, with nothing else to do.
    const place = `--chain ${first.url} --out ${join(home.directory, 'network.json')}`
    const founded = await home.asProcess.run(
      `--profile founder network create --name bazaar ${place} --treasury ${address} --yes`
    )
    assert.equal(founded.code, 0, founded.stderr)
    assert.match(founded.stdout, /^transaction +0x[0-9a-f]{64}$/m)
    assert.equal((await first.chain.end()).code, 0)
    const second = await up()
    assert.equal(await balance(second.url), 2_500_000n)
    const before = await published()
    const { code, stderr } = await home.run('dev --port 0')
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `souk: The network dev already runs on this machine, with its chain at ${second.url}.\n` +
        'Try: souk init --network dev; or for a second one: SOUK_HOME=<another folder> souk dev\n'
    )
    assert.deepEqual([await published(), second.chain.isRunning()], [before, true])
    await second.chain.end()
  })

  it('refuses a port that HTTP clients refuse to call', async () => {
    const { code, stderr } = await home.run('dev --port 6000')
    assert.notEqual(code, 0)
    assert.match(stderr, /^souk: Browsers and other HTTP clients refuse to call port 6000.\nTry: another port/)
  })

  it('says that no chain runs', async () => {
    const { code, stderr } = await home.run(`dev give ${address} --chain-rpc ${await deadUrl()}`)
    assert.equal(code, 1)
    assert.match(stderr, /^souk: No play chain gives money at http:\S+\.\n[^]*Try: souk dev, in another terminal/)
  })

  it('refuses an address with a wrong digit', async () => {
    const { code, stderr } = await home.run(`dev give ${address.slice(0, -1)}z`)
    assert.equal(code, 64)
    assert.match(stderr, /is not an address/)
  })
})
