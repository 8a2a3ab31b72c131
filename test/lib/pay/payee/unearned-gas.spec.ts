import assert from 'node:assert/strict'
import { UNEARNED_GAS_ATOMS_MAX, UNEARNED_STEPS_MAX, UNEARNED_STEPS_MIN } from '../../../../lib/base/limits/chain.ts'
import { DAY_MS } from '../../../../lib/base/limits/time.ts'
import { UnearnedGas } from '../../../../lib/pay/payee/unearned-gas.ts'
import { createMemoryStore } from '../../../../lib/store/memory/store.ts'

const NOON = 20_000 * DAY_MS + DAY_MS / 2

async function gas() {
  const { documents, open } = createMemoryStore()
  await open()
  const clock = { ms: NOON, now: () => clock.ms }
  const start = async () => {
    const unearned = new UnearnedGas({ documents, clock })
    await unearned.start()
    return unearned
  }
  return { clock, start }
}

const used = { code: 'settlement_unavailable', message: 'no', retryAfterMs: DAY_MS / 2 }
const names = { next: 0 }
const someone = (): string[] => [`payer ${names.next++}`]

describe('the allowance for unearned gas', () => {
  it('is granted to a payer a few times a day, by its node and by its address', async () => {
    const unearned = await (await gas()).start()
    for (let i = 0; i < UNEARNED_STEPS_MAX; i++) await unearned.take(1n, ['node', 'address'], 'no')
    await assert.rejects(unearned.take(1n, ['node', 'another address'], 'no'), used)
    await assert.rejects(unearned.take(1n, ['another node', 'address'], 'no'), used)
    await unearned.take(1n, ['another node', 'another address'], 'no')
  })

  it('is limited per day, even after restarts and with a clock that is set back', async () => {
    const { clock, start } = await gas()
    const part = UNEARNED_GAS_ATOMS_MAX / BigInt(2 * UNEARNED_STEPS_MIN)
    let unearned = await start()
    for (let i = 0; i < 2 * UNEARNED_STEPS_MIN; i++) {
      await unearned.take(part, someone(), 'no')
      if (i % 3 === 0) unearned = await start()
    }
    await assert.rejects(unearned.take(part, someone(), 'no'), used)
    clock.ms -= 3 * DAY_MS
    await assert.rejects((await start()).take(part, someone(), 'no'), { code: 'settlement_unavailable' })
    clock.ms = NOON + DAY_MS / 2
    await unearned.take(UNEARNED_GAS_ATOMS_MAX, someone(), 'no')
  })

  it('is granted to some newcomers at any gas price', async () => {
    const { start } = await gas()
    for (let i = 0; i < UNEARNED_STEPS_MIN; i++) await (await start()).take(UNEARNED_GAS_ATOMS_MAX, someone(), 'no')
    await assert.rejects((await start()).take(1n, someone(), 'no'), used)
  })

  it('counts nothing that is given back, but for another day', async () => {
    const { clock, start } = await gas()
    const unearned = await start()
    for (let i = 0; i < 3 * UNEARNED_STEPS_MIN; i++) {
      const giveBack = await unearned.take(UNEARNED_GAS_ATOMS_MAX, ['node'], 'no')
      await giveBack()
    }
    const late = await unearned.take(1n, ['node'], 'no')
    clock.ms += DAY_MS
    for (let i = 0; i < UNEARNED_STEPS_MAX; i++) await unearned.take(1n, ['node'], 'no')
    await late()
    await assert.rejects(unearned.take(1n, ['node'], 'no'), used)
  })

  it('counts concurrent payers', async () => {
    const unearned = await (await gas()).start()
    const asked = await Promise.allSettled(Array.from({ length: 9 }, () => unearned.take(1n, ['node'], 'no')))
    assert.equal(asked.filter(({ status }) => status === 'fulfilled').length, UNEARNED_STEPS_MAX)
  })
})
