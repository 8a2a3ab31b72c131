import type { ProtocolName } from '../../../protocols/index.ts'
import { connect } from '../../../node/admin/client.ts'
import { tuneCollector, collectBuffers } from '../../../node/cli/terminal/collect-garbage.ts'
import { type NodeInfo, type ProfileLocation, runNode } from '../../../node/index.ts'
import { NETWORKS } from '../../../node/networks.ts'
import type { Origin } from '../loopback.ts'
import { play } from '../role.ts'

export interface NodeArgs {
  /** Empty; its creator removes it. */
  readonly directory: string
  /** Multiaddrs of the network's first node. */
  readonly bootstrap: readonly string[]
  /** True for a consumer node with an ingress. */
  readonly ingress: boolean
}

export interface Registration extends Origin {
  readonly name: string
  readonly price: string
  /** Default `REST`. */
  readonly protocol?: ProtocolName
  /** REST: the document that maps calls. */
  readonly openapi?: { readonly text: string }
}

const ANY_PORT = { port: 0, exact: false }
const HOST = '127.0.0.1'

/** A complete node, as started by `souk up`: SQLite store, ingress, admin API. */
play(async ({ directory, bootstrap, ingress }: NodeArgs) => {
  const profile: ProfileLocation = { name: 'bench', directory }
  const node = await runNode({
    profile,
    network: NETWORKS.dev,
    chain: NETWORKS.dev.chain,
    p2p: { host: HOST, port: ANY_PORT, announce: [], bootstrap },
    admin: { port: ANY_PORT },
    payments: { paymentScheme: 'metered', settleOnStop: false },
    ...(ingress ? { ingress: { host: HOST, port: ANY_PORT, trustProxy: false, corsOrigins: [] } } : {})
  })
  tuneCollector()
  collectBuffers()
  const admin = await connect(profile)
  const info: NodeInfo = node.info
  return {
    info,
    operations: {
      register: ({ origin, protocol = 'REST', ...api }: Registration) =>
        admin.request('POST /apis', { body: { ...api, protocol, currency: 'USDC', endpoint: origin } }),
      issueKey: async () => (await admin.request('POST /keys', { body: {} })).key
    },
    stop: () => node.stop()
  }
})
