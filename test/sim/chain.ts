import { keccak256, parseTransaction, serializeTransaction, toBytes } from 'viem/utils'
import { SoukError } from '../../lib/base/errors.ts'
import { fromHex, type Hex } from '../../lib/base/hex.ts'
import type { BlockTag, Broadcast, Chain, ContractCall, Receipt } from '../../lib/interface/chain.ts'
import type { Address } from '../../lib/interface/signer.ts'
import { signerOf } from '../../lib/pay/signing/signature.ts'
import { type Accounts, channelOf, contracts, parameters, receiverOf, Revert, splitterOf } from './contracts.ts'
import type { Invariants, Process } from './invariants.ts'
import type { Life } from './life.ts'
import type { Rng } from './rng.ts'
import type { World } from './world.ts'

interface Transaction {
  readonly hash: Hex
  readonly from: Address
  readonly nonce: number
  readonly call: ContractCall
  readonly tip: bigint
}

interface SimBlock {
  readonly number: bigint
  readonly hash: Hex
  readonly at: number
  readonly transactions: readonly Transaction[]
  readonly receipts: ReadonlyMap<Hex, Receipt>
  readonly accounts: Accounts
}

export interface ChainFaults {
  /** Probability per block: that a reorganisation removes the newest ones; that a pending transaction is delayed, or dropped. */
  readonly reorg: number
  readonly passedOver: number
  readonly forgotten: number
  /** Probability per request that it fails. A failed broadcast may have arrived. */
  readonly away: number
  /** The maximum number of blocks that an endpoint falls behind. */
  readonly lag: number
}

export interface SimChainInit {
  readonly world: World
  readonly wallets: ReadonlyMap<Address, bigint>
  readonly faults: () => ChainFaults
  readonly invariants: Invariants
}

const BLOCK_MS = 2_000
const SAFE_BLOCKS = 3
const FINAL_BLOCKS = 6
/** So low that claiming one atom is worth its gas. */
const FEES = { maxFee: 40n, tip: 20n }
const GAS = 100_000n
const RICH = 10n ** 18n

/** A chain with reorganisations of blocks that are not final, and a pool of pending transactions. */
export class SimChain {
  readonly #world: World
  readonly #rng: Rng
  readonly #faults: () => ChainFaults
  readonly #invariants: Invariants
  /** Caches parsed transactions. */
  readonly #known = new Map<Hex, Transaction>()
  #pool: Transaction[] = []
  readonly #blocks: SimBlock[]
  #forks = 0

  constructor({ world, wallets, faults, invariants }: SimChainInit) {
    this.#world = world
    this.#invariants = invariants
    this.#rng = world.rng.fork()
    this.#faults = faults
    const accounts: Accounts = {
      usdc: wallets,
      nonces: new Map(),
      used: new Set(),
      channels: new Map(),
      receivers: new Map(),
      splitters: new Map()
    }
    this.#blocks = [
      { number: 0n, hash: this.#newHash(), at: world.date, transactions: [], receipts: new Map(), accounts }
    ]
    this.#tick()
  }

  /** The state at the newest block, and at the newest final block. */
  get head(): Accounts {
    return this.#at('latest').accounts
  }
  get final(): Accounts {
    return this.#at('finalized').accounts
  }

  /** Sends a call from any account, for the actions of payers outside of the code under test. */
  send(from: Address, call: ContractCall): void {
    const waiting = this.#pool.filter((other) => other.from === from).length
    const nonce = (this.head.nonces.get(from) ?? 0) + waiting
    this.#pool.push({ hash: this.#newHash(), from, nonce, call, tip: FEES.tip })
  }

