import type { Timer } from '../base/clock.ts'
import { ignore } from '../base/ignore.ts'
import { CLAIMANTS_AT_ONCE, CLAIMANTS_MAX, CLAIMANTS_MS, CLAIMANTS_MS_MIN } from '../base/limits/directory.ts'
import { Slots } from '../base/slots.ts'
import { waitAtMost } from '../base/wait-at-most.ts'
import { within } from '../base/within.ts'
import type { PeerAddress } from '../interface/link.ts'
import { splitId } from './directory/keys.ts'
import { type LookUpInit, openChannel } from './look-up.ts'

/** Resolves to true where the peer knows an API of the name. */
type Ask = (peer: PeerAddress) => Promise<boolean>

/**
 * Asks the claimants of a bare name as the directory names them. Also asks those of the catalogue if no API is found soon: the
 * directory may take long, or have lost the claims. Ends when all have responded, or some time after the first one with an API
 * of this name: of the others, and of the directory's peers, some may be offline.
 * @returns whether the directory names any, and whether it responded
 */
export async function askClaimants(
  init: LookUpInit,
  name: string,
  signal: AbortSignal,
  isForCall: boolean,
  ask: Ask
): Promise<{ readonly isNamed: boolean; readonly isAnswered: boolean }> {
  const { directory, link, clock } = init
  const claimants = new Claimants(init, name, signal, ask)
  const slow = clock.after(CLAIMANTS_MS_MIN, () => void claimants.includeListed())
  let isAnswered = true
  const onUnanswered = () => {
    isAnswered = false
  }
  let named = 0
  for await (const peer of directory.claimants(name, claimants.signal, { onUnanswered })) {
    if (peer.id === link.self) continue
    if (isForCall && named === 0) openChannel({ link, clock }, peer)
    claimants.include(peer)
    if (++named >= CLAIMANTS_MAX) break
  }
  // Peers that just connected may know names that the directory does not have yet.
  if (named === 0) for (const peer of link.peers().slice(0, CLAIMANTS_AT_ONCE)) claimants.include(peer)
  await claimants.settled()
  slow.cancel()
  await claimants.includeListed()
  await claimants.settled()
  claimants.end()
  return { isNamed: named > 0, isAnswered }
}

/** The claimants that are asked, each once. */
class Claimants {
  /** Aborts when enough of them have responded. */
  readonly signal: AbortSignal
  readonly #init: LookUpInit
  readonly #name: string
  readonly #ask: Ask
  readonly #startedAt: number
  readonly #enough = new AbortController()
  readonly #slots = new Slots(CLAIMANTS_AT_ONCE)
  readonly #asked = new Map<string, Promise<void>>()
  /** Runs once one has sent its API. */
  #patience: Timer | undefined
  #listed: Promise<void> | undefined

  constructor(init: LookUpInit, name: string, signal: AbortSignal, ask: Ask) {
    this.#init = init
    this.#name = name
    this.#ask = ask
    this.#startedAt = init.clock.elapsed()
    this.signal = AbortSignal.any([signal, this.#enough.signal])
  }

  include(peer: PeerAddress): void {
    if (peer.id === this.#init.link.self || this.#asked.has(peer.id)) return
    this.#asked.set(peer.id, this.#askInTurn(peer).catch(ignore))
  }

  /** Includes the providers that the catalogue names, unless an API is found already. */
  includeListed(): Promise<void> {
    return (this.#listed ??= this.#includeListed().catch(ignore))
  }

  /** Resolves when all that were included have responded, or enough of them. */
  async settled(): Promise<void> {
    await within(Promise.all(this.#asked.values()), this.signal).catch(ignore)
  }

  end(): void {
    this.#patience?.cancel()
  }

  async #includeListed(): Promise<void> {
    if (this.#patience !== undefined) return
    for (const id of await this.#init.listed(this.#name)) this.include({ id: splitId(id).provider, addresses: [] })
  }

  async #askInTurn(peer: PeerAddress): Promise<void> {
    const { clock } = this.#init
    const leave = await this.#slots.enter(this.signal)
    const asked = this.#ask(peer)
    // A silent claimant holds up the next ones for a moment only.
    void waitAtMost(clock, CLAIMANTS_MS_MIN, asked).then(leave, leave)
    if (!(await asked)) return
    const waitMs = Math.min(CLAIMANTS_MS, Math.max(CLAIMANTS_MS_MIN, clock.elapsed() - this.#startedAt))
    this.#patience ??= clock.after(waitMs, () => this.#enough.abort())
  }
}
