import type { Answer } from './call-stream.ts'
import type { PeerUnderTest } from './peer-under-test.ts'

/** The peer and the API that a check uses. */
export interface CheckContext {
  readonly peer: PeerUnderTest
  /** A free API of the peer that takes an empty JSON object by POST: `name@provider`. */
  readonly api: string | undefined
}

/** One rule of the specification. */
export interface Check {
  /** Section of `docs/reference/protocol.md`, or of a part of it. */
  readonly section: string
  readonly rule: string
  /** It calls an API, so it is skipped without one. */
  readonly needsApi?: true
  /** Takes seconds, because the rule is a wait. */
  readonly isSlow?: true
  /** @throws Error with what the peer did instead */
  run(context: CheckContext): Promise<void>
}

/** Thrown by a check that does not apply to the peer. */
export class DoesNotApply extends Error {}

export function expect(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise)
}

/** Checks the code of a failure, and its `not_accepted` where `accepted` is given. */
export function expectFailure(answer: Answer, code: string, notAccepted?: boolean): void {
  expect(answer.isFailure, `the peer responded with status ${answer.status} instead of ${code}`)
  expect(answer.code === code, `the peer responded ${answer.code} instead of ${code}`)
  if (notAccepted === undefined || answer.notAccepted === notAccepted) return
  throw new Error(`not_accepted is ${answer.notAccepted} on ${code}`)
}

/** An API that no peer serves. */
export const noSuchApi = ({ peer }: CheckContext): string => `souk-conformance-none@${peer.id}`

/** The API of a check that needs one. */
export function apiOf({ api }: CheckContext): string {
  if (api === undefined) throw new Error('no API was given')
  return api
}
