import type { IncomingMessage } from 'node:http'
import { asSoukError, formatApiRef, limits, parseApiRef, SoukError } from '../../lib/index.ts'
import type { Keys } from '../keys/keys.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import { serveAgent } from '../mcp/endpoint.ts'
import { Market, type MarketInit } from '../mcp/market.ts'
import { keyMissing } from './keyless.ts'
import type { PerIp } from './per-ip.ts'
import { sendProblem } from './problem.ts'
import type { Visit } from './visit.ts'

/** Which APIs are tools of their own to the holder of a key that names none: `name@provider`, the most wanted first. */
export interface AgentApis {
  of(holder: KeyHolder): Promise<readonly string[]>
}

export interface AgentsInit extends MarketInit {
  readonly keys: Pick<Keys, 'verify'>
  readonly agentApis?: AgentApis
  /** As those of `CallRoute`. */
  readonly demoCalls: Pick<PerIp, 'count'>
}

/**
 * `POST /mcp`: the Model Context Protocol for whoever has a key. `?api=name`, any number of times, says which APIs are tools of their own.
 * @param origins - pages that may, and no others: a page that has its name point here (DNS rebinding) sends its own
 */
export class Agents {
  readonly #init: AgentsInit
  readonly #market: Market
  readonly #origins: readonly string[]

  constructor(init: AgentsInit, origins: readonly string[]) {
    this.#init = init
    this.#market = new Market(init)
    this.#origins = origins
  }

  async serve(visit: Visit): Promise<void> {
    try {
      this.#checkOrigin(visit.req)
      const holder = await this.#holderOf(visit.req)
      const named = namedIn(visit.req.url ?? '')
      if (holder.isPublic === true) this.#init.demoCalls.count(visit.req)
      const apis = named.length > 0 ? named : ((await this.#init.agentApis?.of(holder)) ?? holder.apis ?? [])
      await serveAgent(visit, this.#market.for({ holder, apis }))
    } catch (error) {
      const { status } = asSoukError(error)
      const challenge = status === 401 ? ['WWW-Authenticate', 'Bearer realm="souk"'] : []
      sendProblem({ ...visit, headers: [...visit.headers, ...challenge] }, error)
    }
  }

  /** @throws SoukError `ingress_not_allowed` */
  #checkOrigin({ headers }: IncomingMessage): void {
    const { origin } = headers
    if (origin === undefined || this.#origins.includes(origin) || this.#origins.includes('*')) return
    throw new SoukError('ingress_not_allowed', 'Pages of this origin may not: souk up --cors-origin lets them.')
  }

  /** @throws SoukError `key_missing`, and as `Keys.verify` */
  async #holderOf({ headers }: IncomingMessage): Promise<KeyHolder> {
    const own = headers['x-consumer-key']
    const key = typeof own === 'string' && own !== '' ? own : /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
    if (key === undefined) throw keyMissing()
    return this.#init.keys.verify(key)
  }
}

/** @throws SoukError `invalid_request` */
function namedIn(url: string): string[] {
  const query = new URLSearchParams(url.split('?')[1] ?? '')
  const apis = query.getAll('api').map((api) => formatApiRef(parseApiRef(api)))
  if (apis.length <= limits.MCP_APIS_MAX) return apis
  throw new SoukError('invalid_request', `At most ${limits.MCP_APIS_MAX} APIs can be tools at once.`)
}
