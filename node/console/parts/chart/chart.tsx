import { lazy, Suspense } from 'react'
import type { ChartProps } from '../chart-props.ts'
import { Guarded } from '../guarded.tsx'

const ChartCanvas = lazy(async () => ({ default: (await import('./chart-canvas.tsx')).ChartCanvas }))

/** Line chart over time. A text summary beside it serves screen readers. */
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
