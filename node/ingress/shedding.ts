import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Logger } from '@libp2p/interface'
import { formatRequestId, limits, LoadControl, type requestIds, SoukError, toProblem } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import { clientNetwork } from '../http/host.ts'
import type { Cors } from './cors.ts'
import { sendWhole } from './request-context.ts'

export interface SheddingInit {
  readonly server: Server
  readonly clock: Clock
  readonly ids: ReturnType<typeof requestIds>
  readonly trustProxy: boolean
  readonly cors: Cors
  readonly log: Logger
}

/** Probes tell a supervisor the state of the node. A busy node is alive, so probes are not shed. */
const PROBES = new Set(['/livez', '/readyz'])

/**
 * Passes requests to `handler`. While the event loop is overloaded, it refuses them with a prepared response, before any lookup and before
 * reading a body. The code that reads the body sends `100 Continue`.
 */
export function shedOverload(
  { server, clock, ids, trustProxy, cors, log }: SheddingInit,
  handler: (req: IncomingMessage, res: ServerResponse) => void
): void {
  const load = new LoadControl(clock)
  const admit = (req: IncomingMessage, res: ServerResponse) => {
    // A connection with too many requests was closed. The requests that arrived in the same read still come.
    if (req.socket.destroyed) return
    // A page whose preflight is refused cannot read the reason.
    if (cors.respond(req, res)) return
    if (load.admit(() => clientNetwork(req, trustProxy)) || PROBES.has(req.url ?? '')) {
      handler(req, res)
      return
    }
    const requestId = formatRequestId(ids.next())
    log('%s is shed: the event loop is late', requestId)
    sendOverloaded({ req, res, clock, headers: cors.headersOf(req) }, requestId)
  }
  server.on('request', admit)
}

const RETRY_AFTER = String(Math.ceil(limits.OVERLOAD_PAUSE_MS / 1_000))
const OVERLOADED = new SoukError('overloaded', 'This node is overloaded. Try again later.', { notAccepted: true })
const [BEFORE_ID = '', AFTER_ID = ''] = JSON.stringify(toProblem(OVERLOADED, '|')).split('|')

function sendOverloaded(refused: Parameters<typeof sendWhole>[0], requestId: string): void {
  const headers = ['X-Request-Id', requestId, 'Content-Type', 'application/problem+json', 'Retry-After', RETRY_AFTER]
  sendWhole(refused, OVERLOADED.status, headers, BEFORE_ID + requestId + AFTER_ID)
}
