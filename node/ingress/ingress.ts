import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:tls'
import type { ComponentLogger, Logger } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { asSoukError, formatRequestId, isApiName, limits, logOf, requestIds, SoukError } from '../../lib/index.ts'
import type { Clock, Random, Souk } from '../../lib/interface/index.ts'
import { listenWide } from '../http/acceptors.ts'
import { limitConnections } from '../http/connections.ts'
import { type Graceful, graceful } from '../http/graceful.ts'
import { checkTarget, createHttpServer } from '../http/http-server.ts'
import type { Accounts } from '../accounts/accounts.ts'
import { KeyLimiter } from '../keys/key-limiter.ts'
import type { Keys } from '../keys/keys.ts'
import { AgentApis } from '../mcp/agent-apis.ts'
import type { Spending } from '../spending/spending.ts'
import type { SubscriptionParts } from '../subscriptions/open.ts'
import type { ListenTarget } from '../http/listen.ts'
import { isLoopback } from '../http/loopback.ts'
import { NO_SCHEMAS } from '../http/no-schemas.ts'
import { sendParserProblem } from '../http/parser-problem.ts'
import { packageVersion } from '../config.ts'
import type { Scopes } from '../names/scopes.ts'
import { connectionShares } from '../open-files.ts'
import { SetupError } from '../setup-error.ts'
import type { AccountMoneyContext } from './accounts/account-money-routes.ts'
import { Agents } from './discovery/agents.ts'
import { Bazaar } from './discovery/bazaar.ts'
import { BodyReader } from './calls/body-reader.ts'
import { addCallRoutes, type ContextOf } from './add-call-routes.ts'
import type { CallRoute } from './calls/call-route.ts'
import { Cors } from './cors.ts'
import { GraphqlSockets } from './calls/graphql-sockets.ts'
import { EventStreams } from './calls/event-streams.ts'
import { Tickets } from './calls/tickets.ts'
import { Keyless } from './calls/keyless.ts'
import { PerIp } from './per-ip.ts'
import { ingressOpenapi } from './discovery/ingress-openapi.ts'
import { sendNoRoute } from './no-route.ts'
import { OpenRequests } from './open-requests.ts'
import { fromFastify, sendProblem } from './problem.ts'
import type { ReceiptContext } from './accounts/receipt-routes.ts'
import { addRoutes, type IngressDeclaration, type IngressRoute } from './route.ts'
import { OpenapiViews } from './discovery/openapi-views.ts'
import { INGRESS_ROUTES } from './routes.ts'
import { shedOverload } from './shedding.ts'
import { checkSingleHeaders } from './single-headers.ts'
import type { IngressLog, RequestContext } from './request-context.ts'

export interface IngressOptions extends ListenTarget {
  /** PEM texts. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined
  /** A proxy in front of this node terminates TLS, so a public bind without TLS is allowed. Default false. */
  readonly trustProxy?: boolean
  /** Origins whose pages may call, e.g. `https://app.example`; `*` for all. Credentials are never allowed. Default none. */
  readonly corsOrigins?: readonly string[]
  /** Forwards calls without a key that an x402 client pays for. This node needs no wallet for that. Default true. */
  readonly x402?: boolean | undefined
  /** Unauthenticated callers may open prepaid accounts. Default false. */
  readonly opensAccounts?: boolean
  /** Account holders may create keys. Opening an account needs both this and `opensAccounts`. Default true. */
  readonly selfService?: boolean
  /**
   * Size limit of a request body, in bytes. Default `REQUEST_BYTES_CEILING`, or `UPLOAD_BYTES_CEILING` for a body that is forwarded as it
   * arrives. The provider sets the limit of its listing.
   */
  readonly requestBytesMax?: number
  /** Requests per minute and host with a missing or invalid key. Default `STRANGERS_PER_HOST`. */
  readonly unauthenticatedPerHost?: number
  /** Time limit for a request to arrive. Default `REQUEST_RECEIVE_MS`. */
  readonly receiveMs?: number
  /** How long `close` waits for running calls. Default `DRAIN_MS`. */
  readonly drainMs?: number
  /** Bytes of bodies buffered at once, over all requests. Default `HELD_BYTES_MAX`. */
  readonly heldBytesMax?: number
  /** In each such window, at least `BODY_WINDOW_BYTES_MIN` of a body must arrive. Default `BODY_WINDOW_MS`. */
  readonly bodyWindowMs?: number
  /** Default: `HTTP_CONNECTIONS_MAX`, or half of the files that this process may open. */
  readonly connectionsMax?: number
}

