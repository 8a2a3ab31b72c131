import assert from 'node:assert/strict'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { checksummed, type Problem } from '../../lib/index.ts'
import type { Address } from '../../lib/interface/index.ts'
import { actor, type ChainBench, chainBench } from '../helpers/chain.ts'
import { eventually } from '../helpers/eventually.ts'
import { type JudgeApi, judgeApi } from '../helpers/judge-api.ts'
import { startPostgres, type TestPostgres } from '../helpers/postgres.ts'
import { poolPostgres } from '../helpers/postgres-proxy.ts'
import { type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'
import { type Wallets, walletsIn } from '../helpers/wallets.ts'

const USDC = 1_000_000n
const PRICE = 1_000n
/** Time limit from the return of the database to the first response. */
const BACK_MS = 5_000
const NOTICED_MS = 20_000
/** sysexits.h */
const EX_CONFIG = 78

describe('an ingress that loses its database', () => {
  let postgres: TestPostgres
  let store: string
  let chain: ChainBench
  let home: SoukHome
  let wallets: Wallets
  let api: JudgeApi
  let ingress: NodeProcess
  let key: string

  const headers = () => ({ 'content-type': 'application/json', 'x-consumer-key': key })
  const get = (path: string) => fetch(`${ingress.ingress}${path}`, { headers: headers() })
  const call = (id: string) =>
    fetch(`${ingress.ingress}/api/demo/api/sold`, { method: 'POST', headers: headers(), body: JSON.stringify({ id }) })
  const spent = async () => Number(((await (await get('/v1/account')).json()) as { spent: string }).spent)
  const untilReady = () =>
    eventually('the node to be ready', BACK_MS, async () => (await get('/readyz')).status === 200 || undefined)

  before(async () => {
    postgres = await startPostgres()
    store = await postgres.create()
    chain = await chainBench()
    home = await soukHome()
    api = await judgeApi('away')
    wallets = await walletsIn(home, chain)
    for (const name of ['owner', 'ingress']) await chain.fundGas(await wallets.create(name))
    const payout = checksummed(actor('provider of away').address.toLowerCase() as Address)
    const owner = await home.asProcess.up('owner', '--no-ingress', ...wallets.flags, '--payout', payout)
    await owner.cli(`api register --name sold --protocol REST --endpoint ${api.url} --price 0.001`)
    ingress = await home.asProcess.up(
      'ingress',
      ...wallets.flags,
      '--accounts',
      '--store',
      store,
      '--bootstrap',
      ...owner.p2p
    )
    const opened = await fetch(`${ingress.ingress}/v1/account`, { method: 'POST' })
    ;({ key } = (await opened.json()) as { key: string })
    const client = { network: `eip155:${chain.parameters.chainId}`, client: new ExactEvmScheme(actor('away')) } as const
    await chain.mint(actor('away').address, 2n * USDC)
    const pay = wrapFetchWithPaymentFromConfig(fetch, { schemes: [client], spendControls: { allowedAssets: true } })
    const body = JSON.stringify({ amount: '1' })
    const paid = await pay(`${ingress.ingress}/v1/account/deposits`, { method: 'POST', headers: headers(), body })
    assert.equal(paid.status, 200, await paid.text())
    assert.equal((await call('first')).status, 200)
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home?.close()
    await api?.close()
    await chain?.close()
    await postgres?.stop()
  })

  for (const how of ['fast', 'immediate'] as const) {
    it(`stays up, serves routes without database access, and charges running calls once (${how} stop)`, async () => {
      const before = await spent()
      api.hold()
      const held = [call(`${how} 1`), call(`${how} 2`)]
      await eventually('both calls to reach the API', NOTICED_MS, () => api.held === 2 || undefined)
      await postgres.halt(how)
      const unready = await eventually('the loss to be noticed', NOTICED_MS, async () => {
        const answer = await get('/readyz')
        return answer.status === 503 ? answer : undefined
      })
      assert.match(((await unready.json()) as Problem).detail, /database cannot be used: /)
      const reachedBefore = api.reached.length
      for (const refused of [await call('new'), await get('/v1/account'), await get('/v1/keys')]) {
        assert.equal(refused.status, 503)
        assert.ok(Number(refused.headers.get('retry-after')) >= 1)
        const { code, charged, retryable } = (await refused.json()) as Problem
        assert.deepEqual({ code, charged, retryable }, { code: 'store_unavailable', charged: false, retryable: true })
      }
      assert.equal(api.reached.length, reachedBefore, 'a rejected call reached the API')
      for (const path of ['/livez', '/v1/apis', '/v1/apis/sold', '/discovery/resources', '/openapi.json', '/']) {
        assert.equal((await fetch(`${ingress.ingress}${path}`)).status, 200, path)
      }
      const offer = await fetch(`${ingress.ingress}/api/demo/api/sold`, { method: 'POST' })
      assert.equal(offer.status, 402, 'unauthenticated callers get a payment offer')
      // The responses arrive while charges cannot be written.
      api.release()
      await postgres.resume()
      await untilReady()
      for (const answer of await Promise.all(held)) assert.equal(answer.status, 200, await answer.text())
      assert.equal((await call(`${how} 3`)).status, 200)
      assert.equal(Math.round(((await spent()) - before) * 1e6), 3 * Number(PRICE))
      assert.ok(ingress.isRunning())
    })
  }

  it('recovers after the server closes its connections', async () => {
    await postgres.dropConnections()
    await untilReady()
    await eventually('a call', BACK_MS, async () => (await call('again')).status === 200 || undefined)
  })

  it('stops cleanly without the database, and waits for it at the next start', async () => {
    await postgres.halt('immediate')
    try {
      assert.equal((await ingress.end('SIGTERM')).code, 0, ingress.stderr.join('\n'))
      assert.doesNotMatch(ingress.stderr.join('\n'), /^ {2,}at /m)
      const waiting = home.asProcess.start(
        'up --network dev --payment-scheme metered --no-input --json --profile ingress',
        '--store',
        store
      )
      const lines = () => waiting.stderr.filter((line) => line.includes('Waiting for the database'))
      await eventually('it to say that it waits', NOTICED_MS, () => lines().length > 0 || undefined)
      assert.equal((await waiting.end('SIGTERM')).code, 0, 'does not stop cleanly while it waits')
      const again = home.asProcess.start(
        'up --network dev --payment-scheme metered --no-input --json --profile ingress',
        '--store',
        store
      )
      await eventually('it to wait', NOTICED_MS, () => again.stderr.length > 0 || undefined)
      await postgres.resume()
      await eventually('it to start', NOTICED_MS, () => again.stdout[0])
      assert.equal(again.stderr.filter((line) => line.includes('Waiting for the database')).length, 1)
      assert.equal((await again.end('SIGTERM')).code, 0)
    } finally {
      await postgres.resume()
    }
  })

  it('fails at once for problems that waiting cannot solve', async () => {
    const pooler = await poolPostgres(store, 'stack')
    const wrongPassword = store.replace(':test@', ':wrong-secret@')
    const cases = [
      [wrongPassword, /refuses the user or the password/],
      [store.replace('/postgres?', '/nowhere?'), /no such database/],
      [pooler.through(store), /pooler in transaction mode/]
    ] as const
    try {
      for (const [url, words] of cases) {
        const { code, stderr } = await home.asProcess.run('up --network dev --no-input --profile other', [
          '--store',
          url
        ])
        assert.equal(code, EX_CONFIG, stderr)
        assert.match(stderr, words)
        assert.doesNotMatch(stderr, /wrong-secret|^ {2,}at /m)
      }
    } finally {
      await pooler.close()
    }
  })
})
