import { encodeFunctionData } from 'viem/utils'
import { fromHex, type Hex } from '../../lib/base/hex.ts'
import type { Chain } from '../../lib/interface/chain.ts'
import type { Submitter } from '../../lib/interface/submitter.ts'
import { createChain } from '../../lib/pay/chain/chain.ts'
import { usdcAbi } from '../../lib/pay/contracts/contracts.generated.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import { createSubmitter } from '../../lib/pay/chain/submitter.ts'
import { signTransaction } from '../../lib/pay/chain/transaction.ts'
import { createMemoryStore } from '../../lib/store/memory/store.ts'
import type { ChainBench } from './chain.ts'
import { eventually } from './eventually.ts'
import { hastyClock } from './hasty-clock.ts'
import { mortal } from './mortal.ts'

const BOUND_MS = 10_000
const FUNDS = 1_000_000n
let accounts = 100
const newSigner = () => keySigner(fromHex(`0x${(accounts++).toString(16).padStart(64, '0')}`, 32))
const SINK = newSigner().address

/** An account with gas and dev USDC, a store, and processes that submit from the account with that store. */
export async function submitterBench({ client, parameters, fundGas, mint }: ChainBench) {
  // A tip above any base fee of the shared chain, so that fees are raised only where a test wants it.
  const chain = createChain({ ...parameters, tipWei: 1_000_000_000 })
  const store = createMemoryStore()
  await store.open()
  const signer = newSigner()
  const { address } = signer
  await client.setAutomine(true)
  await fundGas(address)
  await mint(address, FUNDS)
  const running = new Set<Submitter>()
  /** The broadcast transactions, in order. */
  const seen: Hex[] = []
  const mine = (blocks = 1) => client.mine({ blocks })
  const nonce = () => chain.nonce(address, 'latest')
  const transfer = (amount: bigint) => ({
    to: parameters.usdc.address,
    data: encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [SINK, amount] })
  })

  return {
    chain,
    store,
    signer,
    seen,
    mine,
    nonce,
    transfer,
    /** USDC that left the account. */
    sent: async () => FUNDS - (await chain.balance(address, 'latest')),
    /** Pending transactions of all accounts. */
    pending: async () => (await client.getBlock({ blockTag: 'pending' })).transactions,
    reorg: (depth: number) =>
      client.request<{ Method: 'anvil_reorg'; Parameters: unknown[]; ReturnType: unknown }>({
        method: 'anvil_reorg',
        params: [depth, []]
      }),

    /** Starts a process. It is stopped at the end unless it was killed. */
    async start({
      on = {},
      life = mortal(),
      documents = store.documents,
      clock = hastyClock,
      errors = [] as unknown[]
    } = {}) {
      const spied: Chain = { ...chain, ...on }
      const broadcast: Chain['broadcast'] = (raw) => {
        seen.push(raw)
        return spied.broadcast(raw)
      }
      const submitter = createSubmitter({
        chain: life.chain({ ...spied, broadcast }),
        clock,
        documents: life.documents(documents),
        signer,
        onError: (error) => void errors.push(error)
      })
      await submitter.start()
      running.add(submitter)
      return submitter
    },
    killed: (submitter: Submitter) => void running.delete(submitter),
    async close() {
      await Promise.all([...running].map((submitter) => submitter.stop()))
    },

    /** Mines until the transaction is final. */
    final: (submitter: Submitter, key: string) =>
      eventually(`${key} is final`, BOUND_MS, async () => {
        await mine()
        const mined = submitter.find(key)
        return mined?.isFinal === true ? mined : undefined
      }),
    /** Sends a transaction from the same account without the submitter. */
    async elsewhere(amount: bigint): Promise<Hex> {
      const fees = await chain.fees()
      const { chainId } = parameters
      const transaction = { ...transfer(amount), chainId, nonce: await nonce(), gas: 100_000n, fees }
      const { raw, hash } = await signTransaction(transaction, signer)
      await chain.broadcast(raw)
      return hash
    }
  }
}
