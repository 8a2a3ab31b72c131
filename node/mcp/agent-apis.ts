import type { KeyHolder } from '../keys/verifier.ts'
import type { Bindings } from '../subscriptions/bindings.ts'

/** Which APIs are tools of their own to the holder of a key who names none. */
export class AgentApis {
  readonly #bindings: Pick<Bindings, 'list'> | undefined

  /** @param bindings - undefined where there are no subscriptions */
  constructor(bindings: Pick<Bindings, 'list'> | undefined) {
    this.#bindings = bindings
  }

  /** Those that its key is for, and else those that its account has subscribed to; `name@provider`. */
  async of({ apis, account }: Pick<KeyHolder, 'apis' | 'account'>): Promise<readonly string[]> {
    if (apis !== undefined) return apis
    const bound = (await this.#bindings?.list(account)) ?? []
    return bound.map(({ api }) => api)
  }
}
