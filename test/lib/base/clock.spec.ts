import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { mock } from 'node:test'
import { afterLimit, type Clock, deadline, sleep, systemClock } from '../../../lib/base/clock.ts'
import { Deadlines } from '../../../lib/base/deadlines.ts'
import { within } from '../../../lib/base/within.ts'
import { BusyClock } from '../../helpers/busy-clock.ts'

const DAY_MS = 86_400_000

/** A clock whose timers the test fires. `pending` shows timers that were not cancelled. */
function manualClock() {
  const timers = new Map<object, { atMs: number; task: () => void }>()
  let nowMs = 0
  const clock: Clock = {
    now: () => nowMs,
    elapsed: () => nowMs,
    after(delayMs, task) {
      const timer = { cancel: () => void timers.delete(timer) }
      timers.set(timer, { atMs: nowMs + delayMs, task })
      return timer
    },
    soon: (task) => void clock.after(0, task)
  }
  const pass = (ms: number) => {
    nowMs += ms
    for (const [timer, { atMs, task }] of timers) {
      if (atMs <= nowMs && timers.delete(timer)) task()
    }
  }
  return { clock, pass, pending: () => timers.size }
}

/** A signal that counts its listeners. */
function countedController() {
  const controller = new AbortController()
  const { signal } = controller
  let listeners = 0
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--
    remove(...args)
  }
  return { controller, signal, listeners: () => listeners }
}

describe('the system clock', () => {
  afterEach(() => mock.timers.reset())

  it('gives wall time and monotonic time', () => {
    assert.ok(Math.abs(systemClock.now() - Date.now()) < 1_000)
    const first = systemClock.elapsed()
    assert.ok(systemClock.elapsed() >= first)
  })

  it('runs a task once, not before its delay', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    let runs = 0
    systemClock.after(100, () => runs++)
    mock.timers.tick(99)
    assert.equal(runs, 0)
    mock.timers.tick(1)
    mock.timers.tick(1_000)
    assert.equal(runs, 1)
  })

  it('supports delays beyond the range of Node’s timers', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    let runs = 0
    systemClock.after(60 * DAY_MS, () => runs++)
    // In steps of a day: the mock counts a timer set during a tick from the tick's end.
    for (let days = 0; days < 59; days++) mock.timers.tick(DAY_MS)
    assert.equal(runs, 0)
    for (let days = 0; days < 3; days++) mock.timers.tick(DAY_MS)
    assert.equal(runs, 1)
  })

  it('treats a delay above 2^31 ms as long, without a warning', async () => {
    const warnings: Error[] = []
    const listen = (warning: Error) => warnings.push(warning)
    process.on('warning', listen)
    let hasRun = false
    const timer = systemClock.after(2 ** 31, () => (hasRun = true))
    await new Promise<void>((resolve) => systemClock.after(20, resolve))
    timer.cancel()
    process.off('warning', listen)
    assert.equal(hasRun, false)
    assert.deepEqual(warnings, [])
  })

  it('does not run a cancelled task, even during a long delay', () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    let runs = 0
    systemClock.after(100, () => runs++).cancel()
    const long = systemClock.after(60 * DAY_MS, () => runs++)
    mock.timers.tick(40 * DAY_MS)
    long.cancel()
    long.cancel()
    mock.timers.tick(40 * DAY_MS)
    assert.equal(runs, 0)
  })

  it('runs `soon` tasks in order after this turn', async () => {
    const order: string[] = []
    systemClock.soon(() => order.push('first'))
    systemClock.soon(() => order.push('second'))
    await Promise.resolve()
    assert.deepEqual(order, [])
    await new Promise(setImmediate)
    assert.deepEqual(order, ['first', 'second'])
  })
})

