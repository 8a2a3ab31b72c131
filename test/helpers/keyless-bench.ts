import { create as createAxios } from 'axios'
import { type Client, erc20Abi, parseAbi } from 'viem'
import { toClientEvmSigner } from '@x402/evm'
import { BatchSettlementEvmScheme, InMemoryClientChannelStorage } from '@x402/evm/batch-settlement/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapAxiosWithPaymentFromConfig } from '@x402/axios'
import { wrapFetchWithPaymentFromConfig, type x402ClientConfig } from '@x402/fetch'
import { type Clock, systemClock } from '../../lib/base/clock.ts'
import { COLLECT_WAIT_MS, DEPOSIT_WAIT_MS, REFUND_WAIT_MS } from '../../lib/base/limits/pay.ts'
import { systemRandom } from '../../lib/base/random.ts'
import { createNode, type NodeOptions, type SoukNode } from '../../lib/create-node.ts'
import type { Adapter, AdapterReply } from '../../lib/interface/adapter.ts'
import type { Address, Signer } from '../../lib/interface/signer.ts'
import type { PaymentSchemeComponents } from '../../lib/interface/payment-scheme.ts'
import { createChain } from '../../lib/pay/chain/chain.ts'
import { type ChannelScheme, createChannelScheme } from '../../lib/pay/channel-scheme.ts'
import { keySigner } from '../../lib/pay/signing/key-signer.ts'
import { splitterFactory } from '../../lib/pay/chain/splitter.ts'
import { readExact, transferCall } from '../../lib/pay/x402/exact-payment.ts'
import { readPayment } from '../../lib/pay/x402/payment-text.ts'
import { createMemoryStore } from '../../lib/store/memory/store.ts'
import { createIngress } from '../../node/ingress/ingress.ts'
import { createKeys } from '../../node/keys/keys.ts'
import { DailyCaps } from '../../node/spending/daily-caps.ts'
import { Spending } from '../../node/spending/spending.ts'
import { actor, chainBench } from './chain.ts'
import { eventually } from './eventually.ts'
import { hasted } from './hasty-clock.ts'

/** Timers of the payment scheme run ten times faster: it polls ten times a second and waits at most one second for blocks. */
export const schemeClock = hasted(10)
/** Waits of a client for a transaction of the owner. */
const WAITS_MS: ReadonlySet<number> = new Set([COLLECT_WAIT_MS, DEPOSIT_WAIT_MS, REFUND_WAIT_MS])

export interface Upstream extends Adapter {
  /** Number of requests so far. */
  runs: number
  /** The response; by default the number of requests. */
  answer: () => AdapterReply | Promise<AdapterReply>
}

export const reply = (status: number, value: unknown): AdapterReply => ({
  status,
  headers: [['content-type', 'application/json']],
  body: Buffer.from(JSON.stringify(value)),
  success: status < 300,
  upstreamMs: 1
})

function upstream(): Upstream {
  return {
    protocol: 'REST',
    description: { operations: [{ name: 'call', description: 'Counts.' }] },
    runs: 0,
    answer() {
      return reply(200, { run: this.runs })
    },
    async call() {
      this.runs++
      return this.answer()
    }
  }
}

/**
 * A dev chain, an owner with a wallet, and a consumer node without one, each with an ingress for x402 clients. `provider` is the
 * payee. While the chain mines, a patient bench waits for transactions as long as a real node, because a busy machine may need that.
 */
