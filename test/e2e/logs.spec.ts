import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { checksummed, LOGS } from '../../lib/index.ts'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { actor, type ChainBench, chainBench } from '../helpers/chain.ts'
import { eventually } from '../helpers/eventually.ts'
import { type Behaviour, type ScriptedUpstream, scriptedUpstream } from '../helpers/scripted-upstream.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'
import { walletsIn } from '../helpers/wallets.ts'
import { secretForms } from '../helpers/secret-forms.ts'

const USDC = 1_000_000n
const BOUND_MS = 15_000

/** Confidential values in calls, registrations and webhooks. None may be in a log. */
const planted = {
  passphrase: 'correct horse battery staple',
  'RPC key': 'rpc-url-key-L1',
  'upstream header': 'upstream-header-secret-L2',
  'upstream query': 'upstream-query-secret-L3',
  'request body': 'request-body-secret-L4',
  'request header': 'request-header-secret-L5',
  'request query': 'request-query-secret-L6',
  'idempotency key': 'idempotency-key-secret-L7',
  'response body': 'response-body-secret-L8',
  'response header': 'response-header-secret-L9',
  'webhook URL': 'webhook-url-secret-L10',
  'admin query': 'admin-query-secret-L11',
  'wrong key': 'souk_test_wrong-key-secret-L12'
}

