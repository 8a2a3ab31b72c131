import { parseExactly, rawNumber } from '../../../lib/base/exact-json.ts'
import type { CallInput } from '../../admin/api.ts'
import { UsageError } from '../terminal/usage-error.ts'

/**
 * The body of a call. Its numbers keep their digits, because a rounded id names something else.
 * @param example - command of a body in quotes
 * @throws UsageError
 */
export function callBodyOf(text: string, example: string): CallInput['body'] {
  try {
    return parseExactly(text, rawNumber) as CallInput['body']
  } catch {
    throw new UsageError('The request body is not JSON.', `${example}, in single quotes`)
  }
}