export interface IngressInit {
  readonly souk: Pick<Souk, 'call' | 'search' | 'resolve' | 'reputation' | 'descriptions'>
  readonly keys: Keys
  readonly spending: Pick<Spending, 'begin' | 'left'>
  /** Prepaid accounts. Default: none. */
  readonly accounts?: Accounts
  /** Subscriptions of accounts and of the operator. Default: none. */
  readonly subscriptions?: SubscriptionParts
  /** Deposits into accounts and withdrawals from them. Default: not offered. */
  readonly accountMoney?: Pick<AccountMoneyContext, 'deposits' | 'withdrawals'>
  /** Looks up the receipt that a provider signed for a call. Default: no receipts. */
  readonly receipt?: ReceiptContext['receipt']
  /** Resolves scopes other than `demo` and provider ids. Default: no other scopes. */
  readonly scopes?: Pick<Scopes, 'providerOf'>
  /** Why this node refuses new work, as `Store.refusal`. Default: it refuses none. */
  readonly refusal?: () => SoukError | undefined
  /** Display name of the currency on this network. Default `USDC`. */
  readonly money?: string
  readonly clock: Clock
  readonly random: Random
  readonly options: IngressOptions
  readonly log: IngressLog
  /** Default: that of `@libp2p/logger`. */
  readonly logger?: ComponentLogger
}

export interface Ingress {
  /** @throws SetupError `port_busy`, `start_failed` */
  listen(): Promise<{ readonly url: string; readonly host: string; readonly port: number }>
  /** Uses this certificate for new connections. Only for an ingress with TLS. */
  readonly renew: (tls: { readonly cert: string; readonly key: string }) => void
  /** Accepts no new requests and waits at most `drainMs` for running calls. */
  close(): Promise<void>
}

/**
 * The HTTP ingress: accepts plain JSON with a consumer key and returns the API’s response.
 * @throws SetupError `config_invalid` (a public bind that would expose keys to the network, or a malformed origin)
 */
export function createIngress(init: IngressInit): Ingress {
  const { options } = init
  checkBind(options)
  const cors = new Cors(options.corsOrigins ?? [])
  const server = createHttpServer({
    ...options,
    upgrades: (request) => GraphqlSockets.takes(request),
    lateContinue: true
  })
  const ending = graceful(server, init.clock)
  const { connectionsMax = connectionShares().http, trustProxy = false } = options
  const perHostMax = Math.min(limits.HTTP_CONNECTIONS_PER_HOST_MAX, Math.ceil(connectionsMax / 2))
  limitConnections(server, { connectionsMax, perHostMax, trustProxy })
  const app = createApp(init, { server, ending, cors })

  return {
    async listen() {
      await app.ready()
      const { host, port, acceptors } = await listenWide(server, options)
      ending.acceptors.push(...acceptors)
      return { url: `${options.tls === undefined ? 'http' : 'https'}://${urlHost(host)}:${port}`, host, port }
    },
    renew({ cert, key }) {
      if (server instanceof TlsServer) server.setSecureContext({ cert, key })
    },
    async close() {
      await ending.close(options.drainMs ?? limits.DRAIN_MS)
      await app.close()
    }
  }
}

function checkBind({ host, tls, trustProxy }: IngressOptions): void {
  if (isLoopback(host) || tls !== undefined || trustProxy === true) return
  throw new SetupError(
    'config_invalid',
    `The ingress would listen on ${host} without TLS, and consumer keys would cross the network unencrypted.`,
    {
      hint: '--tls-cert cert.pem --tls-key key.pem, or --trust-proxy behind a proxy that terminates TLS'
    }
  )
}

/** A wildcard bind is shown as the loopback address, which works on this machine. */
function urlHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  if (host === '::') return '[::1]'
  return host.includes(':') ? `[${host}]` : host
}

interface AppParts {
  readonly server: Server
  readonly ending: Graceful
  readonly cors: Cors
}

