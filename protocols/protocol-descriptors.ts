import type { ProtocolDescriptor } from './descriptor.ts'
import { graphqlDescriptor } from './graphql/graphql-descriptor.ts'
import { restDescriptor } from './rest/rest-descriptor.ts'
import { soapDescriptor } from './soap/soap-descriptor.ts'

/** Every protocol, in the order of forms and help. The compiler asks for the factory of each: `protocol-factories.ts`. */
export const protocolDescriptors = [
  restDescriptor,
  soapDescriptor,
  graphqlDescriptor
] as const satisfies readonly ProtocolDescriptor[]

export type ProtocolName = (typeof protocolDescriptors)[number]['name']

export const PROTOCOL_NAMES: readonly ProtocolName[] = protocolDescriptors.map(({ name }) => name)

/** `REST, SOAP or GraphQL` */
export const PROTOCOLS_TEXT = [PROTOCOL_NAMES.slice(0, -1).join(', '), PROTOCOL_NAMES.at(-1)].join(' or ')

/** @returns undefined for a protocol of another version of Souk: its APIs are called by their operations */
export function descriptorOf(protocol: string): ProtocolDescriptor | undefined {
  return protocolDescriptors.find(({ name }) => name === protocol)
}

/** @param typed - in any case */
export function protocolNamed(typed: string): ProtocolName | undefined {
  return PROTOCOL_NAMES.find((name) => name.toLowerCase() === typed.toLowerCase())
}
