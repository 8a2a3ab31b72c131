import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { closedLoop, type LoadShape } from '../closed-loop.ts'
import { payload } from '../payload.ts'
import { play } from '../role.ts'
import type { X402Scheme } from './x402-server.ts'

export interface X402LoadArgs {
  readonly scheme: X402Scheme
  readonly chainId: number
  /** One payer per worker. */
  readonly keys: readonly Hex[]
  /** Atoms that a channel gets with its first call: enough for the benchmark. */
  readonly deposit: string
}

export interface X402Load extends LoadShape {
  readonly origin: string
}

/** A consumer with `@x402/fetch`: request, 402 with the price, signature, second request. */
play(({ scheme, chainId, keys, deposit }: X402LoadArgs) => {
  const clientOf = (key: Hex) => {
    const account = privateKeyToAccount(key)
    if (scheme === 'exact') return new ExactEvmScheme(account)
    return new BatchSettlementEvmScheme(account, { depositStrategy: () => deposit })
  }
  const payers = keys.map((key) =>
    wrapFetchWithPaymentFromConfig(globalThis.fetch, {
      // The dev USDC is not among its default assets.
      spendControls: false,
      schemes: [{ network: `eip155:${chainId}`, client: clientOf(key) }]
    })
  )

  async function run({ origin, ...shape }: X402Load) {
    const bodies = Array.from({ length: shape.concurrency }, (_, worker) => payload(worker))
    return closedLoop(shape, async (worker) => {
      const [pay, body] = [payers[worker % payers.length], bodies[worker]]
      if (pay === undefined || body === undefined) throw new Error('no payer')
      const headers = { 'content-type': 'application/json' }
      const response = await pay(`${origin}/`, { method: 'POST', headers, body: body.toString() })
      const received = Buffer.from(await response.arrayBuffer())
      if (response.status === 200 && response.headers.has('payment-response') && body.equals(received)) return
      throw new Error(`${origin} answered ${response.status}: ${received.toString()}`)
    })
  }
  return { info: {}, operations: { run }, stop: () => {} }
})
