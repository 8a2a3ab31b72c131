import type { Connection } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { type Clock, deadline, type Timer } from '../../base/clock.ts'
import { DIAL_ADDRESS_MS, DIAL_STAGGER_MS, DIALLED_ADDRESSES_MAX, DIALS_PER_PEER_MAX } from '../../base/limits/link.ts'
import { ignore } from '../../base/ignore.ts'
import { closeUnused } from './close-unused.ts'
import { type DialOptions, type OnProgress, onConnected } from './dial-progress.ts'
import { isCircuit } from './is-relayed.ts'

export interface AddressRaceInit {
  readonly dial: (address: Multiaddr, options: DialOptions) => Promise<Connection>
  /** Addresses that are being dialled in all races of a node. */
  readonly load: { dials: number }
  readonly clock: Clock
}

/**
 * Dials the addresses of one peer `DIAL_STAGGER_MS` apart, or as soon as one fails. Each has `DIAL_ADDRESS_MS` to connect,
 * and again for its handshake. The first connection wins and the other dials are aborted (RFC 8305, section 5). A
 * connection that opens at the same moment is closed. Relayed addresses wait until the direct ones have failed.
 */
export class AddressRace {
  readonly #init: AddressRaceInit
  readonly #known = new Set<string>()
  readonly #failures = new Map<string, unknown>()
  /** The callers that wait for the result hear of its progress. */
  readonly #onProgress = new Set<OnProgress>()
  #waiting: Multiaddr[] = []
  #started = 0
  #dialling = 0
  #timer: Timer | undefined
  /** Starts the next dial; undefined while no race runs. */
  #advance: (() => void) | undefined
  #result: Promise<Connection> | undefined

  constructor(init: AddressRaceInit) {
    this.#init = init
  }

  /** Adds addresses, best first. A running race dials them as well. */
  add(addresses: readonly Multiaddr[]): void {
    const added = addresses.filter((address) => !this.#known.has(address.toString()))
    if (added.length === 0) return
    for (const address of added) this.#known.add(address.toString())
    const all = [...this.#waiting, ...added]
    this.#waiting = [...alternating(all.filter((address) => !isCircuit(address))), ...all.filter(isCircuit)]
    if (this.#timer === undefined) this.#advance?.()
  }

  /** Starts the race, or waits for its result. Rejects with the failure of this address when all have failed. */
  async run(address: Multiaddr, { signal, onProgress = ignore }: DialOptions): Promise<Connection> {
    const key = address.toString()
    if (this.#failures.has(key)) throw this.#failures.get(key)
    this.#onProgress.add(onProgress)
    this.#result ??= this.#race(signal).finally(() => {
      this.#result = undefined
    })
    try {
      return await this.#result
    } catch (error) {
      throw this.#failures.get(key) ?? error
    } finally {
      this.#onProgress.delete(onProgress)
    }
  }

  async #race(signal: AbortSignal): Promise<Connection> {
    const { clock, load } = this.#init
    const { promise, resolve, reject } = Promise.withResolvers<Connection>()
    const over = new AbortController()
    const onAbort = () => over.abort(signal.reason)
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
    let winner: Connection | undefined
    const finish = (connection: Connection) => {
      winner ??= connection
      if (connection === winner) resolve(connection)
      else closeUnused(connection, [winner], clock)
    }
    const advance = () => {
      this.#timer?.cancel()
      this.#timer = undefined
      const isBusy = this.#dialling > 0 && load.dials >= DIALLED_ADDRESSES_MAX
      const [next] = this.#waiting
      if (next === undefined || over.signal.aborted || this.#started >= DIALS_PER_PEER_MAX) {
        if (this.#dialling === 0) reject(over.signal.aborted ? over.signal.reason : new Error('no address is left'))
        return
      }
      if (this.#dialling > 0 && isCircuit(next)) return
      this.#timer = clock.after(DIAL_STAGGER_MS, advance)
      if (isBusy) return
      this.#waiting.shift()
      this.#started++
      void this.#dial(next, over.signal).then(finish, (error: unknown) => {
        this.#failures.set(next.toString(), error)
        advance()
      })
    }
    this.#advance = advance
    advance()
    try {
      return await promise
    } finally {
      this.#advance = undefined
      this.#timer?.cancel()
      this.#timer = undefined
      signal.removeEventListener('abort', onAbort)
      over.abort(new Error('another address was faster'))
    }
  }

  async #dial(address: Multiaddr, signal: AbortSignal): Promise<Connection> {
    const { clock, dial, load } = this.#init
    const limit = deadline(clock, DIAL_ADDRESS_MS, () => new Error('the dial timed out'), signal)
    const restart = onConnected(() => limit.restart(DIAL_ADDRESS_MS))
    const onProgress: OnProgress = (event) => {
      for (const each of [restart, ...this.#onProgress]) each(event)
    }
    this.#dialling++
    load.dials++
    try {
      return await dial(address, { signal: limit.signal, onProgress })
    } finally {
      this.#dialling--
      load.dials--
      limit.clear()
    }
  }
}

/** Alternates between IPv6 and IPv4, because one of them often fails as a whole (RFC 8305, section 4). */
function alternating(addresses: readonly Multiaddr[]): Multiaddr[] {
  const left = addresses.map((address) => ({ address, kind: address.getComponents()[0]?.name }))
  const sorted: typeof left = []
  while (left.length > 0) {
    const other = left.findIndex(({ kind }) => kind !== sorted.at(-1)?.kind)
    sorted.push(...left.splice(Math.max(0, other), 1))
  }
  return sorted.map(({ address }) => address)
}
