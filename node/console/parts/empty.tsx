import type { ReactNode } from 'react'

interface EmptyProps {
  readonly title: string
  /** Why there is nothing. */
  readonly children: ReactNode
  /** The one thing to do about it. */
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
