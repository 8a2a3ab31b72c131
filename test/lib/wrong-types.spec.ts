import assert from 'node:assert/strict'
import {
  createNode,
  createPostgresStore,
  createSqliteStore,
  handler,
  isSoukError,
  keySigner,
  type SoukNode,
  souk,
  soukDht,
  soukGossip,
  soukTcp,
  soukWebSockets
} from '../../lib/index.ts'
import { createChannelScheme } from '../../lib/pay/index.ts'
import { payRules } from '../../lib/pay/payer/pay-rules.ts'
import { createTestnet } from '../../lib/testing/index.ts'

/** A value that only a program without TypeScript can pass. */
const untyped = (value: unknown) => value as never

async function refusal(use: () => unknown): Promise<string> {
  try {
    await use()
  } catch (error) {
    assert.ok(isSoukError(error), String(error))
    assert.equal(error.code, 'invalid_request', error.message)
    return error.message
  }
  return assert.fail('it was accepted')
}

describe('options of a wrong type', () => {
  for (const [name, values] of Object.entries({
    network: [5, null],
    bootstrap: ['/dnsaddr/example.org', [5]],
    listen: ['/ip4/127.0.0.1/tcp/0', [null]],
    announce: [5],
    agent: [5],
    privateAddresses: ['no'],
    mdns: ['no', 0],
    relay: ['nobody'],
    connections: [5],
    logger: [console],
    privateKey: ['key', {}],
    store: [5, {}],
    sharedStore: [{}],
    paymentScheme: [{}],
    prepare: [5],
    onSold: [5],
    onReach: [5],
    portMapping: [{}],
    selfReport: ['no'],
    probes: [1],
    keepDays: ['400'],
    trimmedKinds: ['kind'],
    clock: [{ now: () => 0 }],
    random: [{}],
    transports: [5, [5]]
  })) {
    it(`are refused by name: ${name}`, async () => {
      for (const value of values)
        assert.match(await refusal(() => createNode(untyped({ [name]: value }))), new RegExp(`^\`${name}\` must be `))
    })
  }

  it('are refused as a whole, with a mistyped name, and within `connections`', async () => {
    for (const whole of [null, 5, 'dev', []])
      assert.equal(await refusal(() => createNode(untyped(whole))), 'The options must be an object.')
    assert.match(await refusal(() => createNode(untyped({ netwrok: 'dev' }))), /cannot have `netwrok`, only: agent, /)
    assert.match(await refusal(() => createNode(untyped({ connections: { connectionsMax: '9' } }))), /`connectionsMax`/)
    assert.match(await refusal(() => souk(untyped({ network: 5 }))), /`network`/)
    // A test would run on fewer nodes than it names.
    for (const mistyped of [{ node: 5 }, { nodes: '5' }, { options: {} }])
      assert.match(
        await refusal(() => createTestnet(untyped(mistyped))),
        /cannot have `node`|`(nodes|options)` must be/
      )
  })

  it('that are undefined have their defaults', async () => {
    const node = await createNode({ network: undefined, keepDays: undefined, agent: undefined })
    await node.start()
    assert.equal(node.souk.status().network, 'dev')
    await node.stop()
    assert.deepEqual(payRules({ priceMax: undefined }), payRules())
  })
})

describe('options of a part of a node', () => {
  const signer = keySigner(new Uint8Array(32).fill(7))
  const chain = { verify: async () => {}, parameters: {} }
  for (const [name, use, wrong] of [
    [
      'soukDht',
      soukDht,
      [
        [{ network: 5 }, /^`network` must be a string/],
        [{}, /^`network` must be/],
        [{ network: 'My Net' }, /^"My Net" is not a network name/],
        [{ network: 'dev', clientmode: true }, /cannot have `clientmode`/],
        [{ network: 'dev', clock: Date }, /^`clock`/]
      ]
    ],
    [
      'soukGossip',
      soukGossip,
      [
        [{ network: '' }, /network name/],
        [{ network: 'dev', privateAddresses: 'no' }, /^`privateAddresses` must be true or false/]
      ]
    ],
    ['soukTcp', soukTcp, [[{ privateAddress: false }, /cannot have `privateAddress`, only: privateAddresses/]]],
    ['soukWebSockets', soukWebSockets, [[{ privateAddresses: 0 }, /^`privateAddresses`/]]],
    [
      'createSqliteStore',
      createSqliteStore,
      [
        [{}, /^`path` must be a string/],
        [{ path: 'a.db', onFailure: 5 }, /^`onFailure`/]
      ]
    ],
    ['createPostgresStore', createPostgresStore, [[{ url: new URL('postgres://host/a') }, /^`url` must be a string/]]],
    [
      'createChannelScheme',
      createChannelScheme,
      [
        [{ chain, signer: 'key' }, /^`signer`/],
        [{ signer }, /^`chain`/],
        [{ chain, signer, rules: { pricemax: 1n } }, /The payment rules cannot have `pricemax`/],
        [{ chain, signer, rules: { dailyMax: '5' } }, /^`dailyMax` must be an amount as a bigint/]
      ]
    ]
  ] as const) {
    it(`are refused by name: ${name}`, async () => {
      const make = use as (init: never) => unknown
      assert.match(await refusal(() => make(untyped(null))), /^The options of `\w+` must be an object/)
      for (const [init, message] of wrong) assert.match(await refusal(() => make(untyped(init))), message)
    })
  }
})

