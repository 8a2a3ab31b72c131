import type { UpstreamAuth } from '../../lib/interface/adapter.ts'
import type { MessageModel } from './message.ts'
import type { ElementUse } from './model.ts'
import { clark } from './names.ts'
import { WSSE } from './username-token.ts'

/** What a provider proves itself with inside of every envelope. */
export type EnvelopeAuth = Pick<UpstreamAuth, 'usernameToken' | 'soapHeaders'>

/** The header of WS-Security, which UsernameToken stands in. */
export const SECURITY = clark(WSSE, 'Security')

/** Names of the header blocks that are the provider's alone: consumers neither see nor send them. */
export function ownBlocks({ usernameToken, soapHeaders = {} }: EnvelopeAuth = {}): readonly string[] {
  return [...Object.keys(soapHeaders), ...(usernameToken === undefined ? [] : [SECURITY])]
}

/** Parts the declared blocks of a message into those for consumers and those of the provider, by the names it gave them. */
export function partBlocks(
  declared: ReadonlyMap<string, ElementUse>,
  own: readonly string[]
): Pick<MessageModel, 'headers' | 'ownHeaders'> {
  const headers = new Map<string, ElementUse>()
  const ownHeaders = new Map<string, ElementUse>()
  for (const [json, use] of declared) {
    const name = own.find((one) => one === json || one === clark(use.namespace, use.name))
    if (name === undefined) headers.set(json, use)
    else ownHeaders.set(name, use)
  }
  return { headers, ownHeaders }
}
