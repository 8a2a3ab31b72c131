import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { isSoukError, limits, SoukError, text } from '../../lib/index.ts'
import type { Account, Accounts } from '../accounts/accounts.ts'
import type { Keys } from '../keys/keys.ts'
import type { KeyHolder } from '../keys/verifier.ts'
import type { BodyReader } from './calls/body-reader.ts'
import { invalidText } from '../../protocols/invalid-text.ts'

/** Checks the key of a request and reads its body. */
export interface RequestParts {
  readonly accounts: Accounts
  readonly keys: Pick<Keys, 'verify'>
  readonly bodies: BodyReader
}

/** The account a request acts on, and the key the request used. */
export interface Caller {
  readonly account: Account
  readonly holder: KeyHolder
}

/** @throws SoukError `key_missing`, `key_invalid`, `key_expired`, `key_revoked`, `key_not_permitted` */
export async function accountOf(
  { accounts, keys }: Pick<RequestParts, 'accounts' | 'keys'>,
  { headers }: FastifyRequest
): Promise<Caller> {
  const key = headers['x-consumer-key']
  if (typeof key !== 'string' || key === '') {
    throw new SoukError('key_missing', 'Send a key of the account in the header X-Consumer-Key.')
  }
  const holder = await keys.verify(key)
  if (holder.account === undefined) {
    throw new SoukError('key_not_permitted', 'This key belongs to no account: the operator pays for its calls.')
  }
  return { account: await accounts.get(holder.account), holder }
}

/**
 * Like `accountOf`, but requires a managing key. A leaked key that can only call must not change its account.
 * @throws SoukError as `accountOf`
 */
export async function managedAccountOf(
  parts: Pick<RequestParts, 'accounts' | 'keys'>,
  request: FastifyRequest
): Promise<Caller> {
  const caller = await accountOf(parts, request)
  if (caller.holder.manages === true) return caller
  throw new SoukError(
    'key_not_permitted',
    'This key can only make calls. Use a key that manages the account, such as the one you got when you opened it.'
  )
}

/** @throws SoukError `invalid_request`, `request_too_large`, `overloaded` */
export async function readBody<T extends z.ZodType>(
  { bodies }: Pick<RequestParts, 'bodies'>,
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
  const result = schema.safeParse(value, { error: invalidText })
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new SoukError('invalid_request', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}`.replace(/^: /, ''))
}
