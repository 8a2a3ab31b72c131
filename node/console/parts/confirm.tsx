import type { ReactNode } from 'react'
import { useWrite } from '../admin/use-write.ts'
import { Button } from './button.tsx'
import { Command } from './code/command.tsx'
import { Dialog } from './dialog.tsx'
import { ErrorNotice } from './error-notice.tsx'

interface ConfirmProps {
  /** The question. */
  readonly title: string
  /** The consequences of the action. */
  readonly children: ReactNode
  /** Labels of the two buttons: do it, or cancel. */
  readonly action: string
  readonly instead: string
  readonly isGrave?: boolean
  readonly command: string
  readonly write: () => Promise<unknown>
  /** Names of resources that the action changes. */
  readonly changes: readonly string[]
  readonly onClose: () => void
  /** Default: `onClose`. */
  readonly onDone?: () => void
}

/** Asks for confirmation, then runs the action. */
export function Confirm(props: ConfirmProps) {
  const {
    title,
    children,
    action,
    instead,
    isGrave = false,
    command,
    write,
    changes,
    onClose,
    onDone = onClose
  } = props
  const writing = useWrite(write, changes, onDone)
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      {writing.error !== null && <ErrorNotice error={writing.error} />}
      <Command>{command}</Command>
      <div className="row">
        <Button look={isGrave ? 'grave' : 'first'} isBusy={writing.isPending} onClick={() => writing.mutate(undefined)}>
          {action}
        </Button>
        <Button look="plain" disabled={writing.isPending} onClick={onClose}>
          {instead}
        </Button>
      </div>
    </Dialog>
  )
}
