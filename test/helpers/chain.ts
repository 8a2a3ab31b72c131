import {
  type Abi,
  type Account,
  type Chain,
  type ContractFunctionParameters,
  createTestClient,
  type Hex,
  http,
  publicActions,
  type TransactionReceipt,
  walletActions
} from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { keccak256, toBytes } from 'viem/utils'
import { type DevChain, startDevChain } from '../../node/demo/chain/dev-chain.ts'
import { rpc } from '../../node/demo/chain/rpc.ts'
import { perWorker } from './per-worker.ts'
import { compile } from '../../.ci/contracts.ts'

/** A new chain with a snapshot of its initial state. */
async function fresh() {
  const chain = await startDevChain({ mining: 'instant' })
  const client = clientOf(chain)
  const baseFeePerGas = (await client.getBlock()).baseFeePerGas ?? 0n
  return { chain, client, baseFeePerGas, snapshot: await client.snapshot(), stop: () => chain.close(), kill: () => {} }
}

const lease = perWorker(fresh, async (server) => {
  const { client } = server
  await client.setAutomine(true)
  await client.revert({ id: server.snapshot })
  server.snapshot = await client.snapshot()
  // anvil drops the blocks but keeps the base fee that they led to.
  await client.setNextBlockBaseFeePerGas({ baseFeePerGas: server.baseFeePerGas })
  // Its clock was reset as well.
  await rpc(server.chain.url, 'evm_setTime', [Math.floor(Date.now() / 1_000)])
})

/** A dev chain for tests: each transaction is mined as soon as it is sent. */
export async function chainBench() {
  const { server, release } = await lease()
  // The head of a waiting chain is old, and payments need a fresh view of the chain.
  await server.client.mine({ blocks: 1 })
  return { ...server.chain, client: server.client, close: release }
}

export type ChainBench = Awaited<ReturnType<typeof chainBench>>

function clientOf({ parameters }: DevChain) {
  const ether = { name: 'Ether', symbol: 'ETH', decimals: 18 }
  const chain: Chain = {
    id: parameters.chainId,
    name: 'dev',
    nativeCurrency: ether,
    rpcUrls: { default: { http: [parameters.rpcUrl] } }
  }
  return createTestClient({ chain, mode: 'anvil', transport: http(), pollingInterval: 10, cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions)
}

/** The account with this name: deterministic, never one with real value. */
export const actor = (name: string) => privateKeyToAccount(keyOf(name))
export const keyOf = (name: string): Hex => keccak256(toBytes(`souk test ${name}`))

interface ContractCall {
  readonly address: Hex
  readonly abi: Abi | readonly unknown[]
  readonly functionName: string
  readonly args?: readonly unknown[]
  /** Skips the simulation. */
  readonly gas?: bigint
}

/** Sends a contract call as a transaction. @throws viem's error, with the contract's own error if it reverts */
export async function send({ client }: ChainBench, from: Account, call: ContractCall): Promise<TransactionReceipt> {
  const parameters = { ...call, account: from } as ContractFunctionParameters & { account: Account; gas?: bigint }
  if (call.gas === undefined) await client.simulateContract(parameters)
  const hash = await client.writeContract({ ...parameters, chain: client.chain })
  const receipt = await client.waitForTransactionReceipt({ hash })
  if (receipt.status !== 'success') throw new Error(`${call.functionName} reverted`)
  return receipt
}

/** Compiles contracts of `test/helpers/contracts` and returns a function that deploys them. */
export async function deployTest(bench: ChainBench, from: Account, names: readonly string[]) {
  const built = compile(names.map((name) => `test/helpers/contracts/${name}.sol`))
  return async (name: string, args: readonly unknown[] = []): Promise<{ address: Hex; abi: Abi }> => {
    const artifact = built.get(name)
    if (artifact === undefined) throw new Error(`no contract ${name}`)
    const abi = artifact.abi as unknown as Abi
    const hash = await bench.client.deployContract({ abi, bytecode: artifact.creation as Hex, args, account: from })
    const { contractAddress } = await bench.client.waitForTransactionReceipt({ hash })
    if (contractAddress == null) throw new Error(`${name} was not deployed`)
    return { address: contractAddress, abi }
  }
}
