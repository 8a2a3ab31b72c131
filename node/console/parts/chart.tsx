import { lazy, Suspense } from 'react'
import { Guarded } from './guarded.tsx'

export interface ChartProps {
  /** Milliseconds since the epoch, for each value. */
  readonly at: readonly number[]
  readonly lines: ReadonlyArray<{
    readonly name: string
    /** A token of colours. */
    readonly colour: string
    /** Null where there is none. */
    readonly values: ReadonlyArray<number | null>
  }>
  /** Behind each number of the axis. */
  readonly unit: string
}

const ChartCanvas = lazy(async () => ({ default: (await import('./chart-canvas.tsx')).ChartCanvas }))

/** Lines over time. What they say in short is in words beside them, for whoever does not see them. */
export function Chart({ title, about, ...chart }: ChartProps & { readonly title: string; readonly about: string }) {
  return (
    <figure className="card chart">
      <figcaption>
        <h3>{title}</h3>
        <ul>
          {chart.lines.map(({ name, colour }) => (
            <li key={name}>
              <span className="dot" style={{ background: `var(${colour})` }} aria-hidden="true" />
              {name}
            </li>
          ))}
        </ul>
      </figcaption>
      <p className="quiet small">{about}</p>
      <Guarded place={title}>
        <Suspense fallback={<div className="chart-canvas" />}>
          <ChartCanvas {...chart} />
        </Suspense>
      </Guarded>
    </figure>
  )
}
