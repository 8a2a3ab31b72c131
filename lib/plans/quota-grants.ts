import { SoukError } from '../base/errors.ts'
import { QUOTA_SLICE_MAX, QUOTA_SLICE_PART } from '../base/limits.ts'
import type { Documents } from '../interface/store.ts'
import type { Band } from './bands.ts'
import { changeDocument } from './change-document.ts'

/** Documents that replicas share: places of a period by the peer that took them, and band. */
export const GRANTS = 'plan-grants'

type Taken = Readonly<Record<string, readonly number[]>>

/** What this process took of a period, and all others together, by band. */
export interface Granted {
  readonly own: readonly number[]
  readonly others: readonly number[]
}

/**
 * Takes places of a period that several owner processes share, a slice at a time: durable before any of it is used. Slices get
 * smaller towards the end of a band, so that hardly a place lies idle at one process while another is out of them.
 */
export class QuotaGrants {
  readonly #documents: Documents
  readonly #self: string

  constructor(documents: Documents, self: string) {
    this.#documents = documents
    this.#self = self
  }

  async look(key: string): Promise<Granted> {
    return this.#of(read(await this.#documents.get(GRANTS, key)))
  }

  /** A slice of the band, or nothing where there is none left. */
  async take(key: string, bands: readonly Band[], band: number): Promise<Granted> {
    const size = bands[band]?.size ?? 0
    let granted: Granted = { own: [], others: [] }
    const outcome = await changeDocument(this.#documents, [GRANTS, key], (before) => {
      const taken = read(before)
      granted = this.#of(taken)
      const { own, others } = granted
      const left = size - (own[band] ?? 0) - (others[band] ?? 0)
      if (left <= 0) return undefined
      const slice = Math.max(1, Math.min(QUOTA_SLICE_MAX, Math.floor(left / QUOTA_SLICE_PART)))
      const mine = bands.map((_, i) => (own[i] ?? 0) + (i === band ? slice : 0))
      granted = { own: mine, others }
      return JSON.stringify({ ...taken, [this.#self]: mine })
    })
    if (outcome !== 'busy') return granted
    throw new SoukError('overloaded', 'Too many owners count this subscription at once.', { notAccepted: true })
  }

  /** Others may take what this process had beyond what it keeps. */
  async giveBack(key: string, kept: readonly number[]): Promise<void> {
    await changeDocument(this.#documents, [GRANTS, key], (before) => {
      const taken = read(before)
      const mine = taken[this.#self]?.map((places, i) => Math.min(places, kept[i] ?? 0))
      return mine && JSON.stringify({ ...taken, [this.#self]: mine })
    })
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
