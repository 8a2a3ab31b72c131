import type { ButtonHTMLAttributes } from 'react'
import { Icon, type IconName } from './icon.tsx'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  /** `first`: what most come for, one a page. `grave`: cannot be undone. `plain`: beside others. */
  readonly look?: 'first' | 'grave' | 'plain'
  readonly icon?: IconName
  /** It is being done: not to be asked for twice. */
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
