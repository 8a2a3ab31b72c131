import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { requestIds, systemClock, systemRandom } from '../../../lib/index.ts'
import { eventually } from '../../helpers/eventually.ts'
import type { StreamArgs, StreamResult } from './roles/consumer.ts'
import type { NodeInfo } from './roles/owner.ts'
import type { Victim } from './victim.ts'

const RETRY_MS = 100
/** Enough for a process to start and to find the other one. */
const PAID_MS = 60_000

interface StreamsInit {
  readonly consumer: Victim<NodeInfo>
  readonly api: string
  readonly diary: string
  /** Events included in the price of the opening. */
  readonly included: number
}

/** Streams with priced events. The consumer's process reads them while kills hit it and the owner. */
export class Streams {
  /** The result of each opening, by request id. `killed`: the consumer was killed before it reported a result. */
  readonly told = new Map<string, StreamResult | 'killed'>()
  readonly #init: StreamsInit
  #isOn = false
  #reading: Promise<unknown> = Promise.resolve()
  readonly #ids = requestIds(systemClock, systemRandom)

  constructor(init: StreamsInit) {
    this.#init = init
  }

  get api(): string {
    return this.#init.api
  }

  /** Reads `count` streams at a time, opening a new one when one ends. Resolves when `count` more streams have a paid event. */
  async start(count: number): Promise<void> {
    this.#isOn = true
    const before = this.#paid()
    this.#reading = Promise.all(Array.from({ length: count }, () => this.#readOn()))
    await eventually('events are paid for', PAID_MS, () => (this.#paid() >= before + count ? true : undefined))
  }

  /** Opens no more streams. Resolves when the last one has ended. */
  async stop(): Promise<void> {
    this.#isOn = false
    await this.#reading
  }

  /** The number of read events by the id of the stream's opening. @throws if an event was read twice, or is missing */
  read(): ReadonlyMap<string, number> {
    const read = new Map<string, number>()
    if (!existsSync(this.#init.diary)) return read
    // The text after the last line end is empty, or an unfinished line.
    for (const line of readFileSync(this.#init.diary, 'utf8').split('\n').slice(0, -1)) {
      const [id = '', event] = line.split(' ')
      const expected = (read.get(id) ?? 0) + 1
      if (Number(event) !== expected) throw new Error(`event ${event} of ${id} was read instead of ${expected}`)
      read.set(id, expected)
    }
    return read
  }

  #paid(): number {
    return [...this.read().values()].filter((events) => events > this.#init.included).length
  }

  async #readOn(): Promise<void> {
    while (this.#isOn) {
      await this.#read()
      if (this.#isOn) await pause(RETRY_MS)
    }
  }

  async #read(): Promise<void> {
    const { consumer, api, diary } = this.#init
    const id = Buffer.from(this.#ids.next()).toString('hex')
    this.told.set(id, 'killed')
    const life = await consumer.life
    const args: StreamArgs = { id, api, diary }
    this.told.set(id, await life.ask<StreamResult>('stream', args).catch(() => 'killed'))
  }
}
