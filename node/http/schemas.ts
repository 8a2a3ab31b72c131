import { z } from 'zod'
import { isProviderId } from '../../lib/index.ts'
import type { Problem } from '../../lib/interface/index.ts'

/** Schemas that both HTTP surfaces use. */

/** USDC in a client’s request. */
export const amount = z
  .string()
  .regex(/^\d+(\.\d{1,6})?$/, 'give a decimal number with at most six decimals, like 0.001')

/** USDC to pay or to send. */
export const amountAbove0 = amount.refine((text) => Number(text) > 0, 'give an amount above 0')

/** Id of a peer, or of a provider: both are ids of Ed25519 keys. */
export const peerId = z.string().refine(isProviderId, 'give an id that starts with 12D3KooW')

/** USDC in a response. */
export const usdc = z.string().meta({ pattern: String.raw`^-?\d+(\.\d{1,6})?$` })

/** RFC 3339. */
export const moment = z.string().meta({ format: 'date-time' })

/** A read-only list. */
export function list<T extends z.ZodType>(items: T): z.ZodReadonly<z.ZodArray<T>> {
  return z.array(items).readonly()
}

/** A named response object. A document describes it once, under its name. */
export function view<S extends z.ZodRawShape>(id: string, shape: S, description?: string) {
  return z.object(shape).meta(metaOf(id, description))
}

/** A view that extends another. */
export function viewWith<B extends z.ZodRawShape, S extends z.ZodRawShape>(
  base: z.ZodObject<B>,
  id: string,
  shape: S,
  description?: string
) {
  return base.extend(shape).meta(metaOf(id, description))
}

function metaOf(id: string, description: string | undefined) {
  return { id, ...(description === undefined ? {} : { description }) }
}

/** RFC 9457. Some errors have further members. */
export const problemSchema = view('Problem', {
  type: z.url(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  request_id: z.string(),
  charged: z.literal(false).nullable(),
  amount_charged: z.literal('0').nullable(),
  retryable: z.boolean(),
  source: z.enum(['ingress', 'owner', 'upstream']),
  not_accepted: z.literal(true).optional()
}) satisfies z.ZodType<Pick<Problem, 'type' | 'title' | 'status' | 'detail' | 'request_id' | 'charged' | 'source'>>
