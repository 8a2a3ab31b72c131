import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checksummed } from '../../../../lib/pay/signing/address.ts'
import { createChain } from '../../../../lib/pay/chain/chain.ts'
import { verifySplitters } from '../../../../lib/pay/chain/deploy-splitters.ts'
import { splitterFactory } from '../../../../lib/pay/chain/splitter.ts'
import { type DevChain, startDevChain } from '../../../../node/demo/chain/dev-chain.ts'
import { NETWORKS } from '../../../../node/networks.ts'
import { openProfile } from '../../../../node/profile/profile.ts'
import { createWallet } from '../../../../node/wallet/wallet-file.ts'
import { type SoukHome, soukHome } from '../../../helpers/souk-home.ts'

const FAST = { n: 1024 }
const TREASURY = NETWORKS.dev.chain.treasury ?? assert.fail('the dev network has a treasury')

describe('souk network deploy', function () {
  this.timeout(30_000)
  let home: SoukHome
  let dev: DevChain
  let passphraseFile: string
  let payer: `0x${string}`

  before(async () => {
    home = await soukHome()
    const { treasury: _, ...unfounded } = NETWORKS.dev.chain
    dev = await startDevChain({ parameters: unfounded })
    for (const [profile, network] of [
      ['default', 'dev'],
      ['test', 'base-sepolia']
    ] as const) {
      const location = { name: profile, directory: join(home.directory, profile) }
      await openProfile(location)
      const { address } = await createWallet(location, network, 'secret', FAST)
      if (profile === 'default') payer = address
    }
    passphraseFile = join(home.directory, 'passphrase')
    await writeFile(passphraseFile, 'secret\n', { mode: 0o600 })
  })
  after(async () => {
    await dev.close()
    await home.close()
  })

  const deploy = (...args: string[]) =>
    home.run('network deploy --json', ['--chain-rpc', dev.url, '--passphrase-file', passphraseFile, ...args])

  it('reports a wallet without gas', async () => {
    const { code, stderr } = await deploy('--network', 'dev')
    assert.equal(code, 1)
    assert.match(stderr, /settlement_unavailable/)
  })

  it('deploys the factory, stores the treasury, and can be repeated', async () => {
    await dev.fundGas(payer)
    const first = await deploy('--network', 'dev')
    assert.equal(first.code, 0, first.stderr)
    const founded = JSON.parse(first.stdout) as Record<string, unknown>
    const factory = splitterFactory(TREASURY).address
    const addresses = { treasury: checksummed(TREASURY), splitter_factory: checksummed(factory) }
    const { transaction, cost_wei: cost, ...rest } = founded
    assert.deepEqual(rest, { network: 'dev', chain_id: 31337, treasury_known: true, ...addresses })
    assert.match(String(transaction), /^0x[0-9a-f]{64}$/)
    assert.ok(BigInt(String(cost)) > 0n)
    await verifySplitters(createChain(dev.parameters), TREASURY)
    const saved = JSON.parse(await readFile(join(home.directory, 'default', 'profile.json'), 'utf8')) as object
    assert.deepEqual(saved, { network: 'dev', treasury: TREASURY })
    const again = await deploy()
    assert.equal(again.code, 0, again.stderr)
    assert.equal((JSON.parse(again.stdout) as { transaction: unknown }).transaction, null)
  })

  it('refuses a chain of another network', async () => {
    const treasury = `0x${'ab'.repeat(20)}`
    const { code, stderr } = await deploy('--profile', 'test', '--network', 'base-sepolia', '--treasury', treasury)
    assert.equal(code, 1)
    assert.match(stderr, /is of chain 31337; this network's money is on chain 84532/)
  })

  for (const [what, words, args] of [
    [
      'another treasury than the known one',
      /treasury of the network dev is 0x7472/,
      ['--treasury', `0x${'ab'.repeat(20)}`]
    ],
    ['no treasury', /No treasury is set for the 5%/, ['--network', 'base-sepolia', '--profile', 'new']],
    ['half an address', /--treasury is not valid/, ['--treasury', '0xab']],
    [
      'a mistyped address',
      /checksum/,
      ['--treasury', '0x036CbD53842c5426634e7929541eC2318f3dCF7E', '--network', 'dev']
    ],
    ['an endpoint that is no URL', /--chain-rpc is not valid/, ['--chain-rpc', 'localhost']]
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { code, stderr } = await deploy('--network', 'dev', ...args)
      assert.notEqual(code, 0)
      assert.match(stderr, words)
    })
  }

  it('suggests to create a wallet if there is none', async () => {
    const { code, stderr } = await deploy('--network', 'dev', '--profile', 'fresh')
    assert.equal(code, 1)
    assert.match(stderr, /no wallet/)
  })
})
