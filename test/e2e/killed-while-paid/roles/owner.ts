import { createNode, keySigner } from '../../../../lib/index.ts'
import { createChannelScheme, createChain } from '../../../../lib/pay/index.ts'
import type { ChainParameters } from '../../../../lib/interface/network.ts'
import type { Address } from '../../../../lib/interface/signer.ts'
import type { ChannelScheme } from '../../../../lib/pay/channel-scheme.ts'
import { restFactory } from '../../../../protocols/index.ts'
import { play } from '../../../bench/role.ts'
import { identityOf, secretOf } from './identity.ts'
import { storeAt } from './store.ts'

export interface OwnerArgs {
  readonly place: string
  readonly bootstrap: readonly string[]
  readonly parameters: ChainParameters
  readonly payout: Address
  readonly price: string
  readonly endpoint: string
  /** An API whose responses are streams. */
  readonly streams: { readonly endpoint: string; readonly pricePerEvent: string; readonly eventsIncluded: number }
}

export interface NodeInfo {
  readonly peer: string
  readonly addresses: readonly string[]
}

/** Low limits, so that this node redeems often and kills also hit redemptions. */
const POLICY = { atoms: 20_000n, ageMs: 2_000 }

play(async ({ place, bootstrap, parameters, payout, price, endpoint, streams }: OwnerArgs) => {
  // Exits after a failed commit; the next process recovers.
  const store = storeAt(place, () => process.exit(1))
  const make = createChannelScheme({
    chain: createChain(parameters),
    signer: keySigner(secretOf('owner')),
    policy: POLICY,
    rules: { withdrawDelay: 3_600 }
  })
  let paymentScheme: ChannelScheme | undefined
  const node = await createNode({
    network: 'killed',
    privateKey: await identityOf('owner'),
    bootstrap,
    store,
    paymentScheme: (components) => (paymentScheme = make(components)),
    prepare: async (souk) => {
      await souk.serve({ name: 'paid', price, payout }, restFactory.open({ endpoint }, ''))
      const { endpoint: ticks, ...events } = streams
      await souk.serve({ name: 'ticks', price, payout, ...events }, restFactory.open({ endpoint: ticks }, ''))
    }
  })
  await node.start()
  const info: NodeInfo = { peer: node.souk.status().peer, addresses: node.libp2p.getMultiaddrs().map(String) }
  return {
    info,
    operations: {
      settle: async () => (await paymentScheme?.settlement.redeemer.settleNow())?.refused.map(({ reason }) => reason)
    },
    stop: () => node.stop()
  }
})
