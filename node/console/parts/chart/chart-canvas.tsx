import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef } from 'react'
import type { ChartProps } from '../chart-props.ts'

const HEIGHT = 180
/** Steps between grid lines. All are whole numbers, because counts have no fractions. */
const STEPS = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000].flatMap((step) => [step, 2 * step, 5 * step])

/** Draws with uPlot in the page's colours, and redraws when the colours change. */
export function ChartCanvas({ at, lines, unit }: ChartProps) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const place = host.current
    if (place === null) return undefined
    let chart: uPlot | undefined
    const draw = () => {
      chart?.destroy()
      chart = new uPlot(
        optionsFor(place, { at, lines, unit }),
        [seconds(at), ...lines.map(({ values }) => [...values])],
        place
      )
    }
    draw()
    const resized = new ResizeObserver(() => chart?.setSize({ width: place.clientWidth, height: HEIGHT }))
    resized.observe(place)
    const scheme = matchMedia('(prefers-color-scheme: dark)')
    scheme.addEventListener('change', draw)
    const themed = new MutationObserver(draw)
    themed.observe(document.documentElement, { attributeFilter: ['data-theme'] })
    return () => {
      resized.disconnect()
      scheme.removeEventListener('change', draw)
      themed.disconnect()
      chart?.destroy()
    }
  }, [at, lines, unit])
  return <div ref={host} className="chart-canvas" aria-hidden="true" />
}

const DAY_S = 86_400
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const DATE = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' })

const seconds = (at: readonly number[]): number[] => at.map((ms) => ms / 1000)

function optionsFor(place: HTMLElement, { at, lines, unit }: ChartProps): uPlot.Options {
  const spanS = ((at.at(-1) ?? 0) - (at[0] ?? 0)) / 1_000
  const quiet = colourOf(place, '--ink-quiet')
  const grid = { stroke: colourOf(place, '--line'), width: 1 }
  const axis = { stroke: quiet, grid, ticks: { show: false }, font: '12px system-ui' }
  const isDays = spanS > DAY_S
  return {
    width: place.clientWidth,
    height: HEIGHT,
    padding: [8, 24, 0, 0],
    legend: { show: false },
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] } },
    axes: [
      {
        ...axis,
        size: 28,
        values: (_, splits) => splits.map((second) => (isDays ? DATE : CLOCK).format(second * 1_000)),
        ...(isDays ? { incrs: [DAY_S] } : {})
      },
      {
        ...axis,
        size: 60,
        incrs: STEPS,
        values: (_, splits) => splits.map((value) => `${value.toLocaleString()}${unit}`)
      }
    ],
    series: [
      {},
      ...lines.map(({ name, colour, values }) => ({
        label: name,
        stroke: colourOf(place, colour),
        width: 1.6,
        // A single value between two gaps has no line, so draw a point.
        points: { show: values.includes(null), size: 5, fill: colourOf(place, colour) },
        spanGaps: false
      }))
    ]
  }
}

/** A canvas does not support `light-dark()`, so this reads the computed colour. */
function colourOf(place: HTMLElement, token: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${token})`
  place.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
