import type { DialTransportOptions } from '@libp2p/interface'

/** The caller's end of a dial. */
export type DialOptions = Pick<DialTransportOptions, 'signal' | 'onProgress'>

export type OnProgress = NonNullable<DialOptions['onProgress']>

/** Calls `task` when the address has connected, and the handshake starts. On a slow link each of the two takes its own time. */
export const onConnected =
  (task: () => void): OnProgress =>
  ({ type }) => {
    if (type === 'upgrader:encrypt-outbound-connection') task()
  }
