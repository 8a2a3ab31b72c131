import { limits } from '../../lib/index.ts'
import type { Clock, Documents } from '../../lib/interface/index.ts'

/** By account and by funding address: the UTC day of the last free withdrawal. Under `ALL`: the day and the number of free withdrawals. */
const COLLECTION = 'free-withdrawals'
const ALL = 'all'

export interface FreeWithdrawalsInit {
  readonly documents: Documents
  readonly clock: Pick<Clock, 'now'>
}

/** The recipient of a withdrawal. */
export interface Recipient {
  readonly id: string
  readonly funding: string
}

/** Withdrawals whose gas the operator pays. Counted in the accounts’ store, so that all its processes share the count. */
export class FreeWithdrawals {
  readonly #init: FreeWithdrawalsInit

  constructor(init: FreeWithdrawalsInit) {
    this.#init = init
  }

  async isLeft({ id, funding }: Recipient): Promise<boolean> {
    const { documents } = this.#init
    const values = await Promise.all([id, funding].map((key) => documents.get(COLLECTION, key)))
    if (values.some((value) => value === this.#today())) return false
    return this.#countOf(await documents.get(COLLECTION, ALL)) < limits.FREE_WITHDRAWALS_MAX
  }

  /** Durable when it resolves. False if none is left, or if another process took the last one. */
  async take(recipient: Recipient): Promise<boolean> {
    const { id, funding } = recipient
    if (!(await this.isLeft(recipient)) || !(await this.#mark(id))) return false
    if ((await this.#mark(funding)) && (await this.#add(1))) return true
    await this.#change(id, () => '')
    return false
  }

  /** Returns an unused free withdrawal. Otherwise one account could use up those of all others by requests that are refused. */
  async giveBack({ id, funding }: Recipient): Promise<void> {
    for (const key of [id, funding]) await this.#change(key, () => '')
    await this.#add(-1)
  }

  #mark(key: string): Promise<boolean> {
    const today = this.#today()
    return this.#change(key, (before) => (before === today ? undefined : today))
  }

  #add(change: 1 | -1): Promise<boolean> {
    return this.#change(ALL, (before) => {
      const count = this.#countOf(before) + change
      return count < 0 || count > limits.FREE_WITHDRAWALS_MAX ? undefined : `${this.#today()}/${count}`
    })
  }

  /** Returns false if `next` has nothing to write. */
  async #change(key: string, next: (before: string | undefined) => string | undefined): Promise<boolean> {
    const { documents } = this.#init
    for (;;) {
      const before = await documents.get(COLLECTION, key)
      const value = next(before)
      if (value === undefined) return false
      const isWritten =
        before === undefined
          ? await documents.insert(COLLECTION, key, value)
          : await documents.replace(COLLECTION, key, before, value)
      if (isWritten) return true
    }
  }

  #countOf(value: string | undefined): number {
    const [day, count] = (value ?? '').split('/')
    return day === this.#today() ? Number(count) : 0
  }

  #today(): string {
    return String(Math.floor(this.#init.clock.now() / limits.DAY_MS))
  }
}
