import { Field } from './field.tsx'
import { providerShare } from '../money.ts'

interface PriceFieldProps {
  readonly label: string
  readonly value: string
  /** What it is paid for. Default: a call. */
  readonly unit?: string
  readonly onChange: (price: string) => void
}

/** A price, and what of it is the provider's, as it is typed. */
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
          'Free: nobody pays, and you earn nothing.'
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
