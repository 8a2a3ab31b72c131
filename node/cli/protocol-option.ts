import { InvalidArgumentError } from 'commander'
import type { Protocol } from '../../lib/interface/index.ts'

const PROTOCOLS: readonly Protocol[] = ['REST', 'SOAP', 'GraphQL']

/** Written in any case. */
export function protocolNamed(typed: string): Protocol {
  const found = PROTOCOLS.find((protocol) => protocol.toLowerCase() === typed.toLowerCase())
  if (found === undefined) throw new InvalidArgumentError(`It is one of ${PROTOCOLS.join(', ')}.`)
  return found
}
