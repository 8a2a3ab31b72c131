import type { ReactNode } from 'react'

interface FormProps {
  readonly className?: string
  readonly onSubmit: () => void
  readonly children: ReactNode
}

/** A form that the page sends itself; the browser checks what is required. */
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
