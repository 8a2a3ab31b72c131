import assert from 'node:assert/strict'
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { keySigner } from '../../../lib/pay/signing/key-signer.ts'
import { signerOf } from '../../../lib/pay/signing/signature.ts'
import { openProfile, profileFile, type ProfileLocation } from '../../../node/profile/profile.ts'
import { encryptKeystore } from '../../../node/wallet/keystore.ts'
import { choosePassphrase, readPassphrase } from '../../../node/wallet/passphrase.ts'
import { backUpWallet, createWallet, importWallet, openWallet, walletInfo } from '../../../node/wallet/wallet-file.ts'

const FAST = { n: 1024 }
const KEY = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'

describe('wallet', () => {
  let home: string
  let profile: ProfileLocation
  const mode = async (path: string) => ((await stat(path)).mode & 0o777).toString(8)

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-wallet-'))
    profile = { name: 'shop', directory: join(home, 'shop') }
    await openProfile(profile)
  })
  afterEach(() => rm(home, { recursive: true }))

  it('is created once, unlocks with its passphrase, and signs', async () => {
    const { address } = await createWallet(profile, 'dev', 'secret', FAST)
    assert.deepEqual(await walletInfo(profile), { address, network: 'dev' })
    const signer = await openWallet(profile, 'dev', 'secret')
    assert.equal(signer.address, address)
    const digest = new Uint8Array(32).fill(3)
    assert.equal(signerOf(digest, await signer.sign(digest)), address)
    await assert.rejects(createWallet(profile, 'dev', 'other', FAST), { code: 'wallet_exists' })
    await assert.rejects(importWallet(profile, 'dev', { content: KEY, passphrase: 'x' }), { code: 'wallet_exists' })
    await assert.rejects(openWallet(profile, 'dev', 'Secret'), {
      code: 'passphrase_wrong',
      message: `The passphrase does not open the wallet ${profileFile(profile, 'wallet')}.`
    })
  })

  it('is a file that only its owner can read, and is rejected if others can', async () => {
    await createWallet(profile, 'dev', 'secret', FAST)
    const path = profileFile(profile, 'wallet')
    assert.equal(await mode(path), '600')
    await chmod(path, 0o644)
    await assert.rejects(openWallet(profile, 'dev', 'secret'), { code: 'permissions_too_open' })
    await assert.rejects(openProfile(profile), { code: 'permissions_too_open' })
  })

  it('belongs to one network', async () => {
    await createWallet(profile, 'dev', 'secret', FAST)
    await assert.rejects(openWallet(profile, 'base', 'secret'), { code: 'config_invalid' })
  })

  it('is imported from a private key or another wallet’s key file', async () => {
    const { address } = keySigner(Buffer.from(KEY, 'hex'))
    await importWallet(profile, 'dev', { content: `0x${KEY}\n`, passphrase: 'new' }, FAST)
    assert.equal((await openWallet(profile, 'dev', 'new')).address, address)
    assert.ok(!(await readFile(profileFile(profile, 'wallet'), 'utf8')).includes(KEY))

    const other = { name: 'other', directory: join(home, 'other') }
    await openProfile(other)
    const content = JSON.stringify(await encryptKeystore(Buffer.from(KEY, 'hex'), 'old', FAST))
    await assert.rejects(importWallet(other, 'dev', { content, passphrase: 'new' }, FAST), { code: 'passphrase_wrong' })
    await importWallet(other, 'base-sepolia', { content, passphrase: 'new', oldPassphrase: 'old' }, FAST)
    assert.equal((await openWallet(other, 'base-sepolia', 'new')).address, address)
  })

  it('is not imported from anything else', async () => {
    for (const content of ['', '{}', 'ff', '00'.repeat(32), 'ff'.repeat(32), '{"version":3}', '\u0000']) {
      await assert.rejects(
        importWallet(profile, 'dev', { content, passphrase: 'x' }),
        { code: 'wallet_broken' },
        content
      )
    }
    assert.equal(await walletInfo(profile), undefined)
    await assert.rejects(openWallet(profile, 'dev', 'secret'), { code: 'wallet_missing' })
  })

  it('is reported if damaged', async () => {
    for (const content of ['', '{}', '{"address":"0x12","souk":{"network":"dev"}}', 'null']) {
      await writeFile(profileFile(profile, 'wallet'), content, { mode: 0o600 })
      await assert.rejects(walletInfo(profile), { code: 'wallet_broken' }, content)
      await assert.rejects(openWallet(profile, 'dev', 'x'), { code: 'wallet_broken' }, content)
    }
  })

  it('is backed up unchanged, never over another file', async () => {
    const destination = join(home, 'backup.json')
    await assert.rejects(backUpWallet(profile, destination), { code: 'wallet_missing' })
    await createWallet(profile, 'dev', 'secret', FAST)
    await backUpWallet(profile, destination)
    assert.equal(await mode(destination), '600')
    assert.deepEqual(await readFile(destination), await readFile(profileFile(profile, 'wallet')))
    await assert.rejects(backUpWallet(profile, destination), { code: 'config_invalid' })
    await rm(profileFile(profile, 'wallet'))
    await importWallet(profile, 'dev', { content: await readFile(destination, 'utf8'), passphrase: 'secret' }, FAST)
    await openWallet(profile, 'dev', 'secret')
  })

  it('takes its passphrase from a private file or a terminal only', async () => {
    const file = join(home, 'passphrase')
    await writeFile(file, 'two words \n', { mode: 0o600 })
    assert.equal(await readPassphrase({ file }), 'two words ')
    await chmod(file, 0o644)
    await assert.rejects(readPassphrase({ file }), { code: 'permissions_too_open' })
    await assert.rejects(readPassphrase({ file: join(home, 'none') }), { code: 'config_invalid' })
    await assert.rejects(readPassphrase({}), { code: 'config_invalid' })
    const answers = ['secret', 'secret', 'secret', 'sekret', '']
    const ask = async () => answers.shift() ?? ''
    assert.equal(await choosePassphrase({ ask }), 'secret')
    await assert.rejects(choosePassphrase({ ask }), /differ/)
    await assert.rejects(choosePassphrase({ ask }), /empty/)
  })
})
