import assert from 'node:assert/strict'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createChannelScheme, type ChannelScheme } from '../../lib/pay/index.ts'
import type { EventBudget } from '../../lib/interface/index.ts'
import type { Signer } from '../../lib/interface/signer.ts'
import type { PaymentSchemeComponents } from '../../lib/interface/payment-scheme.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import { createTestnet, type Testnet } from '../../lib/testing/index.ts'
import { graphqlFactory, restFactory } from '../../protocols/index.ts'
import { type ChannelBench, channelBench } from '../helpers/channel-bench.ts'
import { eventually } from '../helpers/eventually.ts'
import { type YogaServer, yogaServer } from '../helpers/yoga.ts'

const USDC = 1_000_000n
const OPEN = 2_000n
const EVENT = 100n
const EVENTS_HEADERS = [
  ['content-type', 'application/json'],
  ['accept', 'text/event-stream']
] as const

/** Real nodes and sockets, a real API, a real EVM with the contracts on it. */
describe('priced events, on a dev chain', () => {
  let bench: ChannelBench
  let testnet: Testnet
  let api: Server
  let yoga: YogaServer
  const streams: ServerResponse[] = []
  const paymentSchemes: ChannelScheme[] = []
  const signers: Signer[] = [keySigner(new Uint8Array(32).fill(73)), keySigner(new Uint8Array(32).fill(74))]
  let total = 0n

  before(async () => {
    bench = await channelBench()
    await bench.client.setAutomine(true)
    await bench.fundGas(signers[0]!.address)
    await bench.mint(signers[1]!.address, 5n * USDC)
    const paymentScheme = (index: number) => (components: PaymentSchemeComponents) => {
      const made = createChannelScheme({ chain: bench.chain, signer: signers[index]! })(components)
      paymentSchemes.push(made)
      return made
    }
    testnet = await createTestnet({ nodes: 2, options: (index) => ({ paymentScheme: paymentScheme(index) }) })
    api = createServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders()
      streams.push(response)
    })
    await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve))
    yoga = await yogaServer({
      typeDefs:
        'type Query { item(n: Int): Item } type Item { name: String, next: Item } type Subscription { count(to: Int!): Int }',
      resolvers: {
        Query: { item: () => ({ name: 'a', next: { name: 'b' } }) },
        Subscription: {
          count: {
            async *subscribe(_: unknown, args: Readonly<Record<string, never>>) {
              for (let i = 0; i < Number(args['to']); i++) yield { count: i }
            }
          }
        }
      }
    })
    const never = new AbortController().signal
    const rest = { endpoint: `http://127.0.0.1:${(api.address() as AddressInfo).port}/` }
    const graphql = { endpoint: yoga.url, graphql: { unitPrice: '0.0003', basePrice: '0.0002' } }
    const { snapshot } = await graphqlFactory.inspect(graphql, never)
    const terms = { payout: bench.provider.address, price: '0.002', pricePerEvent: '0.0001' }
    const { souk } = testnet.nodes[0]!
    await souk.serve({ ...terms, name: 'ticks', eventsIncluded: 2 }, restFactory.open(rest, ''))
    await souk.serve({ ...terms, name: 'graph' }, graphqlFactory.open(graphql, snapshot))
  })
  after(async () => {
    await testnet?.stop()
    await bench?.close()
    await yoga?.close()
    api?.closeAllConnections()
    await new Promise((resolve) => api?.close(resolve))
  })

  const call = (name: string, body: unknown, maxPrice?: string, eventBudget?: EventBudget) =>
    testnet.nodes[1]!.souk.call({
      api: name,
      body,
      headers: EVENTS_HEADERS,
      ...(maxPrice === undefined ? {} : { maxPrice }),
      ...(eventBudget === undefined ? {} : { eventBudget })
    })
  const reading = (body: unknown) => {
    const chunks = body as AsyncIterable<Uint8Array>
    const decoder = new TextDecoder()
    const read = { text: '', over: Promise.resolve() }
    read.over = (async () => {
      for await (const chunk of chunks) read.text += decoder.decode(chunk, { stream: true })
    })()
    return read
  }
  const earned = async () => {
    const [channel] = paymentSchemes[0]!.channels().filter(({ role }) => role === 'owner')
    return testnet.nodes[0]!.souk.store.ledger.balance(`earned/${channel?.channelId}`).then((balance) => -balance)
  }

  it('are paid one by one within the call’s limit, in both sides’ books and on receipts', async () => {
    const captured: bigint[] = []
    const budget: EventBudget = {
      reserve() {},
      capture: (charged) => void captured.push(charged),
      release: () => {}
    }
    // The limit pays for the opening and ten events.
    const reply = await call('ticks', {}, '0.003', budget)
    assert.deepEqual([reply.charged, reply.eventPrice], [OPEN, EVENT])
    const stream = reading(reply.body)
    const upstream = streams.at(-1)!
    for (let i = 1; i <= 4; i++) {
      upstream.write(`data: ${i}\n\n`)
      await eventually(`event ${i}`, 5_000, () => (stream.text.includes(`data: ${i}\n\n`) ? true : undefined))
      const paid = BigInt(Math.max(0, i - 2))
      assert.equal(await earned(), OPEN + paid * EVENT, `event ${i} left before it was paid for`)
    }
    let isGone = false
    upstream.once('close', () => (isGone = true))
    for (let i = 5; i <= 30; i++) upstream.write(`data: ${i}\n\n`)
    await stream.over
    const events = stream.text.split('\n\n').filter((event) => event.startsWith('data: '))
    assert.deepEqual(
      events,
      Array.from({ length: 12 }, (_, i) => `data: ${i + 1}`)
    )
    assert.match(stream.text, /event: souk-end\ndata: \{"code":"price_exceeds_limit"/)
    await eventually('the API hears that it is over', 2_000, () => (isGone ? true : undefined))
    total += OPEN + 10n * EVENT
    assert.equal(await earned(), total)
    await eventually('the budget is told', 2_000, () =>
      captured.reduce((sum, charged) => sum + charged, 0n) === 10n * EVENT ? true : undefined
    )
    const { receipts } = await paymentSchemes[1]!.receipts({ role: 'payer', limit: 100 })
    await eventually('the receipts are written', 5_000, async () => {
      const page = await paymentSchemes[1]!.receipts({ role: 'payer', limit: 100 })
      return page.receipts.reduce((sum, { charged }) => sum + charged, 0n) === total ? true : undefined
    })
    assert.ok(receipts.every(({ signature }) => signature === 'valid'))
    const owners = (await paymentSchemes[0]!.receipts({ role: 'owner', limit: 100 })).receipts
    assert.deepEqual(new Set(owners.map(({ rule }) => rule)), new Set(['stream-open', 'events']))
    assert.equal(
      owners.reduce((sum, { charged }) => sum + charged, 0n),
      total
    )
    const [usage] = await testnet.nodes[0]!.souk.store.calls.usage()
    assert.deepEqual([usage?.captured, usage?.charged], [1, total])
    assert.equal(paymentSchemes[1]!.channels()[0]?.isDisputed, false)
  })

  it('of a GraphQL subscription are paid, and queries are paid by cost', async () => {
    const query = { query: '{ item(n: 1) { name next { name } } }', variables: {} }
    const { charged } = await call('graph', query)
    assert.equal(charged, 200n + 2n * 300n)
    const opening = await call('graph', { query: 'subscription { count(to: 200) }' }, '0.05')
    const stream = reading(opening.body)
    await stream.over
    assert.equal(stream.text.match(/event: next/g)?.length, 200)
    assert.match(stream.text, /event: complete/)
    total += charged + opening.charged + 200n * EVENT
    assert.equal(await earned(), total)
  })

  it('are not paid beyond the budget or the events that the reader takes', async () => {
    let asked = 0
    const refusing: EventBudget = {
      reserve() {
        if (asked++ > 0) throw new Error('no more')
      },
      capture() {},
      release() {}
    }
    const opening = await call('graph', { query: 'subscription { count(to: 200) }' }, '0.05', refusing)
    const capped = reading(opening.body)
    await capped.over
    assert.match(capped.text, /"code":"spend_cap_reached"/)
    const events = (capped.text.match(/event: next/g)?.length ?? 0) - 1
    assert.ok(events >= 1 && events < 200)
    total += opening.charged + BigInt(events) * EVENT

    const left = await call('ticks', {}, '0.05')
    await (left.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().return?.()
    total += OPEN
    await eventually('nothing is set aside any more', 5_000, () => {
      const [mine] = paymentSchemes[1]!.channels()
      return mine?.reserved === 0n ? true : undefined
    })
    assert.equal(await earned(), total)
  })

  it('settle on the chain: 95% to the provider, 5% to the treasury', async () => {
    const treasury = bench.parameters.treasury!
    const { claimed, refused } = await paymentSchemes[0]!.settlement.redeemer.settleNow()
    assert.deepEqual([claimed, refused], [total, []])
    const fee = total / 20n
    await eventually('the payouts', 10_000, async () => ((await bench.usdc(treasury)) === fee ? true : undefined))
    assert.equal(await bench.usdc(bench.provider.address), total - fee)
    const [{ channel }] = (await paymentSchemes[1]!.closeAll()) as [Awaited<ReturnType<ChannelScheme['closeAll']>>[0]]
    assert.deepEqual([channel.state, channel.spent], ['closed', total])
    assert.equal(await bench.usdc(signers[1]!.address), 5n * USDC - total)
  })
})
