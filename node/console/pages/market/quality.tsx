import type { FoundListingView } from '../../../admin/market-api.ts'
import { State } from '../../parts/state.tsx'
import { msText } from '../../parts/units.ts'

/** How an API did on calls of this node, with how many these were. */
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
