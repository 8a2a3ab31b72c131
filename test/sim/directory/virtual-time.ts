/**
 * Virtual time for whole libp2p nodes, whose libraries use the global timers. Time stands still while anything runs, and
 * then jumps to the next timer. So a figure in milliseconds does not depend on the machine.
 */

interface Due {
  readonly at: number
  readonly order: number
  /** Undefined once it ran or was cancelled, because it may refer to much memory. */
  task: (() => void) | undefined
}

/** What `setTimeout` returns: libraries call its methods. */
class VirtualTimer {
  #due: Due
  readonly #arm: () => Due

  constructor(arm: (timer: VirtualTimer) => Due) {
    this.#arm = () => arm(this)
    this.#due = this.#arm()
  }

  again(): void {
    this.#due = this.#arm()
  }

  refresh(): this {
    this.cancel()
    this.again()
    return this
  }

  cancel(): void {
    this.#due.task = undefined
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }
}

/** Node marks the signal of a timeout by it, and keeps such a signal only while it has listeners or is part of another. */
const TIMEOUT_MARK = markOfTimeouts()
/** The signal keeps its controller. */
const CONTROLLER = Symbol('controller')

function markOfTimeouts(): symbol {
  const mark = Object.getOwnPropertySymbols(AbortSignal.timeout(0)).find(
    ({ description }) => description === 'kTimeout'
  )
  if (mark === undefined) throw new Error('this Node.js does not mark the signals of timeouts')
  return mark
}

/** Timers of one millisecond that run before what they caused. With all of them, that would fill the memory. */
const TASKS_AT_ONCE = 50

const realImmediate = globalThis.setImmediate

export class VirtualTime {
  readonly #startedAt = Date.UTC(2026, 0)
  /** A binary heap, the earliest first. */
  readonly #heap: Due[] = []
  #elapsed = 0
  #order = 0
  #immediates = 0

  /** Milliseconds of simulated time. */
  get elapsed(): number {
    return this.#elapsed
  }

  /** Replaces the global clock and timers. Call it before libp2p is imported. */
  install(): void {
    const now = () => this.#startedAt + this.#elapsed
    const RealDate = Date
    globalThis.Date = class extends RealDate {
      constructor(...parts: ConstructorParameters<typeof Date> | []) {
        if (parts.length === 0) super(now())
        else super(...parts)
      }
      static override now = () => Math.floor(now())
    } as DateConstructor
    performance.now = () => this.#elapsed
    const set = (task: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      new VirtualTimer(() => this.after(ms, () => task(...args)))
    const repeat = (task: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      new VirtualTimer((timer) =>
        this.after(Math.max(1, ms), () => {
          timer.again()
          task(...args)
        })
      )
    const clear = (timer: unknown) => {
      if (timer instanceof VirtualTimer) timer.cancel()
    }
    const immediate = (task: (...args: unknown[]) => void, ...args: unknown[]) => {
      this.#immediates++
      return realImmediate(() => {
        this.#immediates--
        task(...args)
      })
    }
    Object.assign(globalThis, {
      setTimeout: set,
      setInterval: repeat,
      clearTimeout: clear,
      clearInterval: clear,
      setImmediate: immediate
    })
    AbortSignal.timeout = (ms) => {
      const controller = new AbortController()
      Object.assign(controller.signal, { [TIMEOUT_MARK]: true, [CONTROLLER]: controller })
      const ended = new WeakRef(controller)
      this.after(ms, () => ended.deref()?.abort(new DOMException('The operation timed out.', 'TimeoutError')))
      return controller.signal
    }
  }

  after(ms: number, task: () => void): Due {
    // Whole milliseconds, so that many events share a turn.
    const at = Math.ceil(this.#elapsed + Math.max(0, ms))
    const due: Due = { at, order: this.#order++, task }
    this.#push(due)
    return due
  }

  /** Runs the simulation until the promise settles. @throws where it takes longer than `limitMs` of simulated time */
  async run<T>(promise: Promise<T>, limitMs = 3_600_000): Promise<T> {
    let isSettled = false
    void promise.catch(() => {}).finally(() => (isSettled = true))
    const end = this.#elapsed + limitMs
    for (;;) {
      await this.#quiet()
      if (isSettled) return promise
      const next = this.#heap[0]
      if (next === undefined || next.at > end) throw new Error(`nothing ended it in ${limitMs} ms of simulated time`)
      this.#elapsed = Math.max(this.#elapsed, next.at)
      let left = TASKS_AT_ONCE
      for (let due = this.#heap[0]; due !== undefined && due.at <= this.#elapsed && left-- > 0; due = this.#heap[0]) {
        this.#pop()
        const { task } = due
        due.task = undefined
        task?.()
      }
    }
  }

  /** Runs everything that waits for no timer. */
  async #quiet(): Promise<void> {
    do await new Promise<void>((resolve) => void realImmediate(resolve))
    while (this.#immediates > 0)
  }

  #push(due: Due): void {
    const heap = this.#heap
    let at = heap.push(due) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(due, heap[parent])) break
      heap[at] = heap[parent] as Due
      at = parent
    }
    heap[at] = due
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Due, heap[child])) child++
      if (!isBefore(heap[child] as Due, last)) break
      heap[at] = heap[child] as Due
      at = child
    }
    heap[at] = last
  }
}

const isBefore = (a: Due, b: Due | undefined): boolean =>
  b !== undefined && (a.at < b.at || (a.at === b.at && a.order < b.order))
