import type { UpstreamAuth } from '../../../lib/interface/adapter.ts'
import type { MessageModel } from './message.ts'
import type { ElementUse } from '../schema/model.ts'
import { clark } from '../xml/names.ts'
import { WSSE } from './username-token.ts'

/** The provider's credentials inside each envelope. */
export type EnvelopeAuth = Pick<UpstreamAuth, 'usernameToken' | 'soapHeaders'>

/** The WS-Security header, which contains UsernameToken. */
export const SECURITY = clark(WSSE, 'Security')

/** Names of the provider's own header blocks, which consumers neither see nor send. */
export function ownBlocks({ usernameToken, soapHeaders = {} }: EnvelopeAuth = {}): readonly string[] {
  return [...Object.keys(soapHeaders), ...(usernameToken === undefined ? [] : [SECURITY])]
}

/** Splits a message's declared blocks into the consumer's and the provider's, by the provider's names. */
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
