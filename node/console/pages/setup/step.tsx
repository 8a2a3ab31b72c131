import type { ReactNode } from 'react'
import { State } from '../../parts/state.tsx'

interface StepProps {
  readonly title: string
  readonly isDone: boolean
  /** True if the user can skip the step. */
  readonly isOptional?: boolean
  readonly children: ReactNode
}

/** One step of the setup. */
export function Step({ title, isDone, isOptional = false, children }: StepProps) {
  return (
    <li className="card">
      <div className="row between">
        <h2>{title}</h2>
        {isDone ? (
          <State state="done" mood="good" />
        ) : (
          <State state={isOptional ? 'if you like' : 'to do'} mood={isOptional ? 'quiet' : 'warn'} />
        )}
      </div>
      {children}
    </li>
  )
}
