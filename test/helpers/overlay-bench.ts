import { systemClock, systemRandom } from '../../lib/index.ts'
import type { Clock, Souk } from '../../lib/interface/index.ts'
import { createTestnet } from '../../lib/testing/index.ts'
import { createIngress } from '../../node/ingress/ingress.ts'
import { createKeys } from '../../node/keys/keys.ts'
import { DailyCaps } from '../../node/spending/daily-caps.ts'
import { Spending } from '../../node/spending/spending.ts'

/** Two nodes: an owner that serves the registered APIs, and a consumer with an ingress. */
export interface OverlayBench {
  readonly owner: Souk
  readonly url: string
  /** `fetch` with the consumer's key. */
  readonly fetch: typeof fetch
  readonly key: string
  newKey(): Promise<string>
  close(): Promise<void>
}

/** @param clock of the ingress. Default: the system's */
export async function overlayBench(clock: Clock = systemClock): Promise<OverlayBench> {
  const net = await createTestnet({ nodes: 2 })
  const [first, second] = net.nodes
  if (first === undefined || second === undefined) throw new Error('the network has no two nodes')
  const seams = { clock, random: systemRandom }
  const { documents } = second.souk.store
  const keys = createKeys({ documents, secret: Buffer.alloc(32, 3), network: 'dev', ...seams })
  const { key } = await keys.issue({ label: 'tests' })
  const ingress = createIngress({
    souk: second.souk,
    keys,
    spending: new Spending({ caps: new DailyCaps({ clock, documents }) }),
    ...seams,
    log: { warn() {}, error: (message: string, facts: unknown) => console.error(message, facts) },
    options: { host: '127.0.0.1', port: 0 }
  })
  const { url } = await ingress.listen()
  return {
    owner: first.souk,
    url,
    key,
    newKey: async () => (await keys.issue()).key,
    fetch(input, init = {}) {
      const headers = new Headers(init.headers)
      headers.set('x-consumer-key', key)
      return fetch(input, { ...init, headers })
    },
    async close() {
      await ingress.close()
      await net.stop()
    }
  }
}
