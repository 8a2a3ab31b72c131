import type { IncomingMessage } from 'node:http'
import { asSoukError, formatApiRef, SoukError } from '../../../lib/index.ts'
import type { Keys } from '../../keys/keys.ts'
import { permitted } from '../../keys/scope.ts'
import type { KeyHolder } from '../../keys/verifier.ts'
import type { AgentApis } from '../../mcp/agent-apis.ts'
import type { MarketInit } from '../../mcp/market.ts'
import { type AgentService, agentService } from '../../mcp/on-demand.ts'
import { RunningCalls } from '../../mcp/running-calls.ts'
import { apisIn, checkParameters, operationsIn } from '../../mcp/selection.ts'
import type { BodyReader } from '../calls/body-reader.ts'
import { keyMissing } from '../calls/keyless.ts'
import type { Cors } from '../cors.ts'
import type { PerIp } from '../per-ip.ts'
import { sendProblem } from '../problem.ts'
import type { RequestContext } from '../request-context.ts'

export interface AgentsInit extends MarketInit {
  readonly keys: Pick<Keys, 'verify' | 'nameFor'>
  readonly agentApis: AgentApis
  readonly bodies: BodyReader
  /** Limits calls with the public demo key, per host. */
  readonly demoCalls: Pick<PerIp, 'count'>
  /** Pages of other origins are refused, because a page can point its own name at this node (DNS rebinding). */
  readonly cors: Pick<Cors, 'allows'>
}

/**
 * `POST /mcp`: the Model Context Protocol for key holders. `?api=name`, repeatable, selects the APIs whose operations become tools of their
 * own; `?operation=get*` selects among these.
 */
export class Agents {
  readonly #init: AgentsInit
  readonly #service: () => Promise<AgentService>
  readonly #running = new RunningCalls()

  constructor(init: AgentsInit) {
    this.#init = init
    this.#service = agentService(init)
  }

  async serve(context: RequestContext): Promise<void> {
    try {
      this.#checkOrigin(context.req)
      const holder = await this.#holderOf(context.req)
      const count = () => {
        if (holder.isPublic === true) this.#init.demoCalls.count(context.req)
      }
      count()
      checkParameters(context.req.url ?? '')
      const named = apisIn(context.req.url ?? '').map((api) => formatApiRef(permitted(holder, api)))
      const apis = named.length > 0 ? named : await this.#init.agentApis.of(holder)
      const operations = operationsIn(context.req.url ?? '')
      const { market, serveAgent } = await this.#service()
      const agent = market.for({ holder, apis, isChosen: named.length > 0, operations })
      await serveAgent(context, agent, this.#init.bodies, { holder, running: this.#running, count })
    } catch (thrown) {
      const error = inJsonRpc(asSoukError(thrown))
      const challenge = error.status === 401 ? ['WWW-Authenticate', 'Bearer realm="souk"'] : []
      sendProblem({ ...context, headers: [...context.headers, ...challenge] }, error)
    }
  }

  /** @throws SoukError `ingress_not_allowed` */
  #checkOrigin({ headers }: IncomingMessage): void {
    const { origin } = headers
    if (origin === undefined || this.#init.cors.allows(origin)) return
    throw new SoukError(
      'ingress_not_allowed',
      'Pages of this origin may not call. The operator can allow it with souk up --cors-origin.'
    )
  }

  /** @throws SoukError `key_missing`, and as `Keys.verify` */
  async #holderOf({ headers }: IncomingMessage): Promise<KeyHolder> {
    const own = headers['x-consumer-key']
    const key = typeof own === 'string' && own !== '' ? own : /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
    if (key === undefined) throw keyMissing()
    return this.#init.keys.verify(key)
  }
}

/** Makes the problem document a JSON-RPC error as well: its members do not collide. */
function inJsonRpc({ code, message, status, source, members, retryAfterMs, cause }: SoukError): SoukError {
  // The JSON parser alone gives a position.
  const number =
    code !== 'invalid_request' ? SERVER_ERROR : members?.['position'] === undefined ? INVALID_REQUEST : PARSE_ERROR
  const error = { code: number, message, data: { code } }
  return new SoukError(code, message, {
    cause,
    status,
    source,
    members: { ...members, jsonrpc: '2.0', id: null, error },
    retryAfterMs
  })
}

/** https://www.jsonrpc.org/specification#error_object */
const PARSE_ERROR = -32_700
const INVALID_REQUEST = -32_600
const SERVER_ERROR = -32_000
