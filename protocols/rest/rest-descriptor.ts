import type { ProtocolDescriptor } from '../descriptor.ts'

const endpoint = { label: 'Address of the API', placeholder: 'https://api.example.com/v1' }

export const restDescriptor = {
  name: 'REST',
  about: 'JSON over HTTP',
  unnamedOperation: 'call',
  sources: [
    {
      from: 'url',
      label: 'OpenAPI by address',
      endpoint,
      document: { label: 'Address of the OpenAPI document', placeholder: 'https://api.example.com/openapi.json' }
    },
    {
      from: 'file',
      label: 'OpenAPI file',
      endpoint,
      file: {
        label: 'OpenAPI document',
        accept: '.json,.yaml,.yml',
        member: 'openapi',
        option: 'openapi',
        example: 'openapi.json'
      }
    },
    { from: 'hand', label: 'By hand', endpoint }
  ]
} as const satisfies ProtocolDescriptor
