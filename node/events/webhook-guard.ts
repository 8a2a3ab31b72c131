import { isPublicIp } from '../../lib/index.ts'
import type { UpstreamGuard } from '../../lib/interface/index.ts'

/**
 * Refuses webhooks at private addresses, which the node could reach with its own network access.
 * @param own - refuses addresses that no request of this node may go to, even if private ones are allowed
 */
export function webhookGuard(own: UpstreamGuard | undefined, allowsPrivate: boolean): UpstreamGuard {
  return {
    refuses(host, address, port) {
      if (own?.refuses(host, address, port) === true) return true
      return !allowsPrivate && !isPublicIp(address)
    }
  }
}
