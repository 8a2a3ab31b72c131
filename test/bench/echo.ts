import type { Adapter } from '../../lib/interface/index.ts'

/** An API in code: returns the bytes it gets, like the `node:http` server that it is compared with. */
export const echo: Adapter = {
  protocol: 'REST',
  description: { operations: [{ name: 'call' }] },
  call: async ({ body }) => ({
    status: 200,
    headers: [['content-type', 'application/json']],
    body,
    success: true,
    upstreamMs: 0
  })
}
