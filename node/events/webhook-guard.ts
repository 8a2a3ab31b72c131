import { isPublicIp } from '../../lib/index.ts'
import type { UpstreamGuard } from '../../lib/interface/index.ts'

/**
 * Keeps webhooks on the Internet: an address of this machine, or of a network that it stands in, would be reached with the node's rights.
 *
 * @param own - what no request of this node goes to, allowed or not
 */
export function webhookGuard(own: UpstreamGuard | undefined, allowsPrivate: boolean): UpstreamGuard {
  return {
    refuses(host, address, port) {
      if (own?.refuses(host, address, port) === true) return true
      return !allowsPrivate && !isPublicIp(address)
    }
  }
}
