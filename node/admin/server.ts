import { defaultLogger } from '@libp2p/logger'
import fastify, { type FastifyInstance } from 'fastify'
import { formatRequestId, limits, logOf, requestIds, systemRandom } from '../../lib/index.ts'
import { Metrics } from '../events/metrics.ts'
import { Series } from '../events/series.ts'
import { limitConnections } from '../http/connections.ts'
import { graceful } from '../http/graceful.ts'
import { createHttpServer } from '../http/http-server.ts'
import { listenOnFreePort } from '../http/listen.ts'
import type { PortWish } from '../node-config.ts'
import type { AdminInit } from './admin-init.ts'
import { accountRoutes } from './account-routes.ts'
import { apiRoutes } from './api-routes.ts'
import { backupRoute } from './backup-route.ts'
import { callRoute } from './call-route.ts'
import { channelRoutes } from './channel-routes.ts'
import { consolePages } from './console-pages.ts'
import { EventReaders, eventRoutes } from './event-routes.ts'
import { descriptionRoutes } from './description-routes.ts'
import { guard } from './guard.ts'
import { agentRoute } from './agent-route.ts'
import { keyRoutes } from './key-routes.ts'
import { marketRoutes } from './market-routes.ts'
import { moneyRoutes } from './money-routes.ts'
import { metricsRoute } from './metrics-route.ts'
import { nodeRoutes } from './node-routes.ts'
import { seriesRoutes } from './series-routes.ts'
import { walletRoutes } from './wallet-routes.ts'
import { webhookRoutes } from './webhook-routes.ts'
import { planRoutes } from './plan-routes.ts'
import { answerWithProblems } from './problems.ts'
import { sessionRoutes } from './session-routes.ts'
import { settingsRoutes } from './settings-routes.ts'
import { subscriptionRoutes } from './subscription-routes.ts'

export interface Admin {
  /** `http://127.0.0.1:<port>` */
  readonly url: string
  close(): Promise<void>
}

/** Where to listen. */
export interface AdminPlace extends PortWish {
  /** Default 127.0.0.1. */
  readonly host?: string
  /** How long a request may take to arrive. Default `REQUEST_RECEIVE_MS`. */
  readonly receiveMs?: number
}

/**
 * The admin API and the console on top of it, for this machine. Only inside a container it listens on more than loopback, and
 * also there it is reached under the names of loopback alone.
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
    genReqId: () => formatRequestId(ids.next()),
    // A JSON key that would reach into prototypes is refused, as everywhere.
    onProtoPoisoning: 'error',
    onConstructorPoisoning: 'error'
  })
  app.removeContentTypeParser('text/plain')
  guard(app, { token: init.token, sessions: init.sessions, port: () => bound })
  answerWithProblems(app, init.log)
  logRequests(app, init)
  const parts = await adminRoutes(app, init)
  await app.register(consolePages)

  await app.ready()
  const ending = graceful(server, init.clock)
  ;({ port: bound } = await listenOnFreePort(server, { host: '127.0.0.1', ...place }))
  return {
    url: `http://127.0.0.1:${bound}`,
    async close() {
      parts.stop()
      await ending.close(limits.ADMIN_DRAIN_MS)
      await app.close()
    }
  }
}

/** The route as it is declared, never the address as it was written: that may hold anything. */
function logRequests(app: FastifyInstance, { logger = defaultLogger() }: AdminInit): void {
  const log = logOf(logger, 'souk:admin')
  app.addHook('onResponse', async ({ id, method, routeOptions: { url = 'no route' } }, { statusCode, elapsedTime }) => {
    if (log.enabled) log('%s %s %s %d in %d ms', id, method, url, statusCode, Math.round(elapsedTime))
  })
}

/** Everything under `/admin/v1`. */
export async function adminRoutes(app: FastifyInstance, init: AdminInit): Promise<{ stop(): void }> {
  const routes = [
    nodeRoutes,
    marketRoutes,
    apiRoutes,
    descriptionRoutes,
    keyRoutes,
    accountRoutes,
    callRoute,
    agentRoute,
    moneyRoutes,
    channelRoutes,
    backupRoute,
    sessionRoutes,
    settingsRoutes,
    walletRoutes,
    webhookRoutes,
    planRoutes,
    subscriptionRoutes
  ]
  for (const add of routes) await app.register(async (scope) => add(scope, init), { prefix: '/admin/v1' })
  const readers = new EventReaders()
  await app.register(async (scope) => eventRoutes(scope, init, readers), { prefix: '/admin/v1' })
  const series = new Series(init)
  await app.register(async (scope) => seriesRoutes(scope, series), { prefix: '/admin/v1' })
  const metrics = new Metrics(init.calls)
  await app.register(async (scope) => metricsRoute(scope, init, metrics), { prefix: '/admin/v1' })
  return {
    stop() {
      readers.close()
      series.stop()
      metrics.stop()
    }
  }
}
