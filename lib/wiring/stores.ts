import type { Store } from '../interface/store.ts'
import type { Part } from './part.ts'

/** The node's own store and the shared one. Both are open from start to stop. */
export function storesPart(own: Store, shared: Store | undefined): Part {
  return {
    async start() {
      await own.open()
      await shared?.open()
    },
    async [Symbol.asyncDispose]() {
      await own.close()
      if (shared !== own) await shared?.close()
    }
  }
}
