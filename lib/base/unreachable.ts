import { isSoukError, SoukError } from './errors.ts'

/** Steps to an owner, in order. The one that failed is the member `step` of `owner_unreachable`. */
const TEXTS = {
  address: 'The owner has no address that this node can dial.',
  dial_direct: 'None of the owner’s addresses accepts connections.',
  dial_relay: 'The owner cannot be dialled directly, and none of its relays connects to it.',
  handshake: 'The owner’s address accepts connections, but the handshake failed.',
  manifest: 'The owner accepts connections, but did not send its manifest.'
} as const

export type UnreachableStep = keyof typeof TEXTS
const STEPS = Object.keys(TEXTS) as UnreachableStep[]

export const unreachableText = (step: UnreachableStep): string => TEXTS[step]

/** @param cause - for local logs only, because it names addresses */
export function unreachable(step: UnreachableStep, cause: unknown): SoukError {
  return new SoukError('owner_unreachable', TEXTS[step], { cause, members: { step } })
}

/** The step that an error of this node names, if any. */
export function unreachableStep(error: unknown): UnreachableStep | undefined {
  const step = isSoukError(error) ? error.members?.['step'] : undefined
  return STEPS.find((known) => known === step)
}
