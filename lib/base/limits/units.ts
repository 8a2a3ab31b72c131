/** Units in which limits are written. */
export const KiB = 1024
export const MiB = 1024 * KiB
export const SECOND = 1_000
export const MINUTE = 60 * SECOND
export const HOUR = 60 * MINUTE
export const DAY = 24 * HOUR
export const USDC = 1_000_000n
