import { createHash } from 'node:crypto'
import type { Timer } from '../../lib/base/clock.ts'
import { Rng } from './rng.ts'

interface Event {
  readonly at: number
  readonly seq: number
  task: (() => void) | undefined
}

/** The time limit of a run: one day. */
const TIME_MAX_MS = 24 * 60 * 60 * 1_000
/** The start of every simulation: Unix time, milliseconds. */
const BEGINNING = Date.UTC(2026, 0, 2, 3, 4, 5)

/**
 * Simulated time. Events run one after the other, and all work that follows without a delay runs before the next. Everything
 * random comes from the seed, so a seed determines a run.
 */
export class World {
  readonly seed: number
  readonly rng: Rng
  /** A digest of the log, equal for every run of a seed. */
  readonly #hash = createHash('sha256')
  readonly #onLine: ((line: string) => void) | undefined
  readonly #heap: Event[] = []
  #now = 0
  #seq = 0
  #failure: { readonly error: unknown } | undefined

  constructor(seed: number, onLine?: (line: string) => void) {
    this.seed = seed
    this.rng = new Rng(seed)
    this.#onLine = onLine
  }

  /** Milliseconds since the start. */
  get now(): number {
    return this.#now
  }

  /** Unix time, milliseconds. */
  get date(): number {
    return BEGINNING + this.#now
  }

  after(delayMs: number, task: () => void): Timer {
    const event: Event = { at: this.#now + Math.max(0, delayMs), seq: this.#seq++, task }
    push(this.#heap, event)
    return {
      cancel: () => {
        event.task = undefined
      }
    }
  }

  sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => void this.after(delayMs, resolve))
  }

  note(who: string, what: string): void {
    const line = `${(this.#now / 1_000).toFixed(3).padStart(9)} ${who} ${what}`
    this.#hash.update(line)
    this.#onLine?.(line)
  }

  /** Ends the run with this error at once, so that later events cannot hide it. */
  fail(error: unknown): void {
    this.#failure ??= { error }
  }

  /** Runs events until the promise is settled. @throws the error given to `fail`, or the promise's rejection */
  async run<T>(promise: Promise<T>): Promise<T> {
    const state = { isOver: false }
    const over = () => {
      state.isOver = true
    }
    promise.then(over, over)
    await turn()
    while (!state.isOver && this.#failure === undefined) {
      const event = pop(this.#heap)
      if (event === undefined) throw new Error('nothing is left to happen, and the run is not over')
      if (event.task === undefined) continue
      if (event.at > TIME_MAX_MS) throw new Error('something is waited for that never comes')
      this.#now = event.at
      event.task()
      await turn()
    }
    if (this.#failure !== undefined) throw this.#failure.error
    return promise
  }

  /** The digest of the log so far. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }
}

/** Resolves after all microtasks. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

const isBefore = (a: Event, b: Event): boolean => a.at < b.at || (a.at === b.at && a.seq < b.seq)

function push(heap: Event[], event: Event): void {
  let at = heap.length
  heap.push(event)
  while (at > 0) {
    const up = (at - 1) >> 1
    const parent = heap[up] as Event
    if (!isBefore(event, parent)) break
    heap[at] = parent
    at = up
  }
  heap[at] = event
}

function pop(heap: Event[]): Event | undefined {
  const [first] = heap
  const last = heap.pop()
  if (first === undefined || last === undefined || heap.length === 0) return first
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Event, heap[child] as Event)) child++
    if (!isBefore(heap[child] as Event, last)) break
    heap[at] = heap[child] as Event
    at = child
  }
  heap[at] = last
  return first
}
