import type { CallRecord, Claim, ClaimLog, ClaimMark, KnownClaim } from '../interface/store.ts'

interface Kept {
  readonly claim: Claim
  readonly answer?: { readonly requestHash: Uint8Array; readonly call: string }
}

export interface MemoryClaims {
  readonly claims: ClaimLog
  /** What became of a claim; `call` is by what its record is found. */
  readonly settle: (mark: ClaimMark, at: number, call: string) => void
  /** A record answers an idempotency key. */
  readonly isAnswer: (call: string) => boolean
}

export function memoryClaims(check: () => void, recordOf: (call: string) => CallRecord | undefined): MemoryClaims {
  const kept = new Map<string, Kept>()
  const answers = new Map<string, string>()
  const nameOf = (name: Uint8Array): string => Buffer.from(name).toString('hex')
  const free = (name: string): void => {
    const answer = kept.get(name)?.answer
    if (answer !== undefined) answers.delete(answer.call)
    kept.delete(name)
  }
  const toKnown = ({ claim, answer }: Kept): KnownClaim => {
    const record = answer && recordOf(answer.call)
    if (answer === undefined || record === undefined) return claim
    return { ...claim, answered: { requestHash: answer.requestHash, record } }
  }
  const claims: ClaimLog = {
    async take(claim, expired) {
      check()
      const name = nameOf(claim.name)
      const known = kept.get(name)
      if (known !== undefined && known.claim.at >= expired) return toKnown(known)
      free(name)
      kept.set(name, { claim: { ...claim, name: Uint8Array.from(claim.name) } })
      return undefined
    },
    async free(name) {
      check()
      free(nameOf(name))
    },
    async drop(before, most) {
      check()
      const byAge = [...kept].sort(([, a], [, b]) => b.claim.at - a.claim.at)
      const past = byAge[most]?.[1].claim.at
      const cutoff = Math.max(before, past === undefined ? 0 : past + 1)
      const old = byAge.filter(([, { claim }]) => claim.at < cutoff)
      for (const [name] of old) free(name)
      return old.length
    }
  }
  return {
    claims,
    settle({ name, requestHash }, at, call) {
      const known = kept.get(nameOf(name))
      if (requestHash === undefined) return free(nameOf(name))
      if (known === undefined) return
      kept.set(nameOf(name), { claim: { ...known.claim, at }, answer: { requestHash, call } })
      answers.set(call, nameOf(name))
    },
    isAnswer: (call) => answers.has(call)
  }
}
