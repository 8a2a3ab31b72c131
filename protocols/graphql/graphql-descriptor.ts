import type { ProtocolDescriptor } from '../descriptor.ts'

const endpoint = { label: 'Endpoint', placeholder: 'https://api.example.com/graphql' }

export const graphqlDescriptor = {
  name: 'GraphQL',
  about: 'one endpoint, a schema',
  isPriceCeiling: true,
  request: {
    name: 'query',
    schema: {
      type: 'object',
      required: ['query'],
      properties: {
        query: { type: 'string' },
        variables: { type: 'object' },
        operationName: { type: 'string' },
        extensions: { type: 'object' }
      }
    },
    toolProperties: {
      query: { type: 'string', description: 'a GraphQL document' },
      variables: { type: 'object' },
      operationName: { type: 'string' },
      documentId: { type: 'string', description: 'in place of a query: a trusted document of the provider' }
    },
    example: { query: '{ __typename }', variables: {} }
  },
  sources: [
    { from: 'url', label: 'Ask the endpoint', endpoint },
    {
      from: 'file',
      label: 'Schema file',
      endpoint,
      file: {
        label: 'Schema: SDL or introspection JSON',
        accept: '.graphql,.graphqls,.gql,.sdl,.json',
        member: 'graphql',
        option: 'schema-file',
        example: 'schema.graphql'
      }
    }
  ]
} as const satisfies ProtocolDescriptor
