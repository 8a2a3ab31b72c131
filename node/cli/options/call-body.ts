import type { CallInput } from '../../admin/api.ts'
import { UsageError } from '../terminal/usage-error.ts'

/**
 * The body of a call. Its numbers keep their digits, because a rounded id names something else.
 * @param example - command of a body in quotes
 * @throws UsageError
 */
export async function callBodyOf(text: string, example: string): Promise<CallInput['body']> {
  try {
    return (await readExactly(text)) as CallInput['body']
  } catch {
    throw new UsageError('The request body is not JSON.', `${example}, in single quotes`)
  }
}

/** Like `JSON.parse`, with all digits. @throws SyntaxError */
export async function readExactly(text: string): Promise<unknown> {
  // Loaded only where it is used, so that the help starts quickly.
  const { parseExactly, rawNumber } = await import('../../../lib/base/exact-json.ts')
  return parseExactly(text, rawNumber)
}
