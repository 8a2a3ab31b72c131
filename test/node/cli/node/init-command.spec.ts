import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { main } from '../../../../node/cli/program.ts'
import { publishLocalNetwork } from '../../../../node/demo/local-network.ts'
import { scriptedUpstream } from '../../../helpers/scripted-upstream.ts'
import { wordsOf } from '../../../helpers/souk-process.ts'
import { testTerminal } from '../../../helpers/test-terminal.ts'

/** No chain runs there. */
const NOBODY = 'http://127.0.0.1:2'
const PAYOUT = '0x00000000000000000000000000000000000000aa'

describe('souk init', function () {
  let home: string

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-init-'))
  })
  afterEach(async () => {
    await rm(home, { recursive: true })
  })

  interface Session {
    readonly code: number
    readonly stdout: string
    readonly notes: string
    readonly asked: readonly string[]
  }

  /** Gives the answers in order. Without answers there is no terminal. */
  async function init(options: string, answers?: string[]): Promise<Session> {
    const terminal = testTerminal({
      env: { SOUK_HOME: home, SOUK_CHAIN_RPC: NOBODY },
      ...(answers === undefined ? {} : { answers })
    })
    const code = await main(['init', ...wordsOf(options).filter((word) => word !== '')], terminal)
    const asked = terminal.asked.map(({ question }) => question)
    assert.equal(asked.length, answers?.length ?? 0, 'unused answers')
    return { code, stdout: terminal.stdout(), notes: terminal.stderr(), asked }
  }
  const settings = async (profile = 'default') =>
    JSON.parse(await readFile(join(home, profile, 'profile.json'), 'utf8')) as Record<string, unknown>

  const commandsIn = (stdout: string) =>
    stdout
      .split('\n')
      .filter((line) => line.startsWith('  '))
      .map((line) => line.trim())

  it('asks four questions, repeats one after invalid input, and prints commands that work as printed', async () => {
    const { code, stdout, notes, asked } = await init('', ['my shop', 'shop', 'dev', 'sell it', 'both', ''])
    assert.equal(code, 0, notes)
    assert.match(notes, /"my shop" is not a profile name/)
    assert.match(notes, /Choose one of sell, buy, both\./)
    assert.equal(asked.length, 6)
    const commands = commandsIn(stdout)
    assert.ok(commands.includes('souk --profile shop up'), stdout)
    assert.ok(commands.includes('souk --profile shop wallet deposit 10'), stdout)
    assert.equal(/payout set|[<>]/.test(stdout), false, stdout)
    const saved = await settings('shop')
    const wallet = JSON.parse(await readFile(join(home, 'shop', 'wallet.json'), 'utf8')) as Record<string, unknown>
    assert.deepEqual([saved['network'], saved['passphraseFile']], ['dev', undefined])
    assert.equal(String(saved['payout']).toLowerCase(), `0x${String(wallet['address'])}`.toLowerCase())
    const { mode } = await stat(join(home, 'shop', 'passphrase'))
    assert.equal(mode & 0o777, 0o600)
  })

  it('asks for a passphrase twice if it is to be typed', async () => {
    const { code, notes } = await init('--network base-sepolia --role both', ['', '', 'open sesame', 'open sesame'])
    assert.equal(code, 0, notes)
    assert.match(notes, /Earnings go to the wallet of this node/)
    await assert.rejects(stat(join(home, 'default', 'passphrase')), { code: 'ENOENT' })
  })

  it('uses the default if the user presses Enter', async () => {
    const { code, stdout } = await init('', ['', '', '', ''])
    assert.equal(code, 0)
    assert.match(stdout, /^  souk up$/m)
    assert.match(stdout, /^  souk sell http:/m)
    assert.equal((await settings())['network'], 'dev')
  })

  it('asks nothing with --no-input, because each question has an option', async () => {
    const passphrase = join(home, 'passphrase')
    await writeFile(passphrase, 'open sesame\n', { mode: 0o600 })
    const { code, stdout, notes } = await init(
      `--no-input --json --network base-sepolia --role sell --passphrase-file ${passphrase} --payout ${PAYOUT} ` +
        '--api-endpoint http://127.0.0.1:1/?a=1&b=2 --api-name shop --api-protocol soap --api-price 0.01'
    )
    assert.equal(code, 0, notes)
    const told = JSON.parse(stdout) as { network: string; role: string; wallet: string; next: string[]; api: object }
    assert.deepEqual([told.network, told.role], ['base-sepolia', 'sell'])
    assert.match(told.wallet, /^0x[\da-fA-F]{40}$/)
    const endpoint = 'http://127.0.0.1:1/?a=1&b=2'
    assert.deepEqual(told.api, { endpoint, name: 'shop', protocol: 'SOAP', price: '0.01' })
    assert.ok(
      told.next.includes(`souk api register --name shop --protocol SOAP --endpoint '${endpoint}' --price 0.01`),
      told.next.join('\n')
    )
    const saved = await settings()
    assert.deepEqual([saved['ingress'], saved['passphraseFile']], [false, passphrase])
  })

  it('generates a passphrase without input for play money only, and creates nothing without one', async () => {
    const { code, notes } = await init('--no-input --network base')
    assert.equal(code, 64)
    assert.match(notes, /needs a passphrase of yours[^]*--passphrase-file/)
    await assert.rejects(stat(join(home, 'default')), { code: 'ENOENT' })
    assert.equal((await init('--no-input')).code, 0)
    assert.ok((await stat(join(home, 'default', 'wallet.json'))).isFile())
  })

  it('takes the demo without input while it runs on this machine, else dev, and says why', async () => {
    let chainId = '0x7a69'
    const chain = await scriptedUpstream((response) =>
      response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: chainId }))
    )
    const demo = { name: 'demo', env: { SOUK_HOME: home }, bootstrapProfile: 'demo-bootstrap' } as const
    await publishLocalNetwork({ ...demo, rpcUrl: chain.url, bootstrap: [] })
    const joined = await init('--no-input --wallet none')
    assert.equal((await settings())['network'], 'demo')
    assert.match(joined.notes, /^Network: demo, because none is given and the demo runs on this machine\./)
    chainId = '0x1'
    await init('--no-input --wallet none --profile other-chain')
    await chain.close()
    const alone = await init('--no-input --wallet none --profile alone')
    assert.match(alone.notes, /^Network: dev, because none is given and no demo runs on this machine\./)
    assert.deepEqual([(await settings('other-chain'))['network'], (await settings('alone'))['network']], ['dev', 'dev'])
    const given = await init('--no-input --wallet none --profile given --network dev')
    assert.doesNotMatch(given.notes, /Network:/)
  })

  it('takes the network of the environment without input', async () => {
    const terminal = testTerminal({ env: { SOUK_HOME: home, SOUK_NETWORK: 'base-sepolia' } })
    assert.equal(await main(['init', '--no-input', '--wallet', 'none'], terminal), 0, terminal.stderr())
    assert.equal((await settings())['network'], 'base-sepolia')
  })

  it('names the profile in the next steps, and omits steps for selling if the role is buy', async () => {
    const { stdout } = await init('--no-input --profile laptop --role buy')
    assert.match(stdout, /^  souk --profile laptop search$/m)
    assert.equal(/register|sell http|payout/.test(stdout), false, stdout)
    assert.equal((await settings('laptop'))['network'], 'dev')
  })

  it('may be repeated before the first start: the wallet stays, also if another network is named by mistake', async () => {
    const first = await init('--no-input --network dev --role sell')
    const second = await init('--no-input --network dev --role buy')
    assert.equal(second.code, 0, second.notes)
    const address = /0x[0-9a-fA-F]{40}/.exec(second.notes)?.[0] ?? ''
    assert.match(second.notes, /It keeps its wallet, 0x/)
    const wallet = await readFile(join(home, 'default', 'wallet.json'), 'utf8')
    assert.ok(wallet.toLowerCase().includes(address.slice(2).toLowerCase()), first.notes)
    const other = await init('--no-input --network base-sepolia')
    assert.notEqual(other.code, 0)
    assert.match(other.notes, /belongs to the network dev\.\nTry: the same with --profile <another name>/)
  })

  it('does not change a profile on which a node has run', async () => {
    await init('--no-input')
    const path = join(home, 'default', 'profile.json')
    await writeFile(path, JSON.stringify({ ...(await settings()), p2pPort: 4402 }))
    const { code, notes } = await init('--no-input --network base')
    assert.equal(code, 1)
    assert.match(notes, /is set up already[^]*Try: souk up, or another profile/)
  })

  it('reports an invalid option before it creates anything', async () => {
    assert.equal((await init('--no-input --role seller')).code, 64)
    assert.equal((await init('--no-input --wallet import')).code, 64)
    assert.equal((await init('--no-input --payout 0x12')).code, 78)
  })
})
