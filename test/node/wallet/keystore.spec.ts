import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { decryptKeystore, encryptKeystore } from '../../../node/wallet/keystore.ts'

/** The secret and passphrase of both test vectors in the Web3 Secret Storage definition. */
const SECRET = '7a28b5ba57c53603b0b07b56bba752f7784bf506fa95edc395f5cf6c7514fe9d'
const PASSPHRASE = 'testpassword'
const VECTORS = {
  scrypt: {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '83dbcc02d8ccb40e466191a123791e0e' },
      ciphertext: 'd172bf743a674da9cdad04534d56926ef8358534d458fffccd4e6ad2fbde479c',
      kdf: 'scrypt',
      kdfparams: {
        dklen: 32,
        n: 262144,
        r: 1,
        p: 8,
        salt: 'ab0c7876052600dd703518d6fc3fe8984592145b591fc8fb5c6d43190334ba19'
      },
      mac: '2103ac29920d71da29f15d75b4a16dbe95cfd7ff8faea1056c33131d846e3097'
    },
    id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
    version: 3
  },
  pbkdf2: {
    crypto: {
      cipher: 'aes-128-ctr',
      cipherparams: { iv: '6087dab2f9fdbbfaddc31a909735c1e6' },
      ciphertext: '5318b4d5bcd28de64ee5559e671353e16f075ecae9f99c7a79a38af5f869aa46',
      kdf: 'pbkdf2',
      kdfparams: {
        c: 262144,
        dklen: 32,
        prf: 'hmac-sha256',
        salt: 'ae3cd4e7013836a3df6bd7241b12db061dbe2c6785853cce422d148a624ce0bd'
      },
      mac: '517ead924a9d0dc3124507e3393d175ce3ff7c1e96529c6c555ce9e51205e9b2'
    },
    id: '3198bc9c-6672-5ab3-d995-4942343ae5b6',
    version: 3
  }
}

describe('keystore', () => {
  for (const [kdf, vector] of Object.entries(VECTORS)) {
    it(`opens the official ${kdf} vector`, async () => {
      assert.equal(Buffer.from(await decryptKeystore(vector, PASSPHRASE)).toString('hex'), SECRET)
    })

    it(`rejects the official ${kdf} vector with another passphrase`, async () => {
      await assert.rejects(decryptKeystore(vector, 'Testpassword'), { code: 'passphrase_wrong' })
    })
  }

  it('opens its own files with any passphrase', async () => {
    for (const passphrase of ['', 'correct horse', 'пароль 🐎', 'x'.repeat(1_000)]) {
      const key = randomBytes(32)
      const keystore = await encryptKeystore(key, passphrase, { n: 1024 })
      const copy: unknown = JSON.parse(JSON.stringify(keystore))
      assert.deepEqual(await decryptKeystore(copy, passphrase), key)
      await assert.rejects(decryptKeystore(copy, `${passphrase}.`), { code: 'passphrase_wrong' })
      assert.ok(!JSON.stringify(keystore).includes(key.toString('hex')))
    }
  })

  it('reads the spelling of old files', async () => {
    const { crypto: Crypto, ...rest } = await encryptKeystore(randomBytes(32), 'p', { n: 1024 })
    await decryptKeystore({ ...rest, Crypto }, 'p')
  })

  it('rejects a modified file', async () => {
    const keystore = await encryptKeystore(randomBytes(32), 'p', { n: 1024 })
    const { ciphertext: written } = keystore.crypto
    // One file of 256 starts with the first of these by chance.
    const ciphertext = `${written.startsWith('00') ? '01' : '00'}${written.slice(2)}`
    await assert.rejects(decryptKeystore({ ...keystore, crypto: { ...keystore.crypto, ciphertext } }, 'p'), {
      code: 'passphrase_wrong'
    })
    await assert.rejects(decryptKeystore({ ...keystore, address: '00'.repeat(20) }, 'p'), { code: 'keystore_invalid' })
  })

  it('rejects invalid key files and excessive KDF costs', async () => {
    const { crypto } = VECTORS.scrypt
    const kdfparams = (change: object) => ({
      version: 3,
      crypto: { ...crypto, kdfparams: { ...crypto.kdfparams, ...change } }
    })
    for (const json of [
      undefined,
      null,
      'text',
      {},
      { version: 1, crypto },
      { version: 3, crypto: { ...crypto, cipher: 'aes-256-gcm' } },
      { version: 3, crypto: { ...crypto, ciphertext: 'zz' } },
      { version: 3, crypto: { ...crypto, kdf: 'pbkdf2' } },
      { version: 3, crypto: { ...VECTORS.pbkdf2.crypto, kdf: 'scrypt' } },
      { version: 3, crypto: { ...VECTORS.pbkdf2.crypto, kdfparams: { ...VECTORS.pbkdf2.crypto.kdfparams, c: 1e9 } } },
      kdfparams({ n: 2 ** 30 }),
      kdfparams({ n: 1000 }),
      kdfparams({ n: 1 }),
      kdfparams({ p: 1_000 }),
      kdfparams({ r: 2 ** 20 }),
      kdfparams({ dklen: 16 })
    ]) {
      await assert.rejects(decryptKeystore(json, PASSPHRASE), { code: 'keystore_invalid' }, JSON.stringify(json))
    }
  })
})
