import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { formatUsdc, isSoukError, limits, SoukError, text } from '../../lib/index.ts'
import type { Clock } from '../../lib/interface/index.ts'
import type { Account, Accounts, AccountEntry } from '../accounts/accounts.ts'
import type { Keys } from '../keys/keys.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { Bodies } from './bodies.ts'
import { PerIp } from './per-ip.ts'

export interface AccountRoutesInit {
  readonly accounts: Accounts
  readonly keys: Pick<Keys, 'verify'>
  readonly clock: Clock
  /** Anybody may open one. */
  readonly opensAccounts: boolean
  readonly trustProxy: boolean
  readonly bodies: Bodies
}

const openSchema = z.strictObject({ label: z.string().optional() })

/**
 * `/v1/account`: opens a prepaid account (`POST`, where the operator lets anybody), shows that of the key it comes with (`GET`), and
 * its statement (`/entries`, page by page with `limit` and `cursor`). Amounts are decimal USDC strings.
 */
export function addAccountRoutes(app: FastifyInstance, init: AccountRoutesInit): void {
  const { accounts, clock, opensAccounts, trustProxy } = init
  const opened = new PerIp({ clock, trustProxy, max: limits.ACCOUNTS_PER_HOST, windowMs: limits.ACCOUNTS_PER_HOST_MS })

  app.post('/v1/account', async (request, reply) => {
    if (!opensAccounts) {
      throw new SoukError(
        'ingress_not_allowed',
        'Accounts are not opened by strangers here: ask the operator for a key.'
      )
    }
    opened.count(request.raw)
    const { label } = await readBody(init, request, openSchema)
    const { account, key } = await accounts.open(label)
    reply.code(201)
    return { ...(await view(accounts, account, { ...key, keyId: key.id })), key: key.key }
  })

  app.get('/v1/account', async (request) => {
    const [account, holder] = await accountOf(init, request)
    return view(accounts, account, holder)
  })

  app.get('/v1/account/entries', async (request) => {
    const [{ id }] = await managedAccountOf(init, request)
    const { limit, after } = readPage(request)
    const entries = await accounts.entries(id, { after, limit })
    const last = entries.length === limit ? entries.at(-1) : undefined
    return { data: entries.map(entryView), next_cursor: last === undefined ? null : String(last.seq) }
  })
}

/** @throws SoukError `key_missing`, `key_invalid`, `key_expired`, `key_revoked`, `key_not_permitted` */
export async function accountOf(
  { accounts, keys }: Pick<AccountRoutesInit, 'accounts' | 'keys'>,
  { headers }: FastifyRequest
): Promise<readonly [Account, KeyHolder]> {
  const key = headers['x-consumer-key']
  if (typeof key !== 'string' || key === '') {
    throw new SoukError('key_missing', 'Send a key of the account in the header X-Consumer-Key.')
  }
  const holder = await keys.verify(key)
  if (holder.account === undefined) {
    throw new SoukError('key_not_permitted', 'This key has no account: its calls are paid by the operator.')
  }
  return [await accounts.get(holder.account), holder]
}

/**
 * The same of a key that speaks for its account: one that only calls moves nothing of it, whoever has found it.
 * @throws SoukError as `accountOf`
 */
export async function managedAccountOf(
  init: Pick<AccountRoutesInit, 'accounts' | 'keys'>,
  request: FastifyRequest
): Promise<readonly [Account, KeyHolder]> {
  const [account, holder] = await accountOf(init, request)
  if (holder.manages === true) return [account, holder]
  throw new SoukError('key_not_permitted', 'This key only calls: use the one that the account was opened with.')
}

/** @throws SoukError `invalid_request`, `request_too_large`, `overloaded` */
export async function readBody<T extends z.ZodType>(
  { bodies }: Pick<AccountRoutesInit, 'bodies'>,
  { raw }: FastifyRequest,
  schema: T
): Promise<z.output<T>> {
  const held = bodies.hold(raw)
  let value: unknown
  try {
    const body = text(await bodies.read({ req: raw }, limits.ACCOUNT_BODY_BYTES_MAX, held))
    value = body === '' ? {} : JSON.parse(body)
  } catch (cause) {
    if (isSoukError(cause)) throw cause
    throw new SoukError('invalid_request', 'The body is not JSON.', { cause })
  } finally {
    held.free()
  }
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new SoukError('invalid_request', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`.replace(/^: /, ''))
}

async function view(accounts: Accounts, { id, label, createdAt, funding }: Account, holder: KeyHolder) {
  const { balance, setAside } = await accounts.balance(id)
  return {
    id,
    label,
    balance: formatUsdc(balance),
    set_aside: formatUsdc(setAside),
    spent: formatUsdc(await accounts.spent(id)),
    currency: 'USDC',
    funding: funding ?? null,
    created_at: new Date(createdAt).toISOString(),
    key_id: holder.keyId,
    key_hint: holder.hint,
    max_price: formatUsdc(holder.maxPrice),
    daily_cap: formatUsdc(holder.dailyCap),
    manages: holder.manages === true
  }
}

function entryView({ kind, reference, at, amount }: AccountEntry) {
  return { kind, reference, at: new Date(at).toISOString(), amount: formatUsdc(amount) }
}

/** @throws SoukError `invalid_request` */
export function readPage({ raw }: FastifyRequest): { limit: number; after: number } {
  const query = new URLSearchParams(raw.url?.split('?')[1] ?? '')
  const [limit, cursor] = [query.get('limit') ?? String(limits.PAGE_MAX), query.get('cursor') ?? '0']
  if (!/^\d{1,4}$/.test(limit) || Number(limit) < 1 || Number(limit) > limits.PAGE_MAX) {
    throw new SoukError('invalid_request', `limit is a whole number from 1 to ${limits.PAGE_MAX}.`)
  }
  if (!/^\d{1,15}$/.test(cursor)) throw new SoukError('invalid_request', 'cursor is what the page before gave.')
  return { limit: Number(limit), after: Number(cursor) }
}
