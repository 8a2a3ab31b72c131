import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { main } from '../../../../node/cli/program.ts'
import { testTerminal } from '../../../helpers/test-terminal.ts'

const PAYOUT = '0x00000000000000000000000000000000000000aa'

describe('souk init', function () {
  this.timeout(30_000)
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
    const terminal = testTerminal({ env: { SOUK_HOME: home }, ...(answers === undefined ? {} : { answers }) })
    const code = await main(['init', ...options.split(' ').filter((word) => word !== '')], terminal)
    const asked = terminal.asked.map(({ question }) => question)
    assert.equal(asked.length, answers?.length ?? 0, 'unused answers')
    return { code, stdout: terminal.stdout(), notes: terminal.stderr(), asked }
  }
  const settings = async (profile = 'default') =>
    JSON.parse(await readFile(join(home, profile, 'profile.json'), 'utf8')) as Record<string, unknown>

  it('asks question by question, repeats a question after invalid input, and prints the next steps', async () => {
    const { code, stdout, notes, asked } = await init('', [
      'dev',
      'sell',
      'both',
      'create',
      'open sesame',
      'open sesame',
      '0x12',
      PAYOUT.replace('aa', 'aA'),
      PAYOUT,
      'http://127.0.0.1:8080/it?a=1&b=2',
      'My API',
      'my-api',
      'rest',
      '0.001'
    ])
    assert.equal(code, 0, notes)
    assert.match(notes, /Choose one of provide, consume, both\./)
    assert.match(notes, /--payout is not valid: give an address/)
    assert.match(notes, /checksum of 0x0+aA is wrong/)
    assert.match(notes, /Names consist of a-z/)
    assert.equal(asked.length, 14)
    const commands = stdout.split('\n').map((line) => line.split('    #')[0])
    assert.ok(commands.includes('souk up'))
    assert.ok(
      commands.includes(
        "souk api register --name my-api --protocol REST --endpoint 'http://127.0.0.1:8080/it?a=1&b=2' --price 0.001"
      ),
      stdout
    )
    assert.ok(commands.includes('souk dev-chain up') && commands.includes('souk wallet deposit 10'))
    assert.equal(stdout.includes('payout set'), false)
    const saved = await settings()
    assert.deepEqual([saved['network'], String(saved['payout']).toLowerCase()], ['dev', PAYOUT.toLowerCase()])
    assert.equal(JSON.parse(await readFile(join(home, 'default', 'wallet.json'), 'utf8')).version, 3)
  })

  it('uses the default if the user presses Enter', async () => {
    const { code, stdout } = await init('', ['', '', '', ''])
    assert.equal(code, 0)
    assert.match(stdout, /^souk up /m)
    assert.match(stdout, /^souk api register --name <name>/m)
    assert.equal((await settings())['network'], 'dev')
  })

  it('asks nothing with --no-input, because each question has an option', async () => {
    const passphrase = join(home, 'passphrase')
    await writeFile(passphrase, 'open sesame\n', { mode: 0o600 })
    const { code, stdout, notes } = await init(
      `--no-input --json --network base-sepolia --role provide --passphrase-file ${passphrase} --payout ${PAYOUT} ` +
        '--api-endpoint http://127.0.0.1:1/ --api-name shop --api-protocol soap --api-price 0.01'
    )
    assert.equal(code, 0, notes)
    const told = JSON.parse(stdout) as { network: string; role: string; wallet: string; next: string[]; api: object }
    assert.deepEqual([told.network, told.role], ['base-sepolia', 'provide'])
    assert.match(told.wallet, /^0x[\da-fA-F]{40}$/)
    assert.deepEqual(told.api, { endpoint: 'http://127.0.0.1:1/', name: 'shop', protocol: 'SOAP', price: '0.01' })
    assert.ok(told.next.some((step) => step.startsWith('souk api register --name shop --protocol SOAP')))
    const saved = await settings()
    assert.deepEqual([saved['ingress'], saved['passphraseFile']], [false, passphrase])
  })

  it('names the profile in the next steps, and omits steps for selling if the role is consume', async () => {
    const { stdout } = await init('--no-input --profile laptop --role consume --demo')
    assert.match(stdout, /^souk demo /)
    assert.match(stdout, /^souk --profile laptop search <words>/m)
    assert.equal(/register|payout|wallet/.test(stdout), false, stdout)
    assert.equal((await settings('laptop'))['network'], 'dev')
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
