import assert from 'node:assert/strict'
import {
  createFreeScheme,
  createMemoryStore,
  createNode,
  handler,
  type NodeOptions,
  type SoukNode
} from '../../lib/index.ts'
import type { Adapter, Store, PaymentScheme } from '../../lib/interface/index.ts'
import { createTestnet } from '../../lib/testing/index.ts'
import { textOf } from '../helpers/bodies.ts'
import { emptyDirectory } from './resolve/fixtures.ts'

/** Options of a node whose parts record when they start and stop. `fails` is the step that throws. */
function noting(fails?: string, response: object = { ok: true }) {
  const steps: string[] = []
  const take = (step: string): void => {
    steps.push(step)
    if (step === fails) throw new Error(`${step} failed`)
  }
  const [arrived, leaving] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const inner = createMemoryStore()
  const store: Store = {
    ...inner,
    open: async () => (take('store opens'), inner.open()),
    close: async () => (take('store closes'), inner.close())
  }
  const paymentScheme: NodeOptions['paymentScheme'] = (components) => {
    const free: PaymentScheme = createFreeScheme('this is a test')(components)
    return Object.assign(Object.create(free) as PaymentScheme, {
      start: async () => take('till starts'),
      stop: async () => take('till stops')
    })
  }
  const adapter: Adapter = Object.assign(
    handler(async () => {
      arrived.resolve()
      await leaving.promise
      take('a call is answered')
      return response
    }),
    { close: async () => take('adapter closes') }
  )
  const prepare: NodeOptions['prepare'] = async (souk) => {
    await souk.serve({ name: 'echo', price: '0' }, adapter)
    take('prepared')
  }
  return {
    steps,
    arrived: arrived.promise,
    leave: leaving.resolve,
    options: { store, paymentScheme, prepare } satisfies NodeOptions
  }
}

