import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { checksummed } from '../../lib/index.ts'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { actor, type ChainBench, chainBench } from '../helpers/chain.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Behaviour, type ScriptedUpstream, scriptedUpstream } from '../helpers/scripted-upstream.ts'
import { type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'
import { secretForms } from '../helpers/secret-forms.ts'

/** Planted secrets. The search covers plain text, percent-encoding, base64 and hex. */
const planted = {
  passphrase: 'passphrase-of-the-wallet-A1',
  'wallet key': '5e'.repeat(32),
  'upstream header': 'upstream-header-secret-B2',
  'upstream query': 'upstream-query-secret-C3',
  'upstream password': 'upstream-password-secret-D4',
  'upstream token': 'upstream-bearer-secret-E5',
  'RPC key': 'rpc-url-key-F6',
  'database password': 'database-password-G7',
  'password in a URL': 'userinfo-password-H8',
  'broken auth file': 'broken-auth-file-I9'
}
const BOUND_MS = 20_000

describe('secrets of a node', () => {
  const secrets = new Map<string, string>(Object.entries(planted))
  /** All output of the node, with its origin. */
  const seen: Array<readonly [where: string, text: string]> = []
  let home: SoukHome
  let chain: ChainBench
  let rpc: ScriptedUpstream
  let api: ScriptedUpstream
  let node: NodeProcess
  let key: string
  let flags: string[]

  const file = async (name: string, text: string) => {
    const path = join(home.directory, name)
    await writeFile(path, text, { mode: 0o600 })
    return path
  }
  /** Runs a command and records its output, even if it fails. */
  async function cli(command: string, ...args: string[]) {
    const run = await home.run(`--profile shop ${command}`, args, { boundMs: BOUND_MS })
    seen.push([`souk ${command}`, `${run.stdout}\n${run.stderr}`])
    return run
  }
  async function get(url: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(BOUND_MS) })
    const heads = Array.from(response.headers, ([name, value]) => `${name}: ${value}`).join('\n')
    seen.push([`${init.method ?? 'GET'} ${url} ${response.status}`, `${heads}\n${await response.clone().text()}`])
    return response
  }
  const call = (name: string, consumerKey = key) =>
    get(`${node.ingress}/api/demo/api/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-consumer-key': consumerKey },
      body: '{}'
    })

  const ok: Behaviour = (response) => response.writeHead(200, { 'content-type': 'application/json' }).end('{"ok":true}')
  /** A careless chain endpoint, which repeats the URL in its error. */
  const failing: Behaviour = (response, { target }) =>
    response.writeHead(500, { 'content-type': 'application/json' }).end(JSON.stringify({ error: `no such ${target}` }))
  const forwarding: Behaviour = (response, { body }) => {
    void fetch(chain.parameters.rpcUrl, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: body.toString()
    })
      .then(async (answer) =>
        response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
      )
      .catch(() => response.destroy())
  }
  const echo = (target: string, headers: object) => `${target} ${JSON.stringify(headers)}`

  before(async () => {
    home = await soukHome()
    chain = await chainBench()
    rpc = await scriptedUpstream(forwarding)
    api = await scriptedUpstream(ok)
    const passphrase = await file('passphrase', `${planted.passphrase}\n`)
    const walletKey = await file('key', `0x${planted['wallet key']}\n`)
    const imported = await cli('wallet import', walletKey, '--network', 'dev', '--passphrase-file', passphrase)
    assert.equal(imported.code, 0, imported.stderr)
    flags = ['--payment-scheme', 'channel', '--chain-rpc', `${rpc.url}/v2/${planted['RPC key']}`, '--log', '*,*:trace']
    flags.push('--passphrase-file', passphrase)
    // The import created the profile without ports, so the ports are set here.
    const ports = ['--p2p-port', '0', '--admin-port', '0', '--ingress-port', '0']
    node = await home.asProcess.up('shop', ...ports, ...flags)
    secrets.set('admin token', (await readFile(join(home.directory, 'shop', 'admin.token'), 'utf8')).trim())
    const issued = await home.run('--profile shop --json key issue')
    ;({ key } = JSON.parse(issued.stdout) as IssuedKeyView)
    secrets.set('consumer key', key)
    await cli(`payout set ${checksummed(actor('secrets').address.toLowerCase() as `0x${string}`)}`)
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await Promise.all([rpc?.close(), api?.close()])
    await chain?.close()
  })

  it('reach the API and the chain endpoint that need them', async () => {
    const auth = await file(
      'auth.json',
      JSON.stringify({
        headers: { 'x-upstream-key': planted['upstream header'] },
        query: { api_key: planted['upstream query'] },
        basic: { username: 'souk', password: planted['upstream password'] }
      })
    )
    const bearer = await file('bearer.json', JSON.stringify({ bearer: planted['upstream token'] }))
    const terms = `--protocol REST --price 0.001 --endpoint ${api.url}`
    for (const [name, path] of [
      ['one', auth],
      ['two', bearer]
    ] as const) {
      const registered = await cli(`api register --name ${name} ${terms}/ --auth-file ${path}`)
      assert.equal(registered.code, 0, registered.stderr)
      assert.equal((await call(name)).status, 200)
    }
    const received = api.received.map(({ target, headers }) => echo(target, headers)).join('\n')
    for (const name of ['upstream header', 'upstream query', 'upstream token'] as const) {
      assert.ok(received.includes(planted[name]), name)
    }
    assert.ok(rpc.received.some(({ target }) => target.includes(planted['RPC key'])))
  })

  it('are used in commands and calls that fail', async () => {
    const behaviours: readonly Behaviour[] = [
      // In headers only: souk passes on the bodies of APIs unchanged, as documented.
      (response, { target, headers }) => {
        const at = encodeURIComponent(echo(target, headers))
        response
          .writeHead(401, { 'www-authenticate': `Basic realm="${at}"`, 'x-echo': at, 'content-location': target })
          .end()
      },
      (response, { target }) => response.writeHead(302, { location: `http://other.invalid${target}` }).end(),
      (response, { target }) => response.writeHead(302, { location: target }).end(),
      (response) => response.destroy(),
      (response) => response.socket?.end('HTTP/1.1 nonsense\r\n\r\n')
    ]
    for (const behaviour of behaviours) {
      api.behave(behaviour)
      for (const name of ['one', 'two']) assert.notEqual((await call(name)).status, 200)
    }
    await call('one', `${key}x`)
    await call('one', '')
    await call('none')
    const broken = await file('broken.json', `{"bearer": "${planted['broken auth file']}`)
    const register = 'api register --name bad --protocol REST --price 0.001 --endpoint'
    await cli(`${register} ${api.url}/ --auth-file ${broken}`)
    await cli(`${register} http://souk:${planted['password in a URL']}@127.0.0.1:9/`)
    const { admin } = node.ready
    for (const authorization of ['', `Bearer ${secrets.get('admin token')}x`, `Basic ${secrets.get('admin token')}`]) {
      await get(`${admin}/admin/v1/status`, { headers: { authorization } })
    }
    const bearer = { authorization: `Bearer ${secrets.get('admin token')}` }
    for (const path of ['status', 'apis', 'keys', 'settings', 'wallet', 'doctor', 'metrics', 'webhooks', 'none']) {
      await get(`${admin}/admin/v1/${path}`, { headers: bearer })
    }
    for (const command of ['status', 'doctor', 'api list', 'api show one', 'key list', 'wallet show', 'books export']) {
      await cli(command)
    }
    for (const path of ['/', '/openapi.json', '/readyz', '/livez', '/.well-known/souk']) await get(node.ingress + path)
  })

  it('are used with a chain endpoint that fails, sends garbage, or is unreachable', async () => {
    const asked = rpc.received.length
    rpc.behave(failing)
    for (const command of ['doctor', 'wallet balance', 'settle', 'channel list', 'status']) await cli(command)
    rpc.behave((response) => response.writeHead(200).end(`<html>${planted['RPC key']}</html>`))
    for (const command of ['doctor', 'wallet balance', 'settle']) await cli(command)
    await eventually('the chain to be asked', BOUND_MS, () => (rpc.received.length > asked ? true : undefined))
    await rpc.close()
    for (const command of ['doctor', 'wallet balance', 'settle']) await cli(command)
    await cli(`wallet balance --chain-rpc ${rpc.url}/v2/${planted['RPC key']}`)
    await node.end('SIGTERM')
    await cli(`up --network dev --no-input --json --payment-scheme channel --chain-rpc ftp://${planted['RPC key']}@x/`)
  })

  it('are used in failed starts: a wrong passphrase, an unreachable database', async () => {
    const wrong = await file('wrong', `${planted.passphrase}x\n`)
    const started = await cli(`up --network dev --no-input --json ${flags.slice(0, -1).join(' ')} ${wrong}`)
    assert.notEqual(started.code, 0)
    const store = `postgres://souk:${planted['database password']}@127.0.0.1:9/souk`
    const shared = home.start(
      `up --network dev --no-input --json --payment-scheme metered --profile other --store ${store} --log *,*:trace`
    )
    await eventually('it to say that the database is away', BOUND_MS, () =>
      shared.stderr.length > 0 || !shared.isRunning() ? true : undefined
    )
    await shared.end()
    seen.push(['up with a store', [...shared.stdout, ...shared.stderr].join('\n')])
    assert.match(seen.at(-1)?.[1] ?? '', /127\.0\.0\.1|database|PostgreSQL/i)
  })

  it('appear in no output, log, problem document or header', () => {
    seen.push(['stdout of the node', node.stdout.join('\n')], ['stderr of the node', node.stderr.join('\n')])
    assert.ok(seen.length > 50)
    for (const log of ['souk:call', 'souk:store', 'souk:ingress', 'souk:admin']) {
      assert.ok(
        seen.some(([, text]) => text.includes(` ${log} `)),
        log
      )
    }
    assert.deepEqual(
      seen.flatMap(([where, text]) => found(text).map((name) => `${name} in: ${where}\n${text}`)),
      []
    )
  })

  it('appear in no files except their own', async () => {
    const own = new Set([
      'passphrase',
      'wrong',
      'key',
      'auth.json',
      'bearer.json',
      'broken.json',
      'shop/admin.token',
      'shop/profile.json'
    ])
    const entries = await readdir(home.directory, { recursive: true, withFileTypes: true })
    let read = 0
    for (const entry of entries) {
      if (!entry.isFile()) continue
      const path = join(entry.parentPath, entry.name)
      const name = relative(home.directory, path)
      if (own.has(name)) {
        assert.equal((await stat(path)).mode & 0o777, 0o600, name)
        continue
      }
      read++
      assert.deepEqual(found((await readFile(path)).toString('latin1')), [], name)
    }
    assert.ok(read > 5)
  })

  function found(text: string): string[] {
    return [...secrets].flatMap(([name, secret]) =>
      secretForms(secret).some((form) => text.includes(form)) ? [name] : []
    )
  }
})
