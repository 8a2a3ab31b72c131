import type { IncomingMessage } from 'node:http'
import { SoukError } from '../../lib/index.ts'

/** Headers that have one value. Node.js joins repeated ones with a comma, which would be another key, price or payment. */
const SINGLE = ['X-Consumer-Key', 'Idempotency-Key', 'Souk-Max-Price', 'Souk-Timeout-Ms', 'PAYMENT-SIGNATURE'].map(
  (shown) => ({ shown, name: shown.toLowerCase() })
)

/**
 * Some clients send a header twice, with one value, which counts once.
 * @throws SoukError `invalid_request` for several values
 */
export function checkSingleHeaders({ headers, rawHeaders }: IncomingMessage): void {
  for (const { shown, name } of SINGLE) {
    const joined = headers[name]
    // The comma of one header may be part of its value.
    if (typeof joined !== 'string' || !joined.includes(',')) continue
    const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
    const [value, ...others] = new Set(values)
    if (others.length > 0)
      throw new SoukError('invalid_request', `The header ${shown} has ${others.length + 1} values. Send it once.`)
    headers[name] = value
  }
}
