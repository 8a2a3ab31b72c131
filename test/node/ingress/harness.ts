import { connect, type Socket } from 'node:net'
import { systemClock, systemRandom } from '../../../lib/index.ts'
import type {
  CallInit,
  CallReply,
  Clock,
  Documents,
  FoundListing,
  Manifest,
  Payload,
  Resolution,
  SearchPage,
  Souk
} from '../../../lib/interface/index.ts'
import { createIngress, type Ingress, type IngressInit, type IngressOptions } from '../../../node/ingress/ingress.ts'
import { demoKey } from '../../../node/keys/demo-key.ts'
import { createKeys } from '../../../node/keys/keys.ts'
import { DailyCaps } from '../../../node/spending/daily-caps.ts'
import { Spending } from '../../../node/spending/spending.ts'
import { DescriptionReader } from '../../../lib/describe/description-reader.ts'
import { DocumentShelf } from '../../../lib/describe/document-shelf.ts'
import { PATIENCE_MS_MIN } from '../../helpers/eventually.ts'
import { until } from '../../helpers/scripted-upstream.ts'
import { LinkNetwork, manifestOf } from '../../lib/resolve/fixtures.ts'

export type FakeSouk = Pick<Souk, 'call' | 'search' | 'resolve' | 'reputation' | 'descriptions'>

export const PROVIDER = '12D3KooWGzBXbTiFcQvfTVUqRt7BsxkLzTLyGgXFVYXV1PsJMhXX'

/** A listing as in search results, of the tests' provider. */
export function foundListing(name: string, changes: Partial<Manifest> = {}): FoundListing {
  return {
    id: `${name}@${PROVIDER}`,
    envelope: new Uint8Array(0),
    manifest: manifestOf(PROVIDER, { name, ...changes }),
    firstSeenAt: 0,
    matching: [],
    quality: { score: 0.8, calls: 0 }
  }
}

export function memoryDocuments(): Documents & { readonly reads: number } {
  const all = new Map<string, Map<string, string>>()
  let reads = 0
  const of = (collection: string): Map<string, string> => {
    const found = all.get(collection) ?? new Map<string, string>()
    all.set(collection, found)
    return found
  }
  return {
    get reads() {
      return reads
    },
    async get(collection, key) {
      reads++
      return of(collection).get(key)
    },
    async put(collection, key, value) {
      of(collection).set(key, value)
    },
    async insert(collection, key, value) {
      if (of(collection).has(key)) return false
      of(collection).set(key, value)
      return true
    },
    async replace(collection, key, before, value) {
      if (of(collection).get(key) !== before) return false
      of(collection).set(key, value)
      return true
    },
    async delete(collection, key) {
      return of(collection).delete(key)
    },
    async last(collection, { before, limit }) {
      const all = (await this.list(collection)).toReversed()
      return all.filter(({ key }) => before === undefined || key < before).slice(0, limit)
    },
    async list(collection) {
      return [...of(collection)].map(([key, value]) => ({ key, value })).sort((a, b) => (a.key < b.key ? -1 : 1))
    },
    async putAll(documents) {
      for (const { collection, key, value } of documents) of(collection).set(key, value)
    },
    trim: async () => 0,
    sweep: async () => 0
  }
}

/** A response as the overlay returns it. */
export function answer(given: Partial<CallReply> & { body?: Payload } = {}): CallReply {
  return {
    requestId: new Uint8Array(16),
    id: `ticker@${PROVIDER}`,
    owner: PROVIDER,
    status: 200,
    headers: [['content-type', 'application/json']],
    body: Buffer.from('{"ok":true}'),
    price: 1_000n,
    charged: 1_000n,
    receipt: new Uint8Array(0),
    timing: { lookup: 0.1, pay: 0.05, net: 0.2, owner: 0.3, upstream: 0.4 },
    json: () => Promise.reject(new Error('not asked for')),
    ...given
  }
}

export interface Logged {
  readonly level: 'warn' | 'error'
  readonly message: string
  readonly facts: Readonly<Record<string, unknown>> | undefined
}

export interface Running {
  readonly url: string
  readonly port: number
  readonly renew: Ingress['renew']
  readonly key: string
  readonly keys: ReturnType<typeof createKeys>
  readonly calls: CallInit[]
  readonly log: Logged[]
  /** Large descriptions that the node can read. */
  readonly shelf: DocumentShelf
  /** The overlay's handler of calls, which tests replace. */
  onCall: (init: CallInit) => CallReply | Promise<CallReply>
  onSearch: FakeSouk['search']
  onResolve: FakeSouk['resolve']
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  close(): Promise<void>
}

