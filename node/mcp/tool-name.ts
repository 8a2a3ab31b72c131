import { createHash } from 'node:crypto'
import { limits } from '../../lib/index.ts'

const FOREIGN = /[^a-zA-Z0-9_-]/g
const HASH_CHARS = 8

/**
 * The tool name of an operation: `api_operation`. An API name has no underscore, so the first one ends it. If the name is too long or
 * taken, it ends with a hash of the operation, which is the same in every list.
 */
export function toolName(id: string, api: string, operation: string, isTaken: (name: string) => boolean): string {
  const plain = `${api}_${operation}`
  const fitting = plain.replaceAll(FOREIGN, '_')
  if (fitting === plain && plain.length <= limits.MCP_NAME_CHARS_MAX && !isTaken(plain)) return plain
  const hash = createHash('sha256').update(`${id} ${operation}`).digest('hex').slice(0, HASH_CHARS)
  // Keep enough of the API and operation names to recognize them.
  const head = fitting.slice(0, limits.MCP_NAME_CHARS_MAX - HASH_CHARS - 1)
  return `${head}_${hash}`
}
