import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { formatUsdc, limits, parseUsdc, SoukError } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import { present } from '../admin/present.ts'
import type { Accounts } from '../accounts/accounts.ts'
import type { KeyInfo, Keys } from '../keys/keys.ts'
import { managedAccountOf, readBody } from './account-routes.ts'
import type { Bodies } from './bodies.ts'
import { PerIp } from './per-ip.ts'

export interface KeyRoutesInit {
  readonly accounts: Accounts
  readonly keys: Keys
  readonly clock: Clock
  /** Account holders make keys by themselves. */
  readonly selfService: boolean
  readonly trustProxy: boolean
  readonly bodies: Bodies
}

interface ById {
  Params: { id: string }
}

const moment = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))

const issueSchema = z.strictObject({
  label: z.string().optional(),
  apis: z.array(z.string()).optional(),
  max_price: z.string().transform(parseUsdc).optional(),
  daily_cap: z.string().transform(parseUsdc).optional(),
  expires_at: moment.optional(),
  manages: z.boolean().optional()
})

const rotateSchema = z.strictObject({
  overlap_seconds: z.int().min(0).optional(),
  expires_at: moment.optional()
})

/**
 * `/v1/keys`: the keys of an account, for whoever holds one that manages it. Made, rotated, disabled, enabled and revoked; a key is
 * shown in the answer that made it, and never again.
 */
export function addKeyRoutes(app: FastifyInstance, init: KeyRoutesInit): void {
  const { keys, clock, trustProxy } = init
  const perHost = { max: limits.KEY_CHANGES_PER_HOST, windowMs: limits.KEY_CHANGES_PER_HOST_MS }
  const changes = new PerIp({ clock, trustProxy, ...perHost })

  /** The account, and the id of the key that asks. @throws SoukError `rate_limited`, and as `managedAccountOf` */
  const manager = async (request: FastifyRequest): Promise<{ account: string; asking: string }> => {
    changes.count(request.raw)
    const [{ id: account }, { keyId: asking }] = await managedAccountOf(init, request)
    return { account, asking }
  }
  const own = async (account: string, id: string): Promise<KeyInfo> => {
    const found = await keys.get(id).catch(() => undefined)
    if (found?.account === account) return found
    throw new SoukError('invalid_request', 'This account has no such key.')
  }

  app.get('/v1/keys', async (request) => {
    const [{ id }] = await managedAccountOf(init, request)
    return { data: (await keys.list(id)).map(view), next_cursor: null }
  })

  app.get<ById>('/v1/keys/:id', async (request) => {
    const [{ id }] = await managedAccountOf(init, request)
    return view(await own(id, request.params.id))
  })

  app.post('/v1/keys', async (request, reply) => {
    checkOpen(init)
    const { account } = await manager(request)
    const {
      max_price: maxPrice,
      daily_cap: dailyCap,
      expires_at: expiresAt,
      ...rest
    } = await readBody(init, request, issueSchema)
    const issued = await keys.issue({ account, ...present({ ...rest, maxPrice, dailyCap, expiresAt }) })
    reply.code(201)
    return { ...view(issued), key: issued.key }
  })

  app.post<ById>('/v1/keys/:id/rotate', async (request, reply) => {
    checkOpen(init)
    const { account } = await manager(request)
    const { id } = await own(account, request.params.id)
    const { overlap_seconds: seconds, expires_at: expiresAt } = await readBody(init, request, rotateSchema)
    const overlapMs = seconds === undefined ? undefined : seconds * 1000
    const issued = await keys.rotate(id, present({ overlapMs, expiresAt }))
    reply.code(201)
    return { ...view(issued), key: issued.key }
  })

  app.post<ById>('/v1/keys/:id/disable', async (request) => {
    const { account, asking } = await manager(request)
    const { id } = await own(account, request.params.id)
    checkOther(id, asking)
    return view(await keys.disable(id))
  })

  app.post<ById>('/v1/keys/:id/enable', async (request) => {
    const { account } = await manager(request)
    return view(await keys.enable((await own(account, request.params.id)).id))
  })

  app.delete<ById>('/v1/keys/:id', async (request) => {
    const { account, asking } = await manager(request)
    const { id } = await own(account, request.params.id)
    checkOther(id, asking)
    return view(await keys.revoke(id))
  })
}

function checkOpen({ selfService }: KeyRoutesInit): void {
  if (selfService) return
  throw new SoukError('ingress_not_allowed', 'Keys are not made by account holders here: ask the operator for one.')
}

/** Nobody locks himself out. */
function checkOther(id: string, asking: string): void {
  if (id !== asking) return
  throw new SoukError(
    'invalid_request',
    'This is the key you ask with: rotate it with {"overlap_seconds":0}, or use another that manages the account.'
  )
}

function view(key: KeyInfo) {
  const at = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())
  return {
    id: key.id,
    lineage: key.lineage,
    replaces: key.replaces ?? null,
    successor: key.successor ?? null,
    label: key.label,
    hint: key.hint,
    state: key.state,
    apis: key.apis ?? null,
    manages: key.manages === true,
    max_price: formatUsdc(key.maxPrice),
    daily_cap: formatUsdc(key.dailyCap),
    created_at: at(key.createdAt),
    expires_at: at(key.expiresAt),
    retires_at: at(key.retiresAt),
    disabled_at: at(key.disabledAt),
    revoked_at: at(key.revokedAt),
    last_used_at: at(key.lastUsedAt)
  }
}
