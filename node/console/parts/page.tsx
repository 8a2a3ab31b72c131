import { type ReactNode, useEffect, useRef } from 'react'

interface PageProps {
  readonly title: string
  /** What the page is for, in a sentence. */
  readonly intro?: ReactNode
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** One page: its heading gets the focus when somebody comes to it, so that whoever listens hears where he is. */
export function Page({ title, intro, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${title} · Souk`
    heading.current?.focus({ preventScroll: true })
  }, [title])
  return (
    <div className="page">
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {intro !== undefined && <p>{intro}</p>}
        </div>
        {actions !== undefined && <div className="row">{actions}</div>}
      </header>
      {children}
    </div>
  )
}
