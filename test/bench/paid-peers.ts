import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fromHex, type Hex, keySigner, parseUsdc } from '../../lib/index.ts'
import { type DevChain, startDevChain } from '../../node/demo/chain/dev-chain.ts'
import { rpc } from '../../node/demo/chain/rpc.ts'
import type { Origin } from './loopback.ts'
import { Player } from './player.ts'
import type { MoneyWorkArgs } from './roles/money-work.ts'
import type { Offer, PayingNodeArgs, PayingNodeInfo } from './roles/paying-node.ts'
import type { X402LoadArgs } from './roles/x402-load.ts'
import type { X402Scheme, X402ServerArgs } from './roles/x402-server.ts'
import type { Subject } from './subject.ts'

/** Each runs in a separate process. */
const ROLES = {
  upstream: new URL('./roles/upstream.ts', import.meta.url),
  node: new URL('./roles/paying-node.ts', import.meta.url),
  httpLoad: new URL('./roles/http-load.ts', import.meta.url),
  x402Server: new URL('./roles/x402-server.ts', import.meta.url),
  x402Load: new URL('./roles/x402-load.ts', import.meta.url),
  moneyWork: new URL('./roles/money-work.ts', import.meta.url)
}

/** 0.0001 USDC, the lowest supported price. */
const PRICE = '0.0001'
const PURSE = parseUsdc('5000')
/** The deposit in each channel of an x402 client. */
const DEPOSIT = parseUsdc('100')
/** More than workers, so that no call waits for a payer or a settling account. */
const PAYERS = 32
const SETTLERS = 8
/** The deposit counts in full once it is final. */
const FINAL_BLOCKS = 8

/** All processes of the payment suite, running until disposed of. */
export interface PaidPeers extends AsyncDisposable {
  readonly subjects: Readonly<Record<'free' | 'paid' | 'freeCode' | 'paidCode' | 'x402' | 'x402Batch', Subject>>
  readonly moneyWork: Player
  /** Mines blocks on top of the deposits of the first paid calls. */
  finalize(): Promise<void>
}

interface X402Keys {
  readonly payers: readonly Hex[]
  readonly settlers: readonly Hex[]
}

/** A deterministic wallet with this number, unique on this chain. */
const keyOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}`
const addressOf = (key: Hex) => keySigner(fromHex(key, 32)).address
const KEYS = { owner: keyOf(1001), consumer: keyOf(1002), provider: keyOf(1003) }
const keysFrom = (first: number, count: number) => Array.from({ length: count }, (_, i) => keyOf(first + i))

export async function startPaidPeers(directory: string): Promise<PaidPeers> {
  await using undo = new AsyncDisposableStack()
  const start = async <Info>(role: URL, args?: unknown): Promise<Player<Info>> => {
    const player = await Player.start<Info>(role, args)
    undo.defer(() => player.stop())
    return player
  }
  // One block per transaction: the fastest chain for software that settles each call.
  const chain = await startDevChain({ mining: 'instant' })
  undo.defer(() => chain.close())
  const exact: X402Keys = { payers: keysFrom(2001, PAYERS), settlers: keysFrom(3001, SETTLERS) }
  const batch: X402Keys = { payers: keysFrom(4001, PAYERS), settlers: keysFrom(5001, SETTLERS) }
  const gas = [KEYS.owner, ...exact.settlers, ...batch.settlers]
  await fund(chain, { gas, usdc: [KEYS.consumer, ...exact.payers, ...batch.payers] })

  const upstream = await start<Origin>(ROLES.upstream)
  const startNode = async (name: 'owner' | 'consumer', bootstrap: readonly string[]) => {
    const home = join(directory, name)
    await mkdir(home, { recursive: true })
    const args: PayingNodeArgs = { directory: home, bootstrap, chain: chain.parameters, key: KEYS[name] }
    return start<PayingNodeInfo>(ROLES.node, args)
  }
  const owner = await startNode('owner', [])
  const payout = addressOf(KEYS.provider)
  const offers: Offer[] = [
    { name: 'free', price: '0', payout, ...upstream.info },
    { name: 'paid', price: PRICE, payout, ...upstream.info },
    { name: 'free-code', price: '0', payout },
    { name: 'paid-code', price: PRICE, payout }
  ]
  for (const offer of offers) await owner.ask('serve', offer)
  const consumer = await startNode('consumer', owner.info.addresses)
  const key = await consumer.ask<string>('issueKey')
  const httpLoad = await start(ROLES.httpLoad)
  const { parameters } = chain
  const x402 = async (scheme: X402Scheme, title: string, { payers, settlers }: X402Keys): Promise<Subject> => {
    const price = parseUsdc(PRICE).toString()
    const serverArgs: X402ServerArgs = { scheme, chain: parameters, keys: settlers, payTo: payout, price }
    const server = await start<Origin>(ROLES.x402Server, serverArgs)
    const deposit = DEPOSIT.toString()
    const loadArgs: X402LoadArgs = { scheme, chainId: parameters.chainId, keys: payers, deposit }
    return { title, caller: await start(ROLES.x402Load, loadArgs), target: server.info, servers: [server] }
  }
  const { chainId, settlement } = parameters
  const work = join(directory, 'money-work')
  await mkdir(work, { recursive: true })
  const moneyWork = await start(ROLES.moneyWork, {
    directory: work,
    contract: { chainId, address: settlement.address }
  } satisfies MoneyWorkArgs)

  const path = (title: string, name: string): Subject => ({
    title,
    caller: httpLoad,
    target: { origin: consumer.info.ingress, path: `/api/demo/api/${name}`, headers: { 'x-consumer-key': key } },
    servers: [consumer, owner, upstream]
  })
  const code = (title: string, api: string): Subject => ({
    title,
    caller: consumer,
    target: { api },
    servers: [owner]
  })
  const subjects: PaidPeers['subjects'] = {
    free: path('full path, unpaid', 'free'),
    paid: path(`full path, ${PRICE} USDC a call`, 'paid'),
    freeCode: code('overlay alone, unpaid', 'free-code'),
    paidCode: code(`overlay alone, ${PRICE} USDC a call`, 'paid-code'),
    x402: await x402('exact', '@x402/express, exact, local facilitator', exact),
    x402Batch: await x402('batch-settlement', '@x402/express, batch-settlement, books in memory', batch)
  }
  const running = undo.move()
  return {
    subjects,
    moneyWork,
    async finalize() {
      for (let block = 0; block < FINAL_BLOCKS; block++) await rpc(parameters.rpcUrl, 'evm_mine')
    },
    [Symbol.asyncDispose]: () => running.disposeAsync()
  }
}

async function fund(chain: DevChain, { gas, usdc }: { gas: readonly Hex[]; usdc: readonly Hex[] }): Promise<void> {
  for (const key of gas) await chain.fundGas(addressOf(key))
  for (const key of usdc) await chain.mint(addressOf(key), PURSE)
}
