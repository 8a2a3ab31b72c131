import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { main } from '../../../../node/cli/program.ts'
import { type DevChain, startDevChain } from '../../../../node/demo/chain/dev-chain.ts'
import { NETWORKS } from '../../../../node/networks.ts'
import { type SoukHome, soukHome } from '../../../helpers/souk-home.ts'
import { testTerminal } from '../../../helpers/test-terminal.ts'

const TREASURY = `0x${'7e'.repeat(20)}`

describe('souk network', () => {
  let home: SoukHome
  let dev: DevChain

  before(async () => {
    home = await soukHome()
    const { treasury: _, ...unfounded } = NETWORKS.dev.chain
    dev = await startDevChain({ parameters: unfounded, mining: 'instant' })
  })
  after(async () => {
    await dev.close()
    await home.close()
  })

  const out = () => join(home.directory, 'network.json')
  const words = (...args: string[]) => ['--chain', dev.url, '--out', out(), ...args]

  it('create says the cost, asks, and sends nothing after a no', async () => {
    const create = async (profile: string, answer: string, ...args: string[]) => {
      const env = { SOUK_HOME: home.directory }
      const terminal = testTerminal({ env, answers: ['secret', 'secret', answer] })
      const argv = ['--profile', profile, 'network', 'create', '--name', 'shop', '--treasury', TREASURY]
      const code = await main([...argv, ...words(...args)], terminal)
      return { code, stdout: terminal.stdout(), stderr: terminal.stderr() }
    }
    const no = await create('cautious', 'n', '--eth-price', '3000')
    assert.equal(no.code, 1)
    assert.match(no.stderr, /costs at most 0\.0\d+ ETH, about \$\d+\.\d+, paid by 0x[^]*Nothing was changed/)
    assert.equal(existsSync(out()), false)
    const yes = await create('founder', 'y')
    assert.equal(yes.code, 0, yes.stderr)
    assert.match(yes.stderr, /for dollars, give --eth-price/)
    const file = JSON.parse(await readFile(out(), 'utf8')) as { name: string; chain: { treasury: string } }
    assert.deepEqual([file.name, file.chain.treasury], ['shop', TREASURY])
  })

  it('create refuses a malformed name or address of a peer before it asks, and before it reads the chain', async () => {
    const terminal = testTerminal({ env: { SOUK_HOME: home.directory }, answers: [] })
    const chain = ['--chain', 'http://127.0.0.1:9']
    assert.equal(await main(['network', 'create', '--name', 'Bad Name', ...chain], terminal), 78)
    assert.match(terminal.stderr(), /^souk: --name is not valid: use a-z, 0-9 and "-" inside\.$/m)
    const peerless = ['--name', 'shop', '--treasury', TREASURY, '--bootstrap', '/ip4/127.0.0.1/tcp/4402']
    assert.equal(await main(['network', 'create', ...peerless, ...chain], terminal), 78)
    assert.match(terminal.stderr(), /--bootstrap "\/ip4\/127\.0\.0\.1\/tcp\/4402" is not the address of a peer/)
  })

  it('show and check read a file, and a changed one is refused', async () => {
    const shown = await home.run('network show --json', [out()])
    assert.equal((JSON.parse(shown.stdout) as { treasury: string }).treasury, TREASURY)
    const checked = await home.run('network check', [out()])
    assert.match(checked.stdout, /signatures are valid/)
    const missing = await home.run('network show no-such-file.json')
    assert.match(missing.stderr, /no network "no-such-file\.json"/)
  })

  it('invite is for networks with a file', async () => {
    assert.match((await home.run('--profile founder invite')).stdout, /^souk join 12D3KooW/)
    await home.run('init --no-input --profile local', [], { env: { SOUK_CHAIN_RPC: dev.url } })
    assert.match((await home.run('--profile local invite')).stderr, /built in[^]*souk init --network dev/)
  })

  it('a profile of one network joins no other', async () => {
    const { stderr } = await home.run('--profile local up --no-input --network', [out()])
    assert.match(stderr, /belongs to the network dev/)
  })

  for (const [what, pattern, args] of [
    ['no treasury', /treasury is missing/, []],
    ['half an address', /treasury/, ['--treasury', '0xab']],
    ['a mistyped address', /checksum/, ['--treasury', '0x036CbD53842c5426634e7929541eC2318f3dCF7E']],
    ['the zero address', /zero address/, ['--treasury', `0x${'00'.repeat(20)}`]],
    ['an endpoint that is no URL', /--chain is not valid/, ['--treasury', TREASURY, '--chain', 'localhost']],
    ['an endpoint of others by http', /--chain is not valid/, ['--treasury', TREASURY, '--chain', 'http://192.0.2.1/']],
    ['a chain that does not respond', /does not respond/, ['--treasury', TREASURY, '--chain', 'http://127.0.0.1:1']],
    [
      'a transaction that nobody agreed to',
      /no terminal to confirm this: Send the transaction\?/,
      ['--treasury', `0x${'7d'.repeat(20)}`]
    ]
  ] as const) {
    it(`create refuses ${what}`, async () => {
      const { code, stderr } = await home.run('--profile fresh network create --name shop', words(...args))
      assert.notEqual(code, 0)
      assert.match(stderr, pattern)
    })
  }
})
