import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { PlansView } from '../../../node/admin/subscriptions/subscription-api.ts'
import { startUsers } from '../../../node/demo/users.ts'
import { SELF_SIGNED } from '../../helpers/self-signed.ts'
import { startUpstream, type Upstream } from '../../helpers/echo-api.ts'
import { type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../../helpers/souk-home.ts'

const LIMITS = '--expires-in 30d --max-price 0.002 --daily-cap 0.5'.split(' ')

interface Api {
  readonly id: string
  readonly state: string
  readonly revision: number
}

describe('souk with running nodes', function () {
  let home: SoukHome
  let upstream: Upstream
  let owner: NodeProcess
  let consumer: NodeProcess

  const run = (...args: string[]) => home.run('--profile default', args)
  const onConsumer = (...args: string[]) => home.run('--profile consumer', args)
  async function json<T>(...args: string[]): Promise<T> {
    const { code, stdout, stderr } = await run(...args, '--json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as T
  }

  before(async () => {
    home = await soukHome()
    upstream = await startUpstream()
    owner = await home.asProcess.up('default', '--no-ingress')
    consumer = await home.asProcess.up('consumer', '--bootstrap', ...owner.p2p)
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await upstream?.close()
  })

  it('prints its addresses when it is ready', () => {
    assert.deepEqual([owner.ready.network, owner.ready.profile, owner.ready.ingress], ['dev', 'default', null])
    assert.match(owner.ready.admin, /^http:\/\/127\.0\.0\.1:\d+$/)
    assert.match(owner.ready.p2p[0] ?? '', new RegExp(`^/ip4/127.0.0.1/tcp/\\d+/p2p/${owner.ready.peer}$`))
    assert.match(consumer.ready.ingress ?? '', /^http:\/\/127\.0\.0\.1:\d+$/)
  })

  it('registers an API with the options of the specification', async () => {
    const { code, stdout, stderr } = await run(
      ...`api register --name bb-echo --protocol rest --endpoint ${upstream.url}`.split(' '),
      ...'--price 0.001 --currency USDC --description echoes --tag echo --tag test'.split(' ')
    )
    assert.equal(code, 0, stderr)
    assert.equal(stdout, `bb-echo@${owner.ready.peer}\n`)
    assert.match(stderr, /Registered bb-echo: REST.*0\.001 USDC per call, published\./)
    const { apis } = await json<{ apis: Api[] }>('api', 'list')
    assert.deepEqual(
      apis.map(({ id, state }) => [id, state]),
      [[`bb-echo@${owner.ready.peer}`, 'published']]
    )
  })

  it('inspects an API and calls it without publishing it', async () => {
    const users = await startUsers()
    const check = ['api', 'check', '--protocol', 'GraphQL', '--endpoint', users.url]
    const read = await run(...check)
    assert.equal(read.code, 0, read.stderr)
    assert.match(read.stdout, /type Query \{/)
    const good = await run(...check, '--call', '{"query":"{ user(id: \\"1\\") { name } }"}')
    assert.equal(good.stdout, '{"data":{"user":{"name":"Alan Turing"}}}\n')
    assert.match(good.stderr, /^200 in [\d.]+ ms; would be charged/m)
    const bad = await run(...check, '--call', '{"query":"{ nobody }"}')
    assert.equal(bad.code, 1)
    assert.match(bad.stderr, /would not be charged|nobody/)
    assert.equal((await run(...check, '--call', '{')).code, 64)
    assert.deepEqual((await json<{ apis: Api[] }>('api', 'list')).apis.length, 1)
    await users.close()
  })

  it('shows the retention settings, and turns the capture of requests on and off', async () => {
    assert.match((await run('settings')).stdout, /^capture +off$/m)
    assert.match(
      (await run('settings', '--capture', 'on')).stdout,
      /^capture +on, 0 of at most 100 requests captured$/m
    )
    assert.equal((await json<{ capture: boolean }>('settings', '--capture', 'off')).capture, false)
    assert.equal((await run('settings', '--capture', 'maybe')).code, 64)
  })

  it('lists signed-in browsers, and signs one out', async () => {
    const { url, code } = await json<{ url: string; code: string }>('console')
    const entering = { method: 'POST', headers: { 'content-type': 'application/json', origin: url } }
    const entered = await fetch(`${url}/admin/v1/session`, { ...entering, body: JSON.stringify({ code }) })
    const headers = { cookie: (entered.headers.get('set-cookie') ?? '').split(';')[0] ?? '' }
    const status = async () => (await fetch(`${url}/admin/v1/status`, { headers })).status
    assert.equal(await status(), 200)
    const { sessions } = await json<{ sessions: ReadonlyArray<{ id: string }> }>('console', 'browsers')
    const [browser] = sessions
    assert.ok(browser !== undefined && sessions.length === 1)
    assert.match((await run('console', 'browsers')).stdout, new RegExp(`^${browser.id} `, 'm'))
    assert.equal((await run('console', 'sign-out', browser.id)).code, 0)
    assert.equal(await status(), 401)
    assert.notEqual((await run('console', 'sign-out', browser.id)).code, 0)
  })

  it('exits 64 for an id that cannot be one, and 1 for an unknown one', async () => {
    const unknown = [
      'key show zzz',
      'key revoke zzz --yes',
      'key issue --account zzz',
      'account show zzz',
      'webhook rm zzz --yes',
      'webhook test zzz',
      'subscriptions show zzz',
      `subscriptions show ${'0'.repeat(36)}`,
      'console sign-out zzz'
    ]
    for (const command of unknown) {
      const { code, stderr } = await run(...command.split(' '))
      assert.deepEqual([command, code], [command, 1], stderr)
      assert.match(stderr, /^souk: (?:There is no|No subscription has an id) .*(?:zzz|0{36})/)
    }
    const malformed = [
      'provider delegate zzz',
      'pin name@zzz',
      'search --provider zzz',
      'search --cursor zzz',
      'receipts --api Zzz',
      'subscribers --cursor zzz',
      'webhook add zzz',
      'payout set 0x12',
      'market show zzz@zzz',
      'api show Zzz'
    ]
    for (const command of malformed) {
      const { code, stderr } = await run(...command.split(' '))
      assert.deepEqual([command, code], [command, 64], stderr)
    }
  })

  it('refuses a malformed name before it reads the endpoint, and an unknown id before it asks', async () => {
    const register = 'api register --name Bad --protocol REST --endpoint http://127.0.0.1:9/ --price 0'
    const { code, stderr } = await run(...register.split(' '))
    assert.equal(code, 64, stderr)
    assert.match(stderr, /^souk: name: use a-z, 0-9 and "-"/)
    // Without a terminal, a question would exit 64.
    for (const command of ['api rm zzz', 'api retire zzz', 'key revoke zzz', 'subscriptions cancel zzz --now']) {
      assert.equal((await run(...command.split(' '))).code, 1, command)
    }
  })

  it('says in its own words what the schema of a request refuses', async () => {
    const register = `api register --name x --protocol REST --endpoint ${upstream.url} --price 0`
    const late = await run(...`${register} --timeout-ms 99999999`.split(' '))
    assert.equal(late.code, 64)
    assert.match(late.stderr, /^souk: timeout_ms: give a number of at most 120000$/m)
  })

  it('registers a GraphQL API with limits', async () => {
    const users = await startUsers()
    const file = join(home.directory, 'users.json')
    await writeFile(file, '{"costs": {"Query.users": 2}, "cost_max": 10, "unit_price": "0.0001"}')
    const named = ['api', 'register', '--name', 'users', '--protocol', 'GraphQL', '--endpoint', users.url]
    const flags = ['--price', '0.01', '--hide', 'User.email', '--graphql-file', file]
    const { code, stderr } = await run(...named, ...flags)
    assert.equal(code, 0, stderr)
    const call = async (query: string) => (await onConsumer('call', 'users', JSON.stringify({ query }))).stdout
    assert.equal(
      await call('{ users(first: 2) { name } }'),
      '{"data":{"users":[{"name":"Alan Turing"},{"name":"Barbara Liskov"}]}}\n'
    )
    assert.match(await call('{ users(first: 6) { name } }'), /costs 12 units; this API allows 10/)
    assert.match(await call('{ users { email } }'), /Cannot query field \\"email\\"/)
    const wrong = await run(...named, '--price', '0', '--replace', '--hide', 'User.age')
    assert.deepEqual([wrong.code, /no "User\.age"/.test(wrong.stderr)], [1, true])
    const unread = await run(...named, '--price', '0', '--graphql-file', join(home.directory, 'missing.json'))
    assert.match(unread.stderr, /missing\.json cannot be read/)
    assert.equal((await run('api', 'rm', 'users', '--yes')).code, 0)
    await users.close()
  })

  it('reports an unreachable endpoint', async () => {
    const { code, stderr } = await run(
      ...'api register --name nobody --protocol REST --endpoint http://127.0.0.1:9/ --price 0'.split(' ')
    )
    assert.equal(code, 1)
    assert.match(stderr, /cannot be reached/)
    assert.match(stderr, /^Try: /m)
    assert.match(stderr, /^Request id: [\da-f-]{36}$/m)
  })

  it('does not advise to wait until the certificate of an endpoint is trusted', async () => {
    const server = createServer(SELF_SIGNED).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const endpoint = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    try {
      for (const protocol of ['REST', 'SOAP', 'GraphQL']) {
        const { code, stderr } = await run('api', 'check', '--protocol', protocol, '--endpoint', endpoint)
        assert.equal(code, 1)
        assert.match(stderr, /DEPTH_ZERO_SELF_SIGNED_CERT[^]*^Try: curl -v/m)
        assert.doesNotMatch(stderr, /again later/)
      }
      const { stderr } = await run('sell', endpoint, '--yes')
      assert.match(stderr, /DEPTH_ZERO_SELF_SIGNED_CERT[^]*^Try: curl -v/m)
    } finally {
      server.close()
    }
  })

  it('finds and calls the API from the other node: response on stdout, time and price on stderr', async () => {
    const found = await onConsumer('search', 'echoes')
    assert.match(found.stdout, new RegExp(`^bb-echo@…${owner.ready.peer.slice(-8)} +REST +0\\.001 USDC`, 'm'))
    const wide = await onConsumer('search', 'echoes', '--wide')
    assert.match(wide.stdout, new RegExp(`^bb-echo@${owner.ready.peer} +REST +0\\.001 USDC +published `, 'm'))
    const { code, stdout, stderr } = await onConsumer('call', 'bb-echo', '{"symbol":"BTC"}')
    assert.equal(code, 0, stderr)
    assert.equal(stdout, '{"echo":{"symbol":"BTC"}}\n')
    assert.match(
      stderr,
      /^200 from bb-echo@\S+ in [\d.]+ ms \(lookup .*upstream .*\); price 0\.001 USDC, charged 0 USDC\n$/
    )
  })

  it('searches the market in the given order, and shows one API', async () => {
    const id = `bb-echo@${owner.ready.peer}`
    const found = await onConsumer('market', 'search', 'echo', '--tag', 'test', '--sort', 'quality', '--json')
    const { listings, next } = JSON.parse(found.stdout) as { listings: Array<Record<string, unknown>>; next: unknown }
    assert.deepEqual([listings.map((listing) => listing['id']), next], [[id], null])
    assert.partialDeepStrictEqual(listings[0], { probed: null, claimed_by_owner: null, price: '0.001' })
    const none = await onConsumer('market', 'search', 'echo', '--max-price', '0.0009')
    assert.deepEqual([none.code, none.stdout, /No API found/.test(none.stderr)], [0, '', true])
    assert.equal((await onConsumer('market', 'search', '--sort', 'best')).code, 64)
    const { stdout } = await onConsumer('market', 'show', 'bb-echo')
    assert.match(stdout, new RegExp(`^api +${id}$`, 'm'))
    assert.match(stdout, /^your calls +100% of 1, [\d.]+ ms$/m)
    assert.match(stdout, /^quality +0\.\d\d of 1$/m)
    assert.match(stdout, new RegExp(`^served by +${owner.ready.peer}$`, 'm'))
    const missing = await onConsumer('market', 'show', 'nobody-has-this')
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /no node that this node can reach serves it/)
  })

  it('suggests the names that it knows for a mistyped one', async () => {
    const lines: ReadonlyArray<readonly string[]> = [
      ['call', 'bb-ehco'],
      ['call', 'echo'],
      ['market', 'show', 'b-echo'],
      ['subscribe', 'BB-ECO', '--plan', 'x', '--max-price', '1']
    ]
    for (const line of lines) {
      const { code, stderr } = await onConsumer(...line)
      assert.notEqual(code, 0)
      assert.match(stderr, /^Did you mean bb-echo\?$/m, line.join(' '))
    }
    assert.match((await run('api', 'pause', 'bb-ecoh')).stderr, /^Did you mean bb-echo\?$/m)
    assert.match((await onConsumer('why', 'bb-ecoh')).stdout, /^perhaps +bb-echo$/m)
    // An API of another node is no API of this one.
    assert.doesNotMatch((await onConsumer('api', 'pause', 'bb-ecoh')).stderr, /Did you mean/)
    assert.doesNotMatch((await onConsumer('call', 'weather')).stderr, /Did you mean/)
    const asJson = await onConsumer('call', 'bb-ehco', '--json')
    assert.partialDeepStrictEqual(JSON.parse(asJson.stderr), {
      error: { code: 'api_not_found', did_you_mean: ['bb-echo'] }
    })
  })

  it('changes only the named terms of a plan, and restores defaults', async () => {
    const set = async (...options: string[]) => {
      const { code, stdout, stderr } = await run('plan', 'set', 'bb-echo', 'gold', ...options, '--json')
      assert.equal(code, 0, stderr)
      const [plan] = (JSON.parse(stdout) as PlansView).plans
      return plan
    }
    const first = await set(
      '--fee',
      '5',
      '--included',
      '100',
      '--overage',
      '0.01',
      '--rate',
      '10/1m',
      '--in-flight',
      '3'
    )
    assert.deepEqual(await set('--trial-days', '7'), { ...first, trial_days: 7 })
    const restored = await set(
      ...'--trial-days 0 --included unlimited --overage none --rate none --in-flight none'.split(' ')
    )
    assert.deepEqual(restored, { ...first, included: null, overage: [], rate_limit: null, in_flight_max: null })
    await run('plan', 'rm', 'bb-echo', 'gold')
    const again = await set('--included', '1')
    assert.deepEqual([again?.fee, again?.included], ['0', 1])
    await run('plan', 'rm', 'bb-echo', 'gold')
  })

  it('exits with 64 for a malformed name of an API, and with 1 for an unknown one, in every command', async () => {
    const unpaid = ['--max-price', '1']
    const lines: ReadonlyArray<readonly [before: string, ...after: string[]]> = [
      ...['api show', 'api pause', 'api resume', 'api deprecate', 'plan list', 'mapping get', 'subscribers'].map(
        (line) => [line] as const
      ),
      ['api set', '--price', '1'],
      ['api retire', '--yes'],
      ['api rm', '--yes'],
      ['plan rm', 'basic'],
      ['plan set', 'basic', '--fee', '1', '--included', '1'],
      ...['call', 'why', 'types', 'market show'].map((line) => [line] as const),
      ['subscribe', '--plan', 'basic', ...unpaid]
    ]
    for (const [before, ...after] of lines) {
      for (const [name, expected] of [
        ['bad name', 64],
        ['bb-echo@bad', 64],
        ['nosuch', 1]
      ] as const) {
        const { code, stderr } = await onConsumer(...before.split(' '), name, ...after)
        assert.equal(code, expected, `${before} ${name}: ${stderr}`)
      }
    }
    const options = ['key issue --label x --api', 'receipts --api', 'pin', 'api serve --endpoint http://localhost:9']
    for (const line of [...options, `api register --protocol rest --endpoint ${upstream.url} --price 0 --name`]) {
      const { code, stderr } = await onConsumer(...line.split(' '), 'bb-echo@bad')
      assert.equal(code, 64, `${line}: ${stderr}`)
    }
  })

  it('explains why an API cannot be called, with a matching exit code', async () => {
    const well = await onConsumer('why', 'bb-echo')
    assert.deepEqual([well.code, /^step +ok$/m.test(well.stdout)], [0, true])
    const ill = await onConsumer('why', 'nobody-has-this')
    assert.equal(ill.code, 1)
    assert.match(ill.stdout, /^step +no_provider_record$[^]*^try +check the name with souk --profile consumer search/m)
    const told = await onConsumer('why', 'nobody-has-this', '--json')
    assert.partialDeepStrictEqual(JSON.parse(told.stdout), { callable: false, step: 'no_provider_record' })
    await run('api', 'pause', 'bb-echo')
    const paused = await onConsumer('why', 'bb-echo')
    assert.deepEqual([paused.code, /^step +paused$/m.test(paused.stdout)], [1, true])
    await run('api', 'resume', 'bb-echo')
    assert.equal((await onConsumer('why', 'bb-echo')).code, 0)
  })

  it('opens a prepaid account, and shows it', async () => {
    const opened = await onConsumer('account', 'open', '--label', 'shop')
    assert.match(opened.stdout, /^souk_test_\w+\n$/)
    const id = /acct_\w+/.exec(opened.stderr)?.[0] ?? ''
    const listed = await onConsumer('account', 'list')
    assert.match(listed.stdout, new RegExp(`${id} +0 +0 +shop`))
    assert.match(listed.stderr, /Owed to customers: 0 USDC/)
    assert.match((await onConsumer('account', 'show', id)).stdout, /balance +0 USDC/)
  })

  it('reads a request from stdin, streams events, and fails if the upstream refuses', async () => {
    const piped = await home.run('--profile consumer call bb-echo - --json', [], { stdin: '{"n":1}' })
    const answer = JSON.parse(piped.stdout) as { status: number; body: unknown; charged: string }
    assert.deepEqual([answer.status, answer.body, answer.charged], [200, { echo: { n: 1 } }, '0'])
    const streamed = await onConsumer('call', 'bb-echo', '--stream')
    assert.equal(streamed.stdout, 'data: 1\n\ndata: 2\n\ndata: 3\n\n')
    const refused = await onConsumer('call', 'bb-echo', '"refuse"')
    assert.equal(refused.code, 1)
    assert.equal(refused.stdout, '{"error":"no"}\n')
    assert.match(refused.stderr, /^422 from /)
  })

  it('issues a key that is valid at the ingress until it is revoked', async () => {
    const { stdout: key, stderr } = await onConsumer('key', 'issue', '--label', 'shop', ...LIMITS)
    const id = /key_\w+/.exec(stderr)?.[0] ?? ''
    const call = () =>
      fetch(`${consumer.ready.ingress}/api/demo/api/bb-echo`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-consumer-key': key.trim() },
        body: '{"n":2}'
      })
    const opened = await call()
    assert.deepEqual([opened.status, await opened.json()], [200, { echo: { n: 2 } }])
    assert.match((await onConsumer('key', 'list')).stdout, new RegExp(`${id} +active +0\\.002 +0\\.5 +shop`))
    assert.equal((await onConsumer('key', 'revoke', id, '--yes')).code, 0)
    assert.equal((await call()).status, 401)
  })

  it('limits a key to APIs, rotates it without a rejected call, and disables it', async () => {
    const statusWith = async (key: string, api = 'bb-echo') =>
      (
        await fetch(`${consumer.ready.ingress}/api/demo/api/${api}`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-consumer-key': key },
          body: '{"n":3}'
        })
      ).status
    const asJson = async (...args: string[]) =>
      JSON.parse((await onConsumer(...args, '--json')).stdout) as { id: string; key: string; state: string }
    const old = await asJson('key', 'issue', '--api', 'bb-echo')
    assert.deepEqual([await statusWith(old.key), await statusWith(old.key, 'other')], [200, 403])
    const next = await asJson('key', 'rotate', old.id, '--overlap', '1h')
    assert.deepEqual([await statusWith(old.key), await statusWith(next.key)], [200, 200])
    assert.match((await onConsumer('key', 'show', old.id)).stdout, /^state +rotating$[^]*^may call +bb-echo$/m)
    assert.equal((await asJson('key', 'disable', old.id)).state, 'disabled')
    assert.deepEqual([await statusWith(old.key), await statusWith(next.key)], [401, 200])
    assert.equal((await asJson('key', 'enable', old.id)).state, 'rotating')
    const last = await asJson('key', 'rotate', next.id, '--now', '--yes')
    assert.deepEqual([await statusWith(next.key), await statusWith(last.key, 'other')], [401, 403])
    assert.notEqual((await onConsumer('key', 'rotate', next.id)).code, 0)
  })

  it('shows connected peers in status and peers', async () => {
    const status = await run('status')
    assert.match(status.stdout, /^network +dev \(play USDC\)$/m)
    assert.match(status.stdout, /^listings +1$/m)
    assert.match(status.stdout, /^payment +metered$/m)
    const { peers } = await json<{ peers: Array<{ peer: string }> }>('peers')
    assert.deepEqual(
      peers.map(({ peer }) => peer),
      [consumer.ready.peer]
    )
  })

  it('reports no problems in doctor, and then an unreachable upstream', async () => {
    const well = await run('doctor')
    assert.equal(well.code, 0, well.stdout)
    assert.match(well.stdout, /^ok +upstream bb-echo /m)
    const spare = await startUpstream()
    await run('api', 'register', '--name', 'spare', '--protocol', 'REST', '--endpoint', spare.url, '--price', '0')
    await spare.close()
    const ill = await run('doctor')
    assert.equal(ill.code, 1)
    assert.match(ill.stdout, /^FAIL +upstream spare +.*refuses connections/m)
    assert.equal((await run('api', 'rm', 'spare', '--yes')).code, 0)
    assert.equal((await run('api', 'show', 'spare')).code, 1)
  })

  it('serves a published API from a second node after a delegation', async () => {
    const id = `bb-echo@${owner.ready.peer}`
    const early = await onConsumer('api', 'serve', id, '--endpoint', upstream.url)
    assert.equal(early.code, 77)
    assert.match(early.stderr, new RegExp(`souk provider delegate ${consumer.ready.peer}`))
    assert.equal((await run('provider', 'delegate', consumer.ready.peer)).code, 0)
    assert.match((await run('provider', 'delegations')).stdout, new RegExp(consumer.ready.peer))
    const served = await onConsumer('api', 'serve', id, '--endpoint', upstream.url)
    assert.equal(served.code, 0, served.stderr)
    assert.equal(served.stdout, `${id}\n`)
    assert.equal((await onConsumer('api', 'rm', 'bb-echo', '--yes')).code, 0)
  })

  it('refuses a second node on the same profile', async () => {
    const second = await run('up')
    assert.equal(second.code, 1)
    const { pid } = owner
    assert.match(
      second.stderr,
      new RegExp(
        `^souk: Another node is running on the profile "default", at ${owner.ready.admin} \\(process ${pid}\\)\\.\nTry: `
      )
    )
  })

  it('serves the same APIs after a restart, and keeps them paused', async () => {
    const before = await json<Api>('api', 'pause', 'bb-echo')
    assert.equal(before.state, 'paused')
    const { code } = await owner.end('SIGTERM')
    assert.equal(code, 0, owner.stderr.join('\n'))
    assert.equal((await run('status')).code, 69)
    owner = await home.asProcess.up('default', '--no-ingress')
    assert.deepEqual(
      await json<Api>('api', 'show', 'bb-echo').then(({ id, state, revision }) => [id, state, revision]),
      [before.id, 'paused', before.revision]
    )
    assert.equal((await json<Api>('api', 'resume', 'bb-echo')).state, 'published')
  })

  it('starts again after kill -9, and is reported as stopped until then', async () => {
    await consumer.end('SIGKILL')
    assert.equal((await onConsumer('status')).code, 69)
    consumer = await home.asProcess.up('consumer')
    assert.equal((await onConsumer('status')).code, 0)
  })
})
