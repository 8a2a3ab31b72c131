import assert from 'node:assert/strict'
import { Slots } from '../../../lib/base/slots.ts'
import { settle } from '../../helpers/manual-clock.ts'

const { signal } = new AbortController()

describe('slots', () => {
  it('admit a fixed number, then the others in order of arrival', async () => {
    const slots = new Slots(2)
    const entered: number[] = []
    const leaving: Array<() => void> = []
    for (let i = 0; i < 5; i++) {
      void slots.enter(signal).then((leave) => {
        entered.push(i)
        leaving.push(leave)
      })
    }
    await settle()
    assert.deepEqual(entered, [0, 1])
    leaving[1]?.()
    await settle()
    assert.deepEqual(entered, [0, 1, 2])
    // Leaving twice frees one place only.
    leaving[1]?.()
    await settle()
    assert.deepEqual(entered, [0, 1, 2])
    leaving[0]?.()
    leaving[2]?.()
    await settle()
    assert.deepEqual(entered, [0, 1, 2, 3, 4])
  })

  it('keep no place for a caller that stopped waiting', async () => {
    const slots = new Slots(1)
    const leave = await slots.enter(signal)
    const impatient = new AbortController()
    const waiting = slots.enter(impatient.signal)
    const patient = slots.enter(signal)
    impatient.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
    leave()
    ;(await patient)()
    await assert.rejects(slots.enter(impatient.signal), /enough/)
    await slots.enter(signal)
  })
})
