import type { ReactNode } from 'react'

/** A notice beside the main content. */
export function Notice({ mood = 'warn', children }: { readonly mood?: 'warn' | 'good'; readonly children: ReactNode }) {
  return (
    <div className={`notice ${mood}`} role="status">
      {children}
    </div>
  )
}
