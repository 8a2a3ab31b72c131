import assert from 'node:assert/strict'
import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checksummed } from '../../../../lib/pay/signing/address.ts'
import { keySigner } from '../../../../lib/pay/signing/key-signer.ts'
import { main } from '../../../../node/cli/program.ts'
import { type DevChain, startDevChain } from '../../../../node/demo/chain/dev-chain.ts'
import { decryptKeystore } from '../../../../node/wallet/keystore.ts'
import { type SoukHome, soukHome } from '../../../helpers/souk-home.ts'
import { testTerminal } from '../../../helpers/test-terminal.ts'

const PASSPHRASE = 'correct horse battery staple'
const KEY = '11'.repeat(32)
const ADDRESS = checksummed(keySigner(Buffer.from(KEY, 'hex')).address)

describe('souk wallet, without a running node', () => {
  let home: SoukHome
  let passphraseFile: string
  let keyFile: string

  before(async () => {
    home = await soukHome()
    passphraseFile = join(home.directory, 'passphrase')
    keyFile = join(home.directory, 'key')
    await writeFile(passphraseFile, `${PASSPHRASE}\n`, { mode: 0o600 })
    await writeFile(keyFile, `0x${KEY}\n`, { mode: 0o600 })
  })
  after(() => home.close())

  const terminalHere = (answers?: readonly string[]) =>
    testTerminal({ env: { SOUK_HOME: home.directory }, ...(answers === undefined ? {} : { answers }) })
  const wallet = async (profile: string, ...args: string[]) => {
    const { code, stdout, stderr } = await home.run('wallet', [...args, '--profile', profile, '--json'])
    const view = (code === 0 && stdout !== '' ? JSON.parse(stdout) : {}) as Record<string, string>
    return { code, stdout, stderr, view }
  }
  const create = (profile: string, ...args: string[]) =>
    wallet(profile, 'create', '--network', 'dev', '--passphrase-file', passphraseFile, ...args)

  it('creates a wallet that its passphrase opens, suggests next steps, and shows it', async () => {
    const made = await create('one')
    assert.equal(made.code, 0, made.stderr)
    const { address, network, money, file } = made.view
    assert.deepEqual({ network, money }, { network: 'dev', money: 'play USDC' })
    assert.match(address ?? '', /^0x[0-9a-fA-F]{40}$/)
    assert.match(made.stderr, /souk --profile one wallet backup[^]*Fund it/)
    assert.equal((await stat(file ?? '')).mode & 0o777, 0o600)
    const key = await decryptKeystore(JSON.parse(await readFile(file ?? '', 'utf8')), PASSPHRASE)
    assert.equal(checksummed(keySigner(key).address), address)
    assert.equal((await wallet('one', 'show')).view['address'], address)
    assert.equal((await wallet('one', 'deposit')).view['address'], address)
    assert.ok(!(made.stdout + made.stderr).includes(PASSPHRASE))
  })

  it('creates a wallet in a separate process', async () => {
    const flags = ['--network', 'dev', '--passphrase-file', passphraseFile]
    const made = await home.asProcess.run('--profile process wallet create', flags)
    assert.equal(made.code, 0, made.stderr)
    assert.equal(made.stdout.trim(), (await wallet('process', 'show')).view['address'])
  })

  it('never replaces an existing wallet', async () => {
    const before = await readFile(join(home.directory, 'one', 'wallet.json'), 'utf8')
    for (const attempt of [create('one'), wallet('one', 'import', keyFile, '--passphrase-file', passphraseFile)]) {
      const { code, stderr } = await attempt
      assert.equal(code, 1)
      assert.match(stderr, /wallet_exists/)
    }
    assert.equal(await readFile(join(home.directory, 'one', 'wallet.json'), 'utf8'), before)
  })

  it('binds the profile to its network', async () => {
    const { code, stderr } = await create('one', '--network', 'base')
    assert.equal(code, 78)
    assert.match(stderr, /belongs to the network dev/)
  })

  it('backs up the key file to a new file only, and imports it with another passphrase', async () => {
    const backup = join(home.directory, 'backup.json')
    assert.equal((await wallet('one', 'backup', backup)).code, 0)
    assert.equal((await stat(backup)).mode & 0o777, 0o600)
    assert.match((await wallet('one', 'backup', backup)).stderr, /is there already/)
    const other = join(home.directory, 'other')
    await writeFile(other, 'another one', { mode: 0o600 })
    const files = ['--passphrase-file', other, '--old-passphrase-file', passphraseFile]
    const imported = await wallet('two', 'import', backup, '--network', 'dev', ...files)
    assert.equal(imported.code, 0, imported.stderr)
    assert.equal(imported.view['address'], (await wallet('one', 'show')).view['address'])
    const kept = JSON.parse(await readFile(join(home.directory, 'two', 'wallet.json'), 'utf8')) as unknown
    await decryptKeystore(kept, 'another one')
    const wrong = await wallet(
      'three',
      'import',
      backup,
      '--network',
      'dev',
      '--passphrase-file',
      other,
      ...files.slice(2, 3),
      other
    )
    assert.equal(wrong.code, 77)
    assert.match(wrong.stderr, /passphrase_wrong/)
  })

  it('imports an unencrypted key without asking for its passphrase', async () => {
    const imported = await wallet('bare', 'import', keyFile, '--network', 'dev', '--passphrase-file', passphraseFile)
    assert.equal(imported.code, 0, imported.stderr)
    assert.equal(imported.view['address'], ADDRESS)
    assert.ok(!(imported.stdout + imported.stderr).includes(KEY))
  })

  it('refuses a passphrase in a flag, in a file open to others, and in an empty file', async () => {
    assert.equal((await wallet('four', 'create', '--network', 'dev', '--passphrase', 'x')).code, 64)
    const nobody = await wallet('four', 'create', '--network', 'dev')
    assert.match(nobody.stderr, /there is no terminal to ask/)
    const open = join(home.directory, 'open')
    await writeFile(open, 'x')
    await chmod(open, 0o644)
    assert.equal((await wallet('four', 'create', '--network', 'dev', '--passphrase-file', open)).code, 77)
    const empty = join(home.directory, 'empty')
    await writeFile(empty, '\n', { mode: 0o600 })
    assert.match((await wallet('four', 'create', '--network', 'dev', '--passphrase-file', empty)).stderr, /empty/)
    assert.match((await wallet('four', 'show')).stderr, /wallet_missing[^]*souk --profile four wallet create/)
  })

  it('refuses invalid keys', async () => {
    for (const [name, content] of [
      ['short', KEY.slice(2)],
      ['zero', '00'.repeat(32)],
      ['words', 'hello'],
      ['json', '{"version":3}']
    ] as const) {
      const file = join(home.directory, name)
      await writeFile(file, content, { mode: 0o600 })
      const files = ['--passphrase-file', passphraseFile, '--old-passphrase-file', passphraseFile]
      const { code, stderr } = await wallet('five', 'import', file, '--network', 'dev', ...files)
      assert.equal(code, 78, `${name}: ${stderr}`)
    }
    assert.match(
      (await wallet('five', 'import', join(home.directory, 'none'), '--network', 'dev')).stderr,
      /cannot be read/
    )
  })

  describe('with a chain', () => {
    let dev: DevChain

    before(async () => {
      dev = await startDevChain({ mining: 'instant' })
    })
    after(() => dev.close())

    it('gives play money on dev, and shows the balance', async () => {
      const at = ['--chain-rpc', dev.url]
      const empty = await wallet('one', 'balance', ...at)
      assert.equal(empty.view['balance'], '0')
      const given = await wallet('one', 'deposit', '12.5', ...at)
      assert.equal(given.code, 0, given.stderr)
      const { balance, gas, money } = given.view
      assert.deepEqual({ balance, gas, money }, { balance: '12.5', gas: '1', money: 'play USDC' })
      assert.equal((await wallet('one', 'balance', ...at)).view['balance'], '12.5')
    })

    it('gives no money on a network with real value', async () => {
      await create('real', '--network', 'base-sepolia')
      const { code, stderr } = await wallet('real', 'deposit', '1', '--chain-rpc', dev.url)
      assert.equal(code, 78)
      assert.match(stderr, /cannot mint test USDC on base-sepolia/)
    })

    it('reports an unreachable chain', async () => {
      const { code, stderr } = await wallet('one', 'balance', '--chain-rpc', 'http://127.0.0.1:2')
      assert.equal(code, 1)
      assert.match(stderr, /settlement_unavailable/)
    })
  })

  describe('in an interactive terminal', () => {
    it('asks for the network, and twice for the passphrase without showing it', async () => {
      const terminal = terminalHere(['dev', 'secret', 'secret'])
      assert.equal(await main(['--profile', 'asked', 'wallet', 'create'], terminal), 0)
      assert.deepEqual(
        terminal.asked.map(({ isShown }) => isShown),
        [true, false, false]
      )
      assert.ok(!(terminal.stdout() + terminal.stderr()).includes('secret'))
    })

    it('creates no wallet if the two passphrases differ', async () => {
      const terminal = terminalHere(['secret', 'sceret'])
      assert.equal(await main(['--profile', 'differ', 'wallet', 'create', '--network', 'dev'], terminal), 78)
      assert.match(terminal.stderr(), /differ/)
      assert.match((await wallet('differ', 'show')).stderr, /wallet_missing/)
    })
  })
})
