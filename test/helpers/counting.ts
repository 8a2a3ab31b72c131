import type { YogaSchema } from './yoga.ts'

/** Subscriptions of a GraphQL API that count, one number every two milliseconds. */
export class Counting {
  static readonly TYPE = 'type Subscription { count(to: Int!): Int, forever: Int }'
  /** Running subscriptions. */
  running = 0

  readonly resolvers: YogaSchema['resolvers'][string] = {
    count: { subscribe: (_parent, { to }) => this.#upTo(Number(to)) },
    forever: { subscribe: () => this.#upTo(Infinity) }
  }

  async *#upTo(to: number) {
    this.running++
    try {
      for (let n = 1; n <= to; n++) {
        yield { count: n, forever: n }
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    } finally {
      this.running--
    }
  }
}
