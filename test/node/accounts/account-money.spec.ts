import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { x402Client } from '@x402/core/client'
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from '@x402/core/http'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { createMemoryStore, formatUsdc, limits, parseUsdc, systemClock, systemRandom } from '../../../lib/index.ts'
import type { Address, Clock, Store } from '../../../lib/interface/index.ts'
import { type Hosting, startHosting } from '../../../node/accounts/hosting.ts'
import { createIngress } from '../../../node/ingress/ingress.ts'
import { createLog } from '../../../node/log.ts'
import { NETWORKS } from '../../../node/networks.ts'
import { openProfile } from '../../../node/profile/profile.ts'
import { actor } from '../../helpers/chain.ts'
import { eventually } from '../../helpers/eventually.ts'
import { hasted } from '../../helpers/hasty-clock.ts'
import { type KeylessBench, keylessBench } from '../../helpers/keyless-bench.ts'
import { booksOf } from './bench.ts'

const USDC = 1_000_000n
const hasty = hasted(10)
let isPatient = false
/** Shortens waits for the chain, but not for a deposit that is expected to count: a busy machine may need all that time. */
const clock: Clock = {
  ...hasty,
  after: (delayMs, task) => (isPatient && delayMs === limits.DEPOSIT_WAIT_MS ? systemClock : hasty).after(delayMs, task)
}

type Json = Record<string, unknown>
interface Customer {
  readonly name: string
  readonly key: string
  readonly id: string
  readonly address: Address
  /** Payment headers that the customer's x402 client has sent. */
  readonly payments: string[]
  /** A standard x402 client. */
  readonly pay: typeof fetch
}

