import type { ProtocolDescriptor } from './descriptor.ts'
import { graphqlDescriptor } from './graphql/graphql-descriptor.ts'
import { restDescriptor } from './rest/rest-descriptor.ts'
import { soapDescriptor } from './soap/soap-descriptor.ts'

/** All protocols, in the order of forms and help texts. The compiler requires a factory for each in `protocol-factories.ts`. */
export const protocolDescriptors = [
  restDescriptor,
  soapDescriptor,
  graphqlDescriptor
] as const satisfies readonly ProtocolDescriptor[]

export type ProtocolName = (typeof protocolDescriptors)[number]['name']

export const PROTOCOL_NAMES: readonly ProtocolName[] = protocolDescriptors.map(({ name }) => name)

/** For example `REST, SOAP or GraphQL`. */
export const PROTOCOLS_TEXT = [PROTOCOL_NAMES.slice(0, -1).join(', '), PROTOCOL_NAMES.at(-1)].join(' or ')

/**
 * @returns undefined for an unknown protocol, such as one of another version of Souk. Its APIs are called by their operations.
 */
export function descriptorOf(protocol: string): ProtocolDescriptor | undefined {
  return protocolDescriptors.find(({ name }) => name === protocol)
}

/** @param typed - the name, upper or lower case */
export function protocolNamed(typed: string): ProtocolName | undefined {
  return PROTOCOL_NAMES.find((name) => name.toLowerCase() === typed.toLowerCase())
}
