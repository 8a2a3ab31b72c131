import type { CallTiming } from '../../../../lib/interface/index.ts'

const PARTS = ['lookup', 'pay', 'net', 'owner', 'upstream'] as const

/** Small bar of a call's timing for tables. The detail view of the call shows the numbers. */
export function TimingStrip({ timing }: { readonly timing: Partial<CallTiming> }) {
  const all = PARTS.reduce((sum, part) => sum + (timing[part] ?? 0), 0)
  if (all === 0) return null
  return (
    <div className="timing strip" aria-hidden="true">
      <div className="timing-bar">
        {PARTS.map((part) => (
          <span key={part} className={part} style={{ width: `${((timing[part] ?? 0) / all) * 100}%` }} />
        ))}
      </div>
    </div>
  )
}
