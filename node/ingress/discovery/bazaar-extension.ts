/** The `bazaar` extension of x402: how to call a resource, with an example body. */
export function bazaarOf(body: Readonly<Record<string, unknown>>) {
  return {
    info: { input: { type: 'http', method: 'POST', bodyType: 'json', body }, output: { type: 'json' } },
    schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        input: {
          type: 'object',
          properties: {
            type: { type: 'string', const: 'http' },
            method: { type: 'string', enum: ['POST'] },
            bodyType: { type: 'string', enum: ['json'] },
            body: { type: 'object' }
          },
          required: ['type', 'method', 'bodyType', 'body'],
          additionalProperties: false
        },
        output: { type: 'object', properties: { type: { type: 'string' } }, required: ['type'] }
      },
      required: ['input']
    }
  }
}
