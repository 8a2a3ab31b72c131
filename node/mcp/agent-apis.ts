import type { KeyHolder } from '../keys/verifier.ts'
import type { Bindings } from '../subscriptions/bindings.ts'

/** Selects the APIs whose operations become tools, if the agent names none. */
export class AgentApis {
  readonly #bindings: Pick<Bindings, 'list'> | undefined

  /** @param bindings - undefined if there are no subscriptions */
  constructor(bindings: Pick<Bindings, 'list'> | undefined) {
    this.#bindings = bindings
  }

  /** The APIs of the key’s scope, or otherwise those that its account has subscribed to; `name@provider`. */
  async of({ apis, account }: Pick<KeyHolder, 'apis' | 'account'>): Promise<readonly string[]> {
    if (apis !== undefined) return apis
    const bound = (await this.#bindings?.list(account)) ?? []
    return bound.map(({ api }) => api)
  }
}
