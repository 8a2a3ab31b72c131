import { InvalidArgumentError } from 'commander'
import { PROTOCOL_NAMES, protocolNamed, type ProtocolName } from '../../../protocols/protocol-descriptors.ts'

/** Ignores case. */
export function protocolOption(typed: string): ProtocolName {
  const found = protocolNamed(typed)
  if (found === undefined) throw new InvalidArgumentError(`Give one of ${PROTOCOL_NAMES.join(', ')}.`)
  return found
}
