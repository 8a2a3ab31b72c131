import { SoukError } from './errors.ts'

/** Member of an owner's refusal: the revision from which on its terms apply. */
const REVISION_MEMBER = 'terms_revision'

/** An owner's refusal of a call that was made for older terms. Nothing is charged. The caller looks the terms up again. */
export function outdatedTerms(revision: number): SoukError {
  return new SoukError('payment_required', 'The terms of this API have changed. Try again.', {
    notAccepted: true,
    members: { [REVISION_MEMBER]: revision }
  })
}

/** True for a refusal by terms that are newer than a revision. */
export function isOutdated({ code, members }: SoukError, known: number): boolean {
  const revision = members?.[REVISION_MEMBER]
  return code === 'payment_required' && typeof revision === 'number' && revision > known
}
