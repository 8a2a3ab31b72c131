import os from 'node:os'

export const LOOPBACK = '127.0.0.1'
const { networkInterfaces } = os

/** Sets the addresses of this machine's interfaces as libp2p sees them. The listen addresses are real. */
export function setInterfaces(...addresses: string[]): void {
  os.networkInterfaces = () => ({
    eth0: addresses.map((address) => {
      const common = { address, mac: '00:00:00:00:00:00', internal: address === LOOPBACK, cidr: null }
      return address.includes(':')
        ? { ...common, family: 'IPv6', netmask: 'ffff:ffff:ffff:ffff::', scopeid: 0 }
        : { ...common, family: 'IPv4', netmask: '255.255.255.0' }
    })
  })
}

/** The system lists no interface, as when the process has no file left to open. */
export function failInterfaces(): void {
  os.networkInterfaces = () => {
    throw Object.assign(new Error('uv_interface_addresses'), { code: 'ERR_SYSTEM_ERROR' })
  }
}

export function resetInterfaces(): void {
  os.networkInterfaces = networkInterfaces
}
