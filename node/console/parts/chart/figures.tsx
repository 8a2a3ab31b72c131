import type { ReactNode } from 'react'

export interface FigureInit {
  readonly name: string
  readonly value: ReactNode
  readonly note?: ReactNode
}

/** Key figures of a page. */
export function Figures({ figures }: { readonly figures: readonly FigureInit[] }) {
  return (
    <dl className="figures">
      {figures.map(({ name, value, note }) => (
        <div key={name} className="figure">
          <dt>{name}</dt>
          <dd>{value}</dd>
          {note !== undefined && <dd>{note}</dd>}
        </div>
      ))}
    </dl>
  )
}