function createApp(init: IngressInit, { server, ending, cors }: AppParts): FastifyInstance {
  const { souk, keys, spending, subscriptions, options } = init
  const {
    requestBytesMax = limits.REQUEST_BYTES_CEILING,
    requestBytesMax: uploadBytesMax = limits.UPLOAD_BYTES_CEILING,
    trustProxy = false,
    unauthenticatedPerHost = limits.STRANGERS_PER_HOST
  } = options
  const ids = requestIds(init.clock, init.random)
  const log = logOf(init.logger ?? defaultLogger(), 'souk:ingress')
  const contextOf = contexts(init, { ids, ending, cors, trace: log })
  const app = fastify({
    serverFactory(handler) {
      shedOverload({ server, clock: init.clock, ids, trustProxy, cors, log }, handler)
      return server
    },
    logger: false,
    schemaController: NO_SCHEMAS,
    // `checkRequest` refuses with a problem document instead.
    return503OnClosing: false,
    routerOptions: { maxParamLength: limits.PATH_SEGMENT_CHARS_MAX },
    frameworkErrors: (error, request, reply) => sendProblem(contextOf(request, reply), fromFastify(error)),
    clientErrorHandler: (error, socket) => sendParserProblem(error, socket, formatRequestId(ids.next()))
  })
  // The body stays on the socket until the key was checked. Handlers read it themselves.
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', (_request, _payload, done) => done(null))

  app.addHook('onRequest', (request, reply, done) => {
    try {
      checkRequest(request, ending)
    } catch (error) {
      sendProblem(contextOf(request, reply), error)
      return
    }
    // Before Fastify looks at the body: it has rules of its own for the Content-Type.
    if (request.is404) sendNoRoute(contextOf(request, reply))
    else done()
  })
  app.setErrorHandler((error, request, reply) => sendProblem(contextOf(request, reply), fromFastify(error)))

  const served: IngressDeclaration[] = []
  const bodies = bodiesOf(init)
  const keyLimiter = new KeyLimiter(init.clock)
  const open = new OpenRequests({ clock: init.clock, trustProxy, keyLimiter, bodies })
  app.addHook('onSend', (request, reply, body, done) => {
    try {
      const headers = cors.headersOf(request.raw)
      for (let i = 0; i < headers.length; i += 2) reply.header(headers[i] ?? '', headers[i + 1])
      open.hold(request, reply, body)
      done()
    } catch (error) {
      done(asSoukError(error))
    }
  })
  const add: AddRoutes = (routes, context, isLimited = true) => {
    served.push(...routes)
    addRoutes(app, routes, context, isLimited ? open : undefined)
  }
  let document: string | undefined
  const openapi = () => (document ??= JSON.stringify(ingressOpenapi(served, packageVersion())))
  // A supervisor asks these also where strangers use all the rest.
  add(INGRESS_ROUTES.node, { refusal: () => init.refusal?.(), openapi }, false)
  addAccounts(add, init, bodies)
  const keyless = options.x402 === false ? {} : { keyless: new Keyless(init) }
  addDiscovery(add, init, bodies, keyless.keyless)
  const bound = subscriptions === undefined ? {} : { boundCalls: subscriptions.boundCalls }
  const perHost = (max: number, windowMs: number) => new PerIp({ clock: init.clock, trustProxy, max, windowMs })
  const demoCalls = perHost(limits.DEMO_CALLS_PER_HOST, limits.DEMO_CALLS_PER_HOST_MS)
  const unauthenticated = perHost(unauthenticatedPerHost, limits.STRANGERS_PER_HOST_MS)
  const agentApis = new AgentApis(subscriptions?.bindings)
  const agents = new Agents({ ...init, ...bound, demoCalls, keyLimiter, agentApis, bodies, cors })
  add(INGRESS_ROUTES.agents, { agents, contextOf })
  const limited = { keyLimiter, unauthenticated, demoCalls, bodies, trustProxy }
  const route: CallRoute = { souk, keys, spending, requestBytesMax, uploadBytesMax, ...limited, ...keyless, ...bound }
  const streams = new EventStreams({ ...init, route })
  const sockets = new GraphqlSockets({ ...init, route, ids })
  server.on('upgrade', (request, socket, head) => sockets.upgrade(request, socket, head))
  ending.onDrain = () => sockets.drain()
  const tickets = new Tickets(init)
  add(INGRESS_ROUTES.tickets, { tickets, calls: route })
  served.push(...INGRESS_ROUTES.calls)
  addCallRoutes(app, { route, streams, tickets, contextOf, scopes: init.scopes })
  return app
}

function bodiesOf({ clock, options: { trustProxy = false, heldBytesMax, bodyWindowMs } }: IngressInit): BodyReader {
  return new BodyReader({
    clock,
    trustProxy,
    ...(heldBytesMax === undefined ? {} : { bytesMax: heldBytesMax }),
    ...(bodyWindowMs === undefined ? {} : { windowMs: bodyWindowMs })
  })
}

type AddRoutes = <C>(routes: ReadonlyArray<IngressRoute<C>>, context: C, isLimited?: boolean) => void

