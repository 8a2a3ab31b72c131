import type { Adapter } from '../../lib/interface/index.ts'

/** An API in code: gives back the bytes it gets, as the `node:http` server it is compared to does. */
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
