import { SoukError } from '../base/errors.ts'
import { QUOTA_SLICE_MAX, QUOTA_SLICE_PART } from '../base/limits/plans.ts'
import type { Documents } from '../interface/store.ts'
import type { Band } from './bands.ts'
import { changeDocument } from './change-document.ts'

/** Document collection shared by replicas: granted calls of a period, by peer and band. */
export const GRANTS = 'plan-grants'

type Taken = Readonly<Record<string, readonly number[]>>

/** Calls granted to this process and to all others, by band. */
export interface Granted {
  readonly own: readonly number[]
  readonly others: readonly number[]
}

/** A period of a subscription. */
export interface Period {
  readonly key: string
  /** When its grants may be deleted. Undefined: never. */
  readonly expiresAt: number | undefined
}

/**
 * Grants calls from a period's quota that several owner processes share. Each slice is stored before it is used. Slices
 * shrink towards the end of a band, so that few calls stay unused at one process while another needs them.
 */
export class QuotaGrants {
  readonly #documents: Documents
  readonly #self: string

  constructor(documents: Documents, self: string) {
    this.#documents = documents
    this.#self = self
  }

  async look({ key }: Period): Promise<Granted> {
    return this.#of(read(await this.#documents.get(GRANTS, key)))
  }

  /** Grants a slice of the band, or nothing where the band is used up. */
  async take({ key, expiresAt }: Period, bands: readonly Band[], band: number): Promise<Granted> {
    const size = bands[band]?.size ?? 0
    let granted: Granted = { own: [], others: [] }
    const grant = (before: string | undefined) => {
      const taken = read(before)
      granted = this.#of(taken)
      const { own, others } = granted
      const left = size - (own[band] ?? 0) - (others[band] ?? 0)
      if (left <= 0) return undefined
      const slice = Math.max(1, Math.min(QUOTA_SLICE_MAX, Math.floor(left / QUOTA_SLICE_PART)))
      const mine = bands.map((_, i) => (own[i] ?? 0) + (i === band ? slice : 0))
      granted = { own: mine, others }
      return JSON.stringify({ ...taken, [this.#self]: mine })
    }
    const outcome = await changeDocument(this.#documents, [GRANTS, key], grant, expiresAt)
    if (outcome !== 'busy') return granted
    throw new SoukError('overloaded', 'Too many owners count this subscription at once. Try again later.', {
      notAccepted: true
    })
  }

  /** Returns granted calls beyond `kept` to the others. */
  async giveBack({ key, expiresAt }: Period, kept: readonly number[]): Promise<void> {
    const give = (before: string | undefined) => {
      const taken = read(before)
      const mine = taken[this.#self]?.map((places, i) => Math.min(places, kept[i] ?? 0))
      return mine && JSON.stringify({ ...taken, [this.#self]: mine })
    }
    await changeDocument(this.#documents, [GRANTS, key], give, expiresAt)
  }

  #of(taken: Taken): Granted {
    const others: number[] = []
    for (const [peer, places] of Object.entries(taken)) {
      if (peer !== this.#self) for (const [i, count] of places.entries()) others[i] = (others[i] ?? 0) + count
    }
    return { own: taken[this.#self] ?? [], others: Array.from(others, (count) => count ?? 0) }
  }
}

const read = (document: string | undefined): Taken => (document === undefined ? {} : (JSON.parse(document) as Taken))
