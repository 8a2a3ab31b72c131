import { ByteBudget, type HeldBytes } from '../base/byte-budget.ts'
import type { Clock } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { OVERLOAD_PAUSE_MS } from '../base/limits/admission.ts'
import { HELD_BYTES_MAX, HELD_HOLDER_PART } from '../base/limits/ingress.ts'
import { LoadControl } from '../base/load-control.ts'
import type { IncomingCall } from '../interface/call.ts'

export interface OwnerLoadInit {
  readonly clock: Clock
  /** Peer id of this node. Its own calls were admitted at its ingress. */
  readonly self: string
  /** Bytes of peers' bodies held at once. Default `HELD_BYTES_MAX`. */
  readonly heldBytesMax?: number | undefined
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\b/i

/** Limits what peers' calls may use of this process: event-loop time and memory for bodies. */
export class OwnerLoad {
  readonly #self: string
  readonly #control: LoadControl
  readonly #bodies: ByteBudget
  readonly #perPeer: number

  constructor({ clock, self, heldBytesMax = HELD_BYTES_MAX }: OwnerLoadInit) {
    this.#self = self
    this.#control = new LoadControl(clock)
    this.#bodies = new ByteBudget(heldBytesMax)
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

  /** Undefined for a body that is in memory already, and for one that is streamed: adapters collect JSON only. */
  hold({ peer, body, headers }: IncomingCall): HeldBytes | undefined {
    if (body instanceof Uint8Array) return undefined
    const type = headers.find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? ''
    return JSON_TYPE.test(type) ? this.#bodies.hold([{ holder: peer, bytesMax: this.#perPeer }]) : undefined
  }
}
