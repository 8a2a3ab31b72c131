import type { ProtocolDescriptor } from '../../../../protocols/descriptor.ts'

export const shoutDescriptor = {
  name: 'Shout',
  about: 'a line of text over TCP',
  isUnaryOnly: true,
  sources: [
    { from: 'url', label: 'No description', endpoint: { label: 'Host and port', placeholder: 'http://127.0.0.1:7777' } }
  ]
} as const satisfies ProtocolDescriptor
