import { z } from 'zod'
import { formatUsdc } from '../../lib/index.ts'
import { list, usdc } from '../http/schemas.ts'
import type { KeyInfo } from './keys.ts'
import type { KeyState } from './state.ts'

const keyStateSchema = z.enum(['active', 'rotating', 'disabled', 'expired', 'revoked']) satisfies z.ZodType<KeyState>

/** The members of a key that admin API and ingress show alike. They differ in the format of times. */
export const keyShape = {
  id: z.string(),
  lineage: z.string().describe('First key of a chain of rotations. All keys of the chain share its caps.'),
  replaces: z.string().nullable(),
  successor: z.string().nullable(),
  label: z.string(),
  hint: z.string().describe('Part of the key, to recognise it.'),
  state: keyStateSchema,
  apis: list(z.string()).nullable().describe('APIs that the key may call; null for all.'),
  manages: z.boolean().describe('True if the key may manage its account.'),
  max_price: usdc,
  daily_cap: usdc
}

/** The values of `keyShape`. */
export function keyMembers(key: KeyInfo) {
  const { id, lineage, replaces = null, successor = null, label, hint, state, apis = null, manages = false } = key
  const [max_price, daily_cap] = [formatUsdc(key.maxPrice), formatUsdc(key.dailyCap)]
  return { id, lineage, replaces, successor, label, hint, state, apis, manages, max_price, daily_cap }
}
