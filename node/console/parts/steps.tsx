import { type ReactNode, useEffect, useRef } from 'react'

interface StepsProps {
  readonly label: string
  readonly names: readonly string[]
  readonly at: number
}

/** Shows the current step of a wizard. */
export function Steps({ label, names, at }: StepsProps) {
  return (
    <ol className="steps" aria-label={label}>
      {names.map((name, index) => (
        <li key={name} aria-current={index === at ? 'step' : undefined} className={index < at ? 'done' : undefined}>
          {name}
          {index < at && <span className="visually-hidden"> (done)</span>}
        </li>
      ))}
    </ol>
  )
}

interface StepProps {
  readonly title: string
  readonly intro?: ReactNode
  readonly children: ReactNode
}

/** One step. Its heading gets the focus when the step opens. */
export function Step({ title, intro, children }: StepProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // The first step opens with its page, and then the page's heading has the focus.
    if (document.activeElement?.tagName !== 'H1') heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <section className="card">
      <div>
        <h2 ref={heading} tabIndex={-1}>
          {title}
        </h2>
        {intro !== undefined && <p className="quiet">{intro}</p>}
      </div>
      {children}
    </section>
  )
}
