import type { Logger } from '@libp2p/interface'
import { type Clock, deadline, sleep } from '../../base/clock.ts'
import { reasonOf } from '../../base/component-log.ts'
import {
  DIAL_BACK_ADDRESSES_MAX,
  DIAL_BACK_MS,
  REVERSAL_RETRY_FIRST_MS,
  REVERSALS_ASKED_MAX
} from '../../base/limits/reach.ts'
import type { Channel } from '../../interface/link.ts'
import type { Reachability } from '../../interface/reachability.ts'
import type { Libp2pLink } from '../libp2p-link.ts'
import type { DialBack } from './dial-back.ts'

export interface ReversalsInit {
  readonly dialBack: DialBack
  readonly link: Pick<Libp2pLink, 'uses'>
  readonly status: () => Pick<Reachability, 'state' | 'addresses'>
  readonly clock: Clock
  readonly log: Logger
}

/**
 * Asks the peer of a relayed channel to dial this node directly, so that the relay carries the calls only until then. A
 * request that fails is repeated, at growing intervals, while calls still use the relayed channel.
 */
export class Reversals {
  readonly #init: ReversalsInit

  constructor(init: ReversalsInit) {
    this.#init = init
  }

  /** Resolves when calls use another channel, or after the last request. */
  async start(channel: Channel): Promise<void> {
    const { clock, link, status } = this.#init
    for (let asked = 0, pauseMs = REVERSAL_RETRY_FIRST_MS; link.uses(channel); pauseMs *= 2) {
      const { state, addresses } = status()
      if (state === 'direct' || state === 'private') await this.#ask(channel.peer, addresses)
      if (++asked >= REVERSALS_ASKED_MAX) return
      await sleep(clock, pauseMs)
    }
  }

  async #ask(peer: string, own: readonly string[]): Promise<void> {
    const { clock, dialBack, log } = this.#init
    const limit = deadline(clock, DIAL_BACK_MS, () => new Error('the peer did not dial back in time'))
    try {
      const asked = { ports: [], addresses: own.slice(0, DIAL_BACK_ADDRESSES_MAX) }
      const { reached } = await dialBack.ask({ id: peer, addresses: [] }, asked, limit.signal)
      if (reached.length === 0) log('%s did not reach this node at %s', peer, asked.addresses.join(' '))
    } catch (error) {
      log('%s did not dial back: %s', peer, reasonOf(error))
    } finally {
      limit.clear()
    }
  }
}
