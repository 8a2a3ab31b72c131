import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadConfig, locateProfile } from '../../node/config.ts'
import { NETWORKS } from '../../node/networks.ts'

const CONFIG = new URL('../../node/config.ts', import.meta.url).href

describe('config', () => {
  let home: string
  let env: Record<string, string>

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'souk-config-'))
    env = { SOUK_HOME: home }
  })
  afterEach(() => rm(home, { recursive: true }))

  async function save(settings: object, profile = 'default'): Promise<void> {
    const directory = join(home, profile)
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await writeFile(join(directory, 'profile.json'), JSON.stringify(settings), { mode: 0o600 })
  }
  const refused = (code: string, message: RegExp) => (error: Error & { code?: string }) => {
    assert.equal(error.code, code)
    assert.match(error.message, message)
    return true
  }

  it('prefers flags, then the environment, then the profile, then defaults', async () => {
    await save({ network: 'dev', p2pPort: 1111, ingressPort: 2222, adminPort: 3333 })
    const config = await loadConfig({
      env: { ...env, SOUK_P2P_PORT: '4444', SOUK_INGRESS_PORT: '5555' },
      flags: { p2pPort: '6666' }
    })
    assert.deepEqual(config.p2p.port, { port: 6666, exact: true })
    assert.deepEqual(config.ingress?.port, { port: 5555, exact: true })
    assert.deepEqual(config.admin.port, { port: 3333, exact: false })
    assert.equal(config.p2p.host, undefined)
  })

  it('reads the payment scheme from its flag, the environment and the profile', async () => {
    const schemeOf = async (options: object) =>
      (await loadConfig({ env, flags: {}, ...options })).payments.paymentScheme
    await save({ network: 'dev', till: 'metered' })
    assert.equal(await schemeOf({}), 'metered')
    assert.equal(await schemeOf({ env: { ...env, SOUK_TILL: 'channel' } }), 'channel')
    assert.equal(await schemeOf({ flags: { paymentScheme: 'channel' } }), 'channel')
  })

  it('names the replacement of a renamed option', async () => {
    const flags = { network: 'dev', till: 'metered' }
    await assert.rejects(
      loadConfig({ env, flags }),
      refused('config_invalid', /^--till was renamed: use --payment-scheme\.$/)
    )
  })

  it('moves a default port up if it is taken, but not a requested port', async () => {
    const config = await loadConfig({ env, flags: { network: 'dev', adminPort: '0' } })
    assert.deepEqual(config.p2p.port, { port: 4402, exact: false })
    assert.deepEqual(config.ingress?.port, { port: 8402, exact: false })
    assert.deepEqual(config.admin.port, { port: 0, exact: true })
  })

  it('opens the admin API beyond loopback by flag or environment only, never by the profile', async () => {
    await save({ network: 'dev', adminHost: '0.0.0.0' })
    assert.equal((await loadConfig({ env, flags: {} })).admin.host, '127.0.0.1')
    assert.equal((await loadConfig({ env: { ...env, SOUK_ADMIN_HOST: '0.0.0.0' }, flags: {} })).admin.host, '0.0.0.0')
    assert.equal((await loadConfig({ env, flags: { adminHost: '::' } })).admin.host, '::')
    // The admin API accepts loopback host names only, so it would reject requests to this address.
    await assert.rejects(
      loadConfig({ env: { ...env, SOUK_ADMIN_HOST: '192.0.2.1' }, flags: {} }),
      refused('config_invalid', /^SOUK_ADMIN_HOST is not valid: give 127\.0\.0\.1, or inside a container/)
    )
  })

  it('reads the enabled logs from a flag, SOUK_LOG or DEBUG, in this order', async () => {
    const logOf = async (more: object, flags: object = {}) =>
      (await loadConfig({ env: { ...env, ...more }, flags: { network: 'dev', ...flags } })).log
    assert.equal(await logOf({}), undefined)
    assert.equal(await logOf({ DEBUG: '' }), undefined)
    assert.equal(await logOf({ DEBUG: 'souk:*' }), 'souk:*')
    assert.equal(await logOf({ DEBUG: 'souk:*', SOUK_LOG: 'souk:call' }), 'souk:call')
    assert.equal(
      await logOf({ DEBUG: 'a', SOUK_LOG: 'b' }, { log: 'souk:call,-souk:pay libp2p:*' }),
      'souk:call,-souk:pay libp2p:*'
    )
    // Other programs use DEBUG too, so an invalid value must not prevent the start.
    assert.equal(await logOf({ DEBUG: '(' }), '(')
    for (const log of ['', '(', 'souk:\u001b[2J', 'x'.repeat(1_001)]) {
      await assert.rejects(logOf({}, { log }), refused('config_invalid', /^--log is not valid: /))
    }
  })

  it('does not reveal a store’s URL, which may contain a password', async () => {
    for (const store of [
      'mysql://souk:hidden@db/souk',
      'postgres://souk:hidden@db1,db2:5432/souk',
      'postgres://souk:hi#%@db/souk'
    ]) {
      await assert.rejects(loadConfig({ env, flags: { network: 'dev', store } }), (error: Error) => {
        assert.match(error.message, /^--store is not valid: give a URL like postgres:.*, with one host.*%25 for %/)
        return !error.message.includes('hidden')
      })
    }
    const store = 'postgres://souk:hidden@db/souk'
    const config = await loadConfig({
      env: { ...env, SOUK_STORE: store, SOUK_ACCOUNTS: 'yes' },
      flags: { network: 'dev' }
    })
    assert.deepEqual([config.store, config.accounts], [store, true])
  })

  it('requires a network for a new profile, asks for it in a terminal, and keeps it', async () => {
    await assert.rejects(loadConfig({ env, flags: {} }), refused('network_missing', /needs a network/))
    const asked = await loadConfig({ env, flags: {}, askNetwork: async () => 'base-sepolia' })
    assert.equal(asked.network.name, 'base-sepolia')
    await assert.rejects(
      loadConfig({ env, flags: {}, askNetwork: async () => 'x' }),
      refused('config_invalid', /no network "x"/)
    )

    await save({ network: 'dev' })
    assert.deepEqual((await loadConfig({ env, flags: {} })).network, NETWORKS.dev)
    await assert.rejects(
      loadConfig({ env, flags: { network: 'base' } }),
      refused('config_invalid', /belongs to the network dev/)
    )
  })

  it('enables keyless x402 payments unless a flag or the environment disables them', async () => {
    const load = async (more: object, flags: object = {}) =>
      (await loadConfig({ env: { ...env, ...more }, flags: { network: 'dev', ...flags } })).ingress?.x402
    assert.equal(await load({}), undefined)
    assert.equal(await load({}, { x402: false }), false)
    assert.equal(await load({ SOUK_X402: 'false' }), false)
  })

  it('names an invalid setting as it was given', async () => {
    const load = (flags: object, more: Record<string, string> = {}) =>
      loadConfig({ env: { ...env, ...more }, flags: { network: 'dev', ...flags } })
    await assert.rejects(load({ p2pPort: '65536' }), refused('config_invalid', /^--p2p-port is not valid: give a port/))
    await assert.rejects(load({ p2pPort: '1e3' }), refused('config_invalid', /^--p2p-port/))
    await assert.rejects(load({}, { SOUK_ADMIN_PORT: '-1' }), refused('config_invalid', /^SOUK_ADMIN_PORT/))
    await assert.rejects(load({ network: 'mainnet' }), refused('config_invalid', /no network "mainnet"/))
    await assert.rejects(load({ bootstrap: ['localhost:4402'] }), refused('config_invalid', /^--bootstrap.*multiaddr/))
    await assert.rejects(load({ bootstrap: ['/ip4/192.0.2.1/tcp/4402'] }), refused('config_invalid', /peer id/))
    await assert.rejects(load({ corsOrigin: ['shop.example'] }), refused('config_invalid', /^--cors-origin.*origin/))
    await assert.rejects(load({ tlsCert: 'cert.pem' }), refused('config_invalid', /needs its key/))
    await save({ network: 'dev', ingressPort: 'many' })
    await assert.rejects(load({}), refused('config_invalid', /^profile.json: ingressPort/))
  })

  it('reads lists and switches from the environment', async () => {
    const config = await loadConfig({
      env: {
        ...env,
        SOUK_NETWORK: 'dev',
        SOUK_BOOTSTRAP:
          '/ip4/192.0.2.1/tcp/4402/p2p/12D3KooWGzBXbTiFcQvfTVUqRt7BsxkLzTLyGgXFVYXV1PsJMhXX, /dns4/peer.example/tcp/4402/p2p/12D3KooWGzBXbTiFcQvfTVUqRt7BsxkLzTLyGgXFVYXV1PsJMhXX',
        SOUK_INGRESS: 'no',
        SOUK_P2P_HOST: ''
      },
      flags: {}
    })
    assert.deepEqual(config.p2p.bootstrap, [
      '/ip4/192.0.2.1/tcp/4402/p2p/12D3KooWGzBXbTiFcQvfTVUqRt7BsxkLzTLyGgXFVYXV1PsJMhXX',
      '/dns4/peer.example/tcp/4402/p2p/12D3KooWGzBXbTiFcQvfTVUqRt7BsxkLzTLyGgXFVYXV1PsJMhXX'
    ])
    assert.equal(config.ingress, undefined)
    assert.equal(config.p2p.host, undefined)
  })

  it('keeps profiles under SOUK_HOME, else in the XDG data home', () => {
    assert.equal(locateProfile('a', { SOUK_HOME: '/srv/souk' }).directory, '/srv/souk/a')
    assert.equal(locateProfile(undefined, { XDG_DATA_HOME: '/data' }).directory, '/data/souk/default')
    assert.match(locateProfile(undefined, { XDG_DATA_HOME: 'relative' }).directory, /\.local\/share\/souk\/default$/)
    assert.equal(locateProfile(undefined, { SOUK_HOME: '/s', SOUK_PROFILE: 'shop' }).name, 'shop')
  })

  it('needs an absolute home directory, so that each working directory does not get a profile of its own', () => {
    const before = process.env['HOME']
    try {
      for (const home of ['', 'relative']) {
        process.env['HOME'] = home
        assert.throws(() => locateProfile('a', {}), refused('config_invalid', /HOME is ".*": give an absolute path/))
        assert.equal(locateProfile('a', { SOUK_HOME: '/srv/souk' }).directory, '/srv/souk/a')
      }
    } finally {
      if (before === undefined) delete process.env['HOME']
      else process.env['HOME'] = before
    }
  })

  // Another user needs root.
  if (process.getuid?.() === 0) {
    it('says that a user without an entry in the user database has no home directory', async () => {
      const uid = 54_321
      const { HOME: _, ...others } = process.env
      const script = `const { locateProfile } = await import(${JSON.stringify(CONFIG)})
        process.setuid(${uid})
        try { locateProfile('a', {}) } catch ({ code, message }) { console.log(code, message) }`
      const argv = ['--input-type=module', '-e', script]
      const { stdout } = await promisify(execFile)(process.execPath, argv, { env: others })
      assert.equal(stdout, 'config_invalid This user has no home directory.\n')
    })
  }

  it('rejects a profile name that is a path', () => {
    for (const name of ['..', 'a/b', '', '.hidden', 'a b', '_', '-x', 'x'.repeat(64)]) {
      const rule = /is not a profile name: use at most 63 .* with a letter or digit first/
      assert.throws(() => locateProfile(name, env), refused('config_invalid', rule))
    }
  })
})
