import { createHash } from 'node:crypto'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import type { Ed25519PrivateKey, PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { RecordEnvelope } from '@libp2p/peer-record'
import { apiId } from '../../../lib/base/api-name.ts'
import { sha256, utf8 } from '../../../lib/base/bytes.ts'
import { SoukError } from '../../../lib/base/errors.ts'
import type { Random } from '../../../lib/base/random.ts'
import type { Directory, Offer } from '../../../lib/interface/directory.ts'
import type { ExchangeHandler, Link, PeerAddress } from '../../../lib/interface/link.ts'
import type { Delegation, Manifest, SignedManifest } from '../../../lib/interface/manifest.ts'
import type { Documents } from '../../../lib/interface/store.ts'

/** A time of day for tests that set their own. */
export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5)
const DAY = 86_400_000

/** A deterministic key for each word. */
export function keyOf(word: string): Promise<Ed25519PrivateKey> {
  return generateKeyPairFromSeed('Ed25519', createHash('sha256').update(word).digest())
}

export const idOf = (key: PrivateKey): string => peerIdFromPrivateKey(key).toString()

export function manifestOf(provider: string, changes: Partial<Manifest> = {}): Manifest {
  return {
    name: 'ticker',
    provider,
    protocol: 'REST',
    description: 'Candles of a market',
    tags: ['market', 'demo'],
    price: 1500n,
    currency: 'USDC',
    idempotent: false,
    api: { operations: [] },
    state: 'published',
    revision: 1,
    issuedAt: NOW,
    expiresAt: NOW + DAY,
    ...changes
  }
}

export function offerOf(signed: SignedManifest, delegations: readonly Delegation[] = []): Offer {
  const { id, envelope, manifest } = signed
  return { id, manifestHash: sha256(envelope), revision: manifest.revision, tags: manifest.tags, delegations }
}

export function offerNamed(name: string, provider: string, changes: Partial<Offer> = {}): Offer {
  return {
    id: apiId(name, provider),
    manifestHash: sha256(utf8(name)),
    revision: 1,
    tags: [],
    delegations: [],
    ...changes
  }
}

/** An envelope with any payload, signed by any key. */
export async function sealAs(noun: string, payload: Uint8Array, key: PrivateKey): Promise<Uint8Array> {
  const record = { domain: `souk-${noun}`, codec: utf8(`/souk/${noun}`), marshal: () => payload, equals: () => false }
  return (await RecordEnvelope.seal(record, key)).marshal()
}

/** Bytes from a linear congruential generator. */
export function seededRandom(seed = 1): Random {
  let state = seed >>> 0
  return {
    fill(target) {
      for (let i = 0; i < target.length; i++) {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
        target[i] = state >>> 24
      }
      return target
    }
  }
}

export function memoryDocuments(): Documents & { readonly writes: string[] } {
  const texts = new Map<string, string>()
  const writes: string[] = []
  const at = (collection: string, key: string) => `${collection}/${key}`
  return {
    writes,
    get: async (collection, key) => texts.get(at(collection, key)),
    async put(collection, key, value) {
      writes.push(at(collection, key))
      texts.set(at(collection, key), value)
    },
    async insert(collection, key, value) {
      if (texts.has(at(collection, key))) return false
      texts.set(at(collection, key), value)
      return true
    },
    async replace(collection, key, before, value) {
      if (texts.get(at(collection, key)) !== before) return false
      texts.set(at(collection, key), value)
      return true
    },
    delete: async (collection, key) => texts.delete(at(collection, key)),
    async last(collection, { before, limit }) {
      const all = (await this.list(collection)).toReversed()
      return all.filter(({ key }) => before === undefined || key < before).slice(0, limit)
    },
    async list(collection) {
      const found = [...texts].filter(([key]) => key.startsWith(`${collection}/`)).sort(([a], [b]) => (a < b ? -1 : 1))
      return found.map(([key, value]) => ({ key: key.slice(collection.length + 1), value }))
    },
    async putAll(documents) {
      for (const { collection, key, value } of documents) await this.put(collection, key, value)
    },
    trim: async () => 0,
    sweep: async () => 0
  }
}

/** Links of one process: exchanges only, peers by id. */
export class LinkNetwork {
  readonly links = new Map<string, StubLink>()
  join(self: string): StubLink {
    const link = new StubLink(self, this)
    this.links.set(self, link)
    return link
  }
}

export class StubLink implements Link {
  readonly self: string
  onChannel = () => {}
  onBulk = () => {}
  /** Peers that count as connected. */
  connected: PeerAddress[] = []
  /** Requests that reached this node, by sender. */
  readonly askedBy: string[] = []
  /** Rejects requests, or leaves them without a response. */
  mood: 'answers' | 'refuses' | 'hangs' = 'answers'
  readonly #network: LinkNetwork
  readonly #handlers = new Map<string, { handler: ExchangeHandler; requestBytesMax: number }>()

  constructor(self: string, network: LinkNetwork) {
    this.self = self
    this.#network = network
  }

  async exchange(
    peer: PeerAddress,
    protocol: string,
    request: Uint8Array,
    { signal, responseBytesMax }: { signal: AbortSignal; responseBytesMax: number }
  ): Promise<Uint8Array> {
    signal.throwIfAborted()
    const other = this.#network.links.get(peer.id)
    const served = other?.handlerOf(protocol)
    other?.askedBy.push(this.self)
    if (other?.mood === 'hangs') {
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(new SoukError('owner_unreachable')))
      )
    }
    if (other === undefined || served === undefined || other.mood === 'refuses')
      throw new SoukError('owner_unreachable')
    if (request.length > served.requestBytesMax) throw new SoukError('owner_unreachable')
    const answer = await served.handler(request, this.self)
    if (answer.length > responseBytesMax) throw new SoukError('owner_unreachable')
    return answer
  }

  handlerOf(protocol: string) {
    return this.#handlers.get(protocol)
  }

  serve(protocol: string, handler: ExchangeHandler, options: { requestBytesMax: number }): void {
    this.#handlers.set(protocol, { handler, requestBytesMax: options.requestBytesMax })
  }

  peers = (): readonly PeerAddress[] => this.connected
  connect = (): never => {
    throw new Error('not part of this stub')
  }
  async start(): Promise<void> {}
  async stop(): Promise<void> {}
}

/** An empty directory, with replaceable parts. */
export function emptyDirectory(parts: Partial<Directory> = {}): Directory {
  async function* nobody(): AsyncGenerator<PeerAddress> {}
  return {
    ready: async () => {},
    publish: async () => ({ asked: 0, stored: 0 }),
    withdraw: async () => {},
    record: async () => undefined,
    servers: nobody,
    claimants: nobody,
    tagged: nobody,
    catalogues: nobody,
    ...parts
  }
}
