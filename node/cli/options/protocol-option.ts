import { InvalidArgumentError } from 'commander'
import { PROTOCOL_NAMES, protocolNamed, type ProtocolName } from '../../../protocols/protocol-descriptors.ts'

/** Written in any case. */
export function protocolOption(typed: string): ProtocolName {
  const found = protocolNamed(typed)
  if (found === undefined) throw new InvalidArgumentError(`It is one of ${PROTOCOL_NAMES.join(', ')}.`)
  return found
}