describe('sleep', () => {
  it('resolves after its time', async () => {
    const { clock, pass, pending } = manualClock()
    let isOver = false
    const slept = sleep(clock, 50).then(() => (isOver = true))
    pass(49)
    await Promise.resolve()
    assert.equal(isOver, false)
    pass(1)
    await slept
    assert.equal(pending(), 0)
  })

  it('rejects with the signal’s reason and cancels the timer', async () => {
    const { clock, pending } = manualClock()
    const controller = new AbortController()
    const reason = new Error('enough')
    const slept = sleep(clock, 50, controller.signal)
    controller.abort(reason)
    await assert.rejects(slept, reason)
    assert.equal(pending(), 0)
  })

  it('does not start under an aborted signal', async () => {
    const { clock, pending } = manualClock()
    const reason = new Error('enough')
    await assert.rejects(sleep(clock, 50, AbortSignal.abort(reason)), reason)
    assert.equal(pending(), 0)
  })

  it('leaves no listener on the signal', async () => {
    const { clock, pass } = manualClock()
    const { signal, listeners } = countedController()
    const slept = sleep(clock, 50, signal)
    assert.equal(listeners(), 1)
    pass(50)
    await slept
    assert.equal(listeners(), 0)
  })
})

describe('a time limit of a process that stands still', () => {
  /** Blocks this thread, as a virtual machine does to which the host gives no time. */
  const stall = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

  it('lets what arrived meanwhile be read first', async () => {
    const server = createServer((socket) => void socket.end('in time')).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const limit = deadline(systemClock, 200, () => new Error('too late'))
    try {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
      await once(socket, 'connect')
      stall(500)
      assert.equal(await within(text(socket), limit.signal), 'in time')
    } finally {
      limit.clear()
      server.close()
    }
  })

  it('is extended once, by as long as it is late', () => {
    const clock = new BusyClock()
    const late: number[] = []
    afterLimit(clock, 1_000, () => late.push(clock.elapsed()))
    clock.work(1_400)
    clock.turn()
    assert.deepEqual(late, [])
    clock.work(5_000)
    clock.turn()
    assert.deepEqual(late, [6_400])
    assert.equal(clock.isTimed, false)
  })

  it('is at most doubled, and can be cancelled meanwhile', () => {
    const clock = new BusyClock()
    const late: number[] = []
    const limit = () => afterLimit(clock, 1_000, () => late.push(clock.elapsed()))
    limit()
    clock.work(60_000)
    clock.turn()
    clock.turn()
    assert.deepEqual(late, [61_000])
    const cancelled = limit()
    clock.work(60_000)
    clock.turn()
    cancelled.cancel()
    assert.equal(clock.isTimed, false)
  })

  it('ends a call of several, too', () => {
    const clock = new BusyClock()
    const late: string[] = []
    const deadlines = new Deadlines<string>(clock, (key) => late.push(key))
    for (const key of ['answered', 'lost']) deadlines.add(key, 1_000)
    clock.work(3_000)
    clock.turn()
    deadlines.delete('answered')
    clock.turn()
    assert.deepEqual(late, ['lost'])
  })
})

describe('deadline', () => {
  const late = new Error('too late')

  it('aborts with its reason when the time is over', () => {
    const { clock, pass } = manualClock()
    const { signal } = deadline(clock, 50, () => late)
    pass(49)
    assert.equal(signal.aborted, false)
    pass(1)
    assert.equal(signal.reason, late)
  })

  it('aborts with its parent’s reason if the parent aborts first', () => {
    const { clock, pass } = manualClock()
    const parent = new AbortController()
    const { signal } = deadline(clock, 50, () => late, parent.signal)
    const reason = new Error('client left')
    parent.abort(reason)
    assert.equal(signal.reason, reason)
    pass(100)
    assert.equal(signal.reason, reason)
  })

  it('is aborted from the start under an aborted parent', () => {
    const { clock } = manualClock()
    const reason = new Error('client left')
    assert.equal(deadline(clock, 50, () => late, AbortSignal.abort(reason)).signal.reason, reason)
  })

  it('starts again', () => {
    const { clock, pass, pending } = manualClock()
    const { signal, restart } = deadline(clock, 50, () => late)
    pass(49)
    restart(20)
    assert.equal(pending(), 1)
    pass(19)
    assert.equal(signal.aborted, false)
    pass(1)
    assert.equal(signal.reason, late)
  })

  it('releases timer and parent when it is cleared', () => {
    const { clock, pass, pending } = manualClock()
    const { controller, signal: parent, listeners } = countedController()
    const { signal, clear } = deadline(clock, 50, () => late, parent)
    assert.deepEqual([pending(), listeners()], [1, 1])
    clear()
    assert.deepEqual([pending(), listeners()], [0, 0])
    pass(100)
    controller.abort()
    assert.equal(signal.aborted, false)
  })
})
