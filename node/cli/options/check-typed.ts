import { UsageError } from '../terminal/usage-error.ts'

/**
 * Checks of typed values before a question, and before a request to an endpoint or a chain. They load only these parts of the library.
 */

const names = () => import('../../../lib/base/api-name.ts')

/** @throws UsageError unless it is the name of an API */
export async function checkName(typed: string): Promise<void> {
  const { checkApiName } = await names()
  check(() => checkApiName(typed))
}

/** @throws UsageError unless it is `name`, or `name@provider` */
export async function checkApi(typed: string): Promise<void> {
  const { parseApiRef } = await names()
  check(() => parseApiRef(typed))
}

/** @throws UsageError unless it is a peer id */
export async function checkPeerId(typed: string): Promise<void> {
  const { isProviderId } = await names()
  if (!isProviderId(typed)) throw new UsageError(`"${typed}" is not a peer id. A peer id starts with 12D3KooW.`)
}

/** @throws UsageError unless it is an address, with the right checksum if it has one */
export async function checkAddress(typed: string): Promise<void> {
  const { parseAddress } = await import('../../../lib/pay/signing/address.ts')
  check(() => parseAddress(typed))
}

function check(parse: () => unknown): void {
  try {
    parse()
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
