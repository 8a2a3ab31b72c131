import type { Multiaddr } from '@multiformats/multiaddr'

/**
 * Kinds of peers that can dial some addresses only:
 * - `web`: their network lets only the ports of the web out;
 * - `ip4` and `ip6`: they have this version of IP only;
 * - `router`: the router in front of them forwards this node's port, but not for its own network (no hairpinning).
 */
export type Gap = 'web' | 'ip4' | 'ip6' | 'router'

export const GAPS: readonly Gap[] = ['web', 'ip4', 'ip6', 'router']

/** Whether peers of this kind can dial one of the addresses. A name may have addresses of both versions. */
export function fillsGap(gap: Gap, addresses: readonly Multiaddr[]): boolean {
  return addresses.some((address) => IS_DIALABLE[gap](address))
}

const IS_DIALABLE: Readonly<Record<Gap, (address: Multiaddr) => boolean>> = {
  web: (address) => {
    const tcp = address.getComponents().find(({ name }) => name === 'tcp')
    return tcp?.value === '443' || tcp?.value === '80'
  },
  router: () => true,
  ip4: (address) => /^(ip4|dns4|dns)$/.test(address.getComponents()[0]?.name ?? ''),
  ip6: (address) => /^(ip6|dns6|dns)$/.test(address.getComponents()[0]?.name ?? '')
}
