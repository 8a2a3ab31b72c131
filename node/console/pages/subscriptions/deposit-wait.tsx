/** Says why a change of a subscription takes time. The node waits for the deposit, up to a limit. */
export function DepositWait({ fee }: { readonly fee: string }) {
  if (fee === '0') return null
  return (
    <p role="status">
      Paying {fee} USDC. A new deposit counts in seconds, or in minutes for more than 1 USDC on Base. The fee is charged
      only then.
    </p>
  )
}
