import { createServer } from 'node:http'
import { x402Facilitator } from '@x402/core/facilitator'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { BatchSettlementEvmScheme as BatchFacilitator } from '@x402/evm/batch-settlement/facilitator'
import { BatchSettlementEvmScheme as BatchServer } from '@x402/evm/batch-settlement/server'
import { ExactEvmScheme as ExactFacilitator } from '@x402/evm/exact/facilitator'
import { ExactEvmScheme as ExactServer } from '@x402/evm/exact/server'
import { paymentMiddleware, x402ResourceServer } from '@x402/express'
import express from 'express'
import { createWalletClient, type Hex, http, nonceManager, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { checksummed } from '../../../lib/index.ts'
import type { Address, ChainParameters } from '../../../lib/interface/index.ts'
import { viemChain } from '../viem-chain.ts'
import { listenOnLoopback } from '../loopback.ts'
import { play } from '../role.ts'

export type X402Scheme = 'exact' | 'batch-settlement'

export interface X402ServerArgs {
  readonly scheme: X402Scheme
  readonly chain: ChainParameters
  /** The keys of the accounts that settle in turn, because the transactions of one account would wait for each other. */
  readonly keys: readonly Hex[]
  readonly payTo: Address
  /** Atoms. */
  readonly price: string
}

/** Each transaction gets a block at once, so polling is frequent. */
const POLL_MS = 4

/** Existing payment software: `@x402/express`, with the facilitator in the same process. */
play(async ({ scheme, chain, keys, payTo, price }: X402ServerArgs) => {
  const network = `eip155:${chain.chainId}` as const
  const client = createWalletClient({
    chain: viemChain(chain),
    transport: http(chain.rpcUrl),
    pollingInterval: POLL_MS,
    cacheTime: 0
  }).extend(publicActions)
  const accounts = keys.map((key) => privateKeyToAccount(key, { nonceManager }))
  let turn = 0
  const next = () => accounts[turn++ % accounts.length]
  const [first] = accounts
  if (first === undefined) throw new Error('no account to settle with')
  const signer = toFacilitatorEvmSigner({
    address: first.address,
    readContract: (args) => client.readContract(args),
    verifyTypedData: (args) => client.verifyTypedData(args as never),
    writeContract: (args) => client.writeContract({ ...args, account: next(), chain: client.chain } as never),
    sendTransaction: (args) => client.sendTransaction({ ...args, account: next(), chain: client.chain } as never),
    // Most transactions are already mined; viem would poll every new block for each pending one.
    waitForTransactionReceipt: (args) =>
      client.getTransactionReceipt(args).catch(() => client.waitForTransactionReceipt(args)),
    getCode: (args) => client.getCode(args)
  })
  const isExact = scheme === 'exact'
  const facilitator = new x402Facilitator().register(
    network,
    isExact ? new ExactFacilitator(signer) : new BatchFacilitator(signer, first)
  )
  const resources = new x402ResourceServer({
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: (payload, requirements) => facilitator.settle(payload, requirements),
    getSupported: async () => facilitator.getSupported() as never
  }).register(network, isExact ? new ExactServer() : new BatchServer(checksummed(payTo)))
  const { address: asset, name, version } = chain.usdc
  const accepts = {
    scheme,
    network,
    payTo: checksummed(payTo),
    price: { asset: checksummed(asset), amount: price, extra: { name, version } }
  }

  const app = express()
  app.use(paymentMiddleware({ 'POST /': { accepts } }, resources))
  app.post('/', express.raw({ type: 'application/json' }), (req, res) => {
    res.type('application/json').send(req.body)
  })
  return listenOnLoopback(createServer(app))
})