export async function keylessBench({ isPatient = false } = {}) {
  const bench = await chainBench()
  let isMining = true
  let aheadMs = 0
  const clock: Clock = {
    ...schemeClock,
    now: () => schemeClock.now() + aheadMs,
    after: (delayMs, task) =>
      (isPatient && isMining && WAITS_MS.has(delayMs) ? systemClock : schemeClock).after(delayMs, task)
  }
  const { parameters, client } = bench
  const owner = keySigner(Buffer.alloc(32, 21))
  const provider = actor('keyless provider').address.toLowerCase() as Address
  const treasury = parameters.treasury ?? provider
  const splitter = splitterFactory(treasury).splitterOf(provider)
  await bench.fundGas(owner.address)
  const running: Array<() => Promise<void>> = [() => bench.close()]

  async function startOwner({ store = createMemoryStore(), signer = owner, rpcUrl, ...more }: OwnerOptions = {}) {
    const made: { paymentScheme?: ChannelScheme } = {}
    const paymentScheme = (components: PaymentSchemeComponents) => {
      const rules = { withdrawDelay: 900 }
      const chain = createChain(rpcUrl === undefined ? parameters : { ...parameters, rpcUrl })
      const make = createChannelScheme({ chain, signer, rules })
      return (made.paymentScheme = make({ ...components, clock }))
    }
    const node = await createNode({ paymentScheme, store, ...more })
    await node.start()
    const api = upstream()
    const stop = stoppable(node)
    running.unshift(stop)
    return {
      ...node,
      store,
      api,
      stop,
      get paymentScheme() {
        return made.paymentScheme!
      }
    }
  }

  /** A node without money and listings, on the network of another node. */
  async function startConsumer(first: SoukNode) {
    const bootstrap = first.libp2p.getMultiaddrs().map(String)
    const node = await createNode({ bootstrap })
    await node.start()
    const stop = stoppable(node)
    running.unshift(stop)
    return { ...node, stop }
  }

  async function startIngress({ souk }: SoukNode, corsOrigins: readonly string[] = []): Promise<string> {
    const { documents } = createMemoryStore()
    const seams = { clock: systemClock, random: systemRandom }
    const keys = createKeys({ documents, secret: Buffer.alloc(32, 7), network: 'dev', ...seams })
    const spending = new Spending({ caps: new DailyCaps({ clock: systemClock, documents }) })
    const options = { host: '127.0.0.1', port: 0, corsOrigins }
    const ingress = createIngress({ souk, keys, spending, ...seams, options, log: { warn() {}, error: console.error } })
    running.unshift(() => ingress.close())
    return (await ingress.listen()).url
  }

  /** Settings of the standard client, which does not know the dev token by default. */
  const stock = (name: string): x402ClientConfig => ({
    schemes: [{ network: `eip155:${parameters.chainId}`, client: new ExactEvmScheme(actor(name)) }],
    spendControls: { allowedAssets: true }
  })

  /** A client that pays through a channel, with its own channel state. */
  const batch = (name: string, storage = new InMemoryClientChannelStorage()) => {
    const signer = toClientEvmSigner(actor(name), client)
    const scheme = new BatchSettlementEvmScheme(signer, { storage })
    const config: x402ClientConfig = {
      schemes: [{ network: `eip155:${parameters.chainId}`, client: scheme }],
      spendControls: { allowedAssets: true }
    }
    return { config, scheme, fetch: wrapFetchWithPaymentFromConfig(fetch, config) }
  }

  const usdc = (account: string) => createChain(parameters).balance(account.toLowerCase() as Address, 'latest')

  return {
    ...bench,
    batch,
    owner,
    provider,
    treasury,
    splitter,
    startOwner,
    startConsumer,
    startIngress,
    stock,
    fetchOf: (name: string) => wrapFetchWithPaymentFromConfig(fetch, stock(name)),
    axiosOf: (name: string) => wrapAxiosWithPaymentFromConfig(createAxios(), stock(name)),
    /** An account with this amount of dev USDC. */
    async payer(name: string, amount: bigint): Promise<Address> {
      const { address } = actor(name)
      await bench.mint(address, amount)
      return address.toLowerCase() as Address
    },
    usdc,
    /** All money that the splitter received. An owner pays it out at its start, which may come late, so paid money counts too. */
    collected: async () => {
      const all = await Promise.all([...new Set([splitter, provider, treasury])].map(usdc))
      return all.reduce((sum, atoms) => sum + atoms, 0n)
    },
    /** Waits until a deposit left this balance: a call is served before its deposit is mined. */
    deposited: (payer: Address, left: bigint) =>
      eventually('the deposit', 5_000, async () => ((await usdc(payer)) === left ? true : undefined)),
    /** Moves an account's money away, with a fee that outbids all pending transactions. */
    async moveAway(name: string, amount: bigint): Promise<void> {
      const { address } = parameters.usdc
      const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 10n ** 12n, gas: 100_000n }
      const args = [actor('elsewhere').address, amount] as const
      const call = { abi: erc20Abi, address, functionName: 'transfer', args } as const
      await client.writeContract({ ...call, ...fees, account: actor(name), chain: client.chain })
    },
    /** Submits a payment's transfer before the node does, as any observer of the payment can. */
    async frontRun(text: string): Promise<void> {
      const { payload } = await readPayment(text)
      const { to, data } = transferCall(parameters.usdc.address, readExact(payload))
      const stranger = actor('front runner')
      await bench.fundGas(stranger.address.toLowerCase() as Address)
      await client.sendTransaction({ to, data, account: stranger, chain: client.chain })
    },
    /** The payer cancels a payment with EIP-3009's `cancelAuthorization`. */
    async revoke(name: string, text: string): Promise<void> {
      const { from: authorizer, nonce } = readExact((await readPayment(text)).payload)
      const { address, name: token, version } = parameters.usdc
      const signature = await actor(name).signTypedData({
        domain: { name: token, version, chainId: parameters.chainId, verifyingContract: address },
        types: {
          CancelAuthorization: [
            { name: 'authorizer', type: 'address' },
            { name: 'nonce', type: 'bytes32' }
          ]
        },
        primaryType: 'CancelAuthorization',
        message: { authorizer, nonce }
      })
      const abi = parseAbi(['function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)'])
      const call = { abi, address, functionName: 'cancelAuthorization', args: [authorizer, nonce, signature] } as const
      await client.writeContract({ ...call, account: actor(name), chain: client.chain })
    },
    async mining(isOn: boolean): Promise<void> {
      isMining = isOn
      await (client as Client).request({ method: 'evm_setAutomine', params: [isOn] } as never)
      if (isOn) await client.mine({ blocks: 1 })
    },
    /** Sets the clock of the payment schemes, which is this much ahead of the real time. */
    setClock(ms: number): void {
      aheadMs = ms
    },
    eventually,
    async close(): Promise<void> {
      for (const stop of running) await stop()
    }
  }
}

type OwnerOptions = Pick<NodeOptions, 'store' | 'sharedStore' | 'privateKey' | 'bootstrap'> & {
  readonly signer?: Signer
  /** The chain's endpoint. Default: the chain's own. */
  readonly rpcUrl?: string
}

export type KeylessBench = Awaited<ReturnType<typeof keylessBench>>

function stoppable(node: SoukNode): () => Promise<void> {
  let stopping: Promise<void> | undefined
  return () => (stopping ??= node.stop())
}
