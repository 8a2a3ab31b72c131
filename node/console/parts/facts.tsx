import type { ReactNode } from 'react'

/** A list of names and values. */
export function Facts({ facts }: { readonly facts: ReadonlyArray<readonly [name: string, value: ReactNode]> }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name} style={{ display: 'contents' }}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
