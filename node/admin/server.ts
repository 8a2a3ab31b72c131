import { defaultLogger } from '@libp2p/logger'
import fastify, { type FastifyInstance } from 'fastify'
import { formatRequestId, limits, logOf, requestIds, systemRandom } from '../../lib/index.ts'
import { Metrics } from '../events/metrics.ts'
import { Series } from '../events/series.ts'
import { watchedCall } from '../events/watch-calls.ts'
import { limitConnections } from '../http/connections.ts'
import { graceful } from '../http/graceful.ts'
import { createHttpServer } from '../http/http-server.ts'
import { listenOnFreePort } from '../http/listen.ts'
import { NO_SCHEMAS } from '../http/no-schemas.ts'
import { sendParserProblem } from '../http/parser-problem.ts'
import { KeyLimiter } from '../keys/key-limiter.ts'
import { agentService } from '../mcp/on-demand.ts'
import type { PortPreference } from '../node-config.ts'
import type { AdminInit } from './admin-init.ts'
import { adminOpenapi } from './admin-openapi.ts'
import { consolePages } from './sessions/console-pages.ts'
import { EventReaders } from './events/event-readers.ts'
import { guard } from './sessions/guard.ts'
import { acceptJson } from './json-bodies.ts'
import { answerWithProblems, refuseRequest } from './problems.ts'
import { addRoutes, type AdminContext } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'

export interface Admin {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  close(): Promise<void>
}

/** Listening address. */
export interface AdminPlace extends PortPreference {
  /** Default 127.0.0.1. */
  readonly host?: string | undefined
  /** Time limit to receive a request. Default `REQUEST_RECEIVE_MS`. */
  readonly receiveMs?: number
}

/**
 * The admin API and the console, for this machine only. Inside a container it listens on other addresses too, but still requires a
 * loopback name in `Host`.
 */
export async function startAdmin(init: AdminInit, place: AdminPlace): Promise<Admin> {
  const ids = requestIds(init.clock, systemRandom)
  let bound = 0
  const server = createHttpServer(place)
  limitConnections(server, {
    connectionsMax: limits.ADMIN_CONNECTIONS_MAX,
    perHostMax: limits.ADMIN_CONNECTIONS_MAX,
    trustProxy: false
  })
  const app: FastifyInstance = fastify({
    serverFactory: (handler) => server.on('request', handler),
    bodyLimit: limits.ADMIN_BODY_BYTES_MAX,
    schemaController: NO_SCHEMAS,
    genReqId: () => formatRequestId(ids.next()),
    frameworkErrors: refuseRequest,
    clientErrorHandler: (error, socket) => sendParserProblem(error, socket, formatRequestId(ids.next()))
  })
  acceptJson(app)
  guard(app, { token: init.token, sessions: init.sessions, port: () => bound })
  answerWithProblems(app, init.log)
  logRequests(app, init)
  const context = contextOf(init)
  addRoutes(app, Object.values(ADMIN_ROUTES).flat(), context)
  await app.register(consolePages)

  await app.ready()
  const ending = graceful(server, init.clock)
  ;({ port: bound } = await listenOnFreePort(server, { ...place, host: place.host ?? '127.0.0.1' }))
  return {
    url: `http://127.0.0.1:${bound}`,
    async close() {
      context.stop()
      await ending.close(limits.ADMIN_DRAIN_MS)
      await app.close()
    }
  }
}

/** Logs the declared route, never the raw URL, because a URL may contain anything. */
function logRequests(app: FastifyInstance, { logger = defaultLogger() }: AdminInit): void {
  const log = logOf(logger, 'souk:admin')
  app.addHook('onResponse', async ({ id, method, routeOptions: { url = 'no route' } }, { statusCode, elapsedTime }) => {
    if (log.enabled) log('%s %s %s %d in %d ms', id, method, url, statusCode, Math.round(elapsedTime))
  })
}

/** Dependencies of the handlers. `stop` ends background work. */
function contextOf(init: AdminInit): AdminContext & { stop(): void } {
  const { souk, calls, captures, clock, events, subscriptions } = init
  const { boundCalls } = subscriptions
  const readers = new EventReaders()
  const series = new Series(init)
  const metrics = new Metrics(calls)
  let document: object | undefined
  return {
    ...init,
    call: watchedCall(souk, { feed: calls, captures, clock, events }),
    agents: agentService({ ...init, boundCalls, random: systemRandom, keyLimiter: new KeyLimiter(clock) }),
    readers,
    series,
    metrics,
    openapi: () => (document ??= adminOpenapi()),
    stop() {
      readers.close()
      series.stop()
      metrics.stop()
    }
  }
}