/** All logs of two nodes that sell, pay, fail, settle and send webhooks. */
describe('the logs of running nodes', () => {
  const secrets = new Map<string, string>(Object.entries(planted))
  let chain: ChainBench
  let rpc: ScriptedUpstream
  let api: ScriptedUpstream
  let home: SoukHome
  let owner: HomeNode
  let consumer: HomeNode
  let key: string

  const forwarding: Behaviour = (response, { body }) => {
    const headers = { 'content-type': 'application/json' }
    void fetch(chain.parameters.rpcUrl, { method: 'POST', headers, body: body.toString() })
      .then(async (answer) => response.writeHead(answer.status, headers).end(await answer.text()))
      .catch(() => response.destroy())
  }
  const ok: Behaviour = (response) =>
    response
      .writeHead(200, { 'content-type': 'application/json', 'x-answer': planted['response header'] })
      .end(JSON.stringify({ answer: planted['response body'] }))
  const call = (name: string, extra: Record<string, string> = {}) =>
    fetch(`${consumer.ingress}/api/demo/api/${name}?q=${planted['request query']}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-consumer-key': key,
        'x-request-secret': planted['request header'],
        ...extra
      },
      body: JSON.stringify({ secret: planted['request body'] }),
      signal: AbortSignal.timeout(BOUND_MS)
    })
  const linesOf = (node: HomeNode, log: string) => node.stderr.filter((line) => line.includes(` ${log} `))

  before(async () => {
    chain = await chainBench()
    rpc = await scriptedUpstream(forwarding)
    api = await scriptedUpstream(ok)
    home = await soukHome()
    const rpcUrl = `${rpc.url}/v2/${planted['RPC key']}`
    const wallets = await walletsIn(home, { ...chain, parameters: { ...chain.parameters, rpcUrl } })
    await chain.fundGas(await wallets.create('owner'))
    await chain.mint(await wallets.create('consumer'), 2n * USDC)
    const flags = [...wallets.flags, '--log', '*,*:trace']
    owner = await home.up('owner', '--no-ingress', ...flags)
    consumer = await home.up('consumer', ...flags, '--bootstrap', ...owner.p2p)
    for (const name of ['owner', 'consumer']) {
      secrets.set(`admin token of ${name}`, (await readFile(join(home.directory, name, 'admin.token'), 'utf8')).trim())
    }
    ;({ key } = await consumer.cli<IssuedKeyView>('key issue'))
    secrets.set('consumer key', key)
    const payout = checksummed(actor('provider of logs').address.toLowerCase() as `0x${string}`)
    await owner.cli(`payout set ${payout}`)
    const auth = join(home.directory, 'auth.json')
    const credentials = { 'x-upstream-key': planted['upstream header'] }
    await writeFile(auth, JSON.stringify({ headers: credentials, query: { api_key: planted['upstream query'] } }), {
      mode: 0o600
    })
    const terms = `--protocol REST --endpoint ${api.url}/ --auth-file ${auth} --forward-paths`
    await owner.cli(`webhook add ${api.url}/${planted['webhook URL']} --allow-private`)
    await owner.cli(`api register --name paid --price 0.001 ${terms}`)
    await owner.cli(`api register --name free --price 0 ${terms}`)
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await Promise.all([rpc?.close(), api?.close()])
    await chain?.close()
  })

  it('trace a paid call by its request id, from the ingress to the owner’s books', async () => {
    const response = await call('paid')
    assert.equal(response.status, 200, await response.clone().text())
    assert.equal(response.headers.get('souk-charged'), '0.001')
    const id = response.headers.get('x-request-id') ?? 'none'
    const found = (node: HomeNode, log: string) =>
      eventually(`a line of ${log}`, BOUND_MS, () => linesOf(node, log).find((line) => line.includes(id)))
    assert.match(await found(consumer, 'souk:ingress'), /POST \/api\/:scope\/api\/:name \(paid\): 200 in \d+ ms$/)
    assert.match(
      await found(consumer, 'souk:pay'),
      /pays 0\.001 USDC, voucher up to [\d.]+ USDC on channel 0x[\da-f]{64}$/
    )
    assert.match(
      await found(consumer, 'souk:call'),
      /paid@12D3\w+ at 12D3\w+: 200 in [\d.]+ ms, charged 0\.001 of 0\.001/
    )
    assert.match(await found(owner, 'souk:pay'), /0\.001 USDC reserved on 0x[\da-f]{64}, ceiling\/captured\/reserved/)
    assert.match(await found(owner, 'souk:owner'), /: 200, \d+ bytes, charged 0\.001 USDC, API [\d.]+ ms, node/)
    assert.ok(linesOf(consumer, 'souk:resolve').some((line) => /paid@12D3\w+: revision 1, published/.test(line)))
    // The first calls of a channel are answered on credit, before its deposit is sent and mined.
    for (const step of [/ sent as 0x[\da-f]{64} with nonce \d+: /, / mined in block \d+ as 0x/]) {
      await eventually(`a line of souk:settle like ${step.source}`, BOUND_MS, () =>
        linesOf(owner, 'souk:settle').find((line) => step.test(line))
      )
    }
  })

  it('say why calls fail', async () => {
    assert.equal((await call('free', { 'idempotency-key': planted['idempotency key'] })).status, 200)
    assert.equal((await call('free', { 'x-consumer-key': planted['wrong key'] })).status, 401)
    assert.equal((await call('none')).status, 404)
    assert.equal((await call('paid', { 'souk-max-price': '0.0001' })).status, 402)
    for (const behave of [
      (response) => response.destroy(),
      (response, { target, headers }) =>
        response.writeHead(500, { 'x-echo': encodeURIComponent(`${target} ${JSON.stringify(headers)}`) }).end(),
      (response, { target }) => response.writeHead(302, { location: `http://other.invalid${target}` }).end()
    ] satisfies Behaviour[]) {
      api.behave(behave)
      for (const name of ['free', 'paid']) assert.notEqual((await call(name)).status, 200)
    }
    api.behave(ok)
    const lines = linesOf(consumer, 'souk:call').join('\n')
    for (const code of ['api_not_found', 'price_exceeds_limit', 'upstream_unreachable']) {
      assert.match(lines, new RegExp(code))
    }
    assert.match(linesOf(owner, 'souk:owner').join('\n'), /fails: upstream_unreachable/)
  })

  it('each have at least one line', async () => {
    await owner.cli('settle --now')
    await fetch(`${owner.ready.admin}/admin/v1/status?secret=${planted['admin query']}`)
    const all = () => [...owner.stderr, ...consumer.stderr]
    await eventually('a webhook to be told', BOUND_MS, () =>
      all().some((line) => / souk:events .+ to webhook \w+, attempt 1: taken$/.test(line)) ? true : undefined
    )
    // Nothing here is slow, fails or is subscribed to.
    const quiet = ['souk:store', 'souk:plans']
    const missing = Object.keys(LOGS).filter((log) => !all().some((line) => line.includes(` ${log}`)))
    assert.deepEqual(
      missing.filter((log) => !quiet.includes(log)),
      []
    )
    assert.ok(all().some((line) => / libp2p:\S+:trace /.test(line)))
    await consumer.end()
    await owner.end()
  })

  it('contain no secrets in any encoding', () => {
    assert.ok(owner.stderr.length > 100 && consumer.stderr.length > 100)
    for (const line of [...owner.stderr, ...consumer.stderr]) {
      for (const [name, secret] of secrets) {
        assert.ok(!secretForms(secret).some((form) => line.includes(form)), `${name} in: ${line}`)
      }
    }
  })
})
