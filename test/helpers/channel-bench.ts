import { fromHex, type Hex, toHex } from '../../lib/base/hex.ts'
import type { ContractCall } from '../../lib/interface/chain.ts'
import type { ChannelConfig, DepositAuthorization } from '../../lib/interface/channel.ts'
import type { Signer } from '../../lib/interface/signer.ts'
import { createChain } from '../../lib/pay/chain/chain.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import { depositNonce, settlementCalls } from '../../lib/pay/chain/settlement-calls.ts'
import { settlementDomain } from '../../lib/pay/signing/settlement-domain.ts'
import { splitterFactory } from '../../lib/pay/chain/splitter.ts'
import { tokenDomain } from '../../lib/pay/signing/token-domain.ts'
import { signTransaction } from '../../lib/pay/chain/transaction.ts'
import { signVoucher } from '../../lib/pay/signing/voucher.ts'
import { chainBench } from './chain.ts'
import { eventually } from './eventually.ts'

const key = (n: number): Signer => keySigner(fromHex(`0x${n.toString(16).padStart(64, '0')}`, 32))

/** The end of validity of deposits, far in the future. */
const LATER = 2 ** 40

/** A dev chain with channels and their users, on the production code for the contracts. */
export async function channelBench() {
  const bench = await chainBench()
  const { parameters } = bench
  const chain = createChain(parameters)
  const calls = settlementCalls(parameters)
  const domain = settlementDomain({ chainId: parameters.chainId, address: parameters.settlement.address })
  const token = tokenDomain({
    ...parameters.usdc,
    chainId: parameters.chainId,
    verifyingContract: parameters.usdc.address
  })
  const [payer, authorizer, owner, provider, stranger] = [key(11), key(12), key(13), key(14), key(15)]
  for (const { address } of [payer, authorizer, owner, provider, stranger]) await bench.fundGas(address)
  const factory = splitterFactory(parameters.treasury ?? stranger.address)
  let channels = 0
  let deposits = 0n

  /** Sends and mines a call. @throws Error with the contract's reason */
  const act = async (from: Signer, call: ContractCall) => {
    const simulation = await chain.simulate(from.address, call)
    if (!simulation.ok) throw new Error(simulation.reason)
    const [nonce, fees] = await Promise.all([chain.nonce(from.address, 'latest'), chain.fees()])
    const { chainId } = parameters
    const { raw, hash } = await signTransaction({ ...call, chainId, nonce, gas: simulation.gas, fees }, from)
    await chain.broadcast(raw)
    const receipt = await eventually('the block of a transaction', 5_000, () => chain.receipt(hash))
    if (!receipt.succeeded) throw new Error(`${hash} failed`)
    return receipt
  }

  const newConfig = (change: Partial<ChannelConfig> = {}): ChannelConfig => ({
    payer: payer.address,
    payerAuthorizer: authorizer.address,
    receiver: factory.splitterOf(provider.address),
    receiverAuthorizer: owner.address,
    token: parameters.usdc.address,
    withdrawDelay: 900,
    salt: `0x${(channels++).toString(16).padStart(64, '0')}`,
    ...change
  })

  /** A deposit with the payer's signature. */
  const authorize = async (config: ChannelConfig, amount: bigint): Promise<DepositAuthorization> => {
    const salt = deposits++
    const nonce = depositNonce(domain.channelId(config), salt)
    const window = { validAfter: 0, validBefore: LATER }
    const to = parameters.collector.address
    const digest = token.receive({ from: payer.address, to, value: amount, nonce, ...window })
    return { amount, salt, signature: await payer.sign(digest), ...window }
  }
  /** The same as a call that any account may submit. */
  const deposit = async (config: ChannelConfig, amount: bigint) =>
    calls.deposit(config, await authorize(config, amount))

  return {
    ...bench,
    chain,
    calls,
    domain,
    factory,
    payer,
    authorizer,
    owner,
    provider,
    stranger,
    act,
    newConfig,
    authorize,
    deposit,
    /** Opens a channel with this deposit. */
    async open(amount: bigint, change?: Partial<ChannelConfig>): Promise<ChannelConfig> {
      const config = newConfig(change)
      await bench.mint(payer.address, amount)
      await act(owner, await deposit(config, amount))
      return config
    },
    async row(config: ChannelConfig, total: bigint, { ceiling = total, by = authorizer } = {}) {
      return { config, total, voucher: await signVoucher(domain, by, domain.channelId(config), ceiling) }
    },
    async state(config: ChannelConfig) {
      const [state] = (await chain.channels([domain.channelId(config)], 'latest')).channels
      if (state === undefined) throw new Error('no channel')
      return state
    },
    /** The contract's reason to reject; undefined if it accepts. */
    async reason(from: Signer, call: ContractCall): Promise<string | undefined> {
      const simulation = await chain.simulate(from.address, call)
      return simulation.ok ? undefined : simulation.reason
    },
    async wait(seconds: number): Promise<void> {
      await bench.client.increaseTime({ seconds })
      await bench.client.mine({ blocks: 1 })
    },
    usdc: (account: Hex) => chain.balance(account, 'latest')
  }
}

export type ChannelBench = Awaited<ReturnType<typeof channelBench>>

/** The same signature with a high s: libraries recover it, the contract rejects it. */
export function highTwin(signature: Uint8Array): Uint8Array {
  const order = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n
  const s = order - BigInt(toHex(signature.subarray(32, 64)))
  const twin = Uint8Array.from(signature)
  twin.set(fromHex(`0x${s.toString(16).padStart(64, '0')}`, 32), 32)
  twin[64] = twin[64] === 27 ? 28 : 27
  return twin
}
