import { ByteBudget, type HeldBytes } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { OVERLOAD_PAUSE_MS } from '../base/limits/admission.ts'
import { HELD_BYTES_MAX, HELD_HOLDER_PART } from '../base/limits/ingress.ts'
import { LoadControl } from '../base/load-control.ts'
import type { CallMemory } from '../interface/adapter.ts'

export interface OwnerLoadInit {
  readonly clock: Clock
  /** Peer id of this node. Its own calls were admitted at its ingress. */
  readonly self: string
  /** Bytes of bodies held at once. Default `HELD_BYTES_MAX`. */
  readonly heldBytesMax?: number | undefined
}

/** Limits what calls may use of this process: event-loop time, and memory for the bodies that adapters keep whole. */
export class OwnerLoad {
  readonly #self: string
  readonly #control: LoadControl
  readonly #bodies: ByteBudget
  readonly #bytesMax: number
  readonly #perPeer: number

  constructor({ clock, self, heldBytesMax = HELD_BYTES_MAX }: OwnerLoadInit) {
    this.#self = self
    this.#control = new LoadControl(clock)
    this.#bodies = new ByteBudget(heldBytesMax)
    this.#bytesMax = heldBytesMax
    this.#perPeer = Math.floor(heldBytesMax / HELD_HOLDER_PART)
  }

  /** @throws SoukError `overloaded`: the call was not accepted */
  admit(peer: string): void {
    if (peer === this.#self || this.#control.admit(() => peer)) return
    throw new SoukError('overloaded', 'This node is overloaded. Try again later.', {
      notAccepted: true,
      retryAfterMs: OVERLOAD_PAUSE_MS
    })
  }

  /** The memory of one call, still empty. */
  memoryOf(peer: string): HeldMemory {
    return new HeldMemory(this.#bodies, peer, peer === this.#self ? this.#bytesMax : this.#perPeer)
  }
}

/** The memory of one call. Most calls use none, so a holding is made for the first byte. */
export class HeldMemory implements CallMemory {
  readonly #budget: ByteBudget
  readonly #peer: string
  readonly #bytesMax: number
  #held: HeldBytes | undefined

  constructor(budget: ByteBudget, peer: string, bytesMax: number) {
    this.#budget = budget
    this.#peer = peer
    this.#bytesMax = bytesMax
  }

  get isUsed(): boolean {
    return this.#held !== undefined
  }

  take(bytes: number): void {
    this.#hold().take(bytes)
  }

  wait(bytes: number, signal: AbortSignal): Promise<void> | undefined {
    return this.#hold().wait(bytes, signal)
  }

  free(): void {
    this.#held?.free()
  }

  #hold(): HeldBytes {
    return (this.#held ??= this.#budget.hold([{ holder: this.#peer, bytesMax: this.#bytesMax }]))
  }
}
