import type { ReactNode } from 'react'
import { Button } from '../button.tsx'

interface FormButtonsProps {
  /** The verb. */
  readonly children: ReactNode
  readonly look?: 'first' | 'grave'
  readonly isBusy?: boolean
  readonly disabled?: boolean
  /** What else one can do. */
  readonly instead?: string
  readonly onClose: () => void
}

/** How a form in a dialog ends: it is sent, or it is left. */
export function FormButtons({ children, look = 'first', instead = 'Cancel', onClose, ...rest }: FormButtonsProps) {
  return (
    <div className="row">
      <Button look={look} type="submit" {...rest}>
        {children}
      </Button>
      <Button look="plain" onClick={onClose}>
        {instead}
      </Button>
    </div>
  )
}
