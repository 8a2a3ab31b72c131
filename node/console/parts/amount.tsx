/** A decimal amount as the node sent it. It is never converted to a number. */
export function Amount({ value, unit = 'USDC' }: { readonly value: string; readonly unit?: string }) {
  return (
    <span className="number">
      {value}&nbsp;<span className="quiet">{unit}</span>
    </span>
  )
}
