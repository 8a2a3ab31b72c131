/** An attachment in JSON. Input may also be plain base64 text if the type is known or does not matter. */
export const ATTACHMENT_SCHEMA = {
  type: ['object', 'string'],
  contentEncoding: 'base64',
  properties: { contentType: { type: 'string' }, content: { type: 'string', contentEncoding: 'base64' } },
  required: ['content']
} as const
