import { join } from 'node:path'
import {
  createNode,
  createSqliteStore,
  fromHex,
  type Hex,
  keySigner,
  parseUsdc,
  systemClock,
  systemRandom
} from '../../../lib/index.ts'
import { createChain, createChannelScheme } from '../../../lib/pay/index.ts'
import type { Address, ChainParameters } from '../../../lib/interface/index.ts'
import { createIngress } from '../../../node/ingress/ingress.ts'
import { createKeys } from '../../../node/keys/keys.ts'
import { DailyCaps } from '../../../node/spending/daily-caps.ts'
import { Spending } from '../../../node/spending/spending.ts'
import { restFactory } from '../../../protocols/index.ts'
import { closedLoop, type LoadShape } from '../closed-loop.ts'
import { echo } from '../echo.ts'
import { payload } from '../payload.ts'
import { play } from '../role.ts'

export interface PayingNodeArgs {
  /** Empty; its creator removes it. */
  readonly directory: string
  /** Multiaddrs of the network's first node. */
  readonly bootstrap: readonly string[]
  readonly chain: ChainParameters
  /** The private key of its wallet. */
  readonly key: Hex
}

export interface PayingNodeInfo {
  /** Multiaddrs with the peer id. */
  readonly addresses: readonly string[]
  readonly ingress: string
}

export interface Offer {
  readonly name: string
  readonly price: string
  readonly payout: Address
  /** The origin of its REST API; absent for an API in code. */
  readonly origin?: string
}

export interface CodeLoad extends LoadShape {
  readonly api: string
}

/** Enough for a benchmark, so that it measures calls and not deposits and leases. */
const RULES = { deposit: parseUsdc('300'), depositMax: parseUsdc('1000'), dailyMax: parseUsdc('10000') }
const HOST = '127.0.0.1'
const SILENT = { warn: () => {}, error: () => {} }

/** The parts of a node that a paid call uses: SQLite store, channel payment scheme on a real EVM, ingress. */
play(async ({ directory, bootstrap, chain, key }: PayingNodeArgs) => {
  const store = createSqliteStore({ path: join(directory, 'store.db') })
  const signer = keySigner(fromHex(key, 32))
  const paymentScheme = createChannelScheme({
    chain: createChain(chain),
    signer,
    rules: RULES,
    onError: (error) => console.error(error)
  })
  const { souk, start, stop } = await createNode({ store, paymentScheme, bootstrap })
  await start()
  const secret = systemRandom.fill(new Uint8Array(32))
  const keys = createKeys({
    documents: store.documents,
    secret,
    clock: systemClock,
    random: systemRandom,
    network: 'dev'
  })
  const spending = new Spending({ caps: new DailyCaps({ clock: systemClock, documents: store.documents }) })
  const options = { host: HOST, port: 0, exact: false }
  const ingress = createIngress({
    souk,
    keys,
    spending,
    clock: systemClock,
    random: systemRandom,
    options,
    log: SILENT
  })
  const { url } = await ingress.listen()

  async function run({ api, ...shape }: CodeLoad) {
    const bodies = Array.from({ length: shape.concurrency }, (_, worker) => payload(worker))
    return closedLoop(shape, async (worker) => {
      const body = bodies[worker] ?? payload(worker)
      const reply = await souk.call({ api, body })
      if (reply.status === 200 && reply.body instanceof Uint8Array && body.equals(reply.body)) return
      throw new Error(`the call was answered ${reply.status}, or not with what was sent`)
    })
  }

  const info: PayingNodeInfo = { addresses: souk.status().addresses, ingress: url }
  return {
    info,
    operations: {
      run,
      serve: async ({ name, price, payout, origin }: Offer) => {
        const adapter = origin === undefined ? echo : restFactory.open({ endpoint: origin }, '')
        await souk.serve({ name, price, payout }, adapter)
      },
      issueKey: async () => (await keys.issue({ maxPrice: RULES.dailyMax, dailyCap: RULES.dailyMax })).key
    },
    async stop() {
      await ingress.close()
      await stop()
    }
  }
})
