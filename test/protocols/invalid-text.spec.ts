import assert from 'node:assert/strict'
import { z } from 'zod'
import { invalidText } from '../../protocols/invalid-text.ts'

const CASES: ReadonlyArray<readonly [schema: z.ZodType, value: unknown, text: string]> = [
  [z.string(), undefined, 'it is missing'],
  [z.string(), 5, 'give a text'],
  [z.coerce.number(), 'x', 'give a number'],
  [z.int(), 1.5, 'give a whole number'],
  [z.boolean(), 'x', 'give true or false'],
  [z.array(z.string()), {}, 'give a list'],
  [z.strictObject({}), 'x', 'give an object'],
  [z.strictObject({}), { one: 1, two: 2 }, 'unknown: one, two'],
  [z.coerce.number().min(1), '0', 'give a number of at least 1'],
  [z.int().max(120_000), 999_999, 'give a number of at most 120000'],
  [z.string().min(1), '', 'give at least 1 character'],
  [z.array(z.string()).max(2), ['a', 'b', 'c'], 'give at most 2 values'],
  [z.enum(['payer', 'owner']), 'x', 'give one of payer, owner'],
  [z.literal('USDC'), 'EUR', 'give USDC'],
  [z.literal('USDC'), undefined, 'it is missing'],
  [z.union([z.string(), z.number()]), true, 'the value has the wrong form'],
  [z.uuid(), 'x', 'the value has the wrong form'],
  [z.string().regex(/a/, 'give an a'), 'b', 'give an a']
]

describe('text for an invalid value', () => {
  for (const [schema, value, text] of CASES) {
    it(text, () => {
      const { error } = schema.safeParse(value, { error: invalidText })
      assert.equal(error?.issues[0]?.message, text)
    })
  }
})
