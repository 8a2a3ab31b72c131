import { type ReactNode, useEffect, useRef } from 'react'

interface StepsProps {
  readonly label: string
  readonly names: readonly string[]
  readonly at: number
}

/** Where one is on the way through a few steps. */
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

/** One of them: its heading gets the focus when somebody comes to it. */
export function Step({ title, intro, children }: StepProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    // The first one comes with its page, whose own heading has it.
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
