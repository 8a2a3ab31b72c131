import { SoukError, type ErrorCode } from '../base/errors.ts'
import { type UnreachableStep, unreachableText } from '../base/unreachable.ts'

/** The first step of a lookup that failed. It is the error's member `reason`. */
export type NotFoundReason =
  /** No node claims to serve it, and it has no record. */
  | 'no_provider_record'
  /** No node of the network is reachable, so the lookup has no result. */
  | 'network_unreachable'
  /** Nodes claim to serve it, but none is reachable. */
  | 'unreachable'
  /** Nodes responded, but do not serve it. */
  | 'not_served'
  /** The manifest has an invalid signature, or breaks a rule. */
  | 'signature_refused'
  /** The manifest has expired. */
  | 'expired'
  /** The manifest was signed in the future: a clock is wrong. */
  | 'wrong_clock'
  /** The manifest is older than one that this node has seen. */
  | 'rolled_back'

const TEXTS: Readonly<Record<NotFoundReason, string>> = {
  no_provider_record: 'no node that this node can reach serves it. Check the name, or search for it',
  network_unreachable: 'this node has no connection to the network',
  unreachable: 'its nodes are unreachable',
  not_served: 'the nodes that should serve it do not have it',
  signature_refused: 'its manifest is not signed correctly',
  expired: 'its manifest has expired',
  wrong_clock: 'its manifest was signed in the future, so the clock of its provider, or of this node, is wrong',
  rolled_back: 'its manifest is older than one seen before'
}

/** Reason `network_unreachable`, where this node has connections. */
const SILENT = 'the nodes that this node is connected to did not respond'

/** The observations of a lookup. */
export interface Trail {
  readonly asked: number
  readonly answered: number
  /** Errors of manifests that were rejected. */
  readonly refusals: readonly string[]
  readonly hasOlder: boolean
  /** No directory peer responded. */
  readonly isCutOff: boolean
  /** This node is connected to any peer. */
  readonly isConnected: boolean
  /** Where the queries of nodes failed. */
  readonly steps?: readonly UnreachableStep[]
}

export function reasonOf({ asked, answered, refusals, hasOlder, isCutOff }: Trail): NotFoundReason {
  if (hasOlder) return 'rolled_back'
  if (refusals.length > 0) return refusedFor(refusals)
  if (answered > 0) return 'not_served'
  if (asked > 0) return 'unreachable'
  return isCutOff ? 'network_unreachable' : 'no_provider_record'
}

function refusedFor(refusals: readonly string[]): NotFoundReason {
  if (refusals.every((why) => why.includes('expired'))) return 'expired'
  return refusals.some((why) => why.includes('from the future')) ? 'wrong_clock' : 'signature_refused'
}

/** No peer responded, so the error says nothing about the API. */
export function isOffline({ members }: SoukError): boolean {
  return members?.reason === ('network_unreachable' satisfies NotFoundReason)
}

/**
 * The reason is in the detail and in the members. Without a connection the API is not called missing, because a retry
 * may find it.
 */
export function notFound(code: ErrorCode, what: string, trail: Trail): SoukError {
  const reason = reasonOf(trail)
  const { asked, answered, steps = [] } = trail
  const isUnknown = reason === 'network_unreachable'
  const step = reason === 'unreachable' ? steps.at(-1) : undefined
  const why = isUnknown && trail.isConnected ? SILENT : TEXTS[reason]
  const text = isUnknown ? `The lookup was not possible: ${why}.` : `${what}: ${why}.`
  const detail = step === undefined ? text : `${text} ${unreachableText(step)}`
  return new SoukError(isUnknown ? 'owner_unreachable' : code, detail, {
    members: { reason, ...(step === undefined ? {} : { step }), nodes_asked: asked, nodes_answered: answered }
  })
}

/** The error of a lookup whose time was up before this node was connected to any peer. */
export function offline(): SoukError {
  const trail = { asked: 0, answered: 0, refusals: [], hasOlder: false, isCutOff: true, isConnected: false }
  return notFound('owner_unreachable', '', trail)
}
