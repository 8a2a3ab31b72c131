import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import type { PeerId, PeerInfo } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddr } from '@multiformats/multiaddr'
import { sha256, utf8 } from '../../../lib/base/bytes.ts'
import { handler, type SoukNode } from '../../../lib/index.ts'
import { announcementTopic } from '../../../lib/link/souk-gossip.ts'
import { nameCid } from '../../../lib/resolve/directory/keys.ts'
import type { Rng } from '../rng.ts'

/** Behaviours of hostile nodes. In everything else they behave like any node, so the others keep them in their tables. */
export const HOSTILITY = ['silent', 'poisoner', 'forger', 'flooder'] as const
export type Hostility = (typeof HOSTILITY)[number]

/** Peers that do not exist, which poisoners name. More than real ones, so that some are nearer to any key. */
const GHOSTS_PER_NODE = 2
/** Ghosts in one response. */
const GHOSTS_NAMED = 20
/** Listings of one flooder, and the forged announcements that it sends each second. */
const FLOOD_LISTINGS = 10
const FORGERIES_PER_SECOND = 5
const FORGERIES_MAX = 200

interface DhtMessage {
  readonly type: string
  readonly key?: Uint8Array
  closer: unknown[]
  providers: unknown[]
  record?: Uint8Array
}

interface DhtInside {
  readonly rpc: {
    readonly handlers: Record<
      string,
      { handle: (from: PeerId, message: DhtMessage) => Promise<DhtMessage | undefined> }
    >
  }
}

interface RegistrarInside {
  readonly components: {
    readonly registrar: {
      unhandle(protocol: string): Promise<void>
      handle(protocol: string, handler: () => void): Promise<void>
    }
  }
}

/** Peers with addresses at which nothing answers. */
export class Ghosts {
  readonly #ghosts: Array<{ readonly kad: Uint8Array; readonly info: PeerInfo }> = []

  static async of(nodes: number, rng: Rng): Promise<Ghosts> {
    const ghosts = new Ghosts()
    for (let i = 0; i < GHOSTS_PER_NODE * nodes; i++) {
      const id = peerIdFromPrivateKey(await generateKeyPairFromSeed('Ed25519', rng.fill(new Uint8Array(32))))
      const address = multiaddr(`/ip4/10.250.${(i >> 8) & 255}.${i & 255}/tcp/4402`)
      ghosts.#ghosts.push({ kad: sha256(id.toMultihash().bytes), info: { id, multiaddrs: [address] } })
    }
    return ghosts
  }

  /** The peers nearest to a key, in the form of DHT messages. */
  near(key: Uint8Array): unknown[] {
    const target = sha256(key)
    const distance = (kad: Uint8Array) => {
      let far = 0
      for (let i = 0; i < 6; i++) far = far * 256 + ((kad[i] ?? 0) ^ (target[i] ?? 0))
      return far
    }
    const ranked = this.#ghosts.map((ghost) => ({ ghost, far: distance(ghost.kad) })).sort((a, b) => a.far - b.far)
    return ranked.slice(0, GHOSTS_NAMED).map(({ ghost: { info } }) => ({
      id: info.id.toMultihash().bytes,
      multiaddrs: info.multiaddrs.map(({ bytes }) => bytes)
    }))
  }
}

/** Turns a running node into a hostile one. */
export async function corrupt(
  node: SoukNode,
  how: Hostility,
  ghosts: Ghosts,
  names: () => readonly string[]
): Promise<void> {
  const { handlers } = (node.libp2p.services.dht as unknown as DhtInside).rpc
  if (how === 'silent') return silence(node, handlers)
  if (how === 'poisoner') {
    for (const type of ['FIND_NODE', 'GET_VALUE', 'GET_PROVIDERS']) {
      const handle = ({ key = new Uint8Array() }: DhtMessage) => ({
        type,
        key,
        closer: ghosts.near(key),
        providers: type === 'GET_PROVIDERS' ? ghosts.near(key) : []
      })
      handlers[type] = { handle: (_from, message) => Promise.resolve(handle(message)) }
    }
    return
  }
  if (how === 'forger') {
    const honest = handlers.GET_VALUE
    let stolen: Uint8Array | undefined
    handlers.GET_VALUE = {
      async handle(from, message) {
        const reply = await honest?.handle(from, message)
        stolen ??= reply?.record
        // A valid record of another key, or bytes that are no record.
        if (reply !== undefined) reply.record = stolen ?? utf8('no record')
        return reply
      }
    }
    // It confirms that it stored the record, and does not.
    handlers.PUT_VALUE = { handle: (_from, message) => Promise.resolve(message) }
    handlers.ADD_PROVIDER = { handle: () => Promise.resolve(undefined) }
    return
  }
  await flood(node, names)
}

/** It keeps its connections, and never responds. */
async function silence({ libp2p }: SoukNode, handlers: DhtInside['rpc']['handlers']): Promise<void> {
  for (const type of Object.keys(handlers)) handlers[type] = { handle: () => new Promise(() => {}) }
  const { registrar } = (libp2p as unknown as RegistrarInside).components
  for (const protocol of libp2p.getProtocols().filter((each) => each.startsWith('/souk/') && !each.includes('/kad/'))) {
    await registrar.unhandle(protocol)
    await registrar.handle(protocol, () => {})
  }
}

/** It publishes many listings, forges announcements, and claims the names of others. */
async function flood({ libp2p, souk }: SoukNode, names: () => readonly string[]): Promise<void> {
  const topic = announcementTopic(souk.status().network)
  for (let i = 0; i < FLOOD_LISTINGS && libp2p.status === 'started'; i++) {
    const name = `flood-${i}-${libp2p.peerId
      .toString()
      .slice(-8)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]/g, '')}`
    await souk
      .serve(
        { name, price: '0' },
        handler(({ body }) => body)
      )
      .catch(() => {})
  }
  const claimed = new Set<string>()
  let sent = 0
  const timer = setInterval(() => {
    if (libp2p.status !== 'started' || ++sent > FORGERIES_MAX) {
      clearInterval(timer)
      return
    }
    void libp2p.services.pubsub.publish(topic, utf8(`forged ${libp2p.peerId.toString()} ${sent}`)).catch(() => {})
    const name = names().find((each) => !claimed.has(each))
    if (name === undefined) return
    claimed.add(name)
    void claim(libp2p, name)
  }, 1000 / FORGERIES_PER_SECOND)
}

async function claim(libp2p: SoukNode['libp2p'], name: string): Promise<void> {
  try {
    for await (const event of libp2p.services.dht.provide(nameCid(name), { signal: AbortSignal.timeout(10_000) }))
      void event
  } catch {
    // Few peers accept the claims of a node that makes too many.
  }
}
