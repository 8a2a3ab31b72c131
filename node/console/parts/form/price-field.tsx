import { Field } from './field.tsx'
import { providerShare } from '../money.ts'

interface PriceFieldProps {
  readonly label: string
  readonly value: string
  /** Charged unit. Default: a call. */
  readonly unit?: string
  readonly onChange: (price: string) => void
}

/** A price field that shows the provider's share while the user types. */
export function PriceField({ label, value, unit, onChange }: PriceFieldProps) {
  const share = providerShare(value)
  return (
    <Field
      label={label}
      required
      inputMode="decimal"
      autoComplete="off"
      value={value}
      fault={
        share === undefined && value !== '' ? 'A decimal number with at most six decimals, like 0.001.' : undefined
      }
      hint={
        share === undefined ? (
          'A decimal number, like 0.001. 0 is free.'
        ) : share === '0' ? (
          'Free: consumers pay nothing, and you earn nothing.'
        ) : (
          <>
            You receive 95%: <strong className="number">{share} USDC</strong>{' '}
            {unit ?? (
              <>
                a call, <span className="number">{providerShare(value, 1000n)} USDC</span> for a thousand
              </>
            )}
            .
          </>
        )
      }
      onChange={({ target }) => onChange(target.value.trim())}
    />
  )
}
