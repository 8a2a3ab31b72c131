import { isSoukError, parseAddress } from '../lib/index.ts'
import type { Address } from '../lib/interface/index.ts'
import { SetupError } from './setup-error.ts'

/**
 * An account's address that somebody typed: with one wrong digit the money would be nobody's, so a checksum is checked.
 * @throws SetupError `config_invalid`, naming whose it was to be
 */
export function addressIn(whose: string, text: string): Address {
  try {
    return parseAddress(text)
  } catch (error) {
    if (!isSoukError(error)) throw error
    throw new SetupError('config_invalid', `The address of the ${whose} is not valid: ${error.message}`)
  }
}
