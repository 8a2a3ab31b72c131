import type { FoundListingView } from '../../../admin/market/market-api.ts'
import { Moment } from '../../parts/moment.tsx'
import { State } from '../../parts/state.tsx'
import { msText } from '../../parts/units.ts'

/** Quality of an API on calls of this node, with their number. */
export function Quality({ quality }: { readonly quality: FoundListingView['quality'] }) {
  const { calls, success_rate, p50_ms, p95_ms } = quality
  if (success_rate === null) return <p className="small quiet">not called from here yet</p>
  const mood = success_rate >= 0.99 ? 'good' : success_rate >= 0.9 ? 'warn' : 'bad'
  return (
    <div className="small">
      <State state={`${Math.round(success_rate * 1000) / 10}% answered`} mood={mood} />
      <p className="quiet">
        of your {Math.round(calls).toLocaleString()} {Math.round(calls) === 1 ? 'call' : 'calls'}
        {p50_ms !== null && `, half within ${msText(p50_ms)}`}
        {p95_ms !== null && `, 95% within ${msText(p95_ms)}`}
      </p>
    </div>
  )
}

/** The owner's own claims, marked as unverified. */
export function Claim({ claim }: { readonly claim: NonNullable<FoundListingView['claimed_by_owner']> }) {
  const { calls, days, until, success_rate, p50_ms, p95_ms } = claim
  return (
    <div className="small">
      <p>
        {Math.round(success_rate * 1000) / 10}% answered, of {calls.toLocaleString()} calls or more
        {p50_ms !== null && `, half within ${msText(p50_ms)}`}
        {p95_ms !== null && `, 95% within ${msText(p95_ms)}`}
      </p>
      <p className="quiet">
        in the {days} days to {until.slice(0, 10)}; not verified, and not used for sorting
      </p>
    </div>
  )
}

/** Availability according to probes of this node. */
export function Probes({ probed }: { readonly probed: NonNullable<FoundListingView['probed']> }) {
  const { probes, reached_rate, p50_ms, last_at } = probed
  return (
    <div className="small">
      <p>
        reached {Math.round(reached_rate * 1000) / 10}% of {Math.round(probes)} times
        {p50_ms !== null && `, half within ${msText(p50_ms)}`}
      </p>
      <p className="quiet">
        without a call, last <Moment at={Date.parse(last_at)} />
      </p>
    </div>
  )
}