/** Routes by which people and programs find APIs. */
function addDiscovery(
  add: AddRoutes,
  { souk, keys, accounts, clock, money = 'USDC', options }: IngressInit,
  bodies: BodyReader,
  keyless?: Keyless
): void {
  const { opensAccounts = false, selfService = true } = options
  add(INGRESS_ROUTES.apis, {
    souk,
    clock,
    bodies,
    openapiViews: new OpenapiViews({ souk, clock, isKeyless: options.x402 !== false })
  })
  add(INGRESS_ROUTES.apiCatalog, { souk })
  if (keyless !== undefined) add(INGRESS_ROUTES.bazaar, { bazaar: new Bazaar({ souk, keyless, clock }) })
  add(INGRESS_ROUTES.wellKnown, { souk, takesX402: keyless !== undefined })
  add(INGRESS_ROUTES.frontPage, {
    souk,
    clock,
    demo: keys.demo,
    version: packageVersion(),
    money,
    opensAccounts: accounts !== undefined && opensAccounts && selfService,
    takesX402: keyless !== undefined
  })
}

function addAccounts(
  add: AddRoutes,
  { accounts, accountMoney, subscriptions, keys, clock, receipt, options }: IngressInit,
  bodies: BodyReader
): void {
  if (accounts === undefined) return
  const { opensAccounts = false, selfService = true, trustProxy = false } = options
  const parts = { accounts, keys, bodies }
  const perHost = (max: number, windowMs: number) => new PerIp({ clock, trustProxy, max, windowMs })
  add(INGRESS_ROUTES.account, {
    ...parts,
    opensAccounts: opensAccounts && selfService,
    openings: perHost(limits.ACCOUNTS_PER_HOST, limits.ACCOUNTS_PER_HOST_MS)
  })
  const keyChanges = perHost(limits.KEY_CHANGES_PER_HOST, limits.KEY_CHANGES_PER_HOST_MS)
  add(INGRESS_ROUTES.keys, { ...parts, selfService, keyChanges })
  add(INGRESS_ROUTES.receipts, { ...parts, receipt: receipt ?? (async () => undefined) })
  if (accountMoney !== undefined) add(INGRESS_ROUTES.accountMoney, { ...parts, ...accountMoney })
  if (subscriptions !== undefined && selfService) {
    add(INGRESS_ROUTES.subscriptions, { ...parts, clock, service: subscriptions.service })
  }
}

interface ContextParts {
  readonly ids: ReturnType<typeof requestIds>
  readonly ending: Graceful
  readonly cors: Cors
  readonly trace: Logger
}

/** From here the response bypasses Fastify, which could neither repeat a header nor stream the way the ingress needs. */
function contexts({ clock, log }: IngressInit, { ids, ending, cors, trace }: ContextParts): ContextOf {
  return (request, reply) => {
    const requestId = ids.next()
    const requestIdText = formatRequestId(requestId)
    const headers = ['X-Request-Id', requestIdText, ...cors.headersOf(request.raw)]
    if (ending.draining) headers.push('Connection', 'close')
    reply.hijack()
    const startedAt = clock.elapsed()
    if (trace.enabled) logEnd(trace, request, reply, { clock, requestIdText, startedAt })
    return { req: request.raw, res: reply.raw, clock, log, requestId, requestIdText, startedAt, headers }
  }
}

/** Logs the declared route, because the rest of a path and a query may contain anything. */
function logEnd(
  log: Logger,
  { method, routeOptions: { url: route = 'no route' }, params }: FastifyRequest,
  { raw }: FastifyReply,
  { clock, requestIdText, startedAt }: Pick<RequestContext, 'clock' | 'requestIdText' | 'startedAt'>
): void {
  const { name } = (params ?? {}) as { name?: unknown }
  const api = typeof name === 'string' && isApiName(name) ? ` (${name})` : ''
  log.trace('%s %s %s%s arrives', requestIdText, method, route, api)
  raw.once('close', () => {
    const ended = raw.writableFinished ? '' : ', broken off'
    const ms = Math.round(clock.elapsed() - startedAt)
    log('%s %s %s%s: %d in %d ms%s', requestIdText, method, route, api, raw.statusCode, ms, ended)
  })
}

/** Refuses requests regardless of their route. @throws SoukError `overloaded`, `invalid_request`, `upgrade_required` */
function checkRequest({ raw, routeOptions }: FastifyRequest, ending: Graceful): void {
  if (ending.draining && routeOptions.url !== '/livez') {
    throw new SoukError('overloaded', 'This node is shutting down.', { notAccepted: true })
  }
  checkTarget(raw)
  checkSingleHeaders(raw)
  if (/\bwebsocket\b/i.test(raw.headers.upgrade ?? '')) {
    throw new SoukError(
      'upgrade_required',
      'Only GraphQL APIs take WebSockets, with the protocol graphql-transport-ws. Call this one by HTTP.'
    )
  }
  const expectation = raw.headers.expect
  if (expectation !== undefined && expectation.toLowerCase() !== '100-continue') {
    throw new SoukError('invalid_request', 'The server supports only Expect: 100-continue.')
  }
}
