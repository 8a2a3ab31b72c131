import type { ReactNode } from 'react'
import { Button } from '../button.tsx'

interface FormButtonsProps {
  /** Label of the submit button. */
  readonly children: ReactNode
  readonly look?: 'first' | 'grave'
  readonly isBusy?: boolean
  readonly disabled?: boolean
  /** Label of the cancel button. */
  readonly instead?: string
  readonly onClose: () => void
}

/** Submit and cancel buttons of a form. */
export function FormButtons({ children, look = 'first', instead = 'Cancel', onClose, ...rest }: FormButtonsProps) {
  return (
    <div className="row">
      <Button look={look} type="submit" {...rest}>
        {children}
      </Button>
      <Button look="plain" disabled={rest.isBusy === true} onClick={onClose}>
        {instead}
      </Button>
    </div>
  )
}
