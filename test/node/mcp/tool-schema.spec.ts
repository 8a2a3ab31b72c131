import { assertCpuBelow } from '../../helpers/cpu-time.ts'
import { inputSchema, responseSchema } from '../../../node/mcp/tool-schema.ts'
import { limits } from '../../../lib/index.ts'

/** Each of these schemas took many seconds. */
const SCHEMA_MS_MAX = 2_000

describe('a hostile schema of a tool', () => {
  const names = Array.from({ length: 30_000 }, (_, at) => `p${at}`)
  const all = (schema: unknown) => Object.fromEntries(names.map((name) => [name, schema]))
  const itself = { $ref: '#/$defs/A' }
  const schemas = {
    'of 30,000 required properties': { type: 'object', properties: all({}), required: names },
    'of 30,000 properties that are all the schema itself': {
      type: 'object',
      properties: { a: itself },
      $defs: { A: { type: 'object', properties: all(itself) } }
    },
    'of 30,000 keywords, referred to 1,000 times': {
      type: 'object',
      properties: Object.fromEntries(names.slice(0, 1_000).map((name) => [name, itself])),
      $defs: { A: { ...all(1), required: names, enum: names } }
    }
  }
  for (const [what, schema] of Object.entries(schemas)) {
    it(`takes no long time: ${what}`, () =>
      assertCpuBelow(SCHEMA_MS_MAX, () => [inputSchema(schema, limits.MCP_SCHEMA_BYTES_MAX), responseSchema(schema)]))
  }
})
