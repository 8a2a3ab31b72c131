import { isSoukError, parseAddress } from '../lib/index.ts'
import type { Address } from '../lib/interface/index.ts'
import { SetupError } from './setup-error.ts'

/**
 * Parses an account address that a person typed. Verifies the checksum, because money sent to a mistyped address is lost.
 * @throws SetupError `config_invalid`, which names the address by `whose`
 */
export function addressIn(whose: string, text: string): Address {
  try {
    return parseAddress(text)
  } catch (error) {
    if (!isSoukError(error)) throw error
    throw new SetupError('config_invalid', `The address of the ${whose} is not valid: ${error.message}`)
  }
}