  /** The endpoint for one process. */
  endpoint(life: Life, process: Process): Chain {
    const invariants = this.#invariants
    const rng = this.#rng.fork()
    const ask = <T>(answer: (lag: number) => T): Promise<T> =>
      life.answer(rng.between(2, 40), () => {
        const { away, lag } = this.#faults()
        if (rng.chance(away)) throw unavailable()
        return answer(rng.between(0, lag))
      })
    return {
      parameters,
      verify: () => ask(() => undefined),
      checkId: () => ask(() => undefined),
      block: (at) => ask((lag) => (typeof at === 'bigint' ? this.#blocks[Number(at)] : this.#at(at, lag))),
      channels: (ids, at) =>
        ask((lag) => {
          const { number, hash, at: date, accounts } = this.#at(at, lag)
          const channels = ids.map((id) => channelOf(accounts, id))
          if (at === 'latest') for (const [i, id] of ids.entries()) invariants.onTold(process, id, channels[i])
          return { block: { number, hash, at: date }, channels }
        }),
      receiver: (address, at) => ask((lag) => receiverOf(this.#at(at, lag).accounts, address)),
      splitter: (address, at) => ask(() => splitterOf(this.#at(at).accounts, address)),
      balance: (account, at) => ask((lag) => this.#at(at, lag).accounts.usdc.get(account) ?? 0n),
      gas: () => ask(() => RICH),
      authorizationUsed: (payer, nonce) => ask((lag) => this.#at('latest', lag).accounts.used.has(`${payer}/${nonce}`)),
      // The simulation has no payments of the kind that needs this.
      authorizedTransfer: () => ask(() => undefined),
      sentTransfer: () => ask(() => undefined),
      nonce: (account, at) => ask((lag) => this.#at(at, lag).accounts.nonces.get(account) ?? 0),
      fees: () => ask(() => FEES),
      simulate: (from, call) =>
        ask((lag) => {
          for (const row of contracts.claimsOf(call)) invariants.onClaim(row)
          const reason = this.#try(this.#at('latest', lag), from, call)
          return reason === undefined ? { ok: true, gas: GAS } : { ok: false, reason }
        }),
      broadcast: (raw) => {
        // A failed broadcast may have arrived, and the network may also reject a valid one.
        const isHeard = !rng.chance(this.#faults().away)
        return life.answer(rng.between(2, 40), () => {
          const answer = isHeard || rng.chance(0.5) ? this.#broadcast(raw) : undefined
          if (!isHeard || answer === undefined) throw unavailable()
          return answer
        })
      },
      receipt: (hash) => ask((lag) => this.#receipt(hash, lag)),
      // Used only for the amount received by a splitter.
      read: ({ to }) =>
        ask((lag) => {
          const { accounts } = this.#at('latest', lag)
          const { received } = splitterOf(accounts, to)
          return accounts.splitters.has(to) ? (`0x${received.toString(16).padStart(64, '0')}` as const) : undefined
        }),
      code: () => ask(() => '0x')
    }
  }

  #at(tag: BlockTag | bigint, lag = 0): SimBlock {
    if (typeof tag === 'bigint') return this.#blocks[Number(tag)] ?? missing()
    const behind = { latest: 0, safe: SAFE_BLOCKS, finalized: FINAL_BLOCKS }[tag]
    return this.#blocks[Math.max(0, this.#blocks.length - 1 - behind - lag)] as SimBlock
  }

  #receipt(hash: Hex, lag: number): Receipt | undefined {
    const seen = this.#blocks.slice(0, Math.max(1, this.#blocks.length - lag))
    return seen.findLast(({ receipts }) => receipts.has(hash))?.receipts.get(hash)
  }

  #try({ accounts, at }: SimBlock, from: Address, call: ContractCall): string | undefined {
    try {
      contracts.execute(accounts, from, call, at + BLOCK_MS)
      return undefined
    } catch (error) {
      if (error instanceof Revert) return error.message
      throw error
    }
  }

  #broadcast(raw: Hex): Broadcast {
    const hash = keccak256(raw)
    const transaction = this.#known.get(hash) ?? read(raw, hash)
    this.#known.set(hash, transaction)
    const { from, nonce, tip } = transaction
    if (nonce < (this.head.nonces.get(from) ?? 0)) return 'nonce_used'
    const rival = this.#pool.find((other) => other.from === from && other.nonce === nonce)
    if (rival?.hash === hash) return 'accepted'
    if (rival !== undefined && tip * 10n < rival.tip * 11n) return 'fee_too_low'
    this.#pool = this.#pool.filter((other) => other !== rival)
    this.#pool.push(transaction)
    return 'accepted'
  }

  #tick(): void {
    void this.#world.after(BLOCK_MS, () => {
      const { reorg, forgotten } = this.#faults()
      if (this.#rng.chance(reorg)) this.#takeBack()
      this.#mine()
      if (this.#rng.chance(forgotten)) this.#pool = []
      this.#tick()
    })
  }

  /** Removes blocks that are not final. Their transactions may return in any order, or not at all. */
  #takeBack(): void {
    const depth = Math.min(this.#rng.between(1, FINAL_BLOCKS - 1), this.#blocks.length - 1)
    const gone = this.#blocks.splice(this.#blocks.length - depth, depth)
    this.#world.note('chain', `takes ${depth} blocks back`)
    const orphans = gone.flatMap(({ transactions }) => transactions).filter(() => this.#rng.chance(0.7))
    this.#pool.push(...orphans)
    // The new branch has the same length, because heads never go down.
    for (let i = 1; i < depth; i++) this.#mine()
  }

  #mine(): void {
    const parent = this.#at('latest')
    const at = Math.max(parent.at + 1_000, this.#world.date)
    const number = parent.number + 1n
    const hash = this.#newHash()
    const receipts = new Map<Hex, Receipt>()
    const transactions: Transaction[] = []
    let { accounts } = parent
    const ready = () => this.#pool.findIndex(({ from, nonce }) => nonce === (accounts.nonces.get(from) ?? 0))
    const { passedOver } = this.#faults()
    for (let next = ready(); next >= 0; next = ready()) {
      if (this.#rng.chance(passedOver)) break
      const [transaction] = this.#pool.splice(next, 1) as [Transaction]
      const { from, call, nonce } = transaction
      let succeeded = true
      try {
        accounts = contracts.execute(accounts, from, call, at)
      } catch (error) {
        if (!(error instanceof Revert)) throw error
        succeeded = false
        this.#world.note('chain', `reverts ${call.data.slice(0, 10)}: ${error.message}`)
      }
      accounts = { ...accounts, nonces: new Map(accounts.nonces).set(from, nonce + 1) }
      transactions.push(transaction)
      receipts.set(transaction.hash, {
        blockNumber: number,
        blockHash: hash,
        succeeded,
        gasUsed: GAS,
        cost: GAS * FEES.maxFee
      })
      this.#world.note('chain', `mines ${call.data.slice(0, 10)} of ${from.slice(0, 8)} nonce ${nonce} in ${number}`)
    }
    this.#pool = this.#pool.filter(({ from, nonce }) => nonce >= (accounts.nonces.get(from) ?? 0))
    this.#blocks.push({ number, hash, at, transactions, receipts, accounts })
    this.#invariants.onBlock(accounts)
  }

  #newHash(): Hex {
    return `0x${(++this.#forks).toString(16).padStart(64, '0')}`
  }
}

function read(raw: Hex, hash: Hex): Transaction {
  const { r, s, yParity, ...unsigned } = parseTransaction(raw as `0x02${string}`)
  const digest = toBytes(keccak256(serializeTransaction({ ...unsigned, type: 'eip1559' })))
  const signature = Buffer.concat([word(r), word(s), Uint8Array.of(27 + (yParity ?? 0))])
  const from = signerOf(digest, signature)
  if (from === undefined || unsigned.to == null) throw new Error('a transaction that nobody signed')
  const call = { to: unsigned.to, data: unsigned.data ?? '0x' } as const
  return { hash, from, nonce: unsigned.nonce ?? 0, call, tip: unsigned.maxPriorityFeePerGas ?? 0n }
}

/** Transactions omit leading zeros. */
const word = (hex: string | undefined): Uint8Array => fromHex(`0x${(hex ?? '0x').slice(2).padStart(64, '0')}`, 32)

const missing = (): never => {
  throw unavailable()
}
const unavailable = () =>
  new SoukError('settlement_unavailable', 'The chain endpoint does not respond. Try again later.')
