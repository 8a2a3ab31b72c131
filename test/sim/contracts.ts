import { type Abi, type AbiFunction, encodeFunctionData, parseAbi } from 'viem'
import { decodeAbiParameters, toFunctionSelector } from 'viem/utils'
import { fromHex, type Hex } from '../../lib/base/hex.ts'
import type { ChannelState, ContractCall, ReceiverState, SplitterState } from '../../lib/interface/chain.ts'
import type { ChannelConfig, ChannelId } from '../../lib/interface/channel.ts'
import type { ChainParameters } from '../../lib/interface/network.ts'
import type { Address } from '../../lib/interface/signer.ts'
import { batchSettlementAbi, splitterFactoryAbi } from '../../lib/pay/contracts/contracts.generated.ts'
import { depositNonce } from '../../lib/pay/chain/settlement-calls.ts'
import { settlementDomain } from '../../lib/pay/signing/settlement-domain.ts'
import { signerOf } from '../../lib/pay/signing/signature.ts'
import { splitterFactory } from '../../lib/pay/chain/splitter.ts'
import { tokenDomain } from '../../lib/pay/signing/token-domain.ts'

/** The full state of the simulated chain. Transactions copy it, so that blocks can be removed. */
export interface Accounts {
  readonly usdc: ReadonlyMap<Address, bigint>
  readonly nonces: ReadonlyMap<Address, number>
  readonly used: ReadonlySet<string>
  readonly channels: ReadonlyMap<ChannelId, ChannelState>
  readonly receivers: ReadonlyMap<Address, ReceiverState>
  readonly splitters: ReadonlyMap<Address, Omit<SplitterState, 'received'>>
}

export const NO_CHANNEL: ChannelState = { balance: 0n, claimed: 0n, refundNonce: 0n }

/** A contract's error, by name. */
export class Revert extends Error {}

type Draft = { -readonly [K in keyof Accounts]: Accounts[K] }
type Method = (draft: Draft, args: readonly unknown[], from: Address, at: number) => void

interface ClaimRow {
  readonly voucher: { readonly channel: ChannelConfig; readonly maxClaimableAmount: bigint }
  readonly signature: Hex
  readonly totalClaimed: bigint
}

/** The minimum withdrawal delay. */
export const WITHDRAW_DELAY_S = 900
const BPS = 500n
const SIGNATURES_KEPT = 1_000
const COLLECTOR_DATA = [{ type: 'uint256' }, { type: 'uint256' }, { type: 'uint256' }, { type: 'bytes' }] as const

const TOKEN_ABI = parseAbi(['function transfer(address to, uint256 amount)'])

const address = (byte: string): Address => `0x${byte.repeat(20)}`
export const TREASURY = address('dd')
export const parameters: ChainParameters = {
  chainId: 31337,
  rpcUrl: 'http://127.0.0.1:1',
  usdc: { address: address('aa'), name: 'USDC', version: '2' },
  settlement: { address: address('bb'), codeHash: `0x${'00'.repeat(32)}` },
  collector: { address: address('cc'), codeHash: `0x${'00'.repeat(32)}` },
  treasury: TREASURY,
  confirmations: 1
}

