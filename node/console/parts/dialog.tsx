import { type ReactNode, useEffect, useId, useRef } from 'react'

interface DialogProps {
  readonly title: string
  /** True while an action runs whose result must be seen. The dialog stays open until it ends. */
  readonly isBusy?: boolean
  readonly onClose: () => void
  readonly children: ReactNode
}

/** A native modal dialog, open while mounted. Escape closes it, and the focus returns to the previous element. */
export function Dialog({ title, isBusy = false, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
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
      onCancel={(event) => isBusy && event.preventDefault()}
      // A browser lets only the first of two Escapes be prevented.
      onClose={() => (isBusy ? dialog.current?.showModal() : onClose())}
    >
      <div className="stack">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  )
}
