import { existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { requestIds, systemClock, systemRandom } from '../../../lib/index.ts'
import { eventually } from '../../helpers/eventually.ts'
import type { StreamArgs, StreamResult } from './roles/consumer.ts'
import type { NodeInfo } from './roles/owner.ts'
import type { Victim } from './victim.ts'

const RETRY_MS = 100
/** As long as a process may take to start, and find the other. */
const PAID_MS = 60_000

interface StreamsInit {
  readonly consumer: Victim<NodeInfo>
  readonly api: string
  readonly diary: string
  /** Events that come with an opening. */
  readonly included: number
}

/** Streams whose events have a price, read in the consumer's process while it and the owner are killed. */
export class Streams {
  /** By the id of its opening: what was told of that; `killed` where the consumer was, before or after it was answered. */
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

  /** So many at a time, each followed by the next. Resolves when of each something was read that had been paid for. */
  async start(count: number): Promise<void> {
    this.#isOn = true
    const before = this.#paid()
    this.#reading = Promise.all(Array.from({ length: count }, () => this.#readOn()))
    await eventually('events are paid for', PAID_MS, () => (this.#paid() >= before + count ? true : undefined))
  }

  /** Resolves when the last one is over. */
  async stop(): Promise<void> {
    this.#isOn = false
    await this.#reading
  }

  /** How many events of each stream were read, by the id of its opening. @throws where one was read twice, or is missing */
  read(): ReadonlyMap<string, number> {
    const read = new Map<string, number>()
    if (!existsSync(this.#init.diary)) return read
    // After the last line end is nothing, or a line that is being written.
    for (const line of readFileSync(this.#init.diary, 'utf8').split('\n').slice(0, -1)) {
      const [id = '', event] = line.split(' ')
      const expected = (read.get(id) ?? 0) + 1
      if (Number(event) !== expected) throw new Error(`event ${event} of ${id} was read in place of ${expected}`)
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
