import type { ReactNode } from 'react'

interface EmptyProps {
  readonly title: string
  /** Reason why the list is empty. */
  readonly children: ReactNode
  /** The next action. */
  readonly action?: ReactNode
}

export function Empty({ title, children, action }: EmptyProps) {
  return (
    <section className="empty">
      <h2>{title}</h2>
      <p>{children}</p>
      {action}
    </section>
  )
}
