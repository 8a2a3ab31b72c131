/** A small API with all features: places that share a name, styles, references, a cycle, forms and files. */
export const SHOP = {
  openapi: '3.0.3',
  info: { title: 'Shop', version: '1' },
  servers: [{ url: 'https://shop.example/v1' }],
  paths: {
    '/items': {
      get: {
        operationId: 'listItems',
        summary: 'Finds items.',
        parameters: [
          { $ref: '#/components/parameters/Limit' },
          { name: 'tag', in: 'query', schema: { type: 'array', items: { type: 'string' } } },
          { name: 'ids', in: 'query', explode: false, schema: { type: 'array', items: { type: 'integer' } } },
          { name: 'range', in: 'query', style: 'deepObject', explode: true, schema: { type: 'object' } },
          { name: 'filter', in: 'query', content: { 'application/json': { schema: { type: 'object' } } } },
          { name: 'X-Tenant', in: 'header', schema: { type: 'string' } },
          { name: 'session', in: 'cookie', schema: { type: 'string' } }
        ],
        responses: {
          200: {
            description: 'Items',
            content: { 'application/json': { schema: { type: 'array', items: { $ref: '#/components/schemas/Item' } } } }
          }
        }
      },
      post: {
        operationId: 'createItem',
        requestBody: { $ref: '#/components/requestBodies/Item' },
        responses: { 201: { description: 'made' } }
      }
    },
    '/items/{id}': {
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
      get: { operationId: 'getItem', responses: { 200: { description: 'one' } } },
      put: {
        operationId: 'replaceItem',
        parameters: [{ name: 'id', in: 'query', schema: { type: 'string' } }],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: {
                type: 'object',
                required: ['id'],
                properties: { id: { type: 'integer' }, note: { type: 'string' } },
                additionalProperties: false
              }
            }
          }
        },
        responses: { 200: { description: 'replaced' } }
      },
      delete: {
        operationId: 'deleteItem',
        parameters: [{ name: 'session', in: 'cookie', required: true, schema: { type: 'string' } }],
        responses: { 204: { description: 'gone' } }
      }
    },
    '/bulk': {
      post: {
        operationId: 'bulk',
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { type: 'array', items: { type: 'integer' }, minItems: 1 } } }
        },
        responses: { 200: { description: 'done' } }
      }
    },
    '/login': {
      post: {
        operationId: 'login',
        requestBody: {
          content: {
            'application/x-www-form-urlencoded': {
              schema: { type: 'object', properties: { user: { type: 'string' }, roles: { type: 'array', items: {} } } }
            }
          }
        },
        responses: { 200: { description: 'in' } }
      }
    },
    '/files': {
      post: {
        operationId: 'upload',
        requestBody: {
          content: {
            'multipart/form-data': {
              schema: {
                type: 'object',
                properties: { title: { type: 'string' }, file: { type: 'string', format: 'binary' } }
              }
            }
          }
        },
        responses: { 200: { description: 'kept' } }
      }
    },
    '/ping': { get: { responses: { 200: { description: 'pong' } } } }
  },
  components: {
    parameters: {
      Limit: {
        name: 'limit',
        in: 'query',
        schema: { type: 'integer', minimum: 0, exclusiveMinimum: true, maximum: 100 }
      }
    },
    requestBodies: {
      Item: { required: true, content: { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } } }
    },
    schemas: {
      Item: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 1 },
          price: { type: 'number', nullable: true },
          kind: { type: 'string', enum: ['a', 'b'] },
          parts: { type: 'array', items: { $ref: '#/components/schemas/Item' } }
        }
      }
    }
  }
}

/** The same API in version 2.0, as far as it supports the features. */
export const OLD_SHOP = {
  swagger: '2.0',
  info: { title: 'Shop', version: '1' },
  basePath: '/v1',
  consumes: ['application/json'],
  paths: {
    '/items/{id}': {
      get: {
        operationId: 'getItem',
        parameters: [
          { name: 'id', in: 'path', required: true, type: 'integer' },
          { name: 'tags', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'pipes' },
          { name: 'more', in: 'query', type: 'array', items: { type: 'string' }, collectionFormat: 'multi' }
        ],
        responses: { 200: { description: 'one', schema: { $ref: '#/definitions/Item' } } }
      }
    },
    '/items': {
      post: {
        operationId: 'createItem',
        parameters: [{ name: 'item', in: 'body', required: true, schema: { $ref: '#/definitions/Item' } }],
        responses: { 200: { description: 'made' } }
      }
    },
    '/files': {
      post: {
        operationId: 'upload',
        consumes: ['multipart/form-data'],
        parameters: [
          { name: 'title', in: 'formData', type: 'string', required: true },
          { name: 'file', in: 'formData', type: 'file' }
        ],
        responses: { 200: { description: 'kept' } }
      }
    }
  },
  definitions: {
    Item: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string' },
        next: { $ref: '#/definitions/Item' },
        note: { type: 'string', 'x-nullable': true }
      }
    }
  }
}
