import { CONSUMER_BYTES } from '../base/limits.ts'

/** An account as subscriptions name it, by the name its calls go under: in hexadecimal. */
export function accountOf(consumer: Uint8Array): string {
  return Buffer.from(consumer).toString('hex')
}

/** The name its calls go under. Undefined where the account has one of another kind, which proves nothing. */
export function consumerOf(account: string | undefined): Uint8Array | undefined {
  if (account === undefined || !ACCOUNT.test(account)) return undefined
  return Uint8Array.from(Buffer.from(account, 'hex'))
}

const ACCOUNT = new RegExp(`^[0-9a-f]{${CONSUMER_BYTES * 2}}$`)
