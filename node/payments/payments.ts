import { createFreeScheme } from '../../lib/index.ts'
import type { ChannelScheme, PayRules } from '../../lib/pay/index.ts'
import type { Address, Clock, Dispute, PaymentScheme, PaymentSchemeComponents } from '../../lib/interface/index.ts'
import type { Log } from '../log.ts'
import type { NodeConfig } from '../node-config.ts'
import { commandFor } from '../profile/profile.ts'
import { readPassphrase } from '../wallet/passphrase.ts'
import { openWallet, walletInfo } from '../wallet/wallet-file.ts'
import { chainHint } from '../networks.ts'
import { ChainHealth } from './chain-health.ts'
import { type Money, stopWithMoney } from './money.ts'
import { Payout } from './payout.ts'

/** Payment setup of a node before it runs. */
export interface Payments {
  /** Absent: the library’s default scheme, which only counts calls. */
  readonly paymentScheme?: (components: PaymentSchemeComponents) => PaymentScheme
  /** Why this node refuses to make and serve priced calls, and what to do about it. */
  readonly whyFree?: string
  /** Payout address of this node’s own APIs. */
  readonly payout: Payout
  /** Available once the node has started; undefined if it moves no money. */
  money(): Money | undefined
  /** Called when a payer disputes a charge, and when a dispute ends. */
  onDispute(hear: (dispute: Dispute) => void): void
  /** Ends the checks of the chain. */
  readonly stop: () => void
  /** Call before the node stops. */
  readonly settleAtLast: () => Promise<void>
}

export interface PaymentsInit {
  readonly config: NodeConfig
  readonly log: Log
  readonly clock: Clock
  /** Asks the user without echo. */
  readonly askSecret?: (question: string) => Promise<string>
}

/**
 * Unlocks the wallet and prepares the chain. If the chain is unreachable, the node starts anyway: free calls work, and paid calls as soon
 * as the chain responds.
 * @throws SetupError if the wallet cannot be opened
 */
export async function openPayments({ config, log, clock, askSecret }: PaymentsInit): Promise<Payments> {
  const { profile, network, chain: parameters, payments } = config
  const { paymentScheme, payout, dailyMax, credit = true } = payments
  if (paymentScheme === 'metered') return unpaid(new Payout({ profile, payout, isNeeded: false }))
  const wallet = await walletInfo(profile)
  const why = whyFree(config, wallet?.address)
  if (wallet === undefined || why !== undefined) {
    const reason = why ?? noWallet(config)
    log.info(`Free calls only: ${reason}`)
    const free = unpaid(new Payout({ profile, payout, isNeeded: true, why: reason }))
    return { ...free, whyFree: reason, paymentScheme: createFreeScheme(reason) }
  }
  const { passphraseFile: file } = payments
  const passphrase = await readPassphrase({
    ...(file === undefined ? {} : { file }),
    ...(askSecret === undefined ? {} : { ask: askSecret })
  })
  const signer = await openWallet(profile, network.name, passphrase)
  // Loaded here, because a node without a wallet needs none of it.
  const { createChain, createChannelScheme } = await import('../../lib/pay/index.ts')
  const chain = createChain(parameters)
  const rules: Partial<PayRules> = {
    ...(dailyMax === undefined ? {} : { dailyMax }),
    ...(credit ? {} : { creditHourMax: 0n })
  }
  const health = new ChainHealth({ chain, clock, log, hint: chainHint(network) })
  await health.start()
  const onError = (error: Error) => health.failed(error)
  let hearDispute = (_: Dispute): void => undefined
  const make = createChannelScheme({ chain, signer, rules, onError, onDispute: (dispute) => hearDispute(dispute) })
  let running: ChannelScheme | undefined
  const money = (): Money | undefined =>
    running && { wallet: signer.address, chain, health, paymentScheme: running, name: network.money }
  return {
    paymentScheme: (components) => (running = make(components)),
    payout: new Payout({ profile, payout, isNeeded: true }),
    money,
    onDispute(hear) {
      hearDispute = hear
    },
    stop: () => health.stop(),
    settleAtLast: () => (payments.settleOnStop ? stopWithMoney(money(), log) : Promise.resolve())
  }
}

const noWallet = ({ profile }: NodeConfig): string =>
  `This node has no wallet. Stop it, and run: ${commandFor(profile.name, 'wallet create')}`

function whyFree(config: NodeConfig, wallet: Address | undefined): string | undefined {
  const { network, chain } = config
  if (wallet === undefined) return noWallet(config)
  return chain.treasury === undefined
    ? `The network ${network.name} has no treasury. Found a network of your own: souk network create`
    : undefined
}

function unpaid(payout: Payout): Payments {
  return {
    payout,
    money: () => undefined,
    onDispute: () => undefined,
    stop: () => undefined,
    settleAtLast: () => Promise.resolve()
  }
}