/** Uses the real USDC contract on a dev chain, and x402's own client. */
describe('money of prepaid accounts', () => {
  let bench: KeylessBench
  let owner: Awaited<ReturnType<KeylessBench['startOwner']>>
  let home: string
  let store: Store
  let hosting: Hosting
  let url: string
  let stop: () => Promise<void>
  let customers = 0
  const logged: string[] = []

  before(async () => {
    bench = await keylessBench()
    home = await mkdtemp(join(tmpdir(), 'souk-money-'))
    await openProfile({ name: 'money', directory: home })
    store = createMemoryStore()
    owner = await bench.startOwner({ store })
    await start()
  })
  after(async () => {
    await stop?.()
    await bench?.close()
    await rm(home, { recursive: true })
  })

  /** Starts an ingress process. The node's payment scheme keeps running across restarts. */
  async function start(): Promise<void> {
    const undo = new AsyncDisposableStack()
    hosting = await startHosting({
      config: { profile: { name: 'money', directory: home }, network: NETWORKS.dev },
      log: createLog((line) => logged.push(line)),
      clock,
      store,
      self: owner.souk.status().peer,
      money: () => ({ paymentScheme: owner.paymentScheme })
    })
    undo.use(hosting)
    const options = { host: '127.0.0.1', port: 0 }
    const log = { warn() {}, error: console.error }
    const ingress = createIngress({ souk: owner.souk, ...hosting, clock, random: systemRandom, options, log })
    undo.defer(() => ingress.close())
    url = (await ingress.listen()).url
    stop = () => undo.disposeAsync()
  }

  async function customer(amount = 10n * USDC): Promise<Customer> {
    const name = `customer ${customers++}`
    const { account, key } = await hosting.accounts.open(name)
    const payments: string[] = []
    const recording: typeof fetch = (input, init) => {
      const request = input instanceof Request ? input : new Request(input, init)
      const payment = request.headers.get('payment-signature')
      if (payment !== null) payments.push(payment)
      return fetch(request)
    }
    const pay = wrapFetchWithPaymentFromConfig(recording, bench.stock(name))
    return { name, key: key.key, id: account.id, address: await bench.payer(name, amount), payments, pay }
  }
  const post = (
    path: string,
    { key }: Pick<Customer, 'key'>,
    amount: string,
    headers: Record<string, string> = {},
    more: Json = {}
  ) => ({
    url: `${url}/v1/account${path}`,
    init: {
      method: 'POST',
      body: JSON.stringify({ amount, ...more }),
      headers: { 'content-type': 'application/json', 'x-consumer-key': key, ...headers }
    }
  })
  const send = async (
    path: string,
    who: Pick<Customer, 'key'>,
    amount: string,
    headers: Record<string, string> = {},
    more: Json = {}
  ) => {
    const request = post(path, who, amount, headers, more)
    const response = await fetch(request.url, request.init)
    return { status: response.status, headers: response.headers, body: (await response.json()) as Json }
  }
  async function payIn(who: Customer, amount: string) {
    const request = post('/deposits', who, amount)
    const response = await who.pay(request.url, request.init)
    return { status: response.status, headers: response.headers, body: (await response.json()) as Json }
  }
  /** Waits for a deposit as long as a real node does. */
  async function patiently<T>(request: () => Promise<T>): Promise<T> {
    isPatient = true
    try {
      return await request()
    } finally {
      isPatient = false
    }
  }
  const view = async ({ key }: Customer, path = '') =>
    (await (await fetch(`${url}/v1/account${path}`, { headers: { 'x-consumer-key': key } })).json()) as Json
  const mine = (blocks: number) => bench.client.mine({ blocks })
  const balance = async ({ id }: Customer) => (await hosting.accounts.balance(id)).balance

  it('is credited once if somebody else submits its transfer first', async () => {
    const who = await customer()
    const { url, init } = post('/deposits', who, '0.75')
    const asked = decodePaymentRequiredHeader((await fetch(url, init)).headers.get('payment-required') ?? '')
    const payment = await x402Client.fromConfig(bench.stock(who.name)).createPaymentPayload(asked)
    const text = encodePaymentSignatureHeader(payment)
    await bench.frontRun(text)
    const paid = () => fetch(url, { ...init, headers: { ...init.headers, 'payment-signature': text } })
    await bench.eventually('the credit', 20_000, async () => ((await paid()).status === 200 ? true : undefined))
    assert.equal(await balance(who), 750_000n)
    assert.equal((await paid()).status, 200)
    assert.equal(await balance(who), 750_000n)
  })

  it('is deposited by x402’s own client into the node’s wallet', async () => {
    const who = await customer()
    const before = await bench.usdc(owner.paymentScheme.wallet.address)
    const { status, body, headers } = await patiently(() => payIn(who, '0.75'))
    assert.deepEqual([status, body], [200, { amount: '0.75', balance: '0.75' }])
    const settlement = JSON.parse(Buffer.from(headers.get('payment-response') ?? '', 'base64').toString()) as Json
    assert.deepEqual([settlement['success'], String(settlement['payer']).toLowerCase()], [true, who.address])
    assert.equal((await bench.usdc(owner.paymentScheme.wallet.address)) - before, 750_000n)
    const { balance: shown, funding } = await view(who)
    assert.deepEqual([shown, funding], ['0.75', who.address])
    const { data } = (await view(who, '/entries')) as { data: Json[] }
    assert.deepEqual([data[0]?.['kind'], data[0]?.['amount']], ['deposit', '0.75'])
  })

  it('is requested by a 402 with the payment requirements', async () => {
    const who = await customer()
    const { status, headers, body } = await send('/deposits', who, '0.5')
    assert.deepEqual([status, body['code'], body['source']], [402, 'payment_required', 'ingress'])
    const asked = JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()) as {
      accepts: Json[]
    }
    const { scheme, amount, payTo } = asked.accepts[0] ?? {}
    assert.deepEqual(
      [scheme, amount, String(payTo).toLowerCase()],
      ['exact', '500000', owner.paymentScheme.wallet.address]
    )
    for (const wrong of ['0.1', '0', '1001', '-1', 'x', '']) {
      assert.equal((await send('/deposits', who, wrong)).body['code'], 'invalid_request', wrong)
    }
  })

  it('is credited once if several clients repeat the same payment', async () => {
    const who = await customer()
    const held = await hosting.accounts.held()
    await patiently(() => payIn(who, '0.5'))
    assert.equal(await hosting.accounts.held(), held + 500_000n)
    const headers = { 'payment-signature': who.payments[0] ?? '' }
    const again = await Promise.all(Array.from({ length: 10 }, () => send('/deposits', who, '0.5', headers)))
    assert.deepEqual(new Set(again.map(({ status }) => status)), new Set([200]))
    assert.equal(await balance(who), 500_000n)
    const thief = await customer()
    assert.equal((await send('/deposits', thief, '0.5', headers)).body['code'], 'payment_id_conflict')
    assert.equal(await balance(thief), 0n)
  })

  it('is credited once if many requests send the same new payment concurrently', async () => {
    const who = await customer()
    await bench.mining(false)
    const first = await payIn(who, '0.5')
    assert.deepEqual([first.status, first.body['code']], [503, 'settlement_pending'])
    const headers = { 'payment-signature': who.payments[0] ?? '' }
    await patiently(async () => {
      const waiting = Array.from({ length: 5 }, () => send('/deposits', who, '0.5', headers))
      await bench.mining(true)
      for (const { status } of await Promise.all(waiting)) assert.equal(status, 200)
    })
    assert.equal(await balance(who), 500_000n)
    assert.equal(await bench.usdc(who.address), 9_500_000n)
  })

  it('is credited after a crash during the deposit, without another request', async () => {
    const who = await customer()
    await bench.mining(false)
    assert.equal((await payIn(who, '0.5')).status, 503)
    await stop()
    await bench.mining(true)
    await start()
    await eventually('the deposit', 10_000, async () => ((await balance(who)) === 500_000n ? true : undefined))
  })

  it('counts small deposits at once and larger ones after more blocks', async () => {
    const who = await customer(100n * USDC)
    assert.equal((await patiently(() => payIn(who, '1'))).status, 200)
    const second = await payIn(who, '2')
    assert.deepEqual([second.status, second.body['code']], [503, 'settlement_pending'])
    assert.ok(Number(second.headers.get('retry-after')) > 0)
    assert.equal(await balance(who), USDC)
    await mine(1)
    await eventually('the second', 10_000, async () => ((await balance(who)) === 3n * USDC ? true : undefined))
    assert.equal((await payIn(who, '30')).status, 503)
    await mine(1)
    const headers = { 'payment-signature': who.payments.at(-1) ?? '' }
    const third = await send('/deposits', who, '30', headers)
    assert.equal(third.body['code'], 'settlement_pending')
    await mine(1)
    await eventually('the third', 10_000, async () => ((await balance(who)) === 33n * USDC ? true : undefined))
    assert.equal((await send('/deposits', who, '30', headers)).status, 200)
  })

  it('is limited to a number of deposits per day, because each costs the operator gas', async () => {
    const who = await customer(100n * USDC)
    for (let i = 0; i < limits.ACCOUNT_DEPOSITS_MAX; i++) {
      const { status, body } = await payIn(who, '0.5')
      // The amount that counts before it is final is limited.
      assert.ok(status === 200 || body['code'] === 'settlement_pending', JSON.stringify(body))
      await mine(3)
    }
    const { status, body, headers } = await payIn(who, '0.5')
    assert.deepEqual([status, body['code']], [429, 'quota_exceeded'])
    assert.ok(Number(headers.get('retry-after')) > 0)
    const last = { 'payment-signature': who.payments[0] ?? '' }
    const isRepeated = async () => ((await send('/deposits', who, '0.5', last)).status === 200 ? true : undefined)
    await eventually('the repeat, which is no deposit', 10_000, isRepeated)
    assert.notEqual((await payIn(await customer(), '0.5')).status, 429)
  })

  it('is limited to that number also if many come at once', async () => {
    const who = await customer(100n * USDC)
    const { url, init } = post('/deposits', who, '0.5')
    const asked = decodePaymentRequiredHeader((await fetch(url, init)).headers.get('payment-required') ?? '')
    const signer = x402Client.fromConfig(bench.stock(who.name))
    const deposit = async () => {
      const text = encodePaymentSignatureHeader(await signer.createPaymentPayload(asked))
      return (await send('/deposits', who, '0.5', { 'payment-signature': text })).body['code']
    }
    const codes = await Promise.all(Array.from({ length: 2 * limits.ACCOUNT_DEPOSITS_MAX }, deposit))
    const taken = codes.filter((code) => code === undefined || code === 'settlement_pending')
    assert.ok(taken.length > 0 && taken.length <= limits.ACCOUNT_DEPOSITS_MAX, codes.join(' '))
  })

  it('is rejected if its gas costs more than the deposit', async () => {
    const who = await customer()
    await bench.client.setNextBlockBaseFeePerGas({ baseFeePerGas: 10n ** 10n })
    await mine(1)
    const { body } = await payIn(who, '0.5')
    assert.equal(body['code'], 'payment_rejected')
    assert.match(String(body['detail']), /The gas for this deposit costs/)
    assert.equal(await balance(who), 0n)
    await mine(60)
  })

  it('is accepted from one payer only, in the stated amount, if the payer has it', async () => {
    const who = await customer()
    await patiently(() => payIn(who, '0.5'))
    const other = await customer()
    const request = post('/deposits', who, '0.5')
    const refused = await other.pay(request.url, request.init)
    assert.equal(((await refused.json()) as Json)['code'], 'payment_rejected')
    const poor = await customer(1n)
    assert.equal((await patiently(() => payIn(poor, '0.5'))).body['code'], 'insufficient_funds')
    const headers = { 'payment-signature': poor.payments[0] ?? '' }
    assert.equal((await send('/deposits', poor, '0.6', headers)).body['code'], 'payment_rejected')
    assert.equal((await send('/deposits', poor, '0.5', { 'payment-signature': 'x' })).body['code'], 'payment_malformed')
  })

  describe('is withdrawn', () => {
    const paidIn = async (amount = '1') => {
      const who = await customer()
      await patiently(() => payIn(who, amount))
      return who
    }
    const until = (who: Customer, id: string, state: string) =>
      eventually(`it to be ${state}`, 15_000, async () => {
        const shown = await view(who, `/withdrawals/${id}`)
        return shown['state'] === state ? shown : undefined
      })

    it('to the depositing address only', async () => {
      const who = await paidIn()
      const { status, body } = await send('/withdrawals', who, '0.6')
      assert.deepEqual([status, body['state'], body['to'], body['amount']], [202, 'pending', who.address, '0.6'])
      assert.equal(await balance(who), 400_000n)
      const sent = await until(who, String(body['id']), 'sent')
      assert.match(String(sent['transaction']), /^0x[0-9a-f]{64}$/)
      assert.equal(await bench.usdc(who.address), 9_600_000n)
      await mine(2)
      await until(who, String(body['id']), 'done')
      assert.equal(await store.ledger.balance(`withdrawing/${who.id}`), 0n)
    })

    it('completely if the balance is small, and never beyond the balance', async () => {
      const who = await customer()
      await patiently(() => payIn(who, '0.5'))
      assert.equal((await send('/withdrawals', who, '0.6')).body['code'], 'insufficient_funds')
      assert.equal((await send('/withdrawals', who, '0.5')).status, 202)
    })

    /** Enough to be worth the fee on a dev chain, where gas is expensive. */
    const paidInMore = async () => {
      const who = await customer(40n * USDC)
      assert.equal((await payIn(who, '20')).status, 503)
      await mine(3)
      await eventually('the deposit', 10_000, async () => ((await balance(who)) === 20n * USDC ? true : undefined))
      return who
    }
    const atoms = (value: unknown): bigint => parseUsdc(String(value))

    it('free of charge once a day, then minus the gas, which is shown before', async () => {
      const who = await paidInMore()
      const dry = { dry_run: true }
      const free = await send('/withdrawals', who, '2', {}, dry)
      assert.deepEqual([free.status, free.body], [200, { amount: '2', fee: '0', receives: '2', to: who.address }])
      assert.equal(await balance(who), 20n * USDC, 'the balance changed')
      const first = await send('/withdrawals', who, '2')
      assert.deepEqual([first.status, first.body['fee'], first.body['receives']], [202, '0', '2'])

      const { body: quote } = await send('/withdrawals', who, '5', {}, dry)
      const fee = atoms(quote['fee'])
      assert.ok(fee > 0n && fee < 5n * USDC, String(quote['fee']))
      assert.equal(atoms(quote['receives']), 5n * USDC - fee)
      const refused = await send('/withdrawals', who, '5')
      assert.deepEqual([refused.status, refused.body['code']], [409, 'fee_not_accepted'])
      assert.ok(atoms(refused.body['fee']) > 0n)
      assert.equal(atoms(refused.body['receives']), 5n * USDC - atoms(refused.body['fee']))
      const low = await send('/withdrawals', who, '5', {}, { max_fee: formatUsdc(1n) })
      assert.equal(low.body['code'], 'fee_not_accepted')
      const small = await send('/withdrawals', who, '0.000001', {}, { max_fee: '1' })
      assert.deepEqual([small.status, small.body['code']], [400, 'invalid_request'])
      assert.equal(await balance(who), 18n * USDC, 'the balance changed')

      const fees = () => store.ledger.balance('withdrawal-fees')
      const before = await fees()
      const paid = await send('/withdrawals', who, '5', {}, { max_fee: '4' })
      assert.equal(paid.status, 202, JSON.stringify(paid.body))
      const taken = atoms(paid.body['fee'])
      assert.ok(taken > 0n && taken <= 4n * USDC)
      await until(who, String(paid.body['id']), 'sent')
      await until(who, String(first.body['id']), 'sent')
      assert.equal(await bench.usdc(who.address), 20n * USDC + 2n * USDC + 5n * USDC - taken)
      await mine(2)
      for (const { body } of [first, paid]) await until(who, String(body['id']), 'done')
      assert.equal(await balance(who), 13n * USDC)
      assert.equal(await store.ledger.balance(`withdrawing/${who.id}`), 0n)
      assert.equal((await fees()) - before, -taken)
    })

    it('minus the gas of many small deposits, even if it is the free one of the day', async () => {
      const who = await customer(100n * USDC)
      const deposits = limits.FREE_DEPOSITS_MAX + 2
      for (let n = 1; n <= deposits; n++) {
        await payIn(who, '5')
        await mine(3)
        await eventually('the deposit', 10_000, async () =>
          (await balance(who)) === BigInt(n) * 5n * USDC ? true : undefined
        )
      }
      const quoted = async (amount: number) =>
        atoms((await send('/withdrawals', who, String(amount), {}, { dry_run: true })).body['fee'])
      assert.equal(await quoted(5 * limits.FREE_DEPOSITS_MAX), 0n)
      const [one, both] = [await quoted(5 * limits.FREE_DEPOSITS_MAX + 1), await quoted(5 * deposits)]
      assert.ok(one > 0n && both > one, `${one} ${both}`)
      const refused = await send('/withdrawals', who, String(5 * deposits))
      assert.deepEqual([refused.status, refused.body['code']], [409, 'fee_not_accepted'])
      const small = await send('/withdrawals', who, '5')
      assert.deepEqual([small.status, small.body['fee']], [202, '0'])
    })

    it('free of charge once a day per address, across accounts and restarts', async () => {
      const who = await paidInMore()
      assert.equal((await send('/withdrawals', who, '2')).status, 202)
      const { account: twin, key } = await hosting.accounts.open('twin')
      const other = { ...who, key: key.key, id: twin.id }
      const request = post('/deposits', other, '1')
      assert.equal((await patiently(() => who.pay(request.url, request.init))).status, 200)
      await stop()
      await start()
      for (const each of [who, other]) {
        const { body } = await send('/withdrawals', each, '1', {}, { max_fee: '0' })
        assert.ok(body['code'] === 'fee_not_accepted' || body['fee'] !== undefined, JSON.stringify(body))
        assert.equal(body['state'], undefined)
      }
    })

    it('free of charge once among concurrent requests, and again if the free one was not used', async () => {
      const who = await paidInMore()
      assert.equal((await send('/withdrawals', who, '21')).body['code'], 'insufficient_funds')
      const all = await Promise.all(Array.from({ length: 6 }, () => send('/withdrawals', who, '5')))
      assert.equal(all.filter(({ status }) => status === 202).length, 1)
      assert.equal(await balance(who), 15n * USDC)
    })

    it('once for an Idempotency-Key', async () => {
      const who = await paidIn()
      const headers = { 'idempotency-key': 'my withdrawal' }
      const all = await Promise.all(Array.from({ length: 5 }, () => send('/withdrawals', who, '0.5', headers)))
      assert.equal(new Set(all.map(({ body }) => body['id'])).size, 1)
      assert.equal(await balance(who), 500_000n)
      assert.equal((await send('/withdrawals', who, '0.6', headers)).body['code'], 'idempotency_mismatch')
    })

    it('once, after a crash of the process that debited the balance', async () => {
      const who = await paidIn()
      await bench.mining(false)
      const { body } = await send('/withdrawals', who, '0.5')
      await stop()
      await start()
      await stop()
      await bench.mining(true)
      await start()
      await until(who, String(body['id']), 'sent')
      await mine(2)
      await until(who, String(body['id']), 'done')
      assert.equal(await bench.usdc(who.address), 9_500_000n)
    })

    it('never beyond the balance under concurrent requests', async () => {
      const who = await paidInMore()
      const more = { max_fee: '10' }
      const all = await Promise.all(Array.from({ length: 6 }, () => send('/withdrawals', who, '10', {}, more)))
      assert.equal(all.filter(({ status }) => status === 202).length, 2)
      assert.equal(await balance(who), 0n)
    })

    it('not from an account without deposits, and visible to its account only', async () => {
      const who = await customer()
      assert.equal((await send('/withdrawals', who, '0.5')).body['code'], 'invalid_request')
      const rich = await paidIn()
      for (const amount of ['0', '0.1']) {
        assert.equal((await send('/withdrawals', rich, amount)).body['code'], 'invalid_request')
      }
      const { body } = await send('/withdrawals', rich, '0.5')
      assert.equal((await view(who, `/withdrawals/${String(body['id'])}`))['code'], 'invalid_request')
    })

    it('not if the wallet lacks the amount', async () => {
      const who = await paidIn()
      const { wallet } = owner.paymentScheme
      const elsewhere = actor('elsewhere').address.toLowerCase() as Address
      const all = (await wallet.balance()).latest
      await wallet.withdraw({ to: elsewhere, amount: all, id: 'all' })
      const refused = await send('/withdrawals', who, '0.5')
      assert.deepEqual([refused.status, refused.body['code']], [503, 'settlement_unavailable'])
      assert.equal(await balance(who), USDC)
    })
  })

  it('sums to zero in the books after all these cases', async () => {
    const all = await store.ledger.balances('')
    assert.equal(
      all.reduce((sum, { amount }) => sum + amount, 0n),
      0n
    )
    assert.ok(all.every(({ account, amount }) => !account.startsWith('account/') || amount <= 0n))
    await booksOf(store)
    assert.deepEqual(
      logged.filter((line) => /taken back|stopped/.test(line)),
      []
    )
  })
})
