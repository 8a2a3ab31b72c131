import { oneHopSuite } from './one-hop.ts'
import type { Suite } from './suite.ts'

const FIELDS = { id: 'order-1', note: 'x'.repeat(900), amount: 12.5, tags: ['a', 'b', 'c'] }
const BODY = JSON.stringify(FIELDS)

/** The operation that a call names. Its fields are the members of the body. */
const OPENAPI = JSON.stringify({
  openapi: '3.1.0',
  info: { title: 'Orders', version: '1' },
  paths: {
    '/orders': {
      post: {
        operationId: 'createOrder',
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['id', 'amount'],
                properties: {
                  id: { type: 'string', maxLength: 80 },
                  note: { type: 'string' },
                  amount: { type: 'number', minimum: 0 },
                  tags: { type: 'array', items: { type: 'string' } }
                }
              }
            }
          }
        },
        responses: { 200: { description: 'The order.' } }
      }
    }
  }
})

/** A call mapped to an operation of an OpenAPI document and checked against its schema. */
export const rest: Suite = oneHopSuite({
  name: 'rest',
  role: new URL('./roles/upstream.ts', import.meta.url),
  api: { name: 'bench', price: '0.001', openapi: { text: OPENAPI } },
  body: BODY,
  bodyThroughSouk: JSON.stringify({ operation: 'createOrder', ...FIELDS }),
  answer: BODY,
  cpuAim: 2,
  note: `A POST of ${BODY.length} bytes, echoed; through Souk it is mapped and checked by an OpenAPI document.`
})
