import { z } from 'zod'
import { limits, parseUsdc, SoukError } from '../../../lib/index.ts'
import type { Account } from '../../accounts/accounts.ts'
import { present } from '../../present.ts'
import type { IssuedKey, KeyInfo, Keys } from '../../keys/keys.ts'
import { keyMembers } from '../../keys/key-view.ts'
import type { RequestParts } from '../account-request.ts'
import type { PerIp } from '../per-ip.ts'
import { routesWith } from '../route.ts'
import { issuedKeySchema, keySchema, page } from '../views.ts'

export interface KeyContext extends RequestParts {
  readonly keys: Keys
  /** Account holders may create keys themselves. */
  readonly selfService: boolean
  /** Limits how many key changes one host may make. */
  readonly keyChanges: PerIp
}

const route = routesWith<KeyContext>()
const asked = z.string().transform(parseUsdc)
const moment = z.iso.datetime({ offset: true }).transform((text) => Date.parse(text))

/** The keys of an account. A key’s secret is shown only in the response that created it. */
export const keyRoutes = [
  route({
    method: 'GET',
    path: '/v1/keys',
    summary: 'The account’s keys.',
    auth: 'manager',
    response: page(keySchema),
    async handler({ keys }, { caller }) {
      return { data: (await keys.list(caller.account.id)).map(view), next_cursor: null }
    }
  }),
  route({
    method: 'POST',
    path: '/v1/keys',
    summary: 'Creates a key. By default it can only make calls; it may also be allowed to manage the account.',
    auth: 'manager',
    body: z.strictObject({
      label: z.string().optional(),
      apis: z.array(z.string()).optional(),
      max_price: asked.optional(),
      daily_cap: asked.optional(),
      expires_at: moment.optional(),
      manages: z.boolean().optional()
    }),
    response: issuedKeySchema,
    status: 201,
    admit(context, { raw }) {
      checkOpen(context)
      context.keyChanges.count(raw)
    },
    async handler({ keys }, { caller, body }) {
      const { max_price: maxPrice, daily_cap: dailyCap, expires_at: expiresAt, ...rest } = body
      const wanted = present({ ...rest, maxPrice, dailyCap, expiresAt })
      await checkRoom(keys, caller.account)
      return issued(await keys.issue({ account: caller.account.id, ...wanted }))
    }
  }),
  route({
    method: 'GET',
    path: '/v1/keys/:id',
    summary: 'One key of the account.',
    auth: 'manager',
    response: keySchema,
    handler: async ({ keys }, { caller, params }) => view(await own(keys, caller.account.id, params.id))
  }),
  route({
    method: 'DELETE',
    path: '/v1/keys/:id',
    summary: 'Revokes a key.',
    auth: 'manager',
    response: keySchema,
    admit: ({ keyChanges }, { raw }) => keyChanges.count(raw),
    async handler({ keys }, { caller, params }) {
      const { id } = await own(keys, caller.account.id, params.id)
      checkOther(id, caller.holder.keyId)
      return view(await keys.revoke(id))
    }
  }),
  route({
    method: 'POST',
    path: '/v1/keys/:id/rotate',
    summary: 'Creates a replacement key. The old key stays valid for an overlap period.',
    auth: 'manager',
    body: z.strictObject({ overlap_seconds: z.int().min(0).optional(), expires_at: moment.optional() }),
    response: issuedKeySchema,
    status: 201,
    admit(context, { raw }) {
      checkOpen(context)
      context.keyChanges.count(raw)
    },
    async handler({ keys }, { caller, params, body: { overlap_seconds: seconds, expires_at: expiresAt } }) {
      const { id } = await own(keys, caller.account.id, params.id)
      const overlapMs = seconds === undefined ? undefined : seconds * 1000
      await checkRoom(keys, caller.account)
      return issued(await keys.rotate(id, present({ overlapMs, expiresAt })))
    }
  }),
  route({
    method: 'POST',
    path: '/v1/keys/:id/disable',
    summary: 'Disables a key: its calls are refused until you enable it.',
    auth: 'manager',
    response: keySchema,
    admit: ({ keyChanges }, { raw }) => keyChanges.count(raw),
    async handler({ keys }, { caller, params }) {
      const { id } = await own(keys, caller.account.id, params.id)
      checkOther(id, caller.holder.keyId)
      return view(await keys.disable(id))
    }
  }),
  route({
    method: 'POST',
    path: '/v1/keys/:id/enable',
    summary: 'Enables a disabled key.',
    auth: 'manager',
    response: keySchema,
    admit: ({ keyChanges }, { raw }) => keyChanges.count(raw),
    async handler({ keys }, { caller, params }) {
      return view(await keys.enable((await own(keys, caller.account.id, params.id)).id))
    }
  })
] as const

/** @throws SoukError `invalid_request` */
async function own(keys: Keys, account: string, id: string): Promise<KeyInfo> {
  const found = await keys.get(id).catch(() => undefined)
  if (found?.account === account) return found
  throw new SoukError('invalid_request', 'This account has no such key.')
}

function checkOpen({ selfService }: KeyContext): void {
  if (selfService) return
  throw new SoukError(
    'ingress_not_allowed',
    'Account holders cannot create keys on this node. Ask the operator for one.'
  )
}

/** Ended keys count too, because they take as much room. @throws SoukError `quota_exceeded` */
async function checkRoom(keys: Keys, { id, funding }: Account): Promise<void> {
  if (funding !== undefined || (await keys.list(id)).length < limits.KEYS_PER_UNFUNDED_ACCOUNT_MAX) return
  throw new SoukError(
    'quota_exceeded',
    `An account without a deposit may have ${limits.KEYS_PER_UNFUNDED_ACCOUNT_MAX} keys, ended ones included. Make a deposit first.`
  )
}

/** Refuses a change to the key of the request itself: its holder could lock himself out. */
function checkOther(id: string, asking: string): void {
  if (id !== asking) return
  throw new SoukError(
    'invalid_request',
    'This request uses the key that it would change. Rotate it with {"overlap_seconds":0}, or use another managing key of the account.'
  )
}

function issued(made: IssuedKey) {
  return { ...view(made), key: made.key }
}

function view(key: KeyInfo) {
  const at = (ms: number | undefined) => (ms === undefined ? null : new Date(ms).toISOString())
  return {
    ...keyMembers(key),
    created_at: at(key.createdAt),
    expires_at: at(key.expiresAt),
    retires_at: at(key.retiresAt),
    disabled_at: at(key.disabledAt),
    revoked_at: at(key.revokedAt),
    last_used_at: at(key.lastUsedAt)
  }
}
