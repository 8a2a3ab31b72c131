import { malformed } from './malformed.ts'

const NETWORK = /^[a-z0-9][a-z0-9-]{0,31}$/

/** @throws SoukError `invalid_request` */
export function checkNetwork(network: string): void {
  if (NETWORK.test(network)) return
  throw malformed('network', `"${network.slice(0, 40)}" is not a network name. Use a-z, 0-9 and "-".`)
}
