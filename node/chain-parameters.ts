import type { ChainParameters } from '../lib/interface/index.ts'
import { addressIn } from './address-in.ts'
import type { Network } from './networks.ts'
import { SetupError } from './setup-error.ts'

/**
 * The chain of a network with the operator’s settings: the endpoint, and the treasury if the network has none yet. A known treasury cannot
 * be changed: payments to another splitter address would be lost.
 * @throws SetupError `config_invalid`
 */
export function chainParameters(
  network: Network,
  { chainRpc, treasury }: { readonly chainRpc?: string | undefined; readonly treasury?: string | undefined }
): ChainParameters {
  const known = network.chain
  const parameters = chainRpc === undefined ? known : { ...known, rpcUrl: chainRpc }
  if (treasury === undefined) return parameters
  const asked = addressIn('treasury', treasury)
  if (known.treasury !== undefined && asked !== known.treasury) {
    throw new SetupError('config_invalid', `The treasury of the network ${network.name} is ${known.treasury}.`, {
      hint: 'the same without --treasury'
    })
  }
  return { ...parameters, treasury: asked }
}
