import { peerIdFromString } from '@libp2p/peer-id'
import { createNode, handler } from '../../../lib/index.ts'
import { closedLoop, type LoadShape } from '../closed-loop.ts'
import { play } from '../role.ts'

export interface ReachNodeArgs {
  /** Empty for a node behind a router that lets nothing in. */
  readonly listen: readonly string[]
  /** Default: the detected addresses. */
  readonly announce?: readonly string[]
  readonly bootstrap: readonly string[]
  /** The name of an echo API. */
  readonly serves?: string
}

export interface ReachNodeInfo {
  readonly id: string
  readonly addresses: readonly string[]
  /** Id of the API that it serves. */
  readonly api: string
}

export interface Cold {
  readonly coldMs: number
  readonly warmMs: number
  readonly isRelayed: boolean
}

export interface ColdCall {
  readonly node: ReachNodeArgs
  readonly api: string
  readonly owner: string
}

const WARM_CALLS = 5

/** A node of the library, with its store in memory. */
play(async (args: ReachNodeArgs) => {
  const node = await started(args)
  const { serves } = args
  const listing =
    serves === undefined
      ? undefined
      : await node.souk.serve(
          { name: serves, price: '0' },
          handler(({ body }) => body)
        )
  const linksTo = (peer: string) =>
    node.souk
      .status()
      .peers.filter(({ id }) => id === peer)
      .flatMap(({ addresses }) => addresses)
  const info: ReachNodeInfo = {
    id: node.souk.status().peer,
    addresses: node.libp2p.getMultiaddrs().map(String),
    api: listing?.signed.id ?? ''
  }
  return {
    info,
    operations: {
      relays: () => node.souk.status().reachability.relays.length,
      links: ({ peer }: { readonly peer: string }) => linksTo(peer),
      call: async ({ api }: { readonly api: string }) => (await node.souk.call({ api, body: 1 })).json(),
      run: ({ api, ...shape }: LoadShape & { readonly api: string }) =>
        closedLoop(shape, async (worker) => {
          const reply = await node.souk.call({ api, body: worker })
          if ((await reply.json()) !== worker) throw new Error('a response is that of another call')
        }),
      cold
    },
    stop: () => node.stop()
  }
})

async function started({ listen, announce = [], bootstrap }: ReachNodeArgs) {
  const node = await createNode({ network: 'bench', listen, announce, bootstrap })
  await node.start()
  return node
}

/** The first call of a new node to an owner that it is not connected to, and the best of the next ones. */
async function cold({ node: args, api, owner }: ColdCall): Promise<Cold> {
  const node = await started(args)
  try {
    const peer = peerIdFromString(owner)
    await node.libp2p.hangUp(peer)
    const timed = async () => {
      const since = performance.now()
      await (await node.souk.call({ api, body: 1 })).json()
      return performance.now() - since
    }
    const coldMs = await timed()
    const isRelayed = node.libp2p
      .getConnections(peer)
      .every(({ remoteAddr }) => String(remoteAddr).includes('p2p-circuit'))
    const warm: number[] = []
    for (let call = 0; call < WARM_CALLS; call++) warm.push(await timed())
    return { coldMs, warmMs: Math.min(...warm), isRelayed }
  } finally {
    await node.stop()
  }
}
