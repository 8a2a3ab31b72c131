import { type ApiRef, parseApiRef } from '../base/api-name.ts'
import { type Clock, deadline, type Timer } from '../base/clock.ts'
import { HELLO_MS } from '../base/limits/link.ts'
import { WARM_LINKS_CHECK_MS, WARM_LINKS_MAX } from '../base/limits/plans.ts'
import type { Resolution, ResolveOptions } from '../interface/directory.ts'
import type { Link } from '../interface/link.ts'
import type { OwnSubscription } from '../interface/subscription.ts'
import { isDue, stateAt, takesCalls } from './sold-subscription.ts'

export interface WarmLinksInit {
  readonly link: Pick<Link, 'self' | 'connect'>
  readonly clock: Clock
  readonly subscriptions: { list(): Promise<readonly OwnSubscription[]> }
  readonly resolve: (ref: ApiRef, options: Partial<ResolveOptions>) => Promise<Resolution>
}

/**
 * Keeps a channel to an owner of each API to which this node has a subscription, and its lookup cached. So the next call
 * costs one round trip, also after a pause.
 */
export class WarmLinks {
  readonly #init: WarmLinksInit
  #timer: Timer | undefined
  #stopped = new AbortController()

  constructor(init: WarmLinksInit) {
    this.#init = init
  }

  start(): void {
    this.#stopped = new AbortController()
    this.#schedule(0)
  }

  stop(): void {
    this.#stopped.abort()
    this.#timer?.cancel()
  }

  #schedule(ms: number): void {
    this.#timer = this.#init.clock.after(ms, () => {
      void this.#check().finally(() => {
        if (!this.#stopped.signal.aborted) this.#schedule(WARM_LINKS_CHECK_MS)
      })
    })
  }

  async #check(): Promise<void> {
    const { clock, subscriptions } = this.#init
    const held = await subscriptions.list().catch(() => [])
    const now = clock.now()
    const open = held.filter((each) => takesCalls(stateAt(each, now)) || isDue(each, now))
    const apis = [...new Set(open.map(({ api }) => api))].slice(-WARM_LINKS_MAX)
    await Promise.all(apis.map((api) => this.#warm(api).catch(() => {})))
  }

  async #warm(api: string): Promise<void> {
    const { link, clock, resolve } = this.#init
    const [owner] = (await resolve(parseApiRef(api), { signal: this.#stopped.signal })).owners
    if (owner === undefined || owner.id === link.self) return
    const limit = deadline(clock, HELLO_MS, () => new Error('the channel did not open in time'), this.#stopped.signal)
    await link.connect(owner, limit.signal).finally(() => limit.clear())
  }
}
