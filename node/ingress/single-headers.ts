import type { IncomingMessage } from 'node:http'
import { SoukError } from '../../lib/index.ts'

/** Headers that have one value. Node.js joins repeated ones with a comma, which would be another key, price or payment. */
const SINGLE = ['X-Consumer-Key', 'Idempotency-Key', 'Souk-Max-Price', 'Souk-Timeout-Ms', 'PAYMENT-SIGNATURE'].map(
  (shown) => ({ shown, name: shown.toLowerCase() })
)

/** @throws SoukError `invalid_request` */
export function checkSingleHeaders({ headers, rawHeaders }: IncomingMessage): void {
  for (const { shown, name } of SINGLE) {
    const value = headers[name]
    // The comma of one header may be part of its value.
    if (typeof value !== 'string' || !value.includes(',')) continue
    const times = rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length
    if (times > 1) throw new SoukError('invalid_request', `The header ${shown} was sent ${times} times. Send it once.`)
  }
}
