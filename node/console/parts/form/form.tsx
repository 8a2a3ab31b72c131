import type { ReactNode } from 'react'

interface FormProps {
  readonly className?: string
  readonly onSubmit: () => void
  readonly children: ReactNode
}

/** A form that a script sends. The browser checks required fields. */
export function Form({ className = 'stack', onSubmit, children }: FormProps) {
  return (
    <form
      className={className}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
    </form>
  )
}
