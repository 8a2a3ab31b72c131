import { createHash } from 'node:crypto'
import { limits } from '../../lib/index.ts'

const FOREIGN = /[^a-zA-Z0-9_-]/g
const HASH_CHARS = 8

/**
 * What an operation is called as a tool: `api_operation`. An API's name has no underscore, so that the first one ends it. Where the plain
 * form does not fit, or is taken, a hash of what is meant makes it unique; it is the same in every list.
 */
export function toolName(id: string, api: string, operation: string, isTaken: (name: string) => boolean): string {
  const plain = `${api}_${operation}`
  const fitting = plain.replaceAll(FOREIGN, '_')
  if (fitting === plain && plain.length <= limits.MCP_NAME_CHARS_MAX && !isTaken(plain)) return plain
  const hash = createHash('sha256').update(`${id} ${operation}`).digest('hex').slice(0, HASH_CHARS)
  // Of a long API name enough is left to know it by, and of what it is asked to find it again.
  const head = fitting.slice(0, limits.MCP_NAME_CHARS_MAX - HASH_CHARS - 1)
  return `${head}_${hash}`
}