describe('arguments of a wrong type', () => {
  let node: SoukNode
  before(async () => {
    node = await createNode()
    await node.start()
    await node.souk.serve({ name: 'echo', price: '0' }, handler(String))
  })
  after(() => node.stop())

  for (const [what, wrong, member] of [
    ['no listing', undefined, 'A listing'],
    ['a name', { name: 5 }, 'name'],
    ['a price', { price: 0.001 }, 'price'],
    ['a price per event', { pricePerEvent: 1 }, 'pricePerEvent'],
    ['tags', { tags: 'time' }, 'tags'],
    ['a description', { description: 5 }, 'description'],
    ['a flag', { idempotent: 'no' }, 'idempotent'],
    ['a list', { plans: 5 }, 'plans'],
    ['a plan', { plans: [{ id: 'a', fee: 1 }] }, 'fee'],
    ['a limit', { rateLimit: 5 }, 'rateLimit'],
    ['a mistyped name', { pricePerevent: '1' }, 'pricePerevent']
  ] as const) {
    it(`are refused by \`serve\`: ${what}`, async () => {
      const init = wrong === undefined ? undefined : { name: 'wrong', price: '0', ...wrong }
      const message = await refusal(() => node.souk.serve(untyped(init), handler(String)))
      assert.ok(message.includes(member), message)
      assert.equal(node.souk.listings().length, 1)
    })
  }

  it('have their defaults where they are undefined', async () => {
    const limits = { requestBytesMax: undefined, inFlightPerConsumer: undefined, failuresPerConsumer: undefined }
    const listing = { tags: undefined, plans: undefined, rateLimit: undefined, forwardsPaths: undefined, ...limits }
    await node.souk.serve({ name: 'echo', price: '0', ...listing }, handler(String))
    const call = { method: undefined, timeoutMs: undefined, maxPrice: undefined, signal: undefined }
    const { status } = await node.souk.call({ api: 'echo', body: 1, ...call })
    assert.equal(status, 200)
  })

  for (const [what, wrong, member] of [
    ['no call', undefined, 'A call'],
    ['a signal', { signal: {} }, 'signal'],
    ['a hook', { onPrice: '1' }, 'onPrice'],
    ['a budget', { eventBudget: {} }, 'eventBudget'],
    ['offered headers', { offeredHeaders: {} }, 'offeredHeaders'],
    ['a subscription', { subscription: 5 }, 'subscription'],
    ['a mistyped price limit', { maxprice: '0.1' }, 'maxprice']
  ] as const) {
    it(`are refused by \`call\`: ${what}`, async () => {
      const init = wrong === undefined ? undefined : { api: 'echo', body: 1, ...wrong }
      const message = await refusal(() => node.souk.call(untyped(init)))
      assert.ok(message.includes(member), message)
    })
  }

  it('are refused by the others', async () => {
    for (const use of [
      () => handler(untyped(5)),
      () => node.souk.search(untyped(5)),
      () => node.souk.search(untyped({ text: 5 })),
      () => node.souk.search(untyped({ txt: 'a' })),
      () => node.souk.resolve(untyped(5)),
      () => node.souk.pinned(untyped(5)),
      () => node.souk.delegate(untyped(5)),
      () => node.souk.addBootstrap(untyped([5]))
    ])
      await refusal(use)
  })
})
