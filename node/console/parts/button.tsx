import type { ButtonHTMLAttributes } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `first`: main action, one per page. `grave`: cannot be undone. `plain`: secondary action. */
  readonly look?: 'first' | 'grave' | 'plain'
  readonly icon?: IconName
  /** True while the action runs. Disables the button. */
  readonly isBusy?: boolean
}

export function Button({ look, icon, isBusy = false, disabled, children, className = '', ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      className={`button ${look ?? ''} ${className}`}
      disabled={disabled === true || isBusy}
      aria-busy={isBusy}
    >
      {icon !== undefined && <Icon name={isBusy ? 'wait' : icon} />}
      {children}
    </button>
  )
}
