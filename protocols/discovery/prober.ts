import { deadline, type Clock } from '../../lib/base/clock.ts'
import { isSoukError, SoukError } from '../../lib/base/errors.ts'
import {
  DISCOVERY_AT_ONCE_MAX,
  DISCOVERY_BYTES_MAX,
  DISCOVERY_REQUEST_MS,
  DISCOVERY_REQUESTS_MAX
} from '../../lib/base/limits/discovery.ts'
import { OPENAPI_BYTES_MAX } from '../../lib/base/limits/rest.ts'
import { Slots } from '../../lib/base/slots.ts'
import { utf8 } from '../../lib/base/bytes.ts'
import type { UpstreamConfig } from '../../lib/interface/adapter.ts'
import type { Headers } from '../../lib/interface/payload.ts'
import { createUpstream, type Upstream } from '../upstream/upstream.ts'
import { textOf } from './recognize.ts'

/** A response at one place. The text is empty if it is no document. */
export interface Probed {
  /** The requested path and query. */
  readonly at: string
  readonly status: number
  readonly headers: Headers
  readonly type: string
  readonly text: string
}

const ACCEPT = 'application/openapi+json, application/json, application/yaml, text/xml, text/html;q=0.6, */*;q=0.5'
const GRAPHQL_ACCEPT = 'application/graphql-response+json, application/json;q=0.9'
const TYPENAME = '{__typename}'
/** Types of endless responses and of files. */
const NO_TEXT =
  /^(?:text\/event-stream|multipart\/|image\/|audio\/|video\/|font\/|application\/(?:octet-stream|pdf|zip))/i

/**
 * Sends requests to the host of an address, and to no other: credentials go only there. The number of requests, their time and
 * their bytes are limited.
 */
export class Prober {
  readonly #upstream: Upstream
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #slots = new Slots(DISCOVERY_AT_ONCE_MAX)
  readonly #asked = new Set<string>()
  #bytesLeft = DISCOVERY_BYTES_MAX

  constructor(config: UpstreamConfig, clock: Clock, signal: AbortSignal) {
    const { auth, guard, endpoint } = config
    this.#upstream = createUpstream({
      endpoint: new URL('/', endpoint).href,
      timeoutMs: DISCOVERY_REQUEST_MS,
      inFlightMax: DISCOVERY_AT_ONCE_MAX,
      clock,
      ...(auth === undefined ? {} : { auth }),
      ...(guard === undefined ? {} : { guard })
    })
    this.#clock = clock
    this.#signal = signal
  }

  /** @throws SoukError those of `Upstream.request` */
  first(at: string): Promise<Probed | undefined> {
    return this.#probe('GET', at, [['accept', ACCEPT]])
  }

  /** Undefined if there is no usable response, or the limits are reached. */
  async get(at: string): Promise<Probed | undefined> {
    return this.#quietly(() => this.first(at))
  }

  async queryByGet(at: string): Promise<Probed | undefined> {
    const headers: Headers = [
      ['accept', GRAPHQL_ACCEPT],
      ['apollo-require-preflight', 'true']
    ]
    const target = `${at}${at.includes('?') ? '&' : '?'}query=${encodeURIComponent(TYPENAME)}`
    return this.#quietly(() => this.#probe('GET', target, headers))
  }

  async queryByPost(at: string): Promise<Probed | undefined> {
    const headers: Headers = [
      ['accept', GRAPHQL_ACCEPT],
      ['content-type', 'application/json']
    ]
    return this.#quietly(() => this.#probe('POST', at, headers, utf8(JSON.stringify({ query: TYPENAME }))))
  }

  close(): Promise<void> {
    return this.#upstream.close()
  }

  async #quietly(probe: () => Promise<Probed | undefined>): Promise<Probed | undefined> {
    try {
      return await probe()
    } catch (error) {
      if (isSoukError(error)) return undefined
      throw error
    }
  }

  async #probe(method: string, at: string, headers: Headers, body?: Uint8Array): Promise<Probed | undefined> {
    const name = `${method} ${at}`
    if (this.#asked.has(name) || this.#asked.size >= DISCOVERY_REQUESTS_MAX) return undefined
    this.#asked.add(name)
    const leave = await this.#slots.enter(this.#signal)
    const late = () => new SoukError('upstream_timeout', 'The API did not respond in time.')
    const limit = deadline(this.#clock, DISCOVERY_REQUEST_MS, late, this.#signal)
    try {
      const { signal } = limit
      const response = await this.#upstream.request({ method, path: at, headers, signal, ...(body && { body }) })
      const type = response.headers.find(([key]) => key === 'content-type')?.[1] ?? ''
      const told = { at, status: response.status, headers: response.headers, type }
      const most = Math.min(this.#bytesLeft, OPENAPI_BYTES_MAX)
      if (NO_TEXT.test(type) || most <= 0) {
        response.discard()
        return { ...told, text: '' }
      }
      const bytes = await response.bytes(most).catch(() => new Uint8Array())
      this.#bytesLeft -= bytes.length
      return { ...told, text: textOf(bytes) }
    } finally {
      limit.clear()
      leave()
    }
  }
}
