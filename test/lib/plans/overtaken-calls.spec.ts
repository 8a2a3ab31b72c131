import assert from 'node:assert/strict'
import { planOf, ServiceBench } from './plan-service-bench.ts'

const SMALL = planOf('small', { fee: 1_000n, included: 10 })
const LARGE = planOf('large', { fee: 3_000n, included: 100 })

describe('calls that a change of their plan overtakes', () => {
  let bench: ServiceBench
  let id: string

  beforeEach(async () => {
    bench = await ServiceBench.open([SMALL, LARGE])
    const { subscription } = await bench.subscribe('small')
    id = subscription.id
    await bench.call(id)
  })

  const change = () => bench.ask({ action: 'change', id, plan: 'large', since: LARGE.since, fee: LARGE.fee })
  const used = async (): Promise<[number, number | undefined]> => {
    const call = await bench.admit(id)
    const quota = call.quota()
    await call.end(false)
    return [quota?.used ?? 0, quota?.included]
  }

  it('lower its credit if they come before it is charged', async () => {
    const changing = await change()
    assert.equal(changing.price, LARGE.fee)
    for (let calls = 0; calls < 3; calls++) await bench.call(id)
    const running = await bench.admit(id)
    // Five of ten calls are left.
    assert.equal(changing.due?.(), LARGE.fee - SMALL.fee / 2n)
    await bench.write(changing)
    await bench.write(running)
    assert.deepEqual(await used(), [0, 100])
  })

  it('count in the new period if they come before it is durable', async () => {
    const changing = await change()
    const written = changing.capture()
    await bench.call(id)
    await bench.call(id)
    await bench.documents.putAll([...written])
    await changing.end(true)
    assert.deepEqual(await used(), [2, 100])
    await bench.restart()
    assert.deepEqual(await used(), [2, 100])
  })

  it('count in the old period if it fails', async () => {
    const changing = await change()
    changing.capture()
    await changing.end(false)
    await bench.call(id)
    assert.deepEqual(await used(), [2, 10])
    await bench.write(await change())
    assert.deepEqual(await used(), [0, 100])
  })
})