/** The channel contract, the token and the splitters, by the rules of `node/demo/chain/contracts` and Solidity's. */
function createContracts(treasury: Address) {
  const { chainId, settlement, usdc, collector } = parameters
  const domain = settlementDomain({ chainId, address: settlement.address })
  const token = tokenDomain({ ...usdc, chainId, verifyingContract: usdc.address })
  const factory = splitterFactory(treasury)
  const signed = recovering()

  const methods: Record<string, Method> = {
    deposit(draft, [config, amount, , data], _from, at) {
      const { payer, withdrawDelay } = config as ChannelConfig
      must(withdrawDelay >= WITHDRAW_DELAY_S, 'WithdrawDelayOutOfRange')
      const id = domain.channelId(lower(config as ChannelConfig))
      const [validAfter, validBefore, salt, signature] = decodeAbiParameters(COLLECTOR_DATA, data as Hex)
      const nonce = depositNonce(id, salt)
      const from = payer.toLowerCase() as Address
      const word = { from, to: collector.address, value: amount as bigint, nonce }
      const times = { validAfter: Number(validAfter), validBefore: Number(validBefore) }
      must(at / 1_000 < times.validBefore && at / 1_000 > times.validAfter, 'authorization is not valid now')
      must(!draft.used.has(`${from}/${nonce}`), 'authorization is used')
      must(signed(token.receive({ ...word, ...times }), bytesOf(signature)) === from, 'invalid signature')
      draft.used = new Set(draft.used).add(`${from}/${nonce}`)
      pay(draft, from, settlement.address, amount as bigint)
      const channel = channelOf(draft, id)
      put(draft, id, { ...channel, balance: channel.balance + (amount as bigint) })
    },
    claim(draft, [rows], from) {
      for (const row of rows as readonly ClaimRow[]) {
        const config = lower(row.voucher.channel)
        must(from === config.receiverAuthorizer || from === config.receiver, 'NotAuthorizedToClaim')
        const id = domain.channelId(config)
        const channel = channelOf(draft, id)
        const { claimed } = channel
        if (row.totalClaimed <= claimed) continue
        must(row.totalClaimed <= row.voucher.maxClaimableAmount, 'ClaimExceedsCeiling')
        must(row.totalClaimed <= channel.balance, 'ClaimExceedsBalance')
        const digest = domain.voucher(id, row.voucher.maxClaimableAmount)
        must(signed(digest, bytesOf(row.signature)) === config.payerAuthorizer, 'InvalidSignature')
        put(draft, id, { ...channel, claimed: row.totalClaimed })
        const receiver = receiverOf(draft, config.receiver)
        const grown = { ...receiver, claimed: receiver.claimed + row.totalClaimed - claimed }
        draft.receivers = new Map(draft.receivers).set(config.receiver, grown)
      }
    },
    settle(draft, [receiver]) {
      const address = (receiver as Address).toLowerCase() as Address
      const { claimed, settled } = receiverOf(draft, address)
      pay(draft, settlement.address, address, claimed - settled)
      draft.receivers = new Map(draft.receivers).set(address, { claimed, settled: claimed })
    },
    refundWithSignature(draft, [asked, amount, nonce, signature]) {
      const config = lower(asked as ChannelConfig)
      const id = domain.channelId(config)
      const channel = channelOf(draft, id)
      must(channel.refundNonce === nonce, 'InvalidRefundNonce')
      const digest = domain.refund(id, nonce as bigint, amount as bigint)
      must(signed(digest, bytesOf(signature as Hex)) === config.receiverAuthorizer, 'InvalidSignature')
      must((amount as bigint) > 0n, 'ZeroRefund')
      const back = least(amount as bigint, channel.balance - channel.claimed)
      const { withdrawal, ...rest } = channel
      const left = (withdrawal?.amount ?? 0n) - back
      const pending = withdrawal !== undefined && left > 0n ? { withdrawal: { ...withdrawal, amount: left } } : {}
      put(draft, id, { ...rest, ...pending, refundNonce: channel.refundNonce + 1n, balance: channel.balance - back })
      pay(draft, settlement.address, config.payer, back)
    },
    initiateWithdraw(draft, [asked, amount], from, at) {
      const config = lower(asked as ChannelConfig)
      must(from === config.payer || from === config.payerAuthorizer, 'InvalidChannel')
      const id = domain.channelId(config)
      const channel = channelOf(draft, id)
      must((amount as bigint) > 0n, 'NothingToWithdraw')
      must(channel.withdrawal === undefined, 'WithdrawalAlreadyPending')
      must((amount as bigint) <= channel.balance - channel.claimed, 'WithdrawAmountExceedsAvailable')
      put(draft, id, { ...channel, withdrawal: { amount: amount as bigint, since: at } })
    },
    finalizeWithdraw(draft, [asked], from, at) {
      const config = lower(asked as ChannelConfig)
      must(from === config.payer || from === config.payerAuthorizer, 'NotAuthorizedToFinalizeWithdraw')
      const id = domain.channelId(config)
      const { withdrawal, ...channel } = channelOf(draft, id)
      if (withdrawal === undefined) throw new Revert('WithdrawalNotPending')
      must(at >= withdrawal.since + config.withdrawDelay * 1_000, 'WithdrawDelayNotElapsed')
      const amount = least(withdrawal.amount, channel.balance - channel.claimed)
      put(draft, id, { ...channel, balance: channel.balance - amount })
      pay(draft, settlement.address, config.payer, amount)
    },
    transfer(draft, [to, amount], from) {
      pay(draft, from, (to as Address).toLowerCase() as Address, amount as bigint)
    },
    distribute(draft, [provider]) {
      const payout = (provider as Address).toLowerCase() as Address
      const splitter = factory.splitterOf(payout)
      const balance = draft.usdc.get(splitter) ?? 0n
      const { received, toProvider, toTreasury } = splitterOf(draft, splitter)
      const owed = (received * BPS) / 10_000n - toTreasury
      pay(draft, splitter, treasury, owed)
      pay(draft, splitter, payout, balance - owed)
      const paid = { toProvider: toProvider + balance - owed, toTreasury: toTreasury + owed }
      draft.splitters = new Map(draft.splitters).set(splitter, paid)
    }
  }
  const abis = selectors()

  /** @throws Revert */
  function execute(before: Accounts, from: Address, { data }: ContractCall, at: number): Accounts {
    const draft: Draft = { ...before }
    const found = abis.get(data.slice(0, 10))
    // An empty transaction fills a gap in the nonces.
    if (data === '0x') return draft
    if (found === undefined) throw new Revert('no such method')
    methods[found.name]?.(draft, decodeAbiParameters(found.inputs, `0x${data.slice(10)}`), from, at)
    return draft
  }

  /** The rows of a claim; empty for another transaction. */
  function claimsOf({ data }: ContractCall): ClaimOf[] {
    const found = abis.get(data.slice(0, 10))
    if (found?.name !== 'claim') return []
    const [rows] = decodeAbiParameters(found.inputs, `0x${data.slice(10)}`)
    return (rows as readonly ClaimRow[]).map(({ voucher, totalClaimed }) => {
      const channelId = domain.channelId(lower(voucher.channel))
      return { channelId, total: totalClaimed, ceiling: voucher.maxClaimableAmount }
    })
  }
  return { domain, factory, execute, claimsOf }
}

