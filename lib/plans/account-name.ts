import { CONSUMER_BYTES } from '../base/limits/call.ts'

/** An account's name in subscriptions: its `consumer` bytes in hexadecimal. */
export function accountOf(consumer: Uint8Array): string {
  return Buffer.from(consumer).toString('hex')
}

/** The `consumer` bytes of an account name. Undefined for a name of another form, which proves nothing. */
export function consumerOf(account: string | undefined): Uint8Array | undefined {
  if (account === undefined || !ACCOUNT.test(account)) return undefined
  return Uint8Array.from(Buffer.from(account, 'hex'))
}

const ACCOUNT = new RegExp(`^[0-9a-f]{${CONSUMER_BYTES * 2}}$`)