describe('the service', () => {
  it('starts again after it was stopped', async () => {
    const node = await createNode()
    for (const peers of [0, 0]) {
      await node.start()
      assert.equal(node.souk.status().peers.length, peers)
      assert.equal(node.souk.status().alone, true)
      await node.stop()
    }
  })

  it('rejects what needs a running node: before its start as invalid, after its stop as passing', async () => {
    const node = await createNode()
    const { souk } = node
    const uses: ReadonlyArray<() => Promise<unknown>> = [
      () => souk.serve({ name: 'echo', price: '0' }, handler(String)),
      () => souk.call({ api: 'echo', body: 1 }),
      () => souk.resolve('echo'),
      () => souk.search(),
      () => souk.pinned('echo'),
      () => souk.move('echo', 'paused'),
      () => souk.remove('echo'),
      () => souk.delegations()
    ]
    const allReject = async (expected: object) => {
      for (const use of uses) {
        let promise: Promise<unknown> | undefined
        assert.doesNotThrow(() => (promise = use()), 'it throws where it should reject')
        await assert.rejects(Promise.resolve(promise), expected)
      }
      assert.throws(() => souk.status(), expected)
    }
    await allReject({ code: 'invalid_request', message: 'The node is not started. Await its `start()` first.' })
    await node.start()
    await node.stop()
    await allReject({ code: 'overloaded', retryable: true, notAccepted: true })
  })

  for (const [what, init] of [
    ['a network name', { network: 'No Network' }],
    ['a bootstrap address', { bootstrap: ['/ip4/127.0.0.1/tcp/1'] }],
    ['a listen address', { listen: ['127.0.0.1:4402'] }],
    ['an announced address', { announce: ['/ip4/11.1.1.1/tcp/99999'] }],
    ['an agent', { agent: 'x'.repeat(65) }]
  ] as const) {
    it(`refuses ${what} that cannot be`, async () => {
      await assert.rejects(createNode(init), { code: 'invalid_request' })
    })
  }

  it('announces an API once the directory has peers, which it has a moment after the first connection', async () => {
    const [asked, ready] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let isReady = true
    let published = 0
    const directory = emptyDirectory({
      ready: async () => {
        if (isReady) return
        asked.resolve()
        await ready.promise
      },
      publish: async () => ({ asked: ++published, stored: 1 })
    })
    const bootstrap = await createNode()
    await bootstrap.start()
    const node = await createNode({ directory, bootstrap: [...bootstrap.souk.status().addresses] })
    try {
      await node.start()
      isReady = false
      const serving = node.souk.serve(
        { name: 'echo', price: '0' },
        handler(() => ({}))
      )
      await Promise.race([asked.promise, serving])
      assert.equal(published, 0)
      ready.resolve()
      await serving
      assert.equal(published, 1)
    } finally {
      await node.stop()
      await bootstrap.stop()
    }
  })

  it('starts its parts in order, and stops them in reverse', async () => {
    const { steps, options } = noting()
    const node = await createNode(options)
    for (let i = 0; i < 2; i++) {
      steps.length = 0
      await node.start()
      assert.deepEqual(steps, ['store opens', 'till starts', 'prepared'])
      steps.length = 0
      await node.stop()
      assert.deepEqual(steps, ['adapter closes', 'till stops', 'store closes'])
    }
  })

  for (const [size, text] of [
    ['small', 'x'],
    ['large', 'x'.repeat(1_000_000)]
  ] as const)
    it(`sends the ${size} responses of running calls before it stops anything they need`, async () => {
      const { steps, options, arrived, leave } = noting(undefined, { text })
      const network = await createTestnet({ options: (index) => (index === 0 ? options : {}) })
      const [owner, consumer] = network.nodes as [SoukNode, SoukNode]
      const called = consumer.souk.call({ api: 'echo', body: new TextEncoder().encode('{}') })
      await arrived
      steps.length = 0
      const stopped = owner.stop()
      setImmediate(leave)
      const { status, body } = await called
      assert.equal(status, 200)
      assert.equal(await textOf(body), JSON.stringify({ text }))
      await stopped
      await network.stop()
      assert.deepEqual(steps, ['a call is answered', 'adapter closes', 'till stops', 'store closes'])
    })

  it('ends its own calls that still run before it stops anything they need', async () => {
    const { steps, options } = noting()
    const network = await createTestnet({ options: (index) => (index === 1 ? options : {}) })
    const [owner, consumer] = network.nodes as [SoukNode, SoukNode]
    const [arrived, leaving] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const slow = handler(() => (arrived.resolve(), leaving.promise))
    await owner.souk.serve({ name: 'slow', price: '0' }, slow)
    const called = assert
      .rejects(consumer.souk.call({ api: 'slow', body: {} }), { code: 'call_interrupted' })
      .then(() => steps.push('a call ends'))
    await arrived.promise
    steps.length = 0
    await consumer.stop()
    await called
    leaving.resolve()
    await network.stop()
    assert.deepEqual(steps, ['a call ends', 'adapter closes', 'till stops', 'store closes'])
  })

  for (const [fails, expected] of [
    ['store opens', ['store opens', 'store closes']],
    ['till starts', ['store opens', 'till starts', 'till stops', 'store closes']],
    ['prepared', ['store opens', 'till starts', 'prepared', 'adapter closes', 'till stops', 'store closes']]
  ] as const) {
    it(`stops the started parts if this part fails: ${fails}`, async () => {
      const { steps, options } = noting(fails)
      const node = await createNode(options)
      await assert.rejects(node.start(), { message: `${fails} failed` })
      assert.deepEqual(steps, expected)
      assert.throws(() => node.souk.status(), { code: 'overloaded' })
    })
  }

  it('stops the other parts if one fails to stop', async () => {
    const { steps, options } = noting('till stops')
    const node = await createNode(options)
    await node.start()
    steps.length = 0
    await assert.rejects(Promise.resolve(node.stop()), { message: 'till stops failed' })
    assert.deepEqual(steps, ['adapter closes', 'till stops', 'store closes'])
  })
})
