import { SoukError, type ErrorCode } from '../base/errors.ts'

/** How far a search for an API got: the first step that failed. A member, `reason`, of what it ends with. */
export type NotFoundReason =
  /** Nobody says to serve it, and there is no record. */
  | 'no_provider_record'
  /** No node of the network could be reached: nobody knows what there is. */
  | 'network_unreachable'
  /** Nodes are named, and none of them could be reached. */
  | 'unreachable'
  /** Nodes answered, and do not serve it. */
  | 'not_served'
  /** What they serve is not signed as it must be, or breaks a rule. */
  | 'signature_refused'
  /** What they serve has run out. */
  | 'expired'
  /** What they serve is older than what this node has seen. */
  | 'rolled_back'

const TEXTS: Readonly<Record<NotFoundReason, string>> = {
  no_provider_record: 'nobody on the network says to serve it',
  network_unreachable: 'this node is connected to no other node of the network',
  unreachable: 'the nodes that are said to serve it could not be reached',
  not_served: 'the nodes that are said to serve it do not',
  signature_refused: 'what was offered is not signed as it must be',
  expired: 'what was offered has run out',
  rolled_back: 'what was offered is older than what was seen before'
}

/** What was seen on the way. */
export interface Trail {
  readonly asked: number
  readonly answered: number
  /** Why manifests were refused, in the verifier's own words. */
  readonly refusals: readonly string[]
  readonly hasOlder: boolean
  /** The directory gave no answer, because no peer did. */
  readonly isCutOff: boolean
}

export function reasonOf({ asked, answered, refusals, hasOlder, isCutOff }: Trail): NotFoundReason {
  if (hasOlder) return 'rolled_back'
  if (refusals.length > 0) return refusals.every((why) => why.includes('expired')) ? 'expired' : 'signature_refused'
  if (answered > 0) return 'not_served'
  if (asked > 0) return 'unreachable'
  return isCutOff ? 'network_unreachable' : 'no_provider_record'
}

/**
 * Says it in the detail and in the members. What could not be looked for is not said to be missing: a repeat may find it.
 */
export function notFound(code: ErrorCode, what: string, trail: Trail): SoukError {
  const reason = reasonOf(trail)
  const { asked, answered } = trail
  const isUnknown = reason === 'network_unreachable'
  const text = isUnknown ? `It could not be looked for: ${TEXTS[reason]}.` : `${what}: ${TEXTS[reason]}.`
  return new SoukError(isUnknown ? 'owner_unreachable' : code, text, {
    members: { reason, nodes_asked: asked, nodes_answered: answered }
  })
}