export async function startIngress(
  options: Partial<IngressOptions> = {},
  clock: Clock = systemClock,
  demoApis?: readonly string[],
  scopes?: IngressInit['scopes']
): Promise<Running> {
  const log: Logged[] = []
  const calls: CallInit[] = []
  const shelf = new DocumentShelf(clock)
  const seams = { clock, random: systemRandom }
  const keys = createKeys({
    documents: memoryDocuments(),
    secret: Buffer.alloc(32, 7),
    network: 'dev',
    ...seams,
    ...(demoApis === undefined ? {} : { demo: demoKey('test', demoApis) })
  })
  const { key } = await keys.issue({ label: 'tests' })
  const caps = new DailyCaps({ clock, documents: memoryDocuments() })
  const souk: FakeSouk = {
    call: async (init) => {
      calls.push(init)
      return running.onCall(init)
    },
    search: (query, signal) => running.onSearch(query, signal),
    resolve: (api, given) => running.onResolve(api, given),
    reputation: () => Promise.resolve({ quality: { score: 0.8, calls: 0 } }),
    descriptions: descriptionsOf(clock, shelf)
  }
  const ingress = createIngress({
    souk,
    keys,
    spending: new Spending({ caps }),
    ...(scopes && { scopes }),
    ...seams,
    options: { host: '127.0.0.1', port: 0, x402: false, ...options },
    log: {
      warn: (message, facts) => log.push({ level: 'warn', message, facts }),
      error: (message, facts) => log.push({ level: 'error', message, facts })
    }
  })
  const { url, port } = await ingress.listen()
  const running: Running = {
    url,
    port,
    renew: ingress.renew,
    key,
    keys,
    calls,
    shelf,
    log,
    onCall: () => answer(),
    onSearch: (): Promise<SearchPage> => Promise.resolve({ listings: [] }),
    onResolve: (): Promise<Resolution> => Promise.reject(new Error('not scripted')),
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
        headers: { 'content-type': 'application/json', 'x-consumer-key': key, ...headers }
      }),
    close: () => ingress.close()
  }
  return running
}

/** Reads the descriptions in manifests, and those of `shelf`. */
export function descriptionsOf(clock: Clock, shelf = new DocumentShelf(clock)): Souk['descriptions'] {
  const link = new LinkNetwork().join(PROVIDER)
  return new DescriptionReader({ link, shelf, clock, sourceOf: async () => undefined })
}

/** A client that can send malformed requests. */
export class RawClient {
  readonly #socket: Socket
  #received = ''
  #ended = false
  #wake = () => {}

  constructor(port: number) {
    this.#socket = connect(port, '127.0.0.1')
    this.#socket.setNoDelay(true)
    this.#socket.on('data', (chunk: Buffer) => {
      this.#received += chunk.toString('latin1')
      this.#wake()
    })
    this.#socket.on('error', () => {})
    this.#socket.on('close', () => {
      this.#ended = true
      this.#wake()
    })
  }

  get received(): string {
    return this.#received
  }

  get socket(): Socket {
    return this.#socket
  }

  send(data: string | Uint8Array): this {
    this.#socket.write(data)
    return this
  }

  /** Resolves when all sent bytes are written to the socket. */
  written(): Promise<void> {
    return new Promise((resolve) => this.#socket.write('', () => resolve()))
  }

  /** Waits for `part`. Resolves with all received text. */
  until(part: string, boundMs = PATIENCE_MS_MIN): Promise<string> {
    return this.#wait(() => this.#received.includes(part), boundMs, JSON.stringify(part))
  }

  closed(boundMs = PATIENCE_MS_MIN): Promise<string> {
    return this.#wait(() => this.#ended, boundMs, 'the end')
  }

  destroy(): void {
    this.#socket.destroy()
  }

  #wait(reached: () => boolean, boundMs: number, what: string): Promise<string> {
    return new Promise((resolve, reject) => {
      const bound = setTimeout(
        () => reject(new Error(`Timed out waiting for ${what}; received ${JSON.stringify(this.#received)}`)),
        boundMs
      )
      this.#wake = () => {
        if (reached()) {
          clearTimeout(bound)
          resolve(this.#received)
        } else if (this.#ended) {
          clearTimeout(bound)
          reject(new Error(`Closed before ${what}; received ${JSON.stringify(this.#received)}`))
        }
      }
      this.#wake()
    })
  }
}

/** Polls until `holds` returns true. */
export async function eventually(holds: () => boolean, boundMs = 5_000): Promise<void> {
  await until(holds, holds.toString(), boundMs)
}
