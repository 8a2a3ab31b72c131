const GWEI = 10n ** 9n
const GWEI_PER_ETHER = 10n ** 9n

/** Formats ETH with nine decimals: a transaction on Base costs about that little. */
export function formatEther(wei: bigint): string {
  const gwei = wei / GWEI
  return `${gwei / GWEI_PER_ETHER}.${String(gwei % GWEI_PER_ETHER).padStart(9, '0')}`.replace(/\.?0+$/, '')
}
