import { type ApiDescription, UPSTREAM_METHODS, type UpstreamConfig } from '../../lib/interface/adapter.ts'

const ANY: ApiDescription = {
  operations: [
    {
      name: 'call',
      description: 'Sends a JSON object to the API and returns its response.',
      input: { type: 'object', additionalProperties: true }
    }
  ]
}

/** The members of `explicitCall`. Another object is accepted too, and sent as it is. */
const EXPLICIT: ApiDescription = {
  operations: [
    {
      name: 'call',
      description:
        'Sends the request that `method`, `path`, `query`, `headers` and `body` describe, and returns the response of the API. A JSON object without method and path is sent as it is.',
      input: {
        type: 'object',
        properties: {
          method: { type: 'string', enum: [...UPSTREAM_METHODS], description: 'Default: GET.' },
          path: { type: 'string', description: 'Below the address of the API, such as /cities/oslo.' },
          query: { type: 'object', description: 'Fields of the query.' },
          headers: { type: 'object', additionalProperties: { type: 'string' } },
          body: { description: 'JSON, or a text if the header content-type is not JSON. Not with GET, HEAD or DELETE.' }
        },
        additionalProperties: true
      }
    }
  ]
}

/** The description of an API without a document: only the API knows its fields. */
export function undescribed({ explicit = false }: Pick<UpstreamConfig, 'explicit'>): ApiDescription {
  return explicit ? EXPLICIT : ANY
}
