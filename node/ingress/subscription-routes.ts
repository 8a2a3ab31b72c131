import type { FastifyInstance, FastifyRequest } from 'fastify'
import { SoukError } from '../../lib/index.ts'
import type { Clock, OwnSubscription, SubscriptionChange } from '../../lib/interface/index.ts'
import { cancelSchema, subscribeSchema, subscriptionTermsSchema } from '../admin/subscription-api.ts'
import type { SubscriptionDesk } from '../subscriptions/desk.ts'
import { changeView, subscriptionView } from '../subscriptions/view.ts'
import { termsOf, wishOf } from '../subscriptions/wish.ts'
import { accountOf, type AccountRoutesInit, managedAccountOf, readBody } from './account-routes.ts'
import { whileConnected } from '../http/while-connected.ts'

export interface SubscriptionRoutesInit extends Pick<AccountRoutesInit, 'accounts' | 'keys' | 'bodies'> {
  readonly desk: SubscriptionDesk
  readonly clock: Clock
}

interface ById {
  readonly Params: { readonly id: string }
}

/**
 * `/v1/subscriptions`: those of the account that a key belongs to. Fees are taken from its balance; its calls go with the
 * subscription by themselves. Any key of the account may look, and one that manages it may change them.
 */
export function addSubscriptionRoutes(app: FastifyInstance, init: SubscriptionRoutesInit): void {
  const { desk, clock } = init
  const reader = async (request: FastifyRequest) => (await accountOf(init, request))[0].id
  const manager = async (request: FastifyRequest) => (await managedAccountOf(init, request))[0].id

  app.get('/v1/subscriptions', async (request) => {
    const held = await desk.list(await reader(request))
    return { data: held.map((each) => shown(each, clock.now())), next_cursor: null }
  })

  app.post('/v1/subscriptions', async (request, reply) => {
    const account = await manager(request)
    const wish = wishOf(await readBody(init, request, subscribeSchema))
    const change = await desk.subscribe(account, wish, whileConnected(reply.raw))
    reply.code(201)
    return changed(change, clock.now())
  })

  app.get<ById>('/v1/subscriptions/:id', async (request) => {
    return shown(await desk.get(await reader(request), request.params.id), clock.now())
  })

  app.patch<ById>('/v1/subscriptions/:id', async (request, reply) => {
    const account = await manager(request)
    const terms = termsOf(await readBody(init, request, subscriptionTermsSchema))
    return changed(await desk.change(account, request.params.id, terms, whileConnected(reply.raw)), clock.now())
  })

  app.delete<ById>('/v1/subscriptions/:id', async (request, reply) => {
    const account = await manager(request)
    const { now } = readQuery(request)
    const signal = whileConnected(reply.raw)
    return changed(await desk.cancel(account, request.params.id, now === 'true', signal), clock.now())
  })

  for (const move of ['pause', 'resume', 'renew'] as const) {
    app.post<ById>(`/v1/subscriptions/:id/${move}`, async (request, reply) => {
      const account = await manager(request)
      return changed(await desk[move](account, request.params.id, whileConnected(reply.raw)), clock.now())
    })
  }
}

const iso = (ms: number): string => new Date(ms).toISOString()

/** As everywhere under `/v1`, times are in ISO 8601. */
function shown(subscription: OwnSubscription, now: number) {
  const { created_at, period_start, period_end, quota, ...view } = subscriptionView(subscription, now)
  return {
    ...view,
    created_at: iso(created_at),
    period_start: iso(period_start),
    period_end: iso(period_end),
    quota: quota === null ? null : { ...quota, resets_at: iso(quota.resets_at) }
  }
}

function changed(change: SubscriptionChange, now: number) {
  return { ...changeView(change, now), subscription: shown(change.subscription, now) }
}

/** @throws SoukError `invalid_request` */
function readQuery({ raw }: FastifyRequest): { now: 'true' | 'false' } {
  const query = Object.fromEntries(new URLSearchParams(raw.url?.split('?')[1] ?? ''))
  const result = cancelSchema.safeParse(query)
  if (result.success) return result.data
  throw new SoukError('invalid_request', 'now is true or false.')
}
