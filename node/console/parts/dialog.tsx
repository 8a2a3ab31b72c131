import { type ReactNode, useEffect, useId, useRef } from 'react'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/**
 * A native modal dialog, open while mounted. Escape closes it, and the focus returns to the previous element. While one of its
 * buttons is busy it stays open, because the result must be seen: a secret, an error, or whether money was sent.
 */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const isBusy = () => dialog.current?.querySelector('button[aria-busy=true]') != null
  const id = useId()
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => isBusy() && event.preventDefault()}
      // A browser lets only the first of two Escapes be prevented.
      onClose={() => (isBusy() ? dialog.current?.showModal() : onClose())}
    >
      <div className="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