/** Cached, because a transaction is simulated, sent, and mined on several branches. */
function recovering(): typeof signerOf {
  const found = new Map<string, Address | undefined>()
  return (digest, signature) => {
    const key = Buffer.concat([digest, signature]).toString('latin1')
    if (found.has(key)) return found.get(key)
    if (found.size > SIGNATURES_KEPT) found.clear()
    const signer = signerOf(digest, signature)
    found.set(key, signer)
    return signer
  }
}

/** The request of one row of a claim. */
export interface ClaimOf {
  readonly channelId: ChannelId
  readonly total: bigint
  readonly ceiling: bigint
}

export const contracts = createContracts(TREASURY)

/** Indexed by four bytes, because hashing every name for every transaction would dominate the run time. */
function selectors() {
  const abi: Abi = [...batchSettlementAbi, ...splitterFactoryAbi, ...TOKEN_ABI]
  const methods = abi.filter((item): item is AbiFunction => item.type === 'function')
  return new Map(methods.map((item) => [toFunctionSelector(item) as string, item]))
}

/** A transfer of USDC from the sender. */
export function transferOf(to: Address, amount: bigint): ContractCall {
  return { to: parameters.usdc.address, data: encodeFunctionData({ abi: TOKEN_ABI, args: [to, amount] }) }
}

export const channelOf = (accounts: Accounts, id: ChannelId): ChannelState => accounts.channels.get(id) ?? NO_CHANNEL
export const receiverOf = ({ receivers }: Accounts, address: Address): ReceiverState =>
  receivers.get(address) ?? { claimed: 0n, settled: 0n }

/** The total received amount: the balance plus all payouts. */
export function splitterOf({ splitters, usdc }: Accounts, address: Address): SplitterState {
  const { toProvider, toTreasury } = splitters.get(address) ?? { toProvider: 0n, toTreasury: 0n }
  return { received: (usdc.get(address) ?? 0n) + toProvider + toTreasury, toProvider, toTreasury }
}

function put(draft: Draft, id: ChannelId, channel: ChannelState): void {
  draft.channels = new Map(draft.channels).set(id, channel)
}

function pay(draft: Draft, from: Address, to: Address, amount: bigint): void {
  const left = (draft.usdc.get(from) ?? 0n) - amount
  must(left >= 0n, 'transfer amount exceeds balance')
  const usdc = new Map(draft.usdc).set(from, left)
  draft.usdc = usdc.set(to, (usdc.get(to) ?? 0n) + amount)
}

/** Decoded addresses have a checksum. */
function lower(config: ChannelConfig): ChannelConfig {
  const text = (value: Hex) => value.toLowerCase() as Hex
  return {
    payer: text(config.payer),
    payerAuthorizer: text(config.payerAuthorizer),
    receiver: text(config.receiver),
    receiverAuthorizer: text(config.receiverAuthorizer),
    token: text(config.token),
    withdrawDelay: config.withdrawDelay,
    salt: config.salt
  }
}

function must(holds: boolean, otherwise: string): void {
  if (!holds) throw new Revert(otherwise)
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const bytesOf = (hex: Hex): Uint8Array => fromHex(hex, (hex.length - 2) / 2)
