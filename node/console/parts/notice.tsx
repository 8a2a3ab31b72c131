import type { ReactNode } from 'react'

/** Something to know, beside what somebody came for. */
export function Notice({ mood = 'warn', children }: { readonly mood?: 'warn' | 'good'; readonly children: ReactNode }) {
  return (
    <div className={`notice ${mood}`} role="status">
      {children}
    </div>
  )
}
