import type { CallTiming } from '../../../../lib/interface/index.ts'
import { msText } from '../units.ts'

const PARTS: ReadonlyArray<readonly [keyof CallTiming, string]> = [
  ['lookup', 'lookup'],
  ['pay', 'payment'],
  ['net', 'network'],
  ['owner', 'queue and mapping'],
  ['upstream', 'upstream']
]

/** Timing of a call. The text contains all numbers; the bar is hidden from screen readers. */
export function TimingBar({ timing }: { readonly timing: CallTiming }) {
  const all = Math.max(
    0.001,
    PARTS.reduce((sum, [part]) => sum + timing[part], 0)
  )
  return (
    <div className="timing">
      <div className="timing-bar" aria-hidden="true">
        {PARTS.map(([part]) => (
          <span key={part} className={part} style={{ width: `${(timing[part] / all) * 100}%` }} />
        ))}
      </div>
      <ul>
        {PARTS.filter(([part]) => timing[part] > 0).map(([part, name]) => (
          <li key={part}>
            <span className={`dot ${part}`} aria-hidden="true" />
            {name} {msText(timing[part])}
          </li>
        ))}
      </ul>
    </div>
  )
}
